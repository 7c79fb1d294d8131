"""A session as it is shared: at a level of detail, with its subagents in place, every text redacted again."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    Entry,
    Intervention,
    Mode,
    NoteHome,
    Phase,
    Session,
    Subagent,
    ToolCalls,
)
from crucible.vault.index.costs import Cost
from crucible.web.call_details import CallDetail, read_call_details
from crucible.web.page_frame import page_frame
from crucible.web.session_entries import Level, Shown, calls_of, level_of
from crucible.web.session_page import Facts, session_html
from crucible.web.share_redaction import ShareRedaction
from crucible.web.web_vault import WebVault, cost_note, show_cost

_DEEPEST = 5
"""Levels of subagents that are shown in place."""
_LEVELS = [*Level]


class Contents(NamedTuple):
    """How much is shared."""

    phases: int
    prompts: int
    calls: int
    outputs: int
    subagents: int


class Shared(NamedTuple):
    """A redacted session: its subagents' sessions by id, calls' details by id on the page, and the cost."""

    session: Session
    reports: Mapping[str, Session]
    details: Mapping[str, CallDetail]
    cost: Cost
    level: Level

    @property
    def contents(self) -> Contents:
        """What is in it, subagents included."""
        entries = [
            entry
            for one in (self.session, *self.reports.values())
            for entry in _flat((*one.preamble, *one.all_entries()))
        ]
        return Contents(
            len(self.session.phases),
            sum(isinstance(entry, Intervention) for entry in entries),
            sum(len(entry.calls) for entry in entries if isinstance(entry, ToolCalls)),
            sum(bool(detail.output) for detail in self.details.values()),
            len(self.reports),
        )


def _flat(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Subagent):
            yield from _flat(entry.entries)


def shared_session(web: WebVault, session: Session, level: Level, redaction: ShareRedaction) -> Shared:
    """Read what belongs to a session, leave out what the level does not show, and redact the rest."""
    is_full = level is Level.FULL
    details = read_call_details(web.vault.root, session.id, calls_of(session)) if is_full else {}
    reports = dict(_reports(session, web, {session.id}))
    names = {name: redaction.text(name) for name in reports}
    return Shared(
        _redacted(session, level, redaction),
        {names[name]: _redacted(one, level, redaction) for name, one in reports.items()} if level != Level.USER else {},
        {name: redaction.value(detail) for name, detail in details.items()},
        redaction.value(web.cost(session)),
        level,
    )


def _reports(session: Session, web: WebVault, seen: set[str]) -> Iterator[tuple[str, Session]]:
    """Yield the sessions of all subagents below a session, by id."""
    for ref in session.subagents:
        if ref.session in seen or len(seen) > _MOST:
            continue
        seen.add(ref.session)
        try:
            found = web.session(ref.session).session
        except CrucibleError:
            continue
        yield ref.session, found
        yield from _reports(found, web, seen)


_MOST = 10_000


def _redacted(session: Session, level: Level, redaction: ShareRedaction) -> Session:
    """Redact a session; what only its own vault needs goes."""
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


def in_place(shared: Shared) -> Session:
    """Return the session with its subagents' work inside their callouts, so that no link leads out of the file."""

    def placed(entries: Iterable[Entry], depth: int) -> tuple[Entry, ...]:
        return tuple(whole(entry, depth) if isinstance(entry, Subagent) else entry for entry in entries)

    def whole(entry: Subagent, depth: int) -> Subagent:
        report = shared.reports.get(entry.link or "") if depth < _DEEPEST else None
        work = (*report.preamble, *report.all_entries()) if report else ()
        return replace(
            entry, mode=Mode.INLINE, link=None, entries=(*placed(entry.entries, depth), *placed(work, depth + 1))
        )

    return map_entries(shared.session, lambda entries: placed(entries, 0))


def shared_html(shared: Shared, web: WebVault) -> str:
    """Render a self-contained file."""
    session = in_place(shared)
    facts = Facts(web.zone, show_cost(shared.cost), cost_note(shared.cost))
    shown = Shown(shared.level, details=shared.details)
    return session_html(session, page_frame(inline=True), shown, facts)


def shared_markdown(shared: Shared) -> str:
    """Write a note of its own; foreign text stays text, as in the vault."""
    session = in_place(shared)
    return render_session(replace(session, subagents=()))
