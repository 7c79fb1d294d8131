"""A text as its reader sees it: without what a terminal obeys and without characters that nobody sees.

Owns the way back: where in the text a place of the visible one is.  `grep --color` paints half of a key, and a note drops the
paint, so a key must be known through it.
"""

from __future__ import annotations

from bisect import bisect_right

from crucible.patterns import ANSI, late_pattern

__all__ = ["Visible"]

# Line ends and tabs stay; the last ones are seen by nobody: soft hyphens, joiners, marks of direction and of byte order.
_UNSEEN = late_pattern(
    ANSI.pattern + "|[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)
_SIGNS = late_pattern(
    "[\x00-\x08\x0b\x0c\x0e-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u202a-\u202e\u2060-\u2064\ufeff]"
)


class Visible:
    """`text` is what shows of what was given."""

    __slots__ = ("_shifts", "_starts", "text")

    def __init__(self, given: str) -> None:
        self.text = given
        self._starts: list[int] = []
        self._shifts: list[int] = []
        if _SIGNS.search(given):
            self._drop(given)

    def _drop(self, given: str) -> None:
        kept: list[str] = []
        at = shown = 0
        for match in _UNSEEN.finditer(given):
            kept.append(given[at : match.start()])
            shown += match.start() - at
            at = match.end()
            self._starts.append(shown)
            self._shifts.append(at - shown)
        self.text = "".join((*kept, given[at:]))

    def span(self, start: int, end: int) -> tuple[int, int]:
        """Where a part of `text`, which is not empty, stands in what was given."""
        return self._place(start), self._place(end - 1) + 1

    def _place(self, shown: int) -> int:
        at = bisect_right(self._starts, shown)
        return shown + (self._shifts[at - 1] if at else 0)
