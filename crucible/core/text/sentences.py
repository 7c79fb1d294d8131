"""Sentences of plain text, and texts cut to a length."""

from __future__ import annotations

import re

from crucible.core.patterns import late_pattern

# Each pattern matches the end of a sentence with its closing marks.  They differ in what a wrong cut would cost.
_ABBREVIATIONS = r"(?<!\be\.g)(?<!\bi\.e)(?<!\bvs)(?<!\betc)(?<!\bcf)"
PROSE_END = late_pattern(_ABBREVIATIONS + r"(?<![(.])[.!?…]+[\"'”’)\]]*(?=\s+[^\sa-z])|[。！？]|:(?=\n)")
"""Careful: no abbreviation and no mark before a lower-case letter ends a sentence; a colon at a line's end does."""
TITLE_END = late_pattern(_ABBREVIATIONS + r"(?<!\bapprox)[.!?…]+[\"')\]]*(?=\s+\S)|[。！？]")
"""A lower-case letter may follow: the first sentence of a prompt is its title."""
CLAUSE_END = late_pattern(r"[.!?:…。！？][\"'`)\]*_]*(?=\s+\S)")
"""Eager: any mark, a colon included, so that the last piece of a closing line is its question."""
LINE_END = late_pattern(r"[.!?](?=\s)|\n")
"""Plain: a mark before a blank, and every line's end."""


def split_sentences(text: str, end: re.Pattern[str] = PROSE_END) -> list[str]:
    """The sentences with their marks and blanks; together they are the text."""
    stops = [found.end() for found in end.finditer(text)]
    return [text[start:stop] for start, stop in zip([0, *stops], [*stops, len(text)], strict=True)]


def cut_at_word(text: str, limit: int) -> str:
    """At most `limit` code points, cut after a whole word where one ends in the second half, then `…`."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if text[limit - 1] != " ":
        space = head.rfind(" ")
        head = head[:space] if space >= limit // 2 else head
    return head.rstrip(" ,;:.-–—([") + "…"
