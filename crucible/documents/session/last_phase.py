"""Find the last phase of a note by its lines, without parsing what is above it."""

from __future__ import annotations

from bisect import bisect_right
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.line_scan import COMMENT_END, COMMENT_START, SEPARATOR


class Place(NamedTuple):
    """The position of the last phase: the offset of its heading, and the number of phases above it."""

    tail: int
    above: int


_LARGEST = 16_000_000
"""Maximum code points of a note to scan for its last phase."""
_FENCE_LINE = late_pattern(r"\n( *)(`{3,}|~{3,})([^\n]*)")
_HTML_LINE = late_pattern(r"\n {0,3}<")
_BOOKKEEPING = late_pattern(rf"\n{COMMENT_START}\n(?>(?:(?: *- |[ \w]*:)(?![^\n]*-->)[^\n]*\n)*){COMMENT_END}(?:\n|\Z)")
"""The comment of bookkeeping, in which no line can be a heading or a fence."""
# A heading alone does not show whether it begins a summary or a phase.
PHASE_LINE = late_pattern(r"\n( {0,3})##(?:(?=\n|\Z)|[ \t]+(?=([sS\u017f][uU][mM]{2}[aA][rR][yY][ \t#]*(?:\n|\Z))?))")


def find_tail(text: str, start: int) -> Place | None:
    """Find the last phase.  Returns None if an exact answer needs the Markdown parser.

    `start` is the offset of the first line after the frontmatter.
    """
    if "\r" in text or len(text) > _LARGEST:
        return None
    fences = _find_fences(text, start - 1)
    if fences is None or _is_doubtful(text, start - 1, fences):
        return None
    last, count = -1, 0
    for found in PHASE_LINE.finditer(text, start - 1):
        if not fences.hide(found.start()):
            if found[1] or found[2]:
                return None
            last, count = found.start() + 1, count + 1
    if not text.startswith("\n\n## ", last - 2) or last - 1 < start:
        return None
    return Place(last, count - 1)


class _Fences:
    """The offsets of the fences that begin in column 0."""

    def __init__(self) -> None:
        self.starts: list[int] = []
        self.ends: list[int] = []

    def hide(self, at: int) -> bool:
        """True if the line that begins after offset `at` is inside a fence."""
        place = bisect_right(self.starts, at) - 1
        return place >= 0 and at < self.ends[place]


def _find_fences(text: str, start: int) -> _Fences | None:
    """Find the fences of a text.  Returns None if one may be in a list, which needs the Markdown parser."""
    fences = _Fences()
    if "```" not in text and "~~~" not in text:
        return fences
    opened = ""
    for line in _FENCE_LINE.finditer(text, start):
        indent, mark, info = line.groups()
        if len(indent) > 3:
            continue
        if opened:
            if mark.startswith(opened) and not info.strip(" \t"):
                fences.ends.append(line.end())
                opened = ""
        elif indent:
            return None
        elif mark[0] == "~" or "`" not in info:
            fences.starts.append(line.start())
            opened = mark
    if opened:
        fences.ends.append(len(text))
    return fences


def _is_doubtful(text: str, start: int, fences: _Fences) -> bool:
    """True if there may be a comment, or HTML that spans a blank line, outside the fences."""
    at = text.find("%%", start)
    while at >= 0:
        if not fences.hide(at):
            return True
        at = text.find("%%", at + 1)
    if "<" not in text:
        return False
    ours = f"\n{SEPARATOR}\n"
    return any(
        not fences.hide(found.start())
        and not text.startswith(ours, found.start())
        and not _BOOKKEEPING.match(text, found.start())
        for found in _HTML_LINE.finditer(text, start)
    )
