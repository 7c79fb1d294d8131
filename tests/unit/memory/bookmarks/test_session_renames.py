"""Tickets of sessions that were renamed since."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from crucible.memory.bookmarks.resume_tickets import RENAMES, current_session_id, issue_ticket, keep_rename

_NOW = datetime(2026, 11, 22, tzinfo=UTC)


def test_a_chain_of_renames_is_followed(tmp_path: Path) -> None:
    issue_ticket(tmp_path, "a", "codex", _NOW, fsync=False)
    for old, new in (("a", "b"), ("b", "c"), ("b", "c")):
        keep_rename(tmp_path, old, new, fsync=False)
    assert (
        current_session_id(tmp_path, "a"),
        current_session_id(tmp_path, "b"),
        current_session_id(tmp_path, "x"),
    ) == ("c", "c", "x")
    assert len((tmp_path / ".crucible" / "memory" / RENAMES).read_text().splitlines()) == 2


def test_a_session_without_a_ticket_leaves_no_line(tmp_path: Path) -> None:
    keep_rename(tmp_path, "a", "b", fsync=False)
    assert current_session_id(tmp_path, "a") == "a"
    assert not (tmp_path / ".crucible").exists()


def test_a_circle_of_renames_ends(tmp_path: Path) -> None:
    issue_ticket(tmp_path, "a", "codex", _NOW, fsync=False)
    keep_rename(tmp_path, "a", "b", fsync=False)
    place = tmp_path / ".crucible" / "memory" / RENAMES
    place.write_text(place.read_text() + '{"session":"a","was":"b"}\n{"was":3}\ntorn')
    assert current_session_id(tmp_path, "a") == "b"


def test_a_session_that_got_its_first_name_back_is_found(tmp_path: Path) -> None:
    issue_ticket(tmp_path, "a", "codex", _NOW, fsync=False)
    keep_rename(tmp_path, "a", "b", fsync=False)
    keep_rename(tmp_path, "b", "a", fsync=False)
    assert current_session_id(tmp_path, "a") in ("a", "b")
