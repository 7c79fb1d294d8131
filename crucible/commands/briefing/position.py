"""The current position: the session to continue, its phase, task and last bookmark, read from the index only."""

from __future__ import annotations

from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import NamedTuple

from crucible.commands.briefing.briefing_parts import Quoter
from crucible.core.text import age_words
from crucible.documents.session.task_block import CLOSED_TASKS
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, load_bookmarks
from crucible.vault.index.query import SessionQuery, matching
from crucible.vault.index.schema import Row, View, shard_of
from crucible.vault.index.time_filters import begun, last_active

_MOST = 100
"""Maximum sessions to consider, newest first."""
_NEVER = datetime.min.replace(tzinfo=UTC)
_TEXT, _WHY = 200, 120
_NO_ROW: Row = {}


class Position(NamedTuple):
    """The position in a session.

    `at` is the time of the last activity. `phase` is the phase's id, `phases` the number of phases. `task_number`
    counts from 1; 0 means no task. `note` and `blockers` come from the last bookmark.
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


def find_position(view: View, root: Path, project: str = "", *, paused: bool = True) -> Position | None:
    """Return the position in the last open session of a project or the vault, else in the last session.

    A session is open if it is active, was paused by the user, or is paused and the newest. If `paused` is False, paused
    sessions are skipped.
    """
    marks = {one.session: one for one in load_bookmarks(root).found}
    paused_by_user = {name for name, mark in marks.items() if mark.why is StopReason.PAUSED}
    found = matching(view, SessionQuery(project=project or None))
    rows = [*islice((row for row in found if paused or row["status"] != "paused"), _MOST)]
    newest = max(rows, key=_recency, default=_NO_ROW)
    open_ = [
        row
        for row in rows
        if row["phases"]
        and (
            row["status"] == "active" or (row["status"] == "paused" and (row["id"] in paused_by_user or row is newest))
        )
    ]
    row = max(open_, key=_recency, default=newest)
    return _position(view, row, marks.get(str(row["id"]))) if row else None


def _recency(row: Row) -> tuple[datetime, str, str]:
    return last_active(row) or _NEVER, begun(row), str(row["id"])


def _position(view: View, row: Row, mark: Bookmark | None) -> Position:
    """Return the position in a session; a paused session continues at its bookmark's phase and task."""
    is_marked = mark is not None and row["status"] == "paused" and bool(mark.phase)
    last = max(_rows(view, "phases", row), key=lambda one: int(one["line"] or 0), default=_NO_ROW)
    tasks = [*enumerate(sorted(_rows(view, "tasks", row), key=_place), 1)]
    open_tasks = [pair for pair in tasks if pair[1]["status"] not in CLOSED_TASKS]
    number, task = next(
        (pair for pair in open_tasks if pair[1]["status"] == "in_progress"), (*open_tasks, (0, _NO_ROW))[0]
    )
    if mark and mark.task == task.get("task_id") and mark.task_count == len(tasks):
        number = mark.task_number
    return Position(
        session=str(row["id"]),
        title=str(row["title"] or ""),
        status=str(row["status"] or ""),
        at=last_active(row, mark.at, mark.why) if mark else last_active(row),
        phase=mark.phase if mark and is_marked else str(last.get("phase_id") or ""),
        phase_name=mark.phase_name if mark and is_marked else str(last.get("phase") or ""),
        phases=int(row["phases"] or 0),
        task_number=number,
        task_count=len(tasks),
        task_name=str(task.get("content") or ""),
        note=mark.note if mark else "",
        blockers=mark.blockers if mark else (),
    )


def _place(task: Row) -> tuple[int, str]:
    """Return a task's sort key. The index stores no order, so tasks are sorted by id: numbers first, ascending."""
    ident = str(task["task_id"])
    return (len(ident) if ident.isdecimal() else 1 << 30, ident)


def _rows(view: View, table: str, session: Row) -> list[Row]:
    """Return the rows of a table that belong to one session."""
    rows = view.rows(table, [shard_of(str(session["started"] or ""))], [str(session["id"])])
    return [row for row in rows if row["path"] == session["path"]]


def position_lines(position: Position | None, project: str, now: datetime, quoter: Quoter) -> tuple[str, ...]:
    """Return the lines for the position, its note and its blockers; if there is no position, a line that says so."""
    if position is None:
        of = quoter.line(project, 80)
        return (f"Current state: no session {f'of {of} ' if of else ''}yet",)
    lines = [f"Current state: {_words(position, now, quoter)}"]
    if note := quoter.line(position.note, _TEXT):
        lines.append(f"Note: {note}")
    if blockers := "; ".join(filter(None, (quoter.line(one, _WHY) for one in position.blockers[:3]))):
        lines.append(f"Blocked by: {blockers}")
    return tuple(lines)


def _words(one: Position, now: datetime, quoter: Quoter) -> str:
    """Return, for example, `2026-11-21-x, phase 11 of 12 (Tests), task 3 of 5 (Write it); paused, last active …`."""

    def named(text: str, name: str) -> str:
        shown = quoter.line(name, 80)
        return f"{text} ({shown})" if shown else text

    is_over = one.status in ("completed", "failed")
    parts = [named(quoter.line(one.session, 120), one.title if is_over else "")]
    if one.phase and not is_over:
        number = quoter.line(one.phase.removeprefix("phase-"), 20)
        parts.append(named(f"phase {number}{f' of {one.phases}' if one.phases else ''}", one.phase_name))
    if one.task_number:
        parts.append(named(f"task {one.task_number} of {one.task_count}", one.task_name))
    elif one.task_count:
        parts.append(f"all {one.task_count} tasks done" if one.task_count > 1 else "its task is done")
    age = f"last active {age_words(now - one.at)}" if one.at else "last activity unknown"
    return f"{', '.join(parts)}; {quoter.line(one.status, 20) or 'status unknown'}, {age}"
