"""Marks that words bear: a family of words and turns, and how much it weighs when one of them stands in a sentence.

Owns the adding up, and that a turn is sought only where a word stands without which it cannot be found (`gates`).  No sentence is looked for as it
stands: what somebody chose, or learned, is told in ever other words, and only several signs together (that somebody settles, against what, why) make
one of it.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

from crucible.capture.gates import Gate, gate_of, opened_by
from crucible.patterns import late_pattern

if TYPE_CHECKING:
    from re import Pattern

__all__ = ["Mark", "mark", "weigh"]


class Mark(NamedTuple):
    """A family of words by its `name`, and its weight; `turns` are its regular expressions, one of which is enough."""

    name: str
    weight: float
    turns: tuple[str, ...]
    sought: tuple[tuple[Gate | None, Pattern[str]], ...]
    """Each turn with the gate that must be open for it."""

    def stands_in(self, plain: str) -> bool:
        """Whether one of its turns stands in a text in small letters."""
        opened = opened_by(plain)
        for gate, pattern in self.sought:
            if (gate is None or gate in opened) and pattern.search(plain):
                return True
        return False


def mark(name: str, weight: float, *turns: str) -> Mark:
    """A mark of regular expressions over texts in small letters."""
    key = f"{name} {len(turns)}"  # several tables have marks of one name
    sought = tuple((gate_of(key, place), late_pattern(turn)) for place, turn in enumerate(turns))
    return Mark(name, weight, turns, sought)


def weigh(plain: str, marks: Iterable[Mark]) -> dict[str, float]:
    """The marks that a sentence bears, by name, with their weights."""
    return {one.name: one.weight for one in marks if one.stands_in(plain)}
