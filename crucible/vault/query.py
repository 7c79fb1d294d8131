"""Sessions as flat rows, and which rows a query wants: pure, without disk or clock.

Owns the columns of `session list`, their order, and what each filter means.  How rows are shown is for the doors.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, fields
from datetime import UTC, datetime, time, timedelta

from crucible.errors import UsageError
from crucible.session.model import Decision, Failure, Intervention, Outcome, Session
from crucible.vault.store import Note
from crucible.vault.walk import note_name

__all__ = [
    "COLUMNS",
    "SessionQuery",
    "SessionRow",
    "matches",
    "parse_when",
    "row_of",
    "select",
    "unreadable_row",
]


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as `list` shows it.

    Times are ISO 8601 in UTC with `Z`, so that their text sorts as they do.  `phases` counts level-2 sections,
    `failures` failed tool calls, `errors` and `users` callouts, `problems` what is untidy.  `path` is seen from the
    vault.  The last three fields serve filters and are no columns; they are in lower case.
    """

    id: str
    title: str = ""
    project: str | None = None
    status: str | None = None
    started: str | None = None
    ended: str | None = None
    duration_s: int | None = None
    participants: tuple[str, ...] = ()
    channel: str | None = None
    model: str | None = None
    tokens_used: int | None = None
    tokens_cached: int | None = None
    phases: int = 0
    tool_calls: int = 0
    failures: int = 0
    decisions: int = 0
    errors: int = 0
    users: int = 0
    parent: str | None = None
    path: str = ""
    problems: int = 0
    agents: frozenset[str] = frozenset()
    channels: frozenset[str] = frozenset()
    models: frozenset[str] = frozenset()

    def columns(self) -> dict[str, object]:
        """What JSON shows, in the order of `COLUMNS`."""
        return {name: list(v) if isinstance(v := getattr(self, name), tuple) else v for name in COLUMNS}


_FILTER_ONLY = {"agents", "channels", "models"}
COLUMNS = tuple(f.name for f in fields(SessionRow) if f.name not in _FILTER_ONLY)


@dataclass(frozen=True, slots=True)
class SessionQuery:
    """What to list; None does not narrow.

    `agent` fits with or without its version, `channel` the session's or any phase's, `model` a whole id or words of it
    (`opus`, `claude-opus-4`), the session's or a subagent's.  `since` and `until` are about the start and include it.
    """

    status: str | None = None
    agent: str | None = None
    channel: str | None = None
    model: str | None = None
    since: datetime | None = None
    until: datetime | None = None
    project: str | None = None
    children: bool = False
    limit: int | None = None


def row_of(note: Note, path: str) -> SessionRow:
    """The row of a note; `path` as it shall be shown."""
    session = note.session
    entries, calls, length = list(session.all_entries()), list(session.calls()), session.duration()
    agents = [*session.participants, *(phase.agent for phase in session.all_phases() if phase.agent)]
    return SessionRow(
        id=note.name,
        title=session.title,
        project=session.project,
        status=_status(session),
        started=_utc(session.started),
        ended=_utc(session.ended),
        duration_s=None if length is None else round(length.total_seconds()),
        participants=tuple(str(agent) for agent in session.participants),
        channel=session.channel,
        model=session.model,
        tokens_used=session.tokens_used,
        tokens_cached=session.tokens_cached,
        phases=len(session.phases),
        tool_calls=len(calls),
        failures=sum(call.outcome is Outcome.FAILED for call in calls),
        decisions=sum(isinstance(entry, Decision) for entry in entries),
        errors=sum(isinstance(entry, Failure) for entry in entries),
        users=sum(isinstance(entry, Intervention) for entry in entries),
        parent=_bare(session.parent),
        path=path,
        problems=len(session.problems),
        agents=_lower(name for agent in agents for name in (agent.name, str(agent))),
        channels=_lower([session.channel, *(phase.channel for phase in session.all_phases())]),
        models=_lower([session.model, *(sub.model for sub in session.subagents)]),
    )


def unreadable_row(path: str) -> SessionRow:
    """The row of a note that could not be read: it is a problem, never absent."""
    return SessionRow(id=note_name(path.rpartition("/")[2]), path=path, problems=1)


def select(rows: Iterable[SessionRow], query: SessionQuery) -> list[SessionRow]:
    """The rows that match, newest first, then by id; those without a start last."""
    found = sorted((row for row in rows if matches(row, query)), key=lambda row: row.id)
    found.sort(key=lambda row: row.started or "", reverse=True)
    return found if query.limit is None else found[: query.limit]


def matches(row: SessionRow, query: SessionQuery) -> bool:
    """Whether the row is wanted; a wanted subagent's note only with `children`."""
    return (
        (query.children or row.parent is None)
        and _same(query.status, row.status)
        and _same(query.project, row.project)
        and (query.agent is None or query.agent.lstrip("@").lower() in row.agents)
        and (query.channel is None or query.channel.lstrip("#").lower() in row.channels)
        and (query.model is None or any(_has_words(model, query.model) for model in row.models))
        and (query.since is None or (row.started or "") >= (_utc(query.since) or ""))
        and (query.until is None or "" < (row.started or "") <= (_utc(query.until) or ""))
    )


_AGO = re.compile(r"(\d{1,5})\s*([smhdw])", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_when(text: str, now: datetime, *, end: bool = False) -> datetime:
    """A moment: ISO date or time, `today`, `yesterday`, `now`, or how long ago (`90m`, `12h`, `7d`, `2w`).

    What has no zone is in that of `now`, which must be aware.  A day means its first second, with `end` its last.
    """
    word = text.strip().lower()
    ago = _AGO.fullmatch(word)
    if word == "now" or ago:
        return now - timedelta(**{_UNITS[ago[2].lower()]: int(ago[1])}) if ago else now
    try:
        days = {"today": 0, "yesterday": 1}
        if word in days:
            return _day(now - timedelta(days=days[word]), now, end)
        moment = datetime.fromisoformat(text.strip().upper())
    except ValueError:
        raise UsageError(
            f"{text!r} is no time", "write 2026-11-21, 2026-11-21T20:30, today, yesterday, 12h, 7d or 2w"
        ) from None
    if len(word) <= len("2026-11-21"):
        return _day(moment, now, end)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def _day(day: datetime, now: datetime, end: bool) -> datetime:
    return datetime.combine(day.date(), time(23, 59, 59) if end else time(), now.tzinfo)


def _utc(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:  # year 1 or 9999 beside the date line
        return aware.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


def _status(session: Session) -> str | None:
    """The status, or the text that a human wrote in its place."""
    said = session.properties.get("status")
    return session.status.value if session.status else said if isinstance(said, str) else None


def _bare(link: str | None) -> str | None:
    return link.removeprefix("[[").removesuffix("]]").partition("|")[0] if link else None


def _lower(names: Iterable[str | None]) -> frozenset[str]:
    return frozenset(name.lower() for name in names if name)


def _same(wanted: str | None, found: str | None) -> bool:
    return wanted is None or (found or "").lower() == wanted.lower()


def _has_words(model: str, wanted: str) -> bool:
    return f"-{wanted.lower()}-" in f"-{model}-"
