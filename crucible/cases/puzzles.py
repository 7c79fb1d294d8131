"""Puzzles: what failed, what was tried, and what fixed it, as cases.

Owns what of a session belongs to a puzzle and what to its solution.  Findings say which failures were fixed; what may not be told is `hiding`'s.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.acts.model import Deed
from crucible.cases.hiding import withhold
from crucible.cases.hints import hints_for, message_of
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Puzzle, Verification
from crucible.cases.placing import placed
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after, verified_by
from crucible.note.contain import cut, normal_line
from crucible.session.findings import Finding, Kind, Source
from crucible.session.model import Failure, Intervention, Outcome, Prose, Subagent

__all__ = ["find_puzzles"]

_BACK = 400
"""How many moments before a callout are searched for its failed call."""
_LATE = 8
"""Maximum moments between a call that passed and its callout."""
_BEFORE = 3
"""Moments of an agent's words right before a try that belong to it."""
_STRETCH = 40
"""Maximum moments of a solution; the last ones are kept."""
_STATE = 8
"""How many acts before a failure are kept."""
_LINE = 160


class _Fixed(NamedTuple):
    """A failure that was fixed: the moments of its callout, of the calls that failed, and of the call that passed then."""

    finding: Finding
    told: Moment
    tries: Sequence[Moment] = ()
    passed: Moment | None = None

    @property
    def first(self) -> Moment:
        """Where the puzzle begins."""
        return self.tries[0] if self.tries else self.told


def find_puzzles(timeline: Timeline) -> Iterator[Case]:
    """The puzzles of a session, in the order of its note."""
    for finding, moment in placed(timeline, Kind.FAILURE):
        yield _case(timeline, _fixed(timeline, finding, moment))


def _case(timeline: Timeline, fixed: _Fixed) -> Case:
    solution = _solution(timeline, fixed)
    failure = _failure(fixed)
    body = withhold(
        Puzzle(
            goal=timeline.goal_of(fixed.first.phase),
            state=_state(timeline, fixed.first),
            tried=turns_of(_tried(timeline, fixed)),
            failure=failure,
            expected="\n\n".join(filter(None, (fixed.finding.cause, fixed.finding.resolution))),
            solution=turns_of(solution),
            hints=hints_for(failure, solution),
        )
    )
    call = fixed.first.call
    anchor = f"{call.call} → {call.result}" if call else failure
    return make_case(
        timeline, CaseType.PUZZLE, fixed.first, body, anchor, verification=_verification(timeline, fixed)
    )


# --- the calls -------------------------------------------------------------------------------------------------------


def _fixed(timeline: Timeline, finding: Finding, told: Moment) -> _Fixed:
    """The nearest call before a callout that passed, after the same had failed."""
    for passed in reversed(timeline.moments[max(0, told.at - _LATE) : told.at]):
        if passed.outcome is Outcome.OK and (tries := _tries(timeline, passed)):
            return _Fixed(finding, told, tries, passed)
    if finding.source == Source.FIX:
        return _unflagged(timeline, finding, told)
    return _Fixed(finding, told)


def _unflagged(timeline: Timeline, finding: Finding, told: Moment) -> _Fixed:
    """A failure that a pipe hid: the call before the callout, and the one before that with the same aim."""
    calls = [one for one in timeline.moments[max(0, told.at - _BACK) : told.at] if one.call]
    passed = next((one for one in reversed(calls[-_LATE:]) if _aims(one) and one.outcome is Outcome.OK), None)
    if passed is None:
        return _Fixed(finding, told)
    same = (one for one in reversed(calls) if one.at < passed.at and _aims(one) & _aims(passed))
    red = next(same, None)
    return _Fixed(finding, told, (red,), passed) if red else _Fixed(finding, told)


def _tries(timeline: Timeline, passed: Moment) -> list[Moment]:
    """The calls that failed at what a later one passed, back to the last time that it had passed."""
    wanted = _aims(passed)
    tries: list[Moment] = []
    for moment in reversed(timeline.moments[max(0, passed.at - _BACK) : passed.at]):
        if moment.call and wanted & _aims(moment):
            if moment.outcome is not Outcome.FAILED:
                break
            tries.append(moment)
    return tries[::-1]


def _aims(moment: Moment) -> set[tuple[Deed, str]]:
    """What a call was for: of a command its program and first word, of an edit its file."""
    return {
        (act.deed, " ".join(act.what.split()[:2]) if act.deed in _RUNS else act.what)
        for act in moment.acts
        if act.deed in _RUNS or act.deed in (Deed.EDIT, Deed.WRITE)
    }


_RUNS = (Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD)


# --- the puzzle ------------------------------------------------------------------------------------------------------


def _failure(fixed: _Fixed) -> str:
    """The exact message, in full if it was recorded; the finding's text if the command printed nothing."""
    first = fixed.first
    return first.result if first.call and message_of(first.result) else fixed.finding.summary


def _state(timeline: Timeline, first: Moment) -> str:
    """What was done before, in the same phase."""
    done: list[str] = []
    for moment in reversed(timeline.moments[: first.at]):
        if moment.phase != first.phase or len(done) >= _STATE:
            break
        is_ok = moment.outcome is Outcome.OK
        done.extend(
            f"- {_DEEDS[act.deed]} {cut(normal_line(act.what), _LINE)}{'' if is_ok else ', which failed'}"
            for act in reversed(moment.acts)
            if act.what and act.deed in _DEEDS and (is_ok or act.deed in _RUNS)
        )
    return "\n".join(reversed(done[:_STATE]))


_DEEDS = {
    Deed.READ: "read", Deed.WRITE: "wrote", Deed.EDIT: "changed", Deed.DELETE: "deleted", Deed.SEARCH: "searched", Deed.FETCH: "fetched", Deed.RUN: "ran",
    Deed.TEST: "tested with", Deed.CHECK: "checked with", Deed.BUILD: "built with", Deed.DELEGATE: "gave away:",
}  # fmt: skip


def _tried(timeline: Timeline, fixed: _Fixed) -> Iterator[Moment]:
    """The tries, with what was said before the first and done between them in one phase; no callout tells how it was fixed."""
    first, last = fixed.first, fixed.tries[-1] if fixed.tries else fixed.told
    start = first.at
    while start and first.at - start < _BEFORE and _is_prose(timeline.moments[start - 1], first.phase):
        start -= 1
    for moment in timeline.since(max(start, last.at + 1 - _STRETCH), last.at + 1):
        if moment.phase == first.phase or moment in fixed.tries:
            yield _untold(moment)


def _is_prose(moment: Moment, phase: str) -> bool:
    return isinstance(moment.entry, Prose) and moment.phase == phase


def _untold(moment: Moment) -> Moment:
    if isinstance(moment.entry, Failure):
        return replace(moment, entry=replace(moment.entry, resolution=None, cause=None))
    return moment


# --- the solution ----------------------------------------------------------------------------------------------------


def _solution(timeline: Timeline, fixed: _Fixed) -> tuple[Moment, ...]:
    """What happened between the last try and the call that passed, which only shows that it is right."""
    if fixed.passed is None:
        return ()
    moments = timeline.since(fixed.tries[-1].at + 1, fixed.passed.at)
    if any(act.deed in (Deed.EDIT, Deed.WRITE) for act in fixed.passed.acts):
        moments = (*moments, fixed.passed)
    return tuple(one for one in moments if not _is_foreign(one))[-_STRETCH:]


def _is_foreign(moment: Moment) -> bool:
    """Whether a moment has nothing to do with it: another failure, bookkeeping, a subagent's report, the user's words."""
    if moment.call is None:
        return isinstance(moment.entry, Failure | Intervention | Subagent)
    return moment.outcome is not Outcome.OK or all(act.deed is Deed.PLAN for act in moment.acts)


def _verification(timeline: Timeline, fixed: _Fixed) -> Verification:
    proof = verified_by(fixed.passed) if fixed.passed else Verification()
    return proof if proof.verified else verification_after(timeline, (fixed.passed or fixed.told).at)
