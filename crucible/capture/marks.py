"""Marks that words bear: a family of words and turns, and how much it weighs when one of them stands in a sentence.

Owns the adding up.  No sentence is looked for as it stands: what somebody chose, or learned, is told in ever other words, and only several signs
together (that somebody settles, against what, why) make one of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from crucible.patterns import late_pattern

if TYPE_CHECKING:
    from re import Pattern

__all__ = ["Mark", "mark", "weigh"]


class Mark(NamedTuple):
    """A family of words by its `name`, and its weight."""

    name: str
    weight: float
    pattern: Pattern[str]

    def stands_in(self, plain: str) -> bool:
        """Whether one of its words does."""
        return self.pattern.search(plain) is not None


def mark(name: str, weight: float, *turns: str) -> Mark:
    """A mark of regular expressions over sentences in small letters, one of which is enough."""
    return Mark(name, weight, late_pattern("|".join(turns)))


def weigh(plain: str, marks: Iterable[Mark]) -> dict[str, float]:
    """The marks that a sentence bears, by name, with their weights."""
    return {one.name: one.weight for one in marks if one.pattern.search(plain)}
