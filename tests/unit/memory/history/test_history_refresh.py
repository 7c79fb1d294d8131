"""After an answer only the answered items of a history change, even with concurrent answers."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.core.secrets import scanner
from crucible.core.settings.settings import SecretSettings, VaultSettings
from crucible.memory.history import history_update as making
from crucible.memory.history.history_folder import keep_entry
from crucible.memory.history.history_update import make_history, refresh_history
from crucible.memory.history.memory_log import MemoryKind, load_memories, remember
from crucible.memory.pending_questions import GivenAnswer, answer, find_entry
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note

NOW = datetime(2026, 11, 22, tzinfo=UTC)
NAME = "2026-11-21-billing"
SHOP = ("/home/dev/shop",)
ORDERS = "Drop the legacy customer table of orders?"
INVOICES = "Drop the legacy customer table of invoices?"
BODY = f"""\
## Work

> [!decision]
> Keep money in /home/dev/shop/src/deep/billing/cents.ts
> Rationale: halves

> [!decision_needed]
> {ORDERS}

I look at both.

> [!decision_needed]
> {INVOICES}

I look at them again.
"""
redact = scanner.Scanner(SecretSettings()).redact


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    (tmp_path / ".crucible").mkdir()
    vault = Vault(tmp_path.resolve(), VaultSettings(fsync=False))
    vault.create(NAME, note(NAME, BODY))
    return vault


def made(place: Vault) -> Path:
    """The history as a session's end in the project's folder leaves it, and what memory has of it."""
    note = place.load(NAME)
    path = make_history(place, note, redact=redact, roots=SHOP).path
    remember(place, note.session, now=NOW, redact=redact, roots=SHOP)
    return path


def answered(place: Vault, question: str) -> GivenAnswer:
    ids = {item.text: item.id for item, _ in find_entry(place.load(NAME), "")}
    return answer(place, ids[question], "Yes.", redact=redact)


def refreshed(place: Vault, done: GivenAnswer, roots: tuple[str, ...] = SHOP) -> str:
    path = refresh_history(place, place.find(NAME), now=NOW, redact=redact, roots=roots)
    return path.read_text() if path else ""


def to_do(place: Vault) -> set[str]:
    return {one.text for one in load_memories(place.root, MemoryKind.TODO).found if not one.done}


def test_a_question_like_an_answered_one_stays_open(place: Vault) -> None:
    path, invoices = place.find(NAME), "Where do legacy customer invoices go, which table?"
    path.write_text(path.read_text() + f"\n> [!decision_needed]\n> {invoices}\n\nOn.\n")
    made(place)
    text = refreshed(place, answered(place, ORDERS))
    assert (f"- {INVOICES}\n" in text, f"- {invoices}\n" in text, ORDERS in text) == (
        True,
        True,
        False,
    )
    assert to_do(place) == {INVOICES, invoices}


def test_an_answer_from_another_folder_says_no_edited_line_again(place: Vault) -> None:
    path = made(place)
    assert "- **Keep money in src/deep/billing/cents.ts**\n" in path.read_text()
    path.write_text(path.read_text().replace("Keep money in src/deep/billing/cents.ts", "Cents, says Ada"))
    text = refreshed(place, answered(place, ORDERS), ())
    assert ("- **Cents, says Ada**\n" in text, "cents.ts" in text) == (True, False)


def test_two_concurrent_answers_are_both_in_the_history(place: Vault, monkeypatch: pytest.MonkeyPatch) -> None:
    made(place)
    first = answered(place, ORDERS)

    def late(*args: object) -> Path:
        """The second answer comes, and is told, when the first one's history is all but written."""
        monkeypatch.setattr(making, "keep_entry", keep_entry)
        assert INVOICES not in refreshed(place, answered(place, INVOICES))
        return keep_entry(*args)  # type: ignore[arg-type]

    monkeypatch.setattr(making, "keep_entry", late)
    text = refreshed(place, first)
    assert not {ORDERS, INVOICES} & {line[2:] for line in text.split("\n")}
    assert to_do(place) == set()


def test_a_todo_is_settled_where_the_history_is_gone_or_cannot_be_written(place: Vault) -> None:
    path = made(place)
    path.write_text(path.read_text().replace("type: history", "type: diary"))
    with pytest.raises(Exception, match="type is not"):
        refreshed(place, answered(place, ORDERS))
    assert to_do(place) == {INVOICES}
    path.unlink()
    assert refreshed(place, answered(place, INVOICES)) == ""
    assert to_do(place) == set()
    assert not path.exists()
