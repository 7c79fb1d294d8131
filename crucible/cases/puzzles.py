"""Puzzles: what failed, what had been tried, and what mended it, as cases.

Owns what of a session belongs to a puzzle and what to its solution.  Which failures are one is `failing`'s, whose fault it was `faults`',
what may not be told `hiding`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from crucible.acts.model import Act, Deed
from crucible.acts.words import gist, said, untagged
from crucible.cases.attempts import attempt_of, is_again
from crucible.cases.corrections import is_taken_back
from crucible.cases.failing import Trouble, children_told, follow, gives_up, mend_by
from crucible.cases.faults import message_of
from crucible.cases.hiding import withhold
from crucible.cases.hints import hints_for
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Fault, Puzzle, Verification
from crucible.cases.timeline import Moment, Timeline, turns_of
from crucible.cases.verifying import verification_after, verified_by
from crucible.cases.wordlike import content_words
from crucible.session.model import Failure, Intervention, Outcome, Prose, Subagent

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
        fault=trouble.fault, verification=_verification(timeline, trouble, solution),
        complete=trouble.mender is None or trouble.mender.complete,
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
        is_ok = moment.outcome is Outcome.OK
        done.extend(
            f"- {_DEEDS[act.deed]} {said(act.what, _LINE)}{'' if is_ok else ', which failed'}"
            for act in reversed(moment.acts)
            if act.what and act.deed in _DEEDS and (is_ok or act.deed in _RUNS)
        )
    return "\n".join(reversed(done[:_STATE]))


_DEEDS = {
    Deed.READ: "read", Deed.WRITE: "wrote", Deed.EDIT: "changed", Deed.DELETE: "deleted", Deed.SEARCH: "searched", Deed.FETCH: "fetched", Deed.RUN: "ran",
    Deed.TEST: "tested with", Deed.CHECK: "checked with", Deed.BUILD: "built with", Deed.DELEGATE: "gave away:",
}  # fmt: skip


_RUNS = (Deed.RUN, Deed.TEST, Deed.CHECK, Deed.BUILD)
"""What was done even where it failed."""


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
        and any(is_again(attempt_of(end), tried) for tried in trouble.tries)
    ):
        moments = moments[:-1]
    elif trouble.passed is None:
        moments = (*moments, *_claim(trouble.mender or timeline, end))
    own = [one for one in _to_the_point(moments, trouble) if not _is_foreign(one, trouble)]
    return tuple(own[-_STRETCH:])


def _to_the_point(moments: tuple[Moment, ...], trouble: Trouble) -> Sequence[Moment]:
    """Of what happened until it was mended: what a user did not take back, and not what was done in between for something else."""
    if not moments:
        return ()
    back = max(
        (at for at, one in enumerate(moments[:-1]) if isinstance(one.entry, Intervention)
         and is_taken_back(untagged(one.entry.words), None, _prose(moments[at + 1]))),
        default=-1,
    )  # fmt: skip
    moments = moments[back + 1 :]
    last = _top(moments[-1])
    if trouble.mender is not None or back >= 0 or last == _top(trouble.last):
        return [one for one in moments if not _gives_up(one)]
    begun = [one for one in moments if _top(one) == _top(trouble.last)]
    until = next((at for at, one in enumerate(begun) if _gives_up(one)), len(begun))
    return [*begun[:until], *(one for one in moments if _top(one) == last)]


def _prose(moment: Moment) -> str:
    return moment.entry.text if isinstance(moment.entry, Prose) else ""


def _top(moment: Moment) -> str:
    return moment.phase.partition(".")[0]


def _gives_up(moment: Moment) -> bool:
    return isinstance(moment.entry, Prose) and gives_up(moment.entry.text)


def _claim(timeline: Timeline, changed: Moment) -> tuple[Moment, ...]:
    """What the agent says of its change."""
    after = timeline.since(changed.at + 1, changed.at + 2)
    return after if after and isinstance(after[0].entry, Prose) else ()


def _is_foreign(moment: Moment, trouble: Trouble) -> bool:
    """Whether a moment has nothing to do with it: another failure, what came to nothing, bookkeeping, the words of a user who asks for something."""
    if moment.call is not None and moment.outcome is not Outcome.OK:
        return True
    if isinstance(moment.entry, Failure):
        return moment not in trouble.told
    if isinstance(moment.entry, Intervention | Subagent):
        return True
    return (
        bool(moment.acts)
        and not any(_told(act, moment) for act in moment.acts)
        and all(act.deed is Deed.PLAN for act in moment.acts)
    )


def _told(act: Act, moment: Moment) -> str:
    """How an act is told, "" for bookkeeping; what a shell ran is none, however little it is known."""
    if act.deed is Deed.PLAN and attempt_of(moment).script:
        return _DEEDS[Deed.RUN]
    return _DEEDS.get(act.deed, "")


def _expected(trouble: Trouble, solution: tuple[Moment, ...]) -> str:
    """The resolution that was told, else the agent's words on it and what it did."""
    if trouble.resolution:
        return trouble.resolution
    words = [one.entry.text for one in solution if isinstance(one.entry, Prose)]
    longest = max(words[:3], key=len, default="")
    acts = [(_told(act, one), act) for one in solution for act in one.acts if act.what and _told(act, one)]
    made = [one for one in acts if one[1].deed not in (Deed.READ, Deed.SEARCH)] or acts
    lines = dict.fromkeys(f"{told} {said(act.what, _LINE)}" for told, act in made)
    done = "; ".join([*lines][:_STATE])
    return "\n\n".join(part for part in (gist(longest, 600), f"Done: {done}." if done else "") if part)


def _is_taken_back(timeline: Timeline, end: Moment, solution: Iterable[Moment]) -> bool:
    """Whether the user's next words correct what mended it: it passed, and was not right."""
    after = list(timeline.walk(end.at + 1, end.at + 1 + _STRETCH))
    at = next((at for at, one in enumerate(after) if isinstance(one.entry, Intervention)), None)
    if at is None or not isinstance(entry := after[at].entry, Intervention):
        return False
    reply = _prose(after[at + 1]) if at + 1 < len(after) else ""
    if not is_taken_back(untagged(entry.words), after[at - 1] if at else end, reply):
        return False
    told = " ".join(f"{_prose(one)} {one.call.call if one.call else ''}" for one in solution)
    return bool(content_words(entry.words) & content_words(told))


def _verification(timeline: Timeline, trouble: Trouble, solution: tuple[Moment, ...]) -> Verification:
    end = trouble.passed or trouble.changed
    if end is not None and _is_taken_back(trouble.mender or timeline, end, solution):
        return Verification()
    if trouble.passed is not None:
        return verified_by(trouble.passed)
    if trouble.changed is not None:
        return verification_after(trouble.mender or timeline, trouble.changed.at)
    if trouble.resolution and trouble.told:
        return verification_after(timeline, trouble.told[-1].at)
    return Verification()
