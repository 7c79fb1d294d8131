"""Puzzles: what failed, what had been tried, and what mended it, as cases.

Owns what of a session belongs to a puzzle and what to its solution.  Which failures are one is `failing`'s, whose fault it was `faults`',
what may not be told `hiding`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from crucible.acts.model import Deed
from crucible.acts.words import gist, said
from crucible.cases.attempts import attempt_of, is_same
from crucible.cases.failing import Trouble, children_told, follow, mend_by
from crucible.cases.faults import message_of
from crucible.cases.hiding import withhold
from crucible.cases.hints import hints_for
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Fault, Puzzle, Verification
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after, verified_by
from crucible.session.model import Failure, Intervention, Prose, Subagent

__all__ = ["find_puzzles"]

_BEFORE = 3
"""Moments of an agent's words right before a try that belong to it."""
_STRETCH = 40
"""Moments of a solution that are told at most: its last ones."""
_STATE = 8
"""Acts before a failure that are told."""
_LINE = 160


def find_puzzles(
    timeline: Timeline,
    parent: Timeline | None = None,
    children: Iterable[Timeline] = (),
    *,
    others: bool = False,
) -> Iterator[Case]:
    """The puzzles of a session, in the order of its note.

    `parent` is the session that gave this one its work: what was left failing may have been mended there.  `children` are those that it
    gave work to: an error that tells of their failures is theirs.  With `others`, failures of the environment, of chance and of a user's no
    are told too, typed as such.
    """
    troubles = follow(timeline, _told_by(timeline, children))
    since = _handed_back(parent, timeline.session.id) if parent is not None else None
    for trouble in troubles:
        if trouble.fault is not Fault.AGENT and not others:
            continue
        if parent is not None and since is not None and trouble.tries and not trouble.is_mended:
            mend_by(trouble, parent, since)
        yield _case(timeline, trouble)


def _told_by(timeline: Timeline, children: Iterable[Timeline]) -> list[str]:
    if not any(isinstance(one.entry, Failure) for one in timeline.moments):
        return []
    return [message for child in children for message in children_told(follow(child))]


def _handed_back(parent: Timeline, child: str) -> int | None:
    """Where a parent goes on with what a subagent gave back."""
    return next(
        (one.at + 1 for one in parent.moments if isinstance(one.entry, Subagent) and one.entry.link == child),
        None,
    )


def _case(timeline: Timeline, trouble: Trouble) -> Case:
    solution = _solution(timeline, trouble)
    failure = _failure(trouble)
    body = withhold(
        Puzzle(
            goal=timeline.goal_of(trouble.first.phase),
            state=_state(timeline, trouble.first),
            tried=turns_of(_tried(timeline, trouble)),
            failure=failure,
            expected=_expected(trouble, solution),
            solution=turns_of(solution),
            hints=hints_for(failure, solution),
        )
    )
    call = trouble.first.call
    anchor = f"{call.call} → {call.result}" if call else failure
    return make_case(
        timeline, CaseType.PUZZLE, trouble.first, body, anchor,
        fault=trouble.fault, verification=_verification(timeline, trouble),
    )  # fmt: skip


# --- the puzzle ------------------------------------------------------------------------------------------------------


def _failure(trouble: Trouble) -> str:
    """The exact message, whole where it was recorded; of a command that said nothing how it ended."""
    first = trouble.first
    if isinstance(first.entry, Failure):
        return first.entry.text
    if message_of(first.result):
        return first.result
    return (first.call.result if first.call else "") or first.result.strip() or "It failed without a word."


def _state(timeline: Timeline, first: Moment) -> str:
    """What was done before, in the same phase."""
    done: list[str] = []
    for at in range(first.at - 1, -1, -1):
        moment = timeline.moments[at]
        if moment.phase != first.phase or len(done) >= _STATE:
            break
        done.extend(
            f"- {_DEEDS[act.deed]} {said(act.what, _LINE)}"
            for act in reversed(moment.acts)
            if act.what and act.deed in _DEEDS
        )
    return "\n".join(reversed(done[:_STATE]))


_DEEDS = {
    Deed.READ: "read", Deed.WRITE: "wrote", Deed.EDIT: "changed", Deed.DELETE: "deleted", Deed.SEARCH: "searched", Deed.FETCH: "fetched", Deed.RUN: "ran",
    Deed.TEST: "tested with", Deed.CHECK: "checked with", Deed.BUILD: "built with", Deed.DELEGATE: "gave away:",
}  # fmt: skip


def _tried(timeline: Timeline, trouble: Trouble) -> Iterator[Moment]:
    """The tries, with the words before each and what was done between them in one phase; no error tells how it was mended."""
    if not trouble.tries:
        yield from map(_untold, [*_words_before(timeline, trouble.first), trouble.first])
        return
    behind = -1
    for attempt in trouble.tries:
        at = attempt.at
        is_near = (
            behind >= 0 and at - behind <= _STRETCH and attempt.moment.phase == timeline.moments[behind].phase
        )
        before = timeline.since(behind + 1, at) if is_near else _words_before(timeline, attempt.moment)
        yield from map(_untold, [*before, attempt.moment])
        behind = at


def _words_before(timeline: Timeline, moment: Moment) -> tuple[Moment, ...]:
    start = moment.at
    while start > 0 and moment.at - start < _BEFORE:
        earlier = timeline.moments[start - 1]
        if not isinstance(earlier.entry, Prose) or earlier.phase != moment.phase:
            break
        start -= 1
    return timeline.since(start, moment.at)


def _untold(moment: Moment) -> Moment:
    if isinstance(moment.entry, Failure) and moment.entry.resolution:
        return replace(moment, entry=replace(moment.entry, resolution=None))
    return moment


# --- the solution ----------------------------------------------------------------------------------------------------


def _solution(timeline: Timeline, trouble: Trouble) -> tuple[Moment, ...]:
    """What happened between the last try and what passed; the same command passing shows that it is right and is no part of it."""
    end = trouble.passed or trouble.changed
    if end is None:
        return ()
    if trouble.mender is not None:
        since = _handed_back(trouble.mender, timeline.session.id) or 0
        moments = trouble.mender.since(since, end.at + 1)
    else:
        moments = timeline.since(trouble.last.at + 1, end.at + 1)
    if (
        trouble.passed is not None
        and trouble.tries
        and any(is_same(attempt_of(end), tried) for tried in trouble.tries)
    ):
        moments = moments[:-1]
    elif trouble.passed is None:
        moments = (*moments, *_claim(trouble.mender or timeline, end))
    own = [one for one in moments if not _is_foreign(one, trouble)]
    return tuple(own[-_STRETCH:])


def _claim(timeline: Timeline, changed: Moment) -> tuple[Moment, ...]:
    """What the agent says of its change."""
    after = timeline.since(changed.at + 1, changed.at + 2)
    return after if after and isinstance(after[0].entry, Prose) else ()


def _is_foreign(moment: Moment, trouble: Trouble) -> bool:
    """Whether a moment has nothing to do with it: another failure, bookkeeping, the words of a user who asks for something."""
    if isinstance(moment.entry, Failure):
        return moment not in trouble.told
    if isinstance(moment.entry, Intervention | Subagent):
        return True
    return bool(moment.acts) and all(act.deed is Deed.PLAN for act in moment.acts)


def _expected(trouble: Trouble, solution: tuple[Moment, ...]) -> str:
    """The resolution that was told, else the agent's words on it and what it did."""
    if trouble.resolution:
        return trouble.resolution
    words = [one.entry.text for one in solution if isinstance(one.entry, Prose)]
    told = max(words[:3], key=len, default="")
    acts = dict.fromkeys(
        f"{_DEEDS[act.deed]} {said(act.what, _LINE)}" for one in solution for act in one.acts
        if act.deed in _DEEDS and act.deed is not Deed.READ and act.deed is not Deed.SEARCH and act.what
    )  # fmt: skip
    done = "; ".join([*acts][:_STATE])
    return "\n\n".join(part for part in (gist(told, 600), f"Done: {done}." if done else "") if part)


def _verification(timeline: Timeline, trouble: Trouble) -> Verification:
    if trouble.passed is not None:
        return verified_by(trouble.passed)
    if trouble.changed is not None:
        return verification_after(trouble.mender or timeline, trouble.changed.at)
    if trouble.resolution and trouble.told:
        return verification_after(timeline, trouble.told[-1].at)
    return Verification()
