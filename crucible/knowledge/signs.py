"""What a sign of a failure's cause is: a pattern, what it looks at, what it says, and for which categories.

Owns the form of the tables in the modules named after it.  Texts are lower case with straight quotes when a pattern sees them.
A weight is about the logarithm of how much likelier the sign makes its category; what speaks against one is negative.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from crucible.knowledge.model import Category
from crucible.patterns import late_pattern

__all__ = ["Sign", "View", "signs"]

_LETTERS: Mapping[str, Category] = {
    "R": Category.REQUIREMENTS_AMBIG,
    "K": Category.KNOWLEDGE_GAP,
    "T": Category.TOOL_MISUSE,
    "C": Category.CONTEXT_MISSING,
    "X": Category.EXECUTION_ERROR,
    "E": Category.EXTERNAL_DEP,
}
_WORDS_BEGINNING = r"(?:(?<![a-z])|(?![a-z]))"
"""A letter that a pattern begins with begins a word: `enotfound` is not in `ModuleNotFoundError`."""
_WEIGHT = re.compile(r"([RKTCXE])(-?\d+(?:\.\d+)?)")


class View(StrEnum):
    """What of a report a sign looks at."""

    ERROR = "error"
    """The message alone."""
    WORDS = "words"
    """The message where a human wrote it; empty for a program's."""
    STORY = "story"
    """What happened, the context and what mended it; and a message that is no program's."""
    TOLD = "told"
    """What happened and what mended it, without what was being done."""
    CALL = "call"
    """The tool's name, a blank, its call."""
    MENDED = "mended"
    """What mended it."""


@dataclass(frozen=True, slots=True)
class Sign:
    """One sign: `says` is a clause that can stand behind “because”, or "" for one that only tips the scales."""

    view: View
    pattern: re.Pattern[str]
    weights: Mapping[Category, float]
    says: str = ""


def signs(view: View, *rows: tuple[str, str, str]) -> tuple[Sign, ...]:
    """A table's rows as signs: weights as `C3 T-1`, what it says, the pattern."""
    return tuple(
        Sign(
            view,
            late_pattern(rf"{_WORDS_BEGINNING}(?:{pattern})", re.MULTILINE),
            {_LETTERS[letter]: float(number) for letter, number in _WEIGHT.findall(weights)},
            says,
        )
        for weights, says, pattern in rows
    )
