"""A stand-up report: the outcomes, decisions and open ends of sessions since a date, by project.

Sessions list a few lines of each kind.  Outcomes with a commit or pull request, and explicit decisions, come first.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, tzinfo
from itertools import groupby
from typing import NamedTuple

from crucible.core.zones import in_zone
from crucible.documents.session.findings import Source, findings_by_phase, findings_of
from crucible.documents.session.session import Phase, Session
from crucible.memory.history.composition import STARTED
from crucible.memory.history.history import HistoryEntry, HistoryLine

KINDS = {"outcomes": ("Done", 4), "decisions": ("Decided", 2), "open": ("Open", 2)}
"""The kinds of lines with their label and the maximum number per session."""
_NO_PROJECT = "No project"
_LIGHT = (False, 0)
_OMITTED = ("more", "following", "paused", "tasks")
"""The `finding` of lines that only make sense with the rest of the history."""


class Reported(NamedTuple):
    """A session's history, last activity, lines by kind, and the number of omitted lines of each kind.

    `is_followed` is True if the project has later sessions, which may have settled the open ends.
    """

    entry: HistoryEntry
    status: str
    at: datetime
    lines: dict[str, list[HistoryLine]]
    left_out: dict[str, int]
    is_followed: bool = False


def is_within(session: Session, since: datetime, until: datetime | None) -> bool:
    """Return whether the session was active in this period."""
    begun, last = session.started or _last(session), _last(session)
    return bool(begun and last and last >= since and (until is None or begun < until))


def reported(session: Session, entry: HistoryEntry, since: datetime) -> Reported | None:
    """Return the session's lines since a time, from its history; None if there are none.

    Phases that ended earlier do not count.
    """
    old = {one.id for phase in _over(session, since) for one in findings_by_phase(session).get(phase.id, ())}
    weights = {
        one.id: (one.source not in (Source.REPLY, Source.SUMMARY), len(one.points)) for one in findings_of(session)
    }
    found = {
        "outcomes": [one for one in entry.done if not one.text.startswith(STARTED)],
        "decisions": entry.decisions,
        "open": (*entry.questions, *entry.further),
    }
    lines, left_out = dict[str, list[HistoryLine]](), dict[str, int]()
    for kind, (_, most) in KINDS.items():
        new = [one for one in found[kind] if one.finding not in old and one.finding not in _OMITTED]
        places = sorted(range(len(new)), key=lambda at: (weights.get(new[at].finding, _LIGHT), at))[-most:]
        lines[kind], left_out[kind] = [new[at] for at in sorted(places)], len(new) - len(places)
    at = _last(session)
    if at is None or not any(lines.values()):
        return None
    is_followed = any(one.finding == "following" for one in entry.further)
    return Reported(entry, str(session.status or ""), at, lines, left_out, is_followed)


def _times(phases: Iterable[Phase]) -> Iterator[datetime]:
    for phase in phases:
        yield from filter(None, (phase.started, phase.ended))


def _last(session: Session) -> datetime | None:
    return max((*filter(None, (session.started, session.ended)), *_times(session.all_phases())), default=None)


def _over(session: Session, since: datetime) -> Iterator[Phase]:
    """Yield the phases that ended before `since`, by their own end or by the start of the next phase."""
    phases = [*session.all_phases()]
    for phase, following in zip(phases, [*phases[1:], None], strict=False):
        end = phase.ended or (following.started if following else None)
        if end and end < since:
            yield phase


# --- rendering -------------------------------------------------------------------------------------------------------


def render_report(found: Sequence[Reported], zone: tzinfo, *, markdown: bool = False) -> str:
    """Render the report as text or Markdown, by project, oldest first.  `zone` is the user's time zone."""
    rows: list[str] = []
    ordered = sorted(found, key=_place)
    for project, group in groupby(ordered, key=lambda one: one.entry.project):
        rows += [f"## {project or _NO_PROJECT}" if markdown else project or _NO_PROJECT, ""]
        for one in group:
            head = f"{one.entry.title or one.entry.session_id} ({in_zone(one.at, zone):%a %Y-%m-%d}, {one.status or 'unknown'})"
            rows += [f"### {head}", ""] if markdown else [f"  {head}"]
            rows += [f"{'- ' if markdown else '    '}{row}" for row in _lines(one)]
            rows.append("")
    return "\n".join(rows)


def _place(one: Reported) -> tuple[bool, str, datetime, str]:
    project = one.entry.project
    return not project, project.casefold(), one.at, one.entry.session_id


def _lines(one: Reported) -> Iterator[str]:
    for kind, (label, _) in KINDS.items():
        then = " then" if kind == "open" and one.is_followed else ""
        lines = [f"{label}{then}: {line.text}" for line in one.lines[kind]]
        if left := one.left_out[kind]:
            lines[-1] += f" (and {left} more)"
        yield from lines
