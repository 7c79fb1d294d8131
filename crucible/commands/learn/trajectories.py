"""Workflows: phases that came to an outcome, as the steps that led there.

A case has the request, what changed something or proved it, and the closing words; looks and dead ends are left to the session.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby

from crucible.analysis.failures.moments import Moment
from crucible.commands.learn.case import Case, Trajectory
from crucible.commands.learn.case_making import make_case
from crucible.commands.learn.excerpts import (
    SENTENCE,
    SIDE,
    brief,
    brief_turns,
    request_of,
    with_words,
)
from crucible.commands.learn.puzzles_proof import verification_after
from crucible.commands.learn.timeline import Timeline, outcome_of, said_at
from crucible.documents.session.session import Callout, Intervention, Outcome, Phase, Prose, Status

__all__ = ["find_trajectories"]


def find_trajectories(timeline: Timeline) -> Iterator[Case]:
    """The workflows of a session: each phase that was completed, came to an outcome and was not corrected."""
    parts = [list(group) for _, group in groupby(timeline.moments, key=_top)]
    corrected = _corrected(timeline)
    for part in parts:
        is_whole = _top(part[0]) not in corrected and _is_done(timeline, part, is_last=part is parts[-1])
        if is_whole and (case := _case(timeline, part)):
            yield case


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


def _case(timeline: Timeline, part: list[Moment]) -> Case | None:
    first = part[0]
    outcome = outcome_of(timeline, _top(first))
    if outcome is None:
        return None
    goal = timeline.goal_of(_top(first))
    steps = _steps(timeline, part)
    turns = brief_turns(steps, SIDE * 6, SIDE)
    if not any(one.changed for one in steps) or sum(len(one.calls) for one in turns) < sum(
        bool(one.call) for one in steps
    ):
        return None  # a piece of a phase is no workflow
    # Of a phase what stays when others come before it, as its number does not; `distinct` parts those with the same name.
    anchor = f"{goal}\n{_phase(timeline, first).name}"
    begun = next((one.at for one in part if not isinstance(one.entry, Intervention)), first.at)
    is_long = len(goal.split()) >= SENTENCE
    body = Trajectory(brief(goal, SIDE // 2) if is_long else request_of(timeline, begun), turns)
    return make_case(
        timeline, first, body, anchor, finding=outcome, verification=verification_after(timeline, first.at)
    )


def _steps(timeline: Timeline, part: list[Moment]) -> list[Moment]:
    """The calls that changed or proved something, each with the words right before it, and the closing words."""
    closing = part[-1:] if isinstance(part[-1].entry, Prose) else []
    return with_words(timeline, [*(one for one in part if one.passed and (one.commands or one.changed)), *closing])
