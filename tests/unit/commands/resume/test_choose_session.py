"""The paused session that was left last, by its bookmark if that was made then, otherwise by the times in its note."""

from __future__ import annotations

import os
from datetime import UTC, datetime, timedelta

import pytest

from crucible.commands.resume.choose_session import newest_first
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
from crucible.vault.index.schema import Row

NOON = datetime(2026, 11, 22, 12, tzinfo=UTC)


def row(name: str, started: str | None = "2026-11-22T08:00:00Z", **more: str | int | None) -> Row:
    known: Row = {"id": name, "path": f"sessions/{name}.md", "title": name, "started": started}
    return known | {"ended": None, "duration_s": None} | more


def mark(name: str, hours: float, why: StopReason = StopReason.PAUSED) -> Bookmark:
    return Bookmark(f"{name}-{hours}", name, NOON - timedelta(hours=hours), why)


def order(rows: list[Row], *marks: Bookmark) -> list[str]:
    return [one.id for one in newest_first(rows, sorted(marks, key=lambda one: one.at))]


def test_the_newest_bookmark_of_a_session_counts() -> None:
    assert order([row("a"), row("b")], mark("a", 3), mark("b", 2), mark("a", 1)) == ["a", "b"]


@pytest.mark.parametrize("why", [StopReason.IDLE, StopReason.DIED, StopReason.MANUAL])
def test_a_bookmark_made_after_the_session_stopped_is_not_its_last_activity(why: StopReason) -> None:
    assert order([row("late"), row("here")], mark("late", 0, why), mark("here", 1)) == ["here", "late"]
    (only,) = newest_first([row("x", started=None)], [mark("x", 2, why)])
    assert only.at == NOON - timedelta(hours=2)


def test_work_after_a_bookmark_counts() -> None:
    rows = [row("a", duration_s=3 * 3600 + 1800), row("b")]
    assert order(rows, mark("a", 2, StopReason.TASK), mark("b", 1)) == ["a", "b"]


def test_with_equal_or_unknown_times_the_greater_id_comes_first() -> None:
    assert order([row("a"), row("c"), row("b")]) == ["c", "b", "a"]
    assert order([row("a", None), row("b", None), row("c")]) == ["c", "b", "a"]


@pytest.mark.parametrize("odd", ["0000", "noon", "2026-13-01T00:00:00Z", 7])
def test_a_tampered_index_raises_nothing(odd: str | int) -> None:
    (found,) = newest_first([row("a", None, ended=odd, duration_s=10**30)], ())
    assert found.at is None
    (found,) = newest_first([row("a", duration_s=10**30)], ())
    assert found.at == NOON - timedelta(hours=4)


def test_a_path_that_is_not_utf_8_is_decoded_to_the_files_name() -> None:
    (found,) = newest_first([row("a", path="sessions/\ufffdFF.md")], ())
    assert os.fsencode(found.path) == b"sessions/\xff.md"
