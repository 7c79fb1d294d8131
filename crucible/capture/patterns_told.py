"""Patterns: a way of doing that is said to be worth doing again.

Owns from where on a sentence is one; how much it leans there is `leanings`' to say.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.capture.leanings import Leaning, Told
from crucible.capture.unsettled import is_void

__all__ = ["patterns_in"]

_ENOUGH, _BARE, _PLAIN, _SURE = 0.45, 0.6, 0.75, 0.6
"""Chances from which on a sentence tells a way; without a mark of that; where something speaks against it; and surely so."""
_AGAINST = frozenset({"could", "open", "others", "dropped", "step"})
"""Marks of what is no advice."""
_SHORT = 20
"""Code points in which no way is told."""


def patterns_in(leanings: Sequence[Leaning]) -> Iterator[Told]:
    """The ways of doing that an agent's words say are worth doing again; of neighbours in a paragraph, the first."""
    taken = (-1, -9)
    for one in leanings:
        said = one.sentence
        least = _least(one.marks)
        if one.chances.way < max(least, one.chances.choice, one.chances.back):
            continue
        if len(said.plain) < _SHORT or is_void(said):
            continue
        is_new = taken[0] != said.paragraph or said.at - taken[1] > 1
        taken = (said.paragraph, said.at)
        if is_new:
            yield Told(said, 0.75, one.behind.text if one.behind else "", one.chances.way >= _SURE)


def _least(marks: frozenset[str]) -> float:
    if _AGAINST & marks:
        return _PLAIN
    is_marked = any(name.startswith("way ") and name != "way shape" for name in marks)
    return _ENOUGH if is_marked else _BARE
