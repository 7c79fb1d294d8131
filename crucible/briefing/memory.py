"""What memory holds for who begins, and where the work stands, without reading a note.

Owns which sessions' place is told: that of the open one somebody worked on last, else of the newest.  Facts come from the index and from bookmarks.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from crucible.bookmarks.keeping import latest
from crucible.bookmarks.model import Bookmark, Why
from crucible.history.memories import Memory, MemoryKind, key_of, load_memories
from crucible.index.query import SessionQuery, matching
from crucible.index.schema import Row, shard_of
from crucible.index.view import View
from crucible.note.source import Problem

__all__ = ["Held", "Position", "find_position", "load_held"]

_NEWEST = 1_000
"""Lines of each kind that are looked at; older ones are `cru history search`'s and recall's to find."""
_OPEN = ("active", "paused")
_MOST_OPEN = 30
_AFTERWARDS = frozenset((Why.IDLE, Why.MANUAL, Why.DIED))
"""Bookmarks that are made when nothing has happened for a while."""
_CLOSED = frozenset(("completed", "cancelled", "deleted"))


class Held(NamedTuple):
    """What is remembered and still holds, the newest first, each text once; and the lines of the files that are none."""

    todos: tuple[Memory, ...] = ()
    decisions: tuple[Memory, ...] = ()
    lessons: tuple[Memory, ...] = ()
    problems: tuple[tuple[MemoryKind, Problem], ...] = ()


class Position(NamedTuple):
    """Where a session stands.

    `at` is when somebody was last at work, None where nothing tells.  `phase` is a phase's id of `phases`; `task_number` from 1, 0 for none, of
    `task_count`.  `note` and `blockers` are what its last bookmark says.
    """

    session: str
    title: str = ""
    status: str = ""
    at: datetime | None = None
    phase: str = ""
    phase_name: str = ""
    phases: int = 0
    task_number: int = 0
    task_count: int = 0
    task_name: str = ""
    note: str = ""
    blockers: tuple[str, ...] = ()


# --- what is remembered ----------------------------------------------------------------------------------------------


def load_held(root: Path, project: str = "") -> Held:
    """Of a project, or of the whole vault.  Raises `OutsideVault`, and `VaultError` for a file that cannot be read."""
    loaded = {kind: load_memories(root, kind, project, newest=_NEWEST) for kind in MemoryKind}
    return Held(
        todos=tuple(_standing(loaded[MemoryKind.TODO].found)),
        decisions=tuple(_standing(loaded[MemoryKind.DECISION].found)),
        lessons=tuple(_standing(loaded[MemoryKind.LESSON].found)),
        problems=tuple((kind, one) for kind in MemoryKind for one in loaded[kind].problems),
    )


def _standing(found: Sequence[Memory]) -> Iterable[Memory]:
    """What two sessions say is told once, as the later one says it."""
    once: dict[str, Memory] = {}
    for one in reversed(found):
        if not one.done and one.text:
            once.setdefault(key_of(one.text), one)
    return once.values()


# --- where work stands -----------------------------------------------------------------------------------------------


def find_position(view: View, root: Path, project: str = "", *, but: str = "") -> Position | None:
    """Of a project, or of the whole vault; None where there is no session.  `but` is one that only just begins."""
    row = _row(view, project, but)
    return _position(view, row, latest(root, str(row["id"]))) if row else None


def _row(view: View, project: str, but: str) -> Row | None:
    def rows(status: str | None, most: int) -> list[Row]:
        wanted = matching(view, SessionQuery(status=status, project=project or None))
        return list(islice((row for row in wanted if row["id"] != but), most))

    found = [row for status in _OPEN for row in rows(status, _MOST_OPEN) if row["phases"]]
    if not found:
        found = rows(None, 1)
    return max(found, key=lambda row: (_last(row) or _NEVER, str(row["id"])), default=None)


_NEVER = datetime.min.replace(tzinfo=UTC)


def _position(view: View, row: Row, bookmark: Bookmark | None) -> Position:
    phase, name = _phase(view, row)
    if bookmark and bookmark.phase and row["status"] == "paused":
        phase, name = bookmark.phase, bookmark.phase_name
    number, count, task = _task(view, row, bookmark)
    times = [_last(row), bookmark.at if bookmark and bookmark.why not in _AFTERWARDS else None]
    at = max(filter(None, times), default=bookmark.at if bookmark else None)
    return Position(
        str(row["id"]),
        str(row["title"] or ""),
        str(row["status"] or ""),
        at,
        phase,
        name,
        int(row["phases"] or 0),
        number,
        count,
        task,
        bookmark.note if bookmark else "",
        bookmark.blockers if bookmark else (),
    )


def _last(row: Row) -> datetime | None:
    """When somebody was last at work, as the index knows it."""
    started, ended = _time(row["started"]), _time(row["ended"])
    lasted = row["duration_s"]
    try:
        later = started + timedelta(seconds=lasted) if started and isinstance(lasted, int) else None
    except OverflowError:
        later = None
    return max(filter(None, (started, ended, later)), default=None)


def _time(cell: object) -> datetime | None:
    try:
        found = datetime.fromisoformat(str(cell or ""))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def _phase(view: View, row: Row) -> tuple[str, str]:
    """The last phase's id and name."""
    rows = _rows(view, "phases", row)
    last = max(rows, key=lambda one: int(one["line"] or 0), default=None)
    return (str(last["phase_id"] or ""), str(last["phase"] or "")) if last else ("", "")


def _task(view: View, row: Row, bookmark: Bookmark | None) -> tuple[int, int, str]:
    """Number, count and words of the task in progress, else of the first that is open; number 0 when all are done.

    A task's place in its list is the bookmark's to say, where that is about the same task.
    """
    tasks = _rows(view, "tasks", row)
    if not tasks:
        return (bookmark.task_number, bookmark.task_count, bookmark.task_name) if bookmark else (0, 0, "")
    left = [(n, one) for n, one in enumerate(sorted(tasks, key=_place), 1) if one["status"] not in _CLOSED]
    working = [(n, one) for n, one in left if one["status"] == "in_progress"]
    if not left:
        return 0, len(tasks), ""
    number, task = (working or left)[0]
    if bookmark and bookmark.task == task["task_id"] and bookmark.task_count == len(tasks):
        number = bookmark.task_number
    return number, len(tasks), str(task["content"] or "")


def _place(task: Row) -> tuple[int, str]:
    """The index keeps no order of tasks, so it is that of their ids: numbers by size."""
    ident = str(task["task_id"])
    return (len(ident), ident) if ident.isdecimal() else (_LAST, ident)


_LAST = 1 << 30


def _rows(view: View, table: str, session: Row) -> list[Row]:
    """The table's rows of one session; of its month only lines that hold the session's id are read."""
    shard, ident = shard_of(str(session["started"] or "") or None), str(session["id"])
    needles = [ident] if ident.isascii() and not ident.strip(_PLAIN) else []
    rows = view.rows(table, [one for one in view.shards if one == shard], needles)
    return [row for row in rows if row["path"] == session["path"]]


_PLAIN = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-"
