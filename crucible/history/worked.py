"""How long was worked on a session, without its breaks.

Owns what counts as a break: what lies between a stop that a bookmark tells of and the next sign of work, and a gap between two phases in which a
session would have counted as quiet.  What neither the note nor a bookmark tells of is no break.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from itertools import pairwise
from typing import NamedTuple, TypeAlias

from crucible.bookmarks.model import Bookmark, Why
from crucible.session.model import Phase, Session

__all__ = ["QUIET", "worked"]

QUIET = timedelta(minutes=60)
"""A gap between phases that is longer is a break, where no setting says otherwise."""

Span: TypeAlias = "tuple[datetime, datetime]"

_STOPS = frozenset((Why.PAUSED, Why.ENDED, Why.IDLE, Why.DIED))
_AFTERWARDS = frozenset((Why.IDLE, Why.DIED))
"""Made when somebody looked: work had stopped before."""
_WITHIN = frozenset((Why.PAUSED, Why.IDLE))
"""Stops that are believed inside of a phase, too: a recorder's phase lasts until the next one begins.  A client's end may be noted so late that the
next one is at work already."""
_AT_WORK = frozenset((Why.PAUSED, Why.TASK))
"""Made by who was just at work."""


class _Phases(NamedTuple):
    """Spans that the phases tell, and those that only follow: from the last time of a phase without an end to the next one's beginning."""

    told: list[Span]
    inferred: list[Span]


def worked(
    session: Session, bookmarks: Iterable[Bookmark] = (), quiet: timedelta = QUIET
) -> timedelta | None:
    """The time worked, by the session's note and its own `bookmarks`; None where nobody knows when it began, or any later time.

    A gap of more than `quiet` between two phases, before the first or behind the last is a break.
    """
    marks = [*bookmarks]
    times = [time for phase in session.all_phases() for time in (phase.started, phase.ended) if time]
    first = session.started or min(times, default=None)
    last = session.ended or max((*times, *(one.at for one in marks if one.why in _AT_WORK)), default=None)
    if first is None or last is None or last < first:
        return None
    phases = _phases(session.phases, first, last)
    signs = sorted([*times, *(one.at for one in marks if one.why in _AT_WORK), last])
    stops = [(one.why, _pause(one, signs, last)) for one in marks if one.why in _STOPS]
    told = _without(phases.told, [span for why, span in stops if why in _WITHIN])
    between = _without([*phases.inferred, *_gaps(phases, first, last, quiet)], [span for _, span in stops])
    spans = ((max(start, first), min(end, last)) for start, end in (*told, *between))
    return sum((end - start for start, end in _merged(spans)), timedelta())


def _phases(phases: Sequence[Phase], first: datetime, last: datetime) -> _Phases:
    """Of a note whose phases have no times all of it follows."""
    told: list[Span] = []
    inferred: list[Span] = []
    timed = [one for one in phases if any(part.started for part in (one, *one.subphases))]
    begun = [_times(one)[0] for one in timed]
    for phase, following in zip(timed, [*begun[1:], last], strict=False):
        start, end = _times(phase)
        told.append((start, end))
        if phase.ended is None:
            inferred.append((end, following))
    return _Phases(told, inferred if timed else [(first, last)])


def _times(phase: Phase) -> Span:
    """The first and the last time of a phase with its parts."""
    parts = (phase, *phase.subphases)
    start = min(part.started for part in parts if part.started)
    return start, max(start, *(time for part in parts for time in (part.started, part.ended) if time))


def _gaps(phases: _Phases, first: datetime, last: datetime, quiet: timedelta) -> Iterator[Span]:
    """The gaps in which somebody may well have been at work: reading what was done, thinking of what comes next."""
    spans = _merged([(first, first), *phases.told, *phases.inferred, (last, last)])
    for (_, end), (start, _) in pairwise(spans):
        if start - end <= quiet:
            yield end, start


def _pause(stop: Bookmark, signs: Sequence[datetime], last: datetime) -> Span:
    """From when nobody was at work to the next sign of somebody who is; `signs` are in order."""
    after = bisect_right(signs, stop.at)
    begun = signs[after - 1] if stop.why in _AFTERWARDS and after else stop.at
    return begun, signs[after] if after < len(signs) else max(last, stop.at)


def _merged(spans: Iterable[Span]) -> list[Span]:
    """In order and apart from each other; what ends before it begins is none."""
    found: list[Span] = []
    for start, end in sorted(one for one in spans if one[0] <= one[1]):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(found[-1][1], end))
        else:
            found.append((start, end))
    return found


def _without(spans: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """What is left of the spans; both are looked at once, from the first to the last."""
    left: list[Span] = []
    waiting = _merged(holes)[::-1]
    for start, end in _merged(spans):
        begun = start
        while waiting and waiting[-1][0] < end:
            begin, over = waiting[-1]
            left.append((begun, begin))
            begun = max(begun, over)
            if over > end:
                break
            waiting.pop()
        left.append((begun, end))
    return [one for one in left if one[0] <= one[1]]
