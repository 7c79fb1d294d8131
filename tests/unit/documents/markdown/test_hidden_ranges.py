"""Fences and indented code in lists and quotes: our scanner against markdown-it, on thousands of short notes.

Two lines are left out of the draw, where markdown-it ends a paragraph that CommonMark lets go on: a fence or a quote
mark at column 4 below a list item whose text is at column 5.
"""

from __future__ import annotations

import random
from itertools import product

from markdown_it import MarkdownIt

from crucible.documents.markdown.hidden_ranges import scan

LINES = (
    "a", "  b", "    c", "     d", "      e", "\tf", "\t\tg", "   \th", "", "", ">", ">     ", "> i", ">     j", ">      k", ">\tl",
    ">\t\tm", "> > n", "   > o", "> - p", "> 1. q", "- > r", "- s", "   - t", "-\tu", "-\t\tv", "-     w", "-", "1.", "1. x", "2. y",
    "10. z", "+   a", "# b", "---", "===", "  ===", "- - -", "```", "````", "~~~", "   ```", "> ```", "  - ```",
)  # fmt: skip
PARSER = MarkdownIt("commonmark")


def code_lines_of_markdown_it(lines: list[str]) -> tuple[set[int], set[int]]:
    fences, indented = set[int](), set[int]()
    for token in PARSER.parse("\n".join(lines)):
        if token.type in {"fence", "code_block"} and token.map:
            (fences if token.type == "fence" else indented).update(range(*token.map))
    return _told(fences, lines), _told(indented, lines)


def code_lines(lines: list[str]) -> tuple[set[int], set[int]]:
    text = "\n".join(lines)
    fences, indented = set[int](), set[int]()
    for found in scan(text).hidden:
        if found.kind in {"fence", "indented"}:
            span = range(text.count("\n", 0, found.span.start), text.count("\n", 0, found.span.end) + 1)
            (fences if found.kind == "fence" else indented).update(span)
    return _told(fences, lines), _told(indented, lines)


def _told(numbers: set[int], lines: list[str]) -> set[int]:
    """Without the blank lines, which readers count to what is above or to nothing."""
    return {number for number in numbers if lines[number].strip(" \t>")}


def test_every_pair_of_lines_holds_the_code_that_markdown_it_sees() -> None:
    for lines in product(LINES, repeat=2):
        assert code_lines(list(lines)) == code_lines_of_markdown_it(list(lines)), lines


def test_thousands_of_short_notes_hold_the_code_that_markdown_it_sees() -> None:
    draw = random.Random(20261121)
    for _ in range(4_000):
        lines = draw.choices(LINES, k=draw.randrange(3, 7))
        assert code_lines(lines) == code_lines_of_markdown_it(lines), lines
