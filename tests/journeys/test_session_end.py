"""`cru session end`: the session ends, its history is there, and nothing keeps it from its end."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from crucible.cli import session_end as ending
from crucible.documents.session.session import Status
from crucible.vault.notes.vault import Vault
from tests.running import Cru


@pytest.fixture
def session(cru: Cru) -> str:
    name = cru("record", "start", "Limit requests", "--project", "shop").stdout.strip()
    for words in (
        ("phase", "Work"),
        ("decision", "Use a token bucket", "--rationale", "constant memory"),
        ("error", "Red"),
    ):
        assert cru("record", *words, "--session", name).exit_code == 0
    return name


def test_an_end_writes_the_history_and_prints_where_it_is(cru: Cru, vault: Vault, session: str) -> None:
    done = cru("session", "end", session, "--summary", "It limits.")
    assert (done.exit_code, done.stdout) == (0, f"history/{session}-history.md\n")
    text = (vault.root / "history" / f"{session}-history.md").read_text()
    assert "- **Use a token bucket** (captured)\n" in text
    assert "  - Why: constant memory\n" in text
    assert "- Unresolved: Red\n" in text
    assert "1. **It limits.**\n" in text
    assert vault.load(session).session.status is Status.COMPLETED


def test_an_end_again_keeps_what_a_human_wrote(cru: Cru, vault: Vault, session: str) -> None:
    cru("session", "end", session[:-3])
    path = vault.root / "history" / f"{session}-history.md"
    path.write_text(path.read_text().replace("- **Use a token bucket**", "- Use a token bucket, says Ada"))
    ended = vault.load(session).data
    again = cru("session", "end", session)
    assert again.exit_code == 0
    assert f"{session} has already ended; updated its history" in again.stderr
    assert path.read_text().count("- Use a token bucket, says Ada") == 1
    assert vault.load(session).data == ended


def damaged(path: Path) -> None:
    path.write_bytes(b"\xff\xfe\x00" + path.read_bytes())


def another_kind(path: Path) -> None:
    path.write_text(path.read_text().replace("type: history", "type: diary"))


def in_the_way(path: Path) -> None:
    path.unlink()
    path.mkdir()


def a_humans_alone(path: Path) -> None:
    path.write_text(path.read_text().partition("<!-- crucible")[0])


def gone(path: Path) -> None:
    path.unlink()


@pytest.mark.parametrize(
    ("befall", "told"),
    [
        (damaged, ""),
        (another_kind, ""),
        (in_the_way, ""),
        (a_humans_alone, "; kept its history, which you wrote"),
        (gone, "; wrote its history"),
    ],
)
def test_the_outcome_of_the_history_is_reported(
    cru: Cru, vault: Vault, session: str, befall: Callable[[Path], None], told: str
) -> None:
    cru("session", "end", session)
    befall(vault.root / "history" / f"{session}-history.md")
    again = cru("session", "end", session)
    lines = again.stderr.splitlines()
    assert (again.exit_code, lines[0]) == (0, f"{session} has already ended{told}")
    assert any(line.startswith("warning: history: ") for line in lines) is not bool(told)
    assert bool(again.stdout) is bool(told)


def test_an_id_wins_over_the_environment(cru: Cru, session: str) -> None:
    assert cru("session", "end", session, env={"CRU_SESSION": "2026-01-01-other"}).exit_code == 0


def test_an_unwritable_history_folder_does_not_prevent_the_end(cru: Cru, vault: Vault, session: str) -> None:
    (vault.root / "history").write_text("in the way")
    done = cru("session", "end", session)
    assert (done.exit_code, done.stdout) == (0, "")
    assert "warning: history: " in done.stderr
    assert vault.load(session).session.status is Status.COMPLETED


def test_a_session_that_another_process_ends_meanwhile_is_no_failure(
    cru: Cru, session: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert cru("session", "end", session).exit_code == 0
    seen = iter([False])
    monkeypatch.setattr(ending, "_is_over", lambda _: next(seen, True))
    done = cru("session", "end", session)
    assert (done.exit_code, done.stdout) == (0, f"history/{session}-history.md\n")
    monkeypatch.setattr(ending, "_is_over", lambda _: False)
    assert cru("session", "end", session, "--summary", "It would be lost.").exit_code == 1


def test_a_subagents_end_promises_no_history(cru: Cru, session: str) -> None:
    child = cru("record", "start", "Part", "--parent", session).stdout.strip()
    cru("session", "end", child)
    again = cru("session", "end", child)
    assert (again.exit_code, again.stdout) == (0, "")
    assert again.stderr == f"{child} has already ended\n"
