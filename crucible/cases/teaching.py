"""Which cases are worth a row: those that somebody could solve, and grade, from what they hold.

One rule, `is_teachable`; docs/learn.md says it in words.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import assert_never

from crucible.cases.excerpts import CUT
from crucible.cases.model import Body, Choice, Correction, Delegation, Puzzle, Role, Trajectory, Turn
from crucible.cases.texts import texts_of
from crucible.patterns import late_pattern

__all__ = ["is_teachable"]

_ASKED, _CHOSEN, _TASK, _FOUND = 3, 3, 6, 15
"""Least words of a request, of a choice, of a task, of a result."""
_NAME = late_pattern(r"\w+\.[A-Za-z]{1,4}\b|[A-Za-z]\w*[a-z][A-Z]\w*|[A-Za-z]+_\w+")


def is_teachable(body: Body, *, told: bool = False) -> bool:
    """True for a case with a question that can be understood alone and an answer that can be checked against it.

    What somebody `told` in a callout of their own needs no proof by calls.
    """
    match body:
        case Puzzle():
            return bool(body.goal) and (_is_fix(body) or (told and bool(body.expected)))
        case Correction():
            return (
                bool(body.did)
                and bool(body.then)
                and (
                    told or (_is_long(body.words, _ASKED) and any(_good(body.then)) and _is_whole(body.then))
                )
            )
        case Choice():
            is_weighed = len(body.options) > 1 or (
                bool(body.rationale) if told else _is_long(body.choice, _CHOSEN)
            )
            return bool(body.situation) and is_weighed
        case Delegation():
            return body.used is True and (
                told or (_is_long(body.task, _TASK) and _is_long(body.result, _FOUND))
            )
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
    """Names of code and of files, without their folders: words with an ending, a `_` or a capital inside."""
    return {name for text in texts for name in _NAME.findall(text)}


def _good(turns: Iterable[Turn]) -> Iterator[Turn]:
    """The calls that were answered and did not fail."""
    good = {turn.answers for turn in turns if turn.role is Role.TOOL and not turn.failed}
    return (turn for turn in turns if any(call.id in good for call in turn.calls))
