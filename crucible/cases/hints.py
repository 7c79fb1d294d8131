"""Hints for a puzzle that give away more and more: which line of the message tells, where it points to, what kind of thing mended it.

Owns their words.  The last one is not the answer: it says where the answer was found, never what it is.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence

from crucible.cases.excerpts import CHANGES, TELLING, message_of
from crucible.cases.timeline import Moment
from crucible.note.contain import cut, normal_line
from crucible.patterns import late_pattern

__all__ = ["hints_for"]

_PLACE = late_pattern(
    r"(?<![\w./-])(?P<file>[\w./-]{1,200}\.[A-Za-z]\w{0,9})(?:[:(]|\", line )(?P<line>\d{1,6})"
)
_LINE = 120
_MANY = 3


def hints_for(failure: str, solution: Sequence[Moment]) -> tuple[str, ...]:
    """The ladder of a failure, by its message and by the moments that mended it; without those, by the message alone."""
    return tuple(dict.fromkeys([*_of_message(failure), *_of_solution(solution)]))


def _of_message(failure: str) -> Iterator[str]:
    lines = [line.strip() for line in message_of(failure[:8000]).split("\n") if line.strip()]
    telling = [line for line in lines if TELLING.search(line[:400])]
    if len(lines) > 1 and telling:
        yield f"The line that tells most: {_line(telling[-1])}"
    found = list(_PLACE.finditer(failure[:8000]))
    if found:
        yield f"The message points to {_line(found[-1]['file'])}, line {found[-1]['line']}."


def _of_solution(solution: Sequence[Moment]) -> Iterator[str]:
    acts = [act for moment in solution for act in moment.acts]
    if changed := _names(act.what for act in acts if act.deed in CHANGES):
        yield f"The fix changed {changed}."
    elif acts:
        yield "No file had to be changed; it was done in another way."


def _names(names: Iterable[str]) -> str:
    told = list(dict.fromkeys(_line(name) for name in names if name))
    more = f" and {len(told) - _MANY} more" if len(told) > _MANY else ""
    return ", ".join(told[:_MANY]) + more


def _line(text: str) -> str:
    return cut(normal_line(text), _LINE)
