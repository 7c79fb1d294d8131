"""Gather the status of a project from the index, without writing anything.

Bounded: besides the project's newest sessions, only its newest two months and a few heads of notes are read.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.vault.index.query import SessionQuery, matcher
from crucible.vault.index.schema import UNDATED, Row, View, decode_lines, path_of_cell, shard_of
from crucible.vault.index.time_filters import last_active, utc
from crucible.vault.notes.note_heads import read_head

_NEWEST, _PAUSED = 5, 2
"""Maximum sessions and paused sessions to show."""
_MONTHS = 2
"""Months with sessions of the project, newest first, in which paused sessions, questions and tasks are counted."""
_RECENT = timedelta(days=30)
"""How long questions of an ended session and tasks of a paused one are counted, as in the inbox and by `task`."""
_CASE_FOLDER = "cases"
"""`walk.CASES`; that module is slow to import."""
MOST_CASES = 200
"""Maximum case notes to read."""

_QUESTIONS = ("decision_needed", "approval_required", "task_complete", "error")
"""The callouts that may wait for the user."""
_OPEN_TASKS = ("in_progress", "pending")
_OVER = ("completed", "failed")

_ASKING = late_pattern(rb",(?:decision_needed|approval_required|task_complete|error),1,")
_REASON = late_pattern(rb"^pause_reason[ \t]*:[ \t]*(\S.*?)[ \t]*\r?$", re.MULTILINE)
_PROPOSED = late_pattern(rb"^status[ \t]*:[ \t]*[\"']?proposed[\"']?[ \t]*\r?$", re.MULTILINE)
_PLAIN = late_pattern(r"[\w.@-]+", re.ASCII)
"""Project names that the index stores without quotes."""


class SessionLine(NamedTuple):
    """A session on the page.  `active` is when it was last active (None if unknown), `why` why it is paused, or ""."""

    id: str
    title: str
    project: str
    status: str
    active: datetime | None
    path: str
    why: str = ""


class Waiting(NamedTuple):
    """How much waits for the user: questions and approvals, open tasks, and cases to review."""

    inbox: int = 0
    tasks: int = 0
    cases: int = 0


class ProjectStatus(NamedTuple):
    """The status of a project.

    `sessions` are its newest sessions, newest first.  If it has none, they are the newest of the vault, and `others`
    counts the vault's sessions.  `paused` are its newest paused sessions; `more_paused` counts the others.
    """

    sessions: tuple[SessionLine, ...] = ()
    paused: tuple[SessionLine, ...] = ()
    more_paused: int = 0
    waiting: Waiting = Waiting()
    others: int = 0


def project_status(view: View, project: str, now: datetime) -> ProjectStatus:
    """Return the status of a project, without reasons and cases, which are not in the index."""
    newest = list(islice(_rows_of(view, project), _NEWEST)) if project else []
    if not newest:
        return ProjectStatus(_lines(list(islice(_rows_of(view), _NEWEST))), others=view.count_sessions())
    months = _months_from(view, newest[0])
    recent = list(_rows_of(view, project, months))
    paused = sorted((row for row in recent if row["status"] == "paused"), key=_last_active, reverse=True)
    # An ended session's questions are no longer urgent after a while, and its tasks are over.
    since = utc(now - _RECENT)
    asking = {row["path"] for row in recent if not _is_over(row) or str(row["ended"] or row["started"] or "") >= since}
    working = {row["path"] for row in recent if not _is_over(row) and _last_active(row) >= (now - _RECENT).timestamp()}
    waiting = Waiting(_count_questions(view, months, asking), _count_tasks(view, months, working))
    return ProjectStatus(_lines(newest), _lines(paused[:_PAUSED]), max(0, len(paused) - _PAUSED), waiting)


def with_notes(status: ProjectStatus, root: str) -> ProjectStatus:
    """Add what only notes say: why sessions are paused, and how many cases wait for a review."""
    paused = tuple(one._replace(why=_pause_reason(os.path.join(root, one.path))) for one in status.paused)
    return status._replace(paused=paused, waiting=status.waiting._replace(cases=_count_cases(root)))


def _rows_of(view: View, project: str | None = None, shards: Sequence[str] | None = None) -> Iterator[Row]:
    """Yield the rows of sessions as `session list` shows them, newest first; None means all projects."""
    needles = [project] if project and _PLAIN.fullmatch(project) else []
    return filter(matcher(SessionQuery(project=project)), view.rows("sessions", shards, needles))


def _months_from(view: View, newest: Row) -> Sequence[str]:
    """Return the shards of the newest session's month and the month before, and of undated notes."""
    first = shard_of(str(newest["started"] or ""))
    dated = [shard for shard in view.shards if shard != UNDATED and (first == UNDATED or shard <= first)]
    return [*dated[:_MONTHS], *([UNDATED] if UNDATED in view.shards else [])]


def _is_over(row: Row) -> bool:
    return row["status"] in _OVER


def _last_active(row: Row) -> float:
    at = last_active(row)
    return at.timestamp() if at else 0.0


def _lines(rows: Sequence[Row]) -> tuple[SessionLine, ...]:
    return tuple(
        SessionLine(
            str(row["id"]),
            str(row["title"] or row["id"]),
            str(row["project"] or ""),
            str(row["status"] or ""),
            last_active(row),
            path_of_cell(str(row["path"])),
        )
        for row in rows
    )


def _count_questions(view: View, shards: Sequence[str], paths: set[str | int | None]) -> int:
    """Count the callouts that wait in these notes; one that was asked twice counts once.

    Lines of other notes are not decoded.
    """
    found: set[tuple[object, ...]] = set()
    for shard in shards:
        # One needle for all kinds, since each search reads the shard again.
        lines = [line for line in view.lines("callouts", shard, [",1,"]) if _path_of(line) in paths]
        found.update(
            (row["path"], row["kind"], row["text"])
            for row in decode_lines("callouts", [line for line in lines if _ASKING.search(line)])
            if row["waits"] == 1 and row["kind"] in _QUESTIONS
        )
    return len(found)


def _path_of(line: bytes) -> str:
    """Return the first cell of a line, the path."""
    if line[2:3] == b'"':
        return str(decode_lines("callouts", [line])[0]["path"])
    return line[2 : line.index(b",")].decode()


def _count_tasks(view: View, shards: Sequence[str], paths: set[str | int | None]) -> int:
    return sum(
        row["status"] == status and row["path"] in paths
        for status in _OPEN_TASKS
        for row in view.rows("tasks", shards, [status])
    )


def _pause_reason(path: str) -> str:
    """Return the note's property `pause_reason`; "" if there is none or the note cannot be read."""
    try:
        found = _REASON.search(read_head(path))
    except OSError:
        return ""
    text = found[1].decode("utf-8", "replace") if found else ""
    if text[:1] == '"':
        import json  # noqa: PLC0415  rarely needed, and slow to import

        with suppress(ValueError):
            return str(json.loads(text))
    return text[1:-1].replace("''", "'") if text[:1] == "'" == text[-1:] else text


def _count_cases(root: str) -> int:
    """Count the proposed cases among the first `MOST_CASES` notes."""
    count = 0
    with suppress(OSError), os.scandir(os.path.join(root, _CASE_FOLDER)) as entries:
        for entry in islice((one for one in entries if one.name.endswith(".md")), MOST_CASES):
            with suppress(OSError):
                count += bool(_PROPOSED.search(read_head(entry.path)))
    return count
