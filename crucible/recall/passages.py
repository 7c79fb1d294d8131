"""A long text cut where its paragraphs end, so that a hit is the paragraph that says it and not an answer of three pages.

Owns where that is.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.note.contain import whole_fences
from crucible.note.source import Lines

__all__ = ["passages_of"]


def passages_of(text: str) -> Iterator[Lines]:
    """The lines of each passage, in order, without blank ones around it.

    What leads to the next paragraph stays with it: a heading, a line in bold, a line that ends in a colon.  What is indented below a list's item
    stays with that, and a block of code, which is never cut, with what stands above it.
    """
    lines = text.split("\n")
    fenced = {line for fence in whole_fences(text) for line in range(*fence)}
    first = -1
    for at, line in enumerate([*lines, ""]):
        if at in fenced or line.strip():
            first = at if first < 0 else first
        elif first >= 0 and not _goes_on(lines, at):
            yield Lines(first, _end(lines, at))
            first = -1


def _goes_on(lines: list[str], blank: int) -> bool:
    """Whether what stands below a blank line belongs to what stands above it."""
    below = next((line for line in lines[blank:] if line.strip()), "")
    above = lines[_end(lines, blank) - 1].strip()
    return bool(below) and (below.startswith((" ", "\t", "```", "~~~")) or _leads_on(above))


def _leads_on(line: str) -> bool:
    return line.endswith(":") or line.startswith("#") or (line.startswith("**") and line.endswith("**"))


def _end(lines: list[str], blank: int) -> int:
    """Behind the last line above a blank one that says something; there is one."""
    return next(at + 1 for at in range(blank - 1, -1, -1) if lines[at].strip())
