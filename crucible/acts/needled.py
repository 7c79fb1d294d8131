"""Patterns that are sought only where a word stands without which they cannot be found.

Most texts hold none of the words that a choice or a fault is told with.  To look for a dozen words costs a tenth of what it takes to try a
pattern of many branches, whatever its case, at each place of a text.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from re import Match

__all__ = ["Needled", "holds", "lowered"]

_ALIKE = str.maketrans({"\u017f": "s", "\u0130": "i", "\u0131": "i", "\u212a": "k"})
"""What patterns without case take for letters of ASCII."""


def lowered(text: str) -> str:
    """A text in which what stands in capitals, or in what a pattern without case takes for those, stands in small letters of ASCII."""
    return text.lower() if text.isascii() else text.translate(_ALIKE).lower()


def holds(low: str, needles: tuple[str, ...]) -> bool:
    """Whether one of some words stands in a text in small letters."""
    for needle in needles:  # noqa: SIM110  which is half as fast
        if needle in low:
            return True
    return False


class Needled:
    """A pattern and its `needles`, in small letters: whatever it finds holds one of them.

    `low` is the text in small letters (`lowered`), where who asks has it.
    """

    __slots__ = ("needles", "pattern")

    def __init__(self, pattern: re.Pattern[str], *needles: str) -> None:
        self.pattern = pattern
        self.needles = needles

    def search(self, text: str, low: str = "") -> Match[str] | None:
        """As a pattern's."""
        return self.pattern.search(text) if holds(low or lowered(text), self.needles) else None

    def match(self, text: str, low: str = "") -> Match[str] | None:
        """As a pattern's."""
        return self.pattern.match(text) if holds(low or lowered(text), self.needles) else None
