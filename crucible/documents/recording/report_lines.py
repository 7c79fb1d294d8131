"""Summarize a subagent's report in one line, for the callout in the parent's note.

Introductions, which are recognized only by structure, are skipped.  The subagent's own note has the full report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from functools import lru_cache
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word
from crucible.documents.recording.call_lines import one_line

_FENCE = late_pattern(r"[ \t]*(?:`{3,}|~{3,})")
_RULER = late_pattern(r"[\s|:-]+\Z")


class Part(Enum):
    """The kind of a block."""

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
)


class Block(NamedTuple):
    """A block; `indent` is the number of blanks before the text."""

    kind: Part
    text: str
    mark: str = ""
    """The block's marker: `##`, `-`, or the number or letter of an item."""
    indent: int = 0
    is_apart: bool = True
    """True if it follows a blank line or code."""

    @property
    def is_text(self) -> bool:
        """True for a paragraph or a list item."""
        return self.kind in (Part.PROSE, Part.ITEM)


def blocks_of(text: str) -> list[Block]:
    """Split a text into blocks; paragraphs and items may span several lines."""
    return [*_blocks(text)]


@lru_cache(maxsize=32)
def _blocks(text: str) -> Sequence[Block]:
    blocks: list[Block] = []
    goes_on = in_code = False
    is_apart = True
    for line in text.split("\n"):
        content = line.strip()
        is_fence = ("```" in line or "~~~" in line) and _FENCE.match(line) is not None
        in_code = in_code is not is_fence
        if is_fence or in_code or not content:
            goes_on = goes_on and in_code and not is_fence
            is_apart = True
            continue
        kind, mark, rest = _marked(content)
        if goes_on and kind is Part.PROSE:
            blocks[-1] = blocks[-1]._replace(text=f"{blocks[-1].text} {rest}")
        elif goes_on and kind is Part.RULE and blocks[-1].kind is Part.PROSE:
            blocks[-1] = Block(Part.HEADING, blocks[-1].text, "#")
        elif kind is Part.ROW and _RULER.match(rest):
            blocks = blocks[:-1] if blocks and blocks[-1].kind is Part.ROW else blocks
        else:
            blocks.append(Block(kind, rest, mark, len(line) - len(line.lstrip()), is_apart))
        goes_on = bool(blocks) and blocks[-1].is_text
        is_apart = False
    return blocks


_SIGNS = frozenset("#-*_=(+•|>ABCDEFGH")
"""Signs that begin a block's marker, besides digits."""


def _marked(content: str) -> tuple[Part, str, str]:
    """Return the kind of a line, its marker and its text."""
    if content[0] in _SIGNS or content[0].isdecimal():
        for kind, pattern in _MARKS:
            if found := pattern.match(content):
                return kind, found[1].rstrip(".)"), content[found.end() :]
    return Part.PROSE, "", content


_LIMIT = 300
_INTRODUCTION = 400
"""Maximum code points of an introduction, which is prose above the first heading or rule."""
_EARLY = 5
"""Divisor: a rule within the first fifth of a report ends its introduction."""
_LABEL = late_pattern(r"(?:^|(?<=[\s*_]))Summary:[*_]*\s*")
_LEADS_ON = late_pattern(r":[\s*_]*\Z")
_ENDS = late_pattern(r"[.:;,!?…][\s*_`)]*\Z")


def summary_of(report: str) -> str | None:
    """Summarize a report in at most 300 code points; None for a report without words.

    Uses the text that the report labels `Summary:`.  Otherwise uses headings, paragraphs and items from the start,
    without prose that only introduces a heading, a rule or a list.
    """
    blocks = blocks_of(report)
    labelled = [_LABEL.split(block.text) for block in blocks if block.is_text and "Summary:" in block.text]
    parts = [text[-1] for text in labelled if len(text) > 1][-1:] or list(
        _labelled_texts(_without_introduction(blocks))
    )
    for text in (_joined(parts), *report.split("\n")):
        line = one_line(text.replace("**", ""), 8 * _LIMIT).strip()
        if re.search(r"\w", line):
            return cut_at_word(line, _LIMIT)
    return None


def _without_introduction(blocks: Sequence[Block]) -> Sequence[Block]:
    """Drop short prose above the first heading or rule, and all text above an early rule."""
    first = next((at for at, block in enumerate(blocks) if block.kind in (Part.HEADING, Part.RULE)), 0)
    above, rest = blocks[:first], blocks[first:]
    is_short = _size(above) <= _INTRODUCTION and all(block.kind is Part.PROSE for block in above)
    is_little = bool(rest) and rest[0].kind is Part.RULE and _size(above) * _EARLY <= _size(blocks)
    return rest if (is_short or is_little) and any(block.is_text for block in rest) else blocks


def _size(blocks: Sequence[Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _labelled_texts(blocks: Sequence[Block]) -> Iterator[str]:
    """Yield paragraphs and items, prefixed with their headings.  One-word headings such as `Summary` are dropped."""
    last = max((at for at, block in enumerate(blocks) if block.is_text), default=-1)
    above: list[str] = []
    for at, block in enumerate(blocks):
        if block.kind is Part.HEADING:
            above += [_label(block.text)] if " " in block.text.strip() else []
        elif block.is_text and not (block.kind is Part.PROSE and _LEADS_ON.search(block.text) and at < last):
            yield ": ".join([*above, block.text])
            above = []


def _label(heading: str) -> str:
    """A heading as a prefix, without `Summary:` and final punctuation."""
    return _LABEL.sub("", heading.strip("# \t"), count=1).rstrip(" .:")


def _joined(parts: Sequence[str]) -> str:
    """Join the parts up to the limit."""
    joined = ""
    for part in parts:
        joined = f"{joined}{'' if not joined or _ENDS.search(joined) else ';'} {part}".strip()
        if len(joined) > _LIMIT:
            break
    return joined
