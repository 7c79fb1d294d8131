"""A long text cut where its paragraphs end, so that a hit is the paragraph that says it and not an answer of three pages.

Owns where that is.  Pure.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.documents.markdown.containment import whole_fences
from crucible.documents.markdown.source import Lines
from crucible.search.echoes import RECALLED, RECALLED_END

__all__ = ["passages_of"]


def passages_of(text: str) -> Iterator[Lines]:
    """The lines of each passage, in order, without blank ones around it.

    What leads to the next paragraph stays with it: a heading, a line in bold, a line that ends in a colon.  What is indented below a list's item
    stays with that, and a block of code, which is never cut, with what stands above it.  What recall told is not cut either: it is known by
    the marks around it.
    """
    lines = text.split("\n")
    held = {line for block in (*whole_fences(text), *_recalled(lines)) for line in range(*block)}
    # `end` is behind the last line that says something.
    first, end = -1, 0
    for at, line in enumerate(lines):
        if not line.strip() and at not in held:
            continue
        if first < 0:
            first = at
        elif at > end and not _goes_on(lines[end - 1], line):
            yield Lines(first, end)
            first = at
        end = at + 1
    if first >= 0:
        yield Lines(first, end)


def _recalled(lines: Sequence[str]) -> Iterator[Lines]:
    """What stands between our marks, from one to the other; an open end holds nothing together."""
    first = -1
    for at, line in enumerate(lines):
        if first >= 0 and RECALLED_END in line:
            yield Lines(first, at + 1)
            first = -1
        elif first < 0 and line.rfind(RECALLED) > line.rfind(RECALLED_END):
            first = at


def _goes_on(above: str, below: str) -> bool:
    """Whether what stands below blank lines belongs to what stands above them."""
    return below.startswith((" ", "\t", "```", "~~~")) or _leads_on(above.strip())


def _leads_on(line: str) -> bool:
    return line.endswith(":") or line.startswith("#") or (line.startswith("**") and line.endswith("**"))
