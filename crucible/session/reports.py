"""A subagent's report in one line, for the callout in its parent's note.

Introductions are skipped; they are recognized by structure alone.  The subagent's own note has the whole report.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from enum import Enum, auto
from typing import NamedTuple

from crucible.patterns import late_pattern
from crucible.session.calls import one_line
from crucible.session.titles import shortened

__all__ = ["summary_of"]

_LIMIT = 300
_INTRODUCTION = 400
"""Maximum code points of an introduction: prose above the first heading or rule."""
_EARLY = 5
"""A rule in the first fifth of a report ends its introduction."""
_LABEL = late_pattern(r"(?:^|(?<=[\s*_]))Summary:[*_]*\s*")
_LEADS_ON = late_pattern(r":[\s*_]*\Z")
_ENDS = late_pattern(r"[.:;,!?…][\s*_`)]*\Z")
_FENCE = late_pattern(r"[ \t]*(?:`{3,}|~{3,})")


class _Kind(Enum):
    HEADING = auto()
    RULE = auto()
    ITEM = auto()
    TABLE = auto()
    PROSE = auto()


_MARKS = (
    (_Kind.HEADING, late_pattern(r"#{1,6}(?:[ \t]+|\Z)")),
    (_Kind.RULE, late_pattern(r"(?:(?:-[ \t]*){3,}|(?:\*[ \t]*){3,}|(?:_[ \t]*){3,}|=+)\Z")),
    (_Kind.ITEM, late_pattern(r"(?:[-*+]|\d{1,3}[.)])[ \t]+")),
    (_Kind.TABLE, late_pattern(r"\|")),
    (_Kind.PROSE, late_pattern("")),
)


class _Block(NamedTuple):
    kind: _Kind
    text: str

    @property
    def is_said(self) -> bool:
        """True for a paragraph or a list item."""
        return self.kind in (_Kind.PROSE, _Kind.ITEM)


def summary_of(report: str) -> str | None:
    """Summarize a report in at most 300 code points; None for a report without words.

    Uses the text that the report labels `Summary:`, or else its headings, paragraphs and items from the beginning, without
    prose that only introduces a heading, a rule or a list.
    """
    blocks = _blocks(report)
    labelled = [_LABEL.split(block.text) for block in blocks if block.is_said]
    parts = [said[-1] for said in labelled if len(said) > 1][-1:] or list(
        _told(_without_introduction(blocks))
    )
    for said in (_joined(parts), *report.split("\n")):
        told = one_line(said, 8 * _LIMIT).strip()
        if re.search(r"\w", told):
            return shortened(told, _LIMIT)
    return None


def _blocks(report: str) -> list[_Block]:
    """Split a report into blocks, without fenced code; paragraphs and items may span several lines."""
    blocks: list[_Block] = []
    goes_on = in_code = False
    for line in map(str.strip, report.split("\n")):
        is_fence = _FENCE.match(line) is not None
        in_code = in_code is not is_fence
        if is_fence or in_code or not line:
            goes_on = goes_on and in_code and not is_fence
            continue
        kind, text = next((kind, line[found.end() :]) for kind, mark in _MARKS if (found := mark.match(line)))
        if goes_on and kind is _Kind.PROSE:
            blocks[-1] = _Block(blocks[-1].kind, f"{blocks[-1].text} {text}")
        elif goes_on and kind is _Kind.RULE and blocks[-1].kind is _Kind.PROSE:
            blocks[-1] = _Block(_Kind.HEADING, blocks[-1].text)
        else:
            blocks.append(_Block(kind, text))
        goes_on = blocks[-1].is_said
    return blocks


def _without_introduction(blocks: Sequence[_Block]) -> Sequence[_Block]:
    """Drop short prose above the first heading or rule, and any text above an early rule."""
    first = next((at for at, block in enumerate(blocks) if block.kind in (_Kind.HEADING, _Kind.RULE)), 0)
    above, rest = blocks[:first], blocks[first:]
    is_short = _size(above) <= _INTRODUCTION and all(block.kind is _Kind.PROSE for block in above)
    is_little = bool(rest) and rest[0].kind is _Kind.RULE and _size(above) * _EARLY <= _size(blocks)
    return rest if (is_short or is_little) and any(block.is_said for block in rest) else blocks


def _size(blocks: Sequence[_Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _told(blocks: Sequence[_Block]) -> Iterator[str]:
    """Paragraphs and items, each prefixed with the headings above it; one-word headings such as `Summary` are dropped."""
    last = max((at for at, block in enumerate(blocks) if block.is_said), default=-1)
    above: list[str] = []
    for at, block in enumerate(blocks):
        if block.kind is _Kind.HEADING:
            above += [_label(block.text)] if " " in block.text.strip() else []
        elif block.is_said and not (block.kind is _Kind.PROSE and _LEADS_ON.search(block.text) and at < last):
            yield ": ".join([*above, block.text])
            above = []


def _label(heading: str) -> str:
    """A heading as a prefix: without `Summary:` and end punctuation."""
    return _LABEL.sub("", heading.strip("# \t"), count=1).rstrip(" .:")


def _joined(parts: Sequence[str]) -> str:
    """Join the parts up to the limit."""
    told = ""
    for part in parts:
        told = f"{told}{'' if not told or _ENDS.search(told) else ';'} {part}".strip()
        if len(told) > _LIMIT:
            break
    return told
