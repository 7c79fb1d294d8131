"""A session's history is made from its note, and updated without losing a user's edits."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.core.secrets import scanner
from crucible.core.settings.settings import SecretSettings, VaultSettings
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, append_bookmark
from crucible.memory.history.history import Capture, Captures, HistoryLine
from crucible.memory.history.history_folder import add_captures
from crucible.memory.history.history_notes import read_entry, render_history
from crucible.memory.history.history_update import MadeHistory, make_history
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note

NOW = datetime(2026, 11, 22, tzinfo=UTC)
NAME = "2026-11-21-billing"
BODY = """\
```tasks
[{"id": "1", "content": "Types", "status": "in_progress"}]
```

## Work

> [!decision]
> Chose Stripe over Paddle, see /home/dev/shop/docs/adr.md
> Rationale: its docs

> [!decision_needed]
> Retry failed payments?

I go on with src/billing.ts.
"""
redact = scanner.Scanner(SecretSettings()).redact


@pytest.fixture
def place(tmp_path: Path) -> Vault:
    (tmp_path / ".crucible").mkdir()
    vault = Vault(tmp_path.resolve(), VaultSettings(fsync=False))
    vault.create(NAME, note(NAME, BODY))
    return vault


Make = Callable[..., MadeHistory]


@pytest.fixture
def make(place: Vault) -> Make:
    def made(captures: Captures = Captures()) -> MadeHistory:  # noqa: B008  frozen
        return make_history(place, place.load(NAME), redact=redact, captures=captures, roots=("/home/dev/shop",))

    return made


def test_it_is_composed_by_rules(make: Make) -> None:
    made = make()
    assert (made.is_new, made.is_left, made.entry.author) == (True, False, "")
    text = made.path.read_text()
    assert "- **Chose Stripe over Paddle, see docs/adr.md**\n  - Why: its docs\n" in text
    assert "- Retry failed payments?\n" in text
    assert "- Continue: Types (task-1)\n" in text


def test_breaks_between_bookmarks_are_no_work_time(place: Vault, make: Make) -> None:
    path = place.find(NAME)
    times = "started:: 2026-11-20T10:00:00Z\nended:: 2026-11-21T09:00:00Z\n"
    path.write_text(path.read_text().replace("## Work\n", f"## Work\n\n{times}"))
    assert make().entry.duration_minutes == 23 * 60
    append_bookmark(place.root, Bookmark("b-1", NAME, datetime(2026, 11, 20, 10, 40, tzinfo=UTC), StopReason.PAUSED))
    append_bookmark(place.root, Bookmark("b-2", "2026-11-21-other", NOW, StopReason.PAUSED))
    made = make()
    assert "duration_minutes: 40\n" in made.path.read_text()


def test_a_history_that_a_human_took_over_is_left(make: Make) -> None:
    path = make().path
    path.write_text(path.read_text().partition("<!-- crucible")[0])
    before = path.read_bytes()
    assert (make().is_left, path.read_bytes()) == (True, before)


def test_no_secret_gets_into_a_history(place: Vault, make: Make) -> None:
    token = "ghp_" + "a1B2c3D4e5F6" * 3
    path = place.find(NAME)
    path.write_text(path.read_text().replace("Chose Stripe", f"With {token} chose Stripe"))
    assert token not in make().path.read_text()


def _told_by_model(place: Vault, make: Make) -> Path:
    """A history from an older version: in the words of a model, with the digest of what it was shown."""
    made = make()
    (decision,) = made.entry.decisions
    told = replace(
        made.entry,
        author="big-model",
        done=(HistoryLine("Began src/billing.ts (task 1)"),),
        decisions=(decision._replace(text="Stripe, not Paddle"),),
    )
    text = render_history(told, place.relative(place.find(NAME)))
    made.path.write_text(text.replace("<!-- crucible wrote:", "<!-- crucible wrote: told_from=0123abcd"))
    return made.path


def test_the_history_that_a_model_wrote_for_an_older_version_is_read_and_refreshed(place: Vault, make: Make) -> None:
    path = _told_by_model(place, make)
    read = read_entry(place.read(path).source).entry
    assert read
    assert (read.author, read.decisions[0].text) == ("big-model", "Stripe, not Paddle")
    composed = make()
    text = path.read_text()
    assert "- **Chose Stripe over Paddle, see docs/adr.md**\n  - Why: its docs\n" in text
    for gone in ("big-model", "Stripe, not Paddle", "Began src/billing.ts", "told_from"):
        assert gone not in text
    assert composed.is_left is False
    assert make().path.read_text() == text


def test_a_users_edits_in_a_models_history_stay(place: Vault, make: Make) -> None:
    path = _told_by_model(place, make)
    path.write_text(
        path.read_text()
        .replace("1. **Began src/billing.ts** (task 1)\n", "1. Began it, with Ada\n2. Paid words\n")
        .replace("- **Stripe, not Paddle**", "- Stripe, says Ada")
        .replace("author: big-model", "author: Ada")
    )
    text = make().path.read_text()
    for kept in ("1. Began it, with Ada\n", "2. Paid words\n", "- Stripe, says Ada\n", "author: Ada\n"):
        assert text.count(kept) == 1
    assert "Chose Stripe over Paddle" not in text
    path.write_text(text.replace("- Stripe, says Ada\n  - Why: its docs\n", ""))
    assert "Stripe" not in make().path.read_text().partition("## Decisions")[2].partition("## ")[0]


def test_captures_are_listed_once_without_absolute_paths(place: Vault, make: Make) -> None:
    captures = Captures((Capture("decision", "", "Chose Stripe, see /home/dev/shop/src/docs/adr.md"),))
    for told in (make(captures), make(captures)):
        assert told.path.read_text().count("Chose Stripe, see docs/adr.md\n") == 1
    add_captures(place, NAME, captures)
    text = make().path.read_text()
    assert ("/home/dev" in text, text.count("summary: ")) == (False, 1)


def test_captures_join_those_that_are_there(place: Vault, make: Make) -> None:
    one, two = Capture("decision", "", "Stripe"), Capture("evidence", "e", "500 req/s")
    make(captures=Captures(suggested=(one,)))
    make(captures=Captures(approved=(two,)))
    assert make().entry.captures == Captures((one,), (two,), ())
    path = add_captures(place, NAME, Captures(approved=(one._replace(id="stripe"),)))
    assert path == place.root / "history" / f"{NAME}-history.md"
    assert make().entry.captures == Captures((), (two, one._replace(id="stripe")), ())
    assert add_captures(place, "2026-11-21-none", Captures()) is None


def test_subagents_decisions_are_in_the_parents_history(place: Vault, make: Make) -> None:
    path = place.find(NAME)
    path.write_text(path.read_text().replace("---\n\n#", "subagents:\n  - session: 2026-11-21-clock\n---\n\n#", 1))
    place.create("2026-11-21-clock", note("2026-11-21-clock", "## A\n\n> [!decision]\n> Monotonic time\n"))
    assert "- **Monotonic time** (subagent 2026-11-21-clock)\n" in make().path.read_text()
