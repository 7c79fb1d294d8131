"""A session as it is shared: at a level of detail, with its subagents in place, every text redacted again."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Entry,
    Intervention,
    Mode,
    NoteHome,
    Phase,
    Prose,
    Session,
    Subagent,
    ToolCalls,
)
from crucible.vault.index.costs import Cost
from crucible.web.call_details import LEFT_OUT, read_call_details
from crucible.web.page_frame import page_frame
from crucible.web.session_entries import Level, Report, Shown, calls_of, level_of
from crucible.web.session_page import Facts, session_html
from crucible.web.share_redaction import ShareRedaction
from crucible.web.web_vault import WebVault, cost_note, show_cost

_DEEPEST = 20
"""Levels of subagents that are shown in place.  Clients make two or three."""
_LEVELS = [*Level]


class Contents(NamedTuple):
    """How much is shared.

    `listed` counts the subagents that notes name, also those whose notes are missing, and `left_out` the calls whose
    details are too large.
    """

    phases: int = 0
    prompts: int = 0
    calls: int = 0
    outputs: int = 0
    subagents: int = 0
    listed: int = 0
    left_out: int = 0


class Shared(NamedTuple):
    """A redacted session with its subagents, its cost, and the level of detail."""

    whole: Report
    cost: Cost
    level: Level


def with_all_below(report: Report) -> Iterator[Report]:
    """Yield a session and all subagents below it."""
    yield report
    for one in report.below.values():
        yield from with_all_below(one)


def contents_of(report: Report) -> Contents:
    """Count what is in a session, and in its subagents."""
    reports = [*with_all_below(report)]
    entries = [entry for one in reports for entry in _flat((*one.session.preamble, *one.session.all_entries()))]
    details = [detail for one in reports for detail in one.details.values()]
    return Contents(
        len(report.session.phases),
        sum(isinstance(entry, Intervention) for entry in entries),
        sum(len(entry.calls) for entry in entries if isinstance(entry, ToolCalls)),
        sum(bool(detail.output) for detail in details),
        len(reports) - 1,
        len({ref.session for one in reports for ref in one.session.subagents}),
        details.count(LEFT_OUT),
    )


def _flat(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Subagent):
            yield from _flat(entry.entries)


def shared_session(
    web: WebVault, session: Session, level: Level, redaction: ShareRedaction, room: int | None = sys.maxsize
) -> Shared:
    """Read a session and what belongs to it, drop what the level does not show, and redact the rest.

    `room` is the number of characters for the details of all calls; with None, none are read.
    """
    seen = {session.id}
    left = room

    def report_of(one: Session) -> Report:
        nonlocal left
        report = redacted_report(web, one, level, redaction, left)
        left = None if left is None else left - sum(map(len, chain.from_iterable(report.details.values())))
        return report

    def below(above: Session, depth: int) -> Iterator[tuple[str, Report]]:
        """Yield the subagents of a session and their subagents, by redacted id; each once, where it occurs first."""
        names = [ref.session for ref in above.subagents if ref.session not in seen] if depth <= _DEEPEST else []
        seen.update(names)
        for name in dict.fromkeys(names):
            with suppress(CrucibleError):
                found = web.session(name).session
                report = report_of(found)
                yield redaction.text(name), report._replace(below=dict(below(found, depth + 1)))

    whole = report_of(session)
    if level is not Level.USER:
        whole = whole._replace(below=dict(below(session, 1)))
    return Shared(whole, redaction.value(web.cost(session)), level)


def redacted_report(
    web: WebVault, session: Session, level: Level, redaction: ShareRedaction, room: int | None
) -> Report:
    """Redact a session, without its subagents, and the details of its calls if the level shows them.

    `room` is the number of characters for the details of all calls; with None, none are read.
    """
    wanted = calls_of(session) if level is Level.FULL and room is not None else ()
    details = read_call_details(web.vault.root, session.id, wanted, room or 0)
    return Report(_redacted(session, level, redaction), {name: redaction.value(one) for name, one in details.items()})


def _redacted(session: Session, level: Level, redaction: ShareRedaction) -> Session:
    """Redact a session, and drop what only its own vault needs."""
    shown = map_entries(session, lambda entries: at_level(entries, level))
    bare = replace(
        shown, properties={}, problems=(), sources=(), synced_to=(), redacted=(), aliases=(), home=NoteHome()
    )
    before = redaction.counts.total()
    clean = redaction.value(bare)
    count = (session.redactions or 0) + redaction.counts.total() - before
    return replace(clean, redactions=count or None)


def map_entries(session: Session, change: Callable[[Iterable[Entry]], tuple[Entry, ...]]) -> Session:
    """Change the entries of a session's preamble and of all its phases."""

    def changed(phase: Phase) -> Phase:
        return replace(phase, entries=change(phase.entries), subphases=tuple(map(changed, phase.subphases)))

    return replace(session, preamble=change(session.preamble), phases=tuple(map(changed, session.phases)))


def at_level(entries: Iterable[Entry], level: Level) -> tuple[Entry, ...]:
    """Return the entries that a level shows."""
    rank = _LEVELS.index(level)
    shown = (entry for entry in entries if _LEVELS.index(level_of(entry)) <= rank)
    return tuple(
        replace(entry, entries=at_level(entry.entries, level)) if isinstance(entry, Subagent) else entry
        for entry in shown
    )


def in_place(report: Report) -> Session:
    """Return the session with its subagents' work inside their callouts, so that no link leads out of the file."""

    def placed(entries: Iterable[Entry]) -> tuple[Entry, ...]:
        return tuple(whole(entry) if isinstance(entry, Subagent) else entry for entry in entries)

    def whole(entry: Subagent) -> Subagent:
        below = report.below.get(entry.link or "")
        work = _whole_work(in_place(below)) if below else ()
        return replace(entry, mode=Mode.INLINE, link=None, entries=(*placed(entry.entries), *work))

    return map_entries(report.session, placed)


def _whole_work(session: Session) -> Iterator[Entry]:
    """Yield all entries of a session, each phase's after its name if there are several."""
    yield from session.preamble
    phases = [*session.all_phases()]
    for phase in phases:
        if len(phases) > 1:
            yield Prose(phase.name)
        yield from phase.entries


def shared_html(shared: Shared, web: WebVault) -> str:
    """Render a self-contained file."""
    facts = Facts(web.zone, show_cost(shared.cost), cost_note(shared.cost))
    shown = Shown(shared.level, details=shared.whole.details, reports=shared.whole.below)
    return session_html(shared.whole.session, page_frame(inline=True), shown, facts)


def shared_markdown(shared: Shared) -> str:
    """Render a self-contained note; foreign text stays text, as in the vault."""
    session = in_place(shared.whole)
    return render_session(replace(session, subagents=()))
