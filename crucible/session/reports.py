"""What a subagent's report says in a line, for the callout in its parent's note.

Owns which part of a report is its beginning: introductions are known by structure alone.  The whole report stands in the
subagent's own note.
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
"""Code points of prose above the first heading or rule that are at most an introduction."""
_EARLY = 5
"""A rule in the first fifth of a report parts it from what was said before it began."""
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
        """Whether it is a paragraph or an item of a list."""
        return self.kind in (_Kind.PROSE, _Kind.ITEM)


def summary_of(report: str) -> str | None:
    """At most 300 code points; None for a report without words.

    What the report itself calls `Summary:` counts, else its headings, paragraphs and items from the beginning on, without
    prose that only introduces what stands below a heading, a rule or its own colon.
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
    """What stands in fences is left out; paragraphs and items may run over several lines."""
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
    """The blocks without short prose above the first heading or rule, and without anything that is little beside what a rule parts it from."""
    first = next((at for at, block in enumerate(blocks) if block.kind in (_Kind.HEADING, _Kind.RULE)), 0)
    above, rest = blocks[:first], blocks[first:]
    is_short = _size(above) <= _INTRODUCTION and all(block.kind is _Kind.PROSE for block in above)
    is_little = bool(rest) and rest[0].kind is _Kind.RULE and _size(above) * _EARLY <= _size(blocks)
    return rest if (is_short or is_little) and any(block.is_said for block in rest) else blocks


def _size(blocks: Sequence[_Block]) -> int:
    return sum(len(block.text) for block in blocks)


def _told(blocks: Sequence[_Block]) -> Iterator[str]:
    """Paragraphs and items, each behind the headings above it; a heading of one word, `Summary` say, tells nothing."""
    last = max((at for at, block in enumerate(blocks) if block.is_said), default=-1)
    above: list[str] = []
    for at, block in enumerate(blocks):
        if block.kind is _Kind.HEADING:
            above += [_label(block.text)] if " " in block.text.strip() else []
        elif block.is_said and not (block.kind is _Kind.PROSE and _LEADS_ON.search(block.text) and at < last):
            yield ": ".join([*above, block.text])
            above = []


def _label(heading: str) -> str:
    """A heading as it stands before what it is about: without `Summary:` and an end."""
    return _LABEL.sub("", heading.strip("# \t"), count=1).rstrip(" .:")


def _joined(parts: Sequence[str]) -> str:
    """One text, as far as it is wanted."""
    told = ""
    for part in parts:
        told = f"{told}{'' if not told or _ENDS.search(told) else ';'} {part}".strip()
        if len(told) > _LIMIT:
            break
    return told
