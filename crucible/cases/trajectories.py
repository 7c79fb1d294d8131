"""Workflows: whole phases that were brought to an end, and whole sessions, turn by turn.

Owns which phase is complete: something was done in it, nothing was left failed or stopped, and the session has gone on or ended.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Trajectory
from crucible.cases.placing import said_at
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after
from crucible.session.model import Callout, Outcome, Phase, Status

__all__ = ["find_trajectories"]


def find_trajectories(timeline: Timeline) -> Iterator[Case]:
    """The workflows of a session: each whole phase whose work was not corrected, then the whole session if all its phases are such."""
    parts = [list(group) for _, group in groupby(timeline.moments, key=_top)]
    is_ended = timeline.session.status is Status.COMPLETED
    corrected = _corrected(timeline)
    whole = [
        part
        for part in parts
        if _top(part[0]) not in corrected and _is_done(timeline, part, is_last=part is parts[-1])
    ]
    for part in whole:
        yield _case(timeline, part, whole=is_ended and len(parts) == 1)
    if is_ended and len(parts) > 1 and len(whole) == len(parts):
        yield _case(timeline, list(timeline.moments), whole=True)


def _corrected(timeline: Timeline) -> set[str]:
    """The phases with work that the user corrected, there or at the beginning of a later one."""
    before = (timeline.moments[:at] for at in said_at(timeline))
    last = (next((one for one in reversed(moments) if one.call), None) for moments in before)
    return {_top(moment) for moment in last if moment}


def _top(moment: Moment) -> str:
    return moment.phase.partition(".")[0]


def _phase(timeline: Timeline, moment: Moment) -> Phase:
    return timeline.phases.get(_top(moment)) or timeline.phase_of(moment.at)


def _is_done(timeline: Timeline, part: list[Moment], *, is_last: bool) -> bool:
    if is_last and timeline.session.status not in (Status.COMPLETED, None):
        return False
    calls = [one for one in part if one.call]
    phase = _phase(timeline, part[0])
    is_stopped = isinstance(part[-1].entry, Callout) and part[-1].entry.title.startswith("Interrupted")
    is_cut = calls and calls[-1].outcome in (Outcome.INTERRUPTED, Outcome.PENDING, Outcome.REJECTED)
    return bool(calls) and phase.status == "success" and not is_stopped and not is_cut


def _case(timeline: Timeline, part: list[Moment], *, whole: bool) -> Case:
    first = part[0]
    goal = timeline.goal_of(_top(first))
    found = verification_after(timeline, first.at)
    body = Trajectory(goal, turns_of(part), whole)
    # Of a phase what stays when others come before it, as its number does not; `distinct` parts those that are called alike.
    anchor = "the whole session" if whole else f"{goal}\n{_phase(timeline, first).name}"
    return make_case(timeline, CaseType.WORKFLOW, first, body, anchor, verification=found)
