"""What the index tells for a briefing: the project's newest sessions, and what happened in them.

Owns which rows are read.  No note is: a project of thousands of sessions costs the months that are told of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from types import MappingProxyType
from typing import NamedTuple

from crucible.index.moments import utc
from crucible.index.query import SessionQuery, matcher, matching
from crucible.index.schema import UNDATED, Row, shard_of
from crucible.index.view import View
from crucible.lifecycle_settings import BriefingSettings
from crucible.patterns import late_pattern
from crucible.session.findings import Kind

__all__ = ["Event", "Happened", "Known", "begun", "find_rows", "has_news", "has_sessions", "since", "time_of"]

_EVENTS = frozenset((*(kind.value for kind in Kind), "error", "milestone", "task_complete", "checkpoint"))
"""Kinds of findings and callouts that a briefing shows."""
_SESSIONS = 3
"""Sessions whose events are told."""
_PLAIN = late_pattern(r"[A-Za-z0-9._-]+\Z")
_EVER = datetime.min.replace(tzinfo=UTC)
_DAY = late_pattern(r"\d{4}-\d\d-\d\d(?!\d)")


_ASKS = ("decision_needed", "approval_required", "error")
_ASKING = 10
"""Sessions of which is looked at what was answered."""


class Event(NamedTuple):
    """A callout or an item of the findings block: its kind, its text as the index has it, whether it still waits for somebody, and of a decision why, where that was looked up."""

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
    oldest = since(now, max(chosen.event_days, chosen.history_days))
    query = SessionQuery(project=project, since=oldest)
    return next(chain(matching(view, query), _undated(view, oldest, project)), None) is not None


def find_rows(view: View, project: str, now: datetime, chosen: BriefingSettings) -> Known:
    """All of it; a `project` of "" is every one."""
    oldest = since(now, max(chosen.event_days, chosen.history_days))
    found = [*matching(view, SessionQuery(since=oldest))]
    if undated := [*_undated(view, oldest)]:
        found = sorted([*found, *undated], key=lambda row: (begun(row), str(row["id"])), reverse=True)
    newest = tuple(row for row in found if not project or _is_of(row, project))
    recent = utc(since(now, chosen.event_days))
    told = [row for row in newest if begun(row) >= (recent if row["started"] else recent[:10])][:_SESSIONS]
    events = tuple(Happened(row, tuple(_events(view, row))) for row in told)
    others = {str(row["id"]) for row in found} - {str(row["id"]) for row in newest}
    answered = {str(row["id"]): tuple(_answered(view, row)) for row in newest[:_ASKING]}
    last = None if newest else _last(view, project or None)
    return Known(newest, events, frozenset(others), answered, last)


def _last(view: View, project: str | None) -> Row | None:
    rows = islice(matching(view, SessionQuery(project=project)), 1)
    return max(chain(rows, _undated(view, _EVER, project)), key=begun, default=None)


def begun(row: Row) -> str:
    """When a session began, as the index writes times; where its note does not tell, the day with which its id begins, else ""."""
    if row["started"]:
        return str(row["started"])
    day = _DAY.match(str(row["id"]))
    return day[0] if day and time_of(day[0]) else ""


def _undated(view: View, oldest: datetime, project: str | None = None) -> Iterator[Row]:
    """The sessions without a beginning whose day is not before the `oldest`'s; what cannot be read is none."""
    wanted = matcher(SessionQuery(project=project))
    for row in view.rows("sessions", [shard for shard in view.shards if shard == UNDATED]):
        if row["unreadable"] is None and begun(row) >= utc(oldest)[:10] and wanted(row):
            yield row


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
