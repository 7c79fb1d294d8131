"""Corrections: the user said what was wrong or unwanted, and what holds instead.

Owns what of a session belongs to a correction: what the agent did before, the refused call, the words, and what followed.  Findings say which words
are corrections.  A finding whose words are not in the note makes no case.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator

from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Correction
from crucible.cases.placing import said_at
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after
from crucible.session.model import Intervention, Outcome

__all__ = ["find_corrections"]

_DID, _THEN = 16, 40
"""How many moments before and after are kept."""


def find_corrections(timeline: Timeline) -> Iterator[Case]:
    """The corrections of a session, in the order of its note."""
    found = said_at(timeline)
    for at in sorted(found):
        yield _case(timeline, timeline.moments[at], found)


def _case(timeline: Timeline, said: Moment, corrections: Collection[int]) -> Case:
    entry = said.entry
    is_spoken = isinstance(entry, Intervention)
    words = entry.words if isinstance(entry, Intervention) else said.result
    refused = _refused(timeline, said)
    line = refused.call.call if refused and refused.call else ""
    until = said.at if is_spoken else said.at + 1
    did = _what_was_done(timeline, until)
    body = Correction(
        _goal(timeline, did[0] if did else said, corrections),
        turns_of(did[-_DID:]),
        words,
        turns_of(_what_followed(timeline, said.at)),
        line,
    )
    anchor = f"{words}\n{line}" if line else words
    verification = verification_after(timeline, said.at)
    return make_case(timeline, CaseType.CORRECTION, refused or said, body, anchor, verification=verification)


def _refused(timeline: Timeline, said: Moment) -> Moment | None:
    """The call that the user refused with these words: the first of those refused since the agent's last other call."""
    found = None
    for moment in reversed(timeline.moments[: said.at + 1]):
        if moment.outcome is Outcome.REJECTED:
            found = moment
        elif moment.call or (isinstance(moment.entry, Intervention) and moment is not said):
            break
    return found


def _what_was_done(timeline: Timeline, until: int) -> list[Moment]:
    """The agent's work since the user's previous words, or the words before those if it only talked."""
    did: list[Moment] = []
    for moment in reversed(timeline.moments[:until]):
        if isinstance(moment.entry, Intervention) and any(one.call for one in did):
            break
        did.append(moment)
    did.reverse()
    while did and isinstance(did[0].entry, Intervention):
        did = did[1:]
    return did


def _goal(timeline: Timeline, first: Moment, corrections: Collection[int]) -> str:
    """The words that asked for the work: the last ones before it that are not a correction."""
    for moment in reversed(timeline.moments[: first.at]):
        if isinstance(moment.entry, Intervention) and moment.at not in corrections:
            return moment.entry.words
    return timeline.goal_of(first.phase)


def _what_followed(timeline: Timeline, end: int) -> list[Moment]:
    """What the agent did next, up to the user's next words, the next refused call, or the end of the phase."""
    top = timeline.moments[end].phase.partition(".")[0]
    then: list[Moment] = []
    for moment in timeline.moments[end + 1 : end + 1 + _THEN]:
        is_other = moment.phase.partition(".")[0] != top
        if is_other or isinstance(moment.entry, Intervention) or moment.outcome is Outcome.REJECTED:
            break
        then.append(moment)
    return then
