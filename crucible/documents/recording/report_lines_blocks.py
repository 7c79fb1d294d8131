"""The blocks of what an agent said: headings, paragraphs, list items, rows of tables.  Fenced code and the heads of tables are left out."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from crucible.core.patterns import late_pattern

_FENCE = late_pattern(r"[ \t]*(?:`{3,}|~{3,})")
_RULER = late_pattern(r"[\s|:-]+\Z")


class Part(Enum):
    """What a block is."""

    HEADING = auto()
    RULE = auto()
    ITEM = auto()
    ROW = auto()
    QUOTE = auto()
    PROSE = auto()


_MARKS = (
    (Part.HEADING, late_pattern(r"(#{1,6})(?:[ \t]+|\Z)")),
    (Part.RULE, late_pattern(r"((?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)\Z")),
    (Part.ITEM, late_pattern(r"\(?([-*+•]|\d{1,3}[.)]|[A-H][.)])[ \t]+")),
    (Part.ROW, late_pattern(r"(\|)")),
    (Part.QUOTE, late_pattern(r"(>)[ \t]?")),
    (Part.PROSE, late_pattern("()")),
)


class Block(NamedTuple):
    """A block; `indent` are the blanks before it."""

    kind: Part
    text: str
    mark: str = ""
    """What marks it: `##`, `-`, or the number or letter of an item."""
    indent: int = 0
    is_apart: bool = True
    """True if a blank line or code is before it."""

    @property
    def is_said(self) -> bool:
        """True for a paragraph or a list item."""
        return self.kind in (Part.PROSE, Part.ITEM)


def blocks_of(text: str) -> list[Block]:
    """Split a text into blocks; paragraphs and items may span several lines."""
    blocks: list[Block] = []
    goes_on = in_code = False
    is_apart = True
    for line in text.split("\n"):
        said = line.strip()
        is_fence = _FENCE.match(line) is not None
        in_code = in_code is not is_fence
        if is_fence or in_code or not said:
            goes_on = goes_on and in_code and not is_fence
            is_apart = True
            continue
        kind, mark, rest = next(
            (kind, found[1].rstrip(".)"), said[found.end() :]) for kind, of in _MARKS if (found := of.match(said))
        )
        if goes_on and kind is Part.PROSE:
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text} {rest}")
        elif goes_on and kind is Part.RULE and blocks[-1].kind is Part.PROSE:
            blocks[-1] = Block(Part.HEADING, blocks[-1].text, "#")
        elif kind is Part.ROW and _RULER.match(rest):
            blocks = blocks[:-1] if blocks and blocks[-1].kind is Part.ROW else blocks
        else:
            blocks.append(Block(kind, rest, mark, len(line) - len(line.lstrip()), is_apart))
        goes_on = bool(blocks) and blocks[-1].is_said
        is_apart = False
    return blocks
