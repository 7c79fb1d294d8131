"""What the index tells for a briefing: the project's newest sessions, and what happened in them.

Owns which rows are read.  No note is: a project of thousands of sessions costs the months that are told of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime, timedelta
from types import MappingProxyType
from typing import NamedTuple

from crucible.index.moments import utc
from crucible.index.query import SessionQuery, matching
from crucible.index.schema import Row, shard_of
from crucible.index.view import View
from crucible.lifecycle_settings import BriefingSettings
from crucible.patterns import late_pattern

__all__ = ["Event", "Happened", "Known", "find_rows", "has_news", "has_sessions", "since", "time_of"]

_EVENTS = ("decision", "error", "milestone", "task_complete", "checkpoint")
"""Kinds of callouts that are told."""
_SESSIONS = 3
"""Sessions whose events are told."""
_PLAIN = late_pattern(r"[A-Za-z0-9._-]+\Z")


_ASKS = ("decision_needed", "approval_required", "error")
_ASKING = 10
"""Sessions of which is looked at what was answered."""


class Event(NamedTuple):
    """A callout: its kind, its text as the index has it, whether it still waits for somebody, and of a decision why, where that was looked up."""

    kind: str
    text: str
    waits: bool = False
    why: str = ""


class Happened(NamedTuple):
    """A session's row, and what happened in it, in the order of its note."""

    row: Row
    events: tuple[Event, ...] = ()


class Known(NamedTuple):
    """What the index knows.

    `newest` are the project's sessions of the last days, newest first, `events` those whose events are told, `others` the ids of other projects' sessions in that time.  `answered` has by session the texts of what waited once and does no more.
    `last` is the project's newest session where all are older.
    """

    newest: tuple[Row, ...] = ()
    events: tuple[Happened, ...] = ()
    others: frozenset[str] = frozenset()
    answered: Mapping[str, tuple[str, ...]] = MappingProxyType({})
    last: Row | None = None


def has_sessions(view: View, project: str) -> bool:
    """Whether the project has any."""
    return next(matching(view, SessionQuery(project=project)), None) is not None


def has_news(view: View, project: str, now: datetime, chosen: BriefingSettings) -> bool:
    """Whether the project has a session in the days that are told of."""
    days = max(chosen.event_days, chosen.history_days)
    return next(matching(view, SessionQuery(project=project, since=since(now, days))), None) is not None


def find_rows(view: View, project: str, now: datetime, chosen: BriefingSettings) -> Known:
    """All of it; a `project` of "" is every one."""
    days = max(chosen.event_days, chosen.history_days)
    found = [*matching(view, SessionQuery(since=since(now, days)))]
    newest = tuple(row for row in found if not project or _is_of(row, project))
    recent = utc(since(now, chosen.event_days))
    told = [row for row in newest if str(row["started"] or "") >= recent][:_SESSIONS]
    events = tuple(Happened(row, tuple(_events(view, row))) for row in told)
    others = {str(row["id"]) for row in found} - {str(row["id"]) for row in newest}
    answered = {str(row["id"]): tuple(_answered(view, row)) for row in newest[:_ASKING]}
    last = None if newest else next(matching(view, SessionQuery(project=project or None)), None)
    return Known(newest, events, frozenset(others), answered, last)


def since(now: datetime, days: int) -> datetime:
    """So many days ago, or as long ago as can be told."""
    try:
        return now - timedelta(days=days)
    except OverflowError:
        return datetime.min.replace(tzinfo=now.tzinfo)


def _is_of(row: Row, project: str) -> bool:
    return str(row["project"] or "").casefold() == project.casefold()


def _events(view: View, row: Row) -> Iterator[Event]:
    rows = _rows_of(view, "callouts", row)
    for one in sorted(rows, key=lambda each: int(each["line"] or 0)):
        if one["kind"] in _EVENTS:
            yield Event(str(one["kind"]), str(one["text"] or ""), one.get("waits") == 1)


def _answered(view: View, row: Row) -> Iterator[str]:
    for one in _rows_of(view, "callouts", row):
        if one["kind"] in _ASKS and one.get("waits") == 0:
            yield str(one["text"] or "")


def _rows_of(view: View, table: str, session: Row) -> Iterator[Row]:
    """A table's rows of a session; only lines that hold its id are read."""
    name, shard = str(session["id"]), shard_of(str(session["started"] or ""))
    if shard in view.shards:
        rows = view.rows(table, [shard], [name] if _PLAIN.match(name) else [])
        yield from (row for row in rows if row["path"] == session["path"])


def time_of(cell: object) -> datetime | None:
    """As the index writes times; None for what is none."""
    try:
        return datetime.fromisoformat(str(cell or ""))
    except ValueError:
        return None
