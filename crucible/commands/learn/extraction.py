"""All cases of a session, of every type, in the order of its note, without secrets.

Owns the order, and that no two have one id.  Messages stand to the letter; what names a person is taken out when cases leave the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import assert_never

from crucible.analysis.tools.whole_calls import Evidence
from crucible.commands.learn.case import (
    Body,
    Case,
    CaseType,
    Choice,
    Correction,
    Delegation,
    Puzzle,
    Role,
    Trajectory,
    Turn,
)
from crucible.commands.learn.case_making import distinct, measured
from crucible.commands.learn.case_texts import texts_of
from crucible.commands.learn.corrections import find_corrections
from crucible.commands.learn.decisions import find_choices
from crucible.commands.learn.delegations import find_delegations
from crucible.commands.learn.excerpts import CUT
from crucible.commands.learn.puzzles import find_puzzles
from crucible.commands.learn.rubric import is_gradable
from crucible.commands.learn.scrubbing import Scrubber
from crucible.commands.learn.timeline import Timeline, build_timeline
from crucible.commands.learn.trajectories import find_trajectories
from crucible.core.patterns import late_pattern
from crucible.core.secrets.scanner import Redact
from crucible.documents.session.findings import Source, findings_of
from crucible.documents.session.session import Session

__all__ = ["extract", "is_teachable"]


def extract(
    session: Session,
    children: Mapping[str, Session | None],
    evidence: Callable[[str], Evidence],
    redact: Redact,
) -> tuple[Case, ...]:
    """The cases of a session: the same ones in the same order for the same note and records.

    `children` are its subagents' sessions by id, None where a note is gone.  `evidence` gives what the records of a
    session say, by its id, anew each time.
    """
    timeline = build_timeline(session, evidence(session.id))
    scrubber = Scrubber(redact, personal=False)
    told = {one.id for one in findings_of(session) if one.source == Source.CALLOUT}
    found = [case for case in _found(timeline, children) if is_teachable(case.body, told=case.finding in told)]
    found = [case for case in found if case.type in _UNGRADED or is_gradable(case.body)]
    found.sort(key=lambda case: case.place.line)  # a stable order within a line
    return tuple(measured(scrubber.clean(case)) for case in distinct(found))


_UNGRADED = (CaseType.WORKFLOW, CaseType.DELEGATION)
"""Types of cases without an answer to grade."""


def _found(timeline: Timeline, children: Mapping[str, Session | None]) -> Iterator[Case]:
    yield from find_puzzles(timeline)
    yield from find_corrections(timeline)
    yield from find_choices(timeline)
    yield from find_delegations(timeline, children)
    yield from find_trajectories(timeline)


# --- which are worth a row -------------------------------------------------------------------------------------------

_ASKED, _CHOSEN, _TASK, _FOUND = 3, 3, 6, 15
"""Least words of a request, a choice, a task and a result."""
_NAME = late_pattern(r"\w+\.[A-Za-z]{1,4}\b|[A-Za-z]\w*[a-z][A-Z]\w*|[A-Za-z]+_\w+")


def is_teachable(body: Body, *, told: bool = False) -> bool:
    """True for a case with a question that can be understood alone and an answer that can be checked against it.

    A callout that a person or an agent wrote (`told`) needs no proof by calls.
    """
    match body:
        case Puzzle():
            return bool(body.goal) and (_is_fix(body) or (told and bool(body.expected)))
        case Correction():
            return (
                bool(body.did)
                and bool(body.then)
                and (told or (_is_long(body.words, _ASKED) and any(_good(body.then)) and _is_whole(body.then)))
            )
        case Choice():
            is_weighed = len(body.options) > 1 or (bool(body.rationale) if told else _is_long(body.choice, _CHOSEN))
            return bool(body.situation) and is_weighed
        case Delegation():
            return body.used is True and (told or (_is_long(body.task, _TASK) and _is_long(body.result, _FOUND)))
        case Trajectory():
            return _is_long(body.goal, _ASKED) and any(_good(body.turns))
        case _:
            assert_never(body)


def _is_long(text: str, least: int) -> bool:
    return len(text.split()) >= least


def _is_fix(body: Puzzle) -> bool:
    """True if a change is shown that touches something the failure names."""
    made = [call for turn in body.solution for call in turn.calls]
    return bool(made) and bool(_names([body.failure]) & _names(texts_of(made))) and _is_whole(body.solution)


def _is_whole(turns: Iterable[Turn]) -> bool:
    """True if no call was shortened."""
    return not any(CUT in text for turn in turns for text in texts_of(turn.calls))


def _names(texts: Iterable[str]) -> set[str]:
    """Names in the code and of files, without folders: words with an extension, a `_` or an inner capital."""
    return {name for text in texts for name in _NAME.findall(text)}


def _good(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The calls that have a result and did not fail."""
    good = {turn.answers for turn in turns if turn.role is Role.TOOL and not turn.failed}
    return (turn for turn in turns if any(call.id in good for call in turn.calls))
