"""Corrections: the user said what was wrong or unwanted, and what holds instead.

A case has what the agent did (the refused call or its last changes), the user's words, and what it then did right.  Findings say which words are
corrections.  One whose words are not in the note, or after which the user corrected again, makes no case.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from crucible.cases.excerpts import RUNS, SIDE, brief, brief_turns, is_change, request_of, with_words
from crucible.cases.making import make_case
from crucible.cases.model import Case, Correction
from crucible.cases.placing import said_at
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.verifying import verification_after
from crucible.session.findings import Finding
from crucible.session.model import Intervention, Outcome, Prose

__all__ = ["find_corrections"]

_DID, _THEN = 2, 4
"""How many changes before and after are shown."""


def find_corrections(timeline: Timeline) -> Iterator[Case]:
    """The corrections of a session, in the order of its note, but not those that the user had to repeat."""
    found = said_at(timeline)
    for at in sorted(found):
        then = _what_followed(timeline, at)
        end = then[-1].at if then else at
        if end + 1 not in found and not any(at < later <= end + 1 for later in found):
            yield _case(timeline, timeline.moments[at], then, found)


def _case(
    timeline: Timeline,
    said: Moment,
    then: Sequence[Moment],
    corrections: Mapping[int, Finding],
) -> Case:
    entry, finding = said.entry, corrections[said.at]
    words = entry.words if isinstance(entry, Intervention) else finding.summary.strip('"“”')
    refused = _refused(timeline, said)
    line = refused.call.call if refused and refused.call else ""
    did = [refused] if refused else _what_was_done(timeline, said.at)
    body = Correction(
        request_of(timeline, (did[0] if did else said).at, corrections),
        brief_turns(with_words(timeline, did)),
        brief(words, SIDE // 2),
        brief_turns(_changes(then), 2 * SIDE),
        brief(line, SIDE // 8),
    )
    anchor = f"{words}\n{line}" if line else words
    verification = verification_after(timeline, said.at)
    return make_case(timeline, refused or said, body, anchor, finding=finding, verification=verification)


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
    """The agent's last changes, or its last call, since the user's previous words; its words if it only talked."""
    turn: list[Moment] = []
    for moment in reversed(timeline.moments[:until]):
        if isinstance(moment.entry, Intervention) and any(one.call for one in turn):
            break
        turn.insert(0, moment)
    changes = [one for one in turn if is_change(one)][-_DID:]
    calls = changes or [one for one in turn if one.call][-1:]
    said = [one for one in turn[-1:] if isinstance(one.entry, Prose)]
    return [*calls, *said]


def _what_followed(timeline: Timeline, at: int) -> list[Moment]:
    """What the agent did next, up to the user's next words or the next refused call."""
    then: list[Moment] = []
    for moment in timeline.moments[at + 1 :]:
        if isinstance(moment.entry, Intervention) or moment.outcome is Outcome.REJECTED:
            break
        then.append(moment)
    return then


def _changes(then: Sequence[Moment]) -> list[Moment]:
    """What the agent said at once, the first changes or commands that succeeded, and its last words."""
    runs = [one for one in then if one.outcome is Outcome.OK and any(act.deed in RUNS for act in one.acts)]
    done = [one for one in then if is_change(one)] or runs
    said = [one for one in then if isinstance(one.entry, Prose)]
    shown = {one.at: one for one in (*said[:1], *done[:_THEN], *said[-1:])}
    return [shown[at] for at in sorted(shown)]
