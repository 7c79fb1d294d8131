"""Text between `<private>` and `</private>` in a user's own words, and the words without it."""

from __future__ import annotations

from typing import NamedTuple

from crucible.core.patterns import late_pattern

PRIVATE = "private"
"""The rule by which it is counted."""
PRIVATE_MARK = f"[{PRIVATE}]"
_TAG = late_pattern(r"(?i)<\s*(/?)\s*private(?=[\s/>]|\Z)[^<>]*>?")


class Hidden(NamedTuple):
    """A private part: as it stood in the prompt, and what was between its marks."""

    whole: str
    inner: str


def hide_private(text: str) -> tuple[str, list[Hidden]]:
    """The text with a mark in place of each private part, and these parts."""
    shown: list[str] = []
    hidden: list[Hidden] = []
    begin = start = depth = 0
    for tag in _TAG.finditer(text):
        if not tag[1]:
            depth += 1
            if depth == 1:
                shown += [text[start : tag.start()], PRIVATE_MARK]
                begin, start = tag.span()
        elif depth > 1:
            depth -= 1
        else:
            if not depth:
                begin, shown = start, [PRIVATE_MARK]
            hidden.append(Hidden(text[begin : tag.end()], text[start : tag.start()]))
            start, depth = tag.end(), 0
    if depth:
        hidden.append(Hidden(text[begin:], text[start:]))
    else:
        shown.append(text[start:])
    return "".join(shown), hidden
