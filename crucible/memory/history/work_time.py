"""The time worked on a session, without breaks, and the files it modified and skills it used.

A break is a gap between phases longer than the idle time, or lasts from a bookmarked stop to the next activity.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import accumulate, pairwise
from typing import TypeAlias

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.analysis.tools.session_files import Files
from crucible.analysis.tools.tool_acts import Deed
from crucible.analysis.tools.tool_calls import acts_of
from crucible.core.patterns import late_pattern
from crucible.documents.session.session import (
    Entry,
    Intervention,
    Outcome,
    Phase,
    Session,
    Subagent,
    ToolCall,
    ToolCalls,
)
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason

QUIET = timedelta(minutes=60)
"""The default idle time: a longer gap between phases is a break."""

Span: TypeAlias = "tuple[datetime, datetime]"
Covers: TypeAlias = "Callable[[datetime, datetime], bool]"

_STOPS = frozenset((StopReason.PAUSED, StopReason.ENDED, StopReason.IDLE, StopReason.DIED))
_AFTERWARDS = frozenset((StopReason.IDLE, StopReason.DIED))
"""Reasons for bookmarks made later by a check: work had stopped at the last activity before them."""
_WITHIN = frozenset((StopReason.PAUSED, StopReason.IDLE))
"""Stops that also count inside a phase: a recorded phase lasts until the next one begins."""
_AT_WORK = frozenset((StopReason.PAUSED, StopReason.TASK))
"""Reasons for bookmarks made during work."""


def worked(session: Session, bookmarks: Iterable[Bookmark] = (), quiet: timedelta = QUIET) -> timedelta | None:
    """Return the time worked, from the note and the session's `bookmarks`; None if its start or end is unknown.

    A gap of more than `quiet` between two phases, before the first or after the last, is a break.
    """
    marks = sorted(bookmarks, key=lambda one: one.at)
    times = _times(session.all_phases())
    signs = [one.at for one in marks if one.why in _AT_WORK]
    first = session.started or min(times, default=None)
    last = session.ended or max((*times, *signs), default=None)
    if first is None or last is None or last < first:
        return None
    in_phase, in_open_phase = _spans(session, first, last)
    stops = [one for one in marks if one.why in _STOPS]
    total = timedelta()
    for begin, end in pairwise(sorted(at for at in {*times, first, last} if first <= at <= last)):
        is_phase = in_phase(begin, end)
        if is_phase or in_open_phase(begin, end) or end - begin <= quiet:
            counted = [one for one in stops if one.why in _WITHIN or not is_phase]
            inner = (at for at in signs if begin < at < end)
            total += sum((_until_stop(span, counted) for span in pairwise((begin, *inner, end))), timedelta())
    return total


def _until_stop(span: Span, stops: Iterable[Bookmark]) -> timedelta:
    """Return the time from the beginning of a span to the first stop in it, or to its end."""
    begin, end = span
    found = (begin if one.why in _AFTERWARDS else one.at for one in stops if begin <= one.at < end)
    return min(found, default=end) - begin


def _times(phases: Iterable[Phase]) -> set[datetime]:
    return {time for phase in phases for time in (phase.started, phase.ended) if time}


def _spans(session: Session, first: datetime, last: datetime) -> tuple[Covers, Covers]:
    """Return functions that check whether a span is in a phase, and in the open time after a phase without an end.

    That open time lasts until the next phase.  If no phase has a time, the entire session is open.
    """
    found = [(_times((phase, *phase.subphases)), phase.ended) for phase in session.phases]
    timed = [(min(times), max(times), ended) for times, ended in found if times]
    following = [*(begin for begin, _, _ in timed[1:]), last]
    open_spans = [(over, then) for (_, over, ended), then in zip(timed, following, strict=False) if not ended]
    return _cover([(begin, over) for begin, over, _ in timed]), _cover(open_spans if timed else [(first, last)])


def _cover(spans: Sequence[Span]) -> Covers:
    """Return a function that checks whether one of the spans contains a given span."""
    ordered = sorted(spans)
    begins = [begin for begin, _ in ordered]
    ends = [*accumulate((end for _, end in ordered), max)]

    def covers(begin: datetime, end: datetime) -> bool:
        at = bisect_right(begins, begin)
        return at > 0 and ends[at - 1] >= end

    return covers


# --- files and skills ------------------------------------------------------------------------------------------------

_CHANGES = frozenset((Deed.WRITE, Deed.EDIT, Deed.DELETE))
_NOT_DONE = frozenset((Outcome.FAILED, Outcome.REJECTED))
_CUT = "…"
_TEMPORARY = late_pattern(r"(?<![\w.])(?:/private)?/(?:tmp|var/folders)/[^\s'\"`;|&<>]+")
_ELSEWHERE = ("~", "/")
"""Prefixes of the names of files outside the project."""


def entries_of(session: Session) -> Iterator[Entry]:
    """Yield all entries in order, including those of inline subagents except their prompts, which no user wrote."""
    yield from _with_inline(session.preamble)
    yield from _with_inline(session.all_entries())


def _with_inline(entries: Iterable[Entry]) -> Iterator[Entry]:
    for entry in entries:
        yield entry
        if isinstance(entry, Subagent):
            yield from (one for one in _with_inline(entry.entries) if not isinstance(one, Intervention))


def modified_files(session: Session, evidence: RecordedCalls) -> tuple[str, ...]:
    """Return the files modified in the project, in the order of their first change.

    Skips files outside the project, temporary files, files that were created and deleted again or reverted, and names
    that are shortened in the note.
    """
    files, found, made = Files(), dict[str, None](), set[str]()
    acts = (
        act
        for call in _calls(session)
        if call.outcome not in _NOT_DONE
        for act in acts_of(call, evidence, files)
        if not act.what.endswith(_CUT)
        and not act.what.startswith(_ELSEWHERE)
        # If the project's folder is unknown, only file names are kept.
        and not any(path.endswith(f"/{act.what}") for path in _TEMPORARY.findall(call.call))
    )
    for act in acts:
        gone: set[str] = set()
        if act.deed in (Deed.REVERT, Deed.DELETE):
            inner = {one for one in found if one == act.what or one.startswith(f"{act.what}/")}
            gone = inner if act.deed is Deed.REVERT else inner & made
        if gone:
            found = {one: None for one in found if one not in gone}
        elif act.deed in _CHANGES:
            made |= {act.what} if act.deed is Deed.WRITE and act.what not in found else set()
            found[act.what] = None
    return tuple(found)


def used_skills(session: Session) -> tuple[str, ...]:
    """Return the skills used in a session, in the order of their first use."""
    found: dict[str, None] = {}
    for call in _calls(session):
        if call.call[:6].lower() == "skill " and call.outcome not in _NOT_DONE:
            found.update(dict.fromkeys(call.call.split()[1:2]))
    return tuple(found)


def _calls(session: Session) -> Iterator[ToolCall]:
    for entry in entries_of(session):
        if isinstance(entry, ToolCalls):
            yield from entry.calls
