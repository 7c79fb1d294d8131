"""The blocks of what an agent said: headings, paragraphs, list items, tables.  Fenced code is left out."""

from __future__ import annotations

from enum import Enum, auto
from typing import NamedTuple

from crucible.patterns import late_pattern

__all__ = ["Block", "Part", "blocks_of"]

_FENCE = late_pattern(r"[ \t]*(?:`{3,}|~{3,})")


class Part(Enum):
    """What a block is."""

    HEADING = auto()
    RULE = auto()
    ITEM = auto()
    TABLE = auto()
    QUOTE = auto()
    PROSE = auto()


_MARKS = (
    (Part.HEADING, late_pattern(r"#{1,6}(?:[ \t]+|\Z)")),
    (Part.RULE, late_pattern(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)\Z")),
    (Part.ITEM, late_pattern(r"(?:[-*+•]|\d{1,3}[.)])[ \t]+")),
    (Part.TABLE, late_pattern(r"\|")),
    (Part.QUOTE, late_pattern(r">[ \t]?")),
    (Part.PROSE, late_pattern("")),
)


class Block(NamedTuple):
    """A block without its mark; `indent` are the blanks before it or the level of a heading, `is_numbered` is about the mark of an item."""

    kind: Part
    text: str
    indent: int = 0
    is_numbered: bool = False

    @property
    def is_said(self) -> bool:
        """True for a paragraph or a list item."""
        return self.kind in (Part.PROSE, Part.ITEM)


def blocks_of(text: str) -> list[Block]:
    """Split a text into blocks; paragraphs and items may span several lines."""
    blocks: list[Block] = []
    goes_on = in_code = False
    for line in text.split("\n"):
        said = line.strip()
        is_fence = _FENCE.match(line) is not None
        in_code = in_code is not is_fence
        if is_fence or in_code or not said:
            goes_on = goes_on and in_code and not is_fence
            continue
        kind, rest = next((kind, said[found.end() :]) for kind, mark in _MARKS if (found := mark.match(said)))
        if goes_on and kind is Part.PROSE:
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text} {rest}")
        elif goes_on and kind is Part.RULE and blocks[-1].kind is Part.PROSE:
            blocks[-1] = Block(Part.HEADING, blocks[-1].text, 1)
        else:
            indent = (
                len(said) - len(said.lstrip("#")) if kind is Part.HEADING else len(line) - len(line.lstrip())
            )
            blocks.append(Block(kind, rest, indent, said[0].isdecimal()))
        goes_on = blocks[-1].is_said
    return blocks
