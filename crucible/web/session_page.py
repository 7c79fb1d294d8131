"""The page of one session.

`session_html(session, frame, shown, facts)` returns the HTML.  `shown.level` leaves out what a level does not show,
so a shared file contains nothing else.  For a self-contained file, pass `page_frame(inline=True)`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, tzinfo
from typing import NamedTuple

from markupsafe import Markup

from crucible.core.text import counted, short_duration
from crucible.core.zones import in_zone
from crucible.documents.markdown.containment import cut
from crucible.documents.session.findings import plain
from crucible.documents.session.property_values import linktext_of
from crucible.documents.session.session import Decision, Failure, FindingItem, Phase, Session, Status, Task
from crucible.web.markdown_html import kind_words, render_markdown
from crucible.web.page_frame import Frame, environment, render_page, stream_page
from crucible.web.session_entries import Level, Shown, numbered, phase_prefix, render_entries


class Facts(NamedTuple):
    """What a page shows that is not in the note.

    `zone` is the user's time zone.  `cost` is the price with its unit, "" if unknown, and `cost_note` says what it
    covers.  `events` is the address of a stream that reports changes, and `detail` that of a call's details; a page
    that is not live has neither.  `redactions` replaces the note's own count of removed secrets.
    """

    zone: tzinfo | None = UTC
    cost: str = ""
    cost_note: str = ""
    events: str = ""
    detail: str = ""
    redactions: int | None = None


class PhaseView(NamedTuple):
    """A phase: its heading, a line of facts, and its entries."""

    id: str
    number: str
    name: str
    facts: str
    is_failed: bool
    duration: str
    entries: Markup
    inner: Sequence[PhaseView]


class Glance(NamedTuple):
    """A decision, an error or a finding, with the id of its entry ("" for none)."""

    kind: str
    text: str
    href: str = ""


def session_html(session: Session, frame: Frame, shown: Shown, facts: Facts) -> str:
    """Render a session's page."""
    return render_page("session", frame, **_values(session, shown, facts))


PART = 200
"""Phases on a live page; the script asks for the rest, so that a long session is shown at once."""


def stream_session(session: Session, frame: Frame, shown: Shown, facts: Facts, first: int = 1) -> Iterator[str]:
    """Yield a session's page in parts, without its start and with `PART` phases from number `first` on."""
    return stream_page("session", frame, **_values(session, shown, facts, range(first, first + PART)))


def changes_html(session: Session, numbers: range, shown: Shown, facts: Facts) -> str:
    """Render the parts that grow or are still missing: the head, the list of phases, and the phases with these numbers."""
    values = _values(session, shown, facts, numbers)
    return environment().get_template("session_changes.html.j2").render(**values)


def _values(session: Session, shown: Shown, facts: Facts, numbers: range | None = None) -> Mapping[str, object]:
    count = len(session.phases)
    chosen = session.phases if numbers is None else session.phases[max(0, numbers.start - 1) : numbers.stop - 1]
    return {
        "title": session.title or session.id,
        "session": session,
        "facts": facts,
        "shown": shown,
        "levels": [*Level][: [*Level].index(shown.level) + 1],
        "head": list(_head(session, shown, facts)),
        "outline": [(phase.id, _number(phase), phase.name, *_outlined(phase)) for phase in session.phases],
        "timeline": _timeline(session, facts.zone),
        "tasks": [(_TASKS.get(task.status, "☐"), task.status, _task_text(task)) for task in session.tasks],
        "glances": list(_glances(session)),
        "findings": [_finding(item) for item in session.findings],
        "preamble": render_entries(session.preamble, "e0", shown),
        "phases": (_phase(phase, shown, facts) for phase in chosen),
        "summary": render_markdown(session.summary, shown.links, "summary") if session.summary else "",
        "is_live": session.status is Status.ACTIVE and bool(facts.events),
        "next": numbers.stop if numbers and numbers.stop <= count else 0,
    }


# --- head ------------------------------------------------------------------------------------------------------------


def _head(session: Session, shown: Shown, facts: Facts) -> Iterator[tuple[str, str | Markup]]:
    """Yield the facts of the head, each with its label."""
    duration = session.duration()
    tokens = f"{session.tokens_used:,}" if session.tokens_used is not None else ""
    cached = f" + {session.tokens_cached:,} cached" if session.tokens_cached else ""
    redactions = session.redactions if facts.redactions is None else facts.redactions
    found: Mapping[str, str | Markup] = {
        "Project": session.project or "",
        "Branch": session.branch or "",
        "Channel": session.channel or "",
        "Agents": ", ".join(map(str, session.participants)),
        "Model": session.model or "",
        "Started": show_time(session.started, facts.zone),
        "Duration": short_duration(duration.total_seconds()) if duration is not None else "",
        "Tokens": tokens + cached,
        "Cost": facts.cost,
        "Redacted": counted(redactions, "secret") if redactions else "",
        "Subagent of": _link(session.parent, shown),
        "Continues": _link(session.continues, shown),
        "Continued by": _link(session.continued_by, shown),
        "Tags": ", ".join(tag for tag in session.tags if tag != "session"),
    }
    yield from ((label, value) for label, value in found.items() if value)


def _link(written: str | None, shown: Shown) -> str | Markup:
    """Return a property's link to another session, or its text if that session has no page."""
    if not written:
        return ""
    target = linktext_of(written).target if written.startswith("[[") else written
    name = target.rpartition("/")[2]
    href = shown.links(target)
    return Markup('<a href="{}">{}</a>').format(href, name) if href else name


def show_time(time: datetime | None, zone: tzinfo | None) -> str:
    """Return a time in the user's zone; "" for None."""
    return in_zone(time, zone).strftime("%Y-%m-%d %H:%M") if time else ""


def _number(phase: Phase) -> str:
    return phase.id.removeprefix("phase-")


def _seconds(phase: Phase) -> float | None:
    return (phase.ended - phase.started).total_seconds() if phase.ended and phase.started else None


def _outlined(phase: Phase) -> tuple[str, bool]:
    seconds = _seconds(phase)
    return short_duration(seconds) if seconds else "", phase.status == "failed"


# --- timeline --------------------------------------------------------------------------------------------------------

_WIDE = 1000
"""Units of the timeline's width."""
_SHORTEST = 60
"""Seconds; a shorter session needs no timeline."""


class Timeline(NamedTuple):
    """When a session worked: SVG paths of the phases that succeeded and failed, and the first and last time."""

    worked: str
    failed: str
    first: str
    last: str


def _timeline(session: Session, zone: tzinfo | None) -> Timeline | None:
    spans = [(p.started, p.ended, p.status) for p in session.phases if p.started and p.ended and p.ended >= p.started]
    if len(spans) < 2:
        return None
    first, last = min(s for s, _, _ in spans), max(e for _, e, _ in spans)
    whole = (last - first).total_seconds()
    if whole < _SHORTEST:
        return None
    paths = {"success": [""], "failed": [""]}
    for start, end, status in spans:
        at = _WIDE * (start - first).total_seconds() / whole
        length = max(2.0, _WIDE * (end - start).total_seconds() / whole - 1)
        paths[status].append(f"M{min(at, _WIDE - 2):.0f} 0h{length:.0f}")
    return Timeline("".join(paths["success"]), "".join(paths["failed"]), show_time(first, zone), show_time(last, zone))


# --- at a glance -----------------------------------------------------------------------------------------------------

_TASKS = {"completed": "☑", "in_progress": "◐", "pending": "☐"}
_LONGEST = 240


def _task_text(task: Task) -> str:
    return task.content + (f" (after {', '.join(task.depends_on)})" if task.depends_on else "")


def _glances(session: Session) -> Iterator[Glance]:
    """Yield the decisions, and the errors that are not fixed."""
    places = [("e0", session.preamble), *((phase_prefix(p), p.entries) for p in session.all_phases())]
    for above, entries in places:
        for name, entry in numbered(entries, above):
            if isinstance(entry, Decision):
                yield Glance("decision", _shortened(entry.text), name)
            elif isinstance(entry, Failure) and not entry.resolution:
                yield Glance("error", _shortened(entry.text), name)


def _shortened(text: str) -> str:
    return cut(plain(text), _LONGEST)


def _finding(item: FindingItem) -> Glance:
    kinds = " and ".join(kind_words(kind) for kind in (item.kind, item.also) if kind)
    parts = [item.text, item.details or "", *item.points]
    return Glance(kinds, "\n".join(filter(None, parts)), item.grounds.phase if item.grounds else "")


# --- phases ----------------------------------------------------------------------------------------------------------


def _phase(phase: Phase, shown: Shown, facts: Facts) -> PhaseView:
    seconds = _seconds(phase)
    duration = short_duration(seconds) if seconds else ""
    parts = [
        f"@{phase.agent}" if phase.agent else "",
        f"#{phase.channel}" if phase.channel else "",
        show_time(phase.started, facts.zone),
        duration,
        f"{phase.tokens:,} tokens" if phase.tokens is not None else "",
    ]
    return PhaseView(
        phase.id,
        _number(phase),
        phase.name,
        " · ".join(filter(None, parts)),
        phase.status == "failed",
        duration,
        render_entries(phase.entries, phase_prefix(phase), shown),
        [_phase(inner, shown, facts) for inner in phase.subphases],
    )
