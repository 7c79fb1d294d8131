"""The small inline marks: tags, block ids, footnotes.

Every function takes the offset where the body starts: frontmatter is for `frontmatter.py`.  What is hidden (code,
comments, HTML, math) is found by `hidden.py`; headings are for `outline.py`, links for `wikilinks.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.hidden_ranges import hidden_ranges
from crucible.documents.markdown.source import Span


@dataclass(frozen=True, slots=True)
class Tag:
    """A tag as written, without its `#`; Obsidian compares tags in lower case."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class BlockId:
    """A block's name, without its `^`."""

    name: str
    span: Span


@dataclass(frozen=True, slots=True)
class FootnoteDefinition:
    """`[^label]: text`; the text of its first line."""

    label: str
    text: str
    span: Span


@dataclass(frozen=True, slots=True)
class FootnoteReference:
    """`[^label]` in running text."""

    label: str
    span: Span


# Obsidian's alphabet: anything but blanks, general punctuation and ASCII punctuation other than `_-/`.
_TAG_CHARACTER = r"[^\u2000-\u206f\u2e00-\u2e7f'!\"#$%&()*+,.:;<=>?@^`{|}~\[\]\\\s]"
_TAG = late_pattern(rf"\[\[[^\[\]\r\n]*+\]\]|\]\([^()\r\n]*+\)|(?<!\S)#({_TAG_CHARACTER}++)")
_BLOCK_ID = late_pattern(r"(?:^|(?<=[ \t\r\n]))\^([A-Za-z0-9-]++)(?=[ \t]*+(?:[\r\n]|\Z))")
_FOOTNOTE = late_pattern(r"(?<!\\)\[\^([^\s\[\]^]++)\]")
_FOOTNOTE_TEXT = late_pattern(r":[ \t]*+([^\r\n]*+)")


def find_tags(text: str, start: int = 0) -> list[Tag]:
    """A tag follows a blank or begins a line, and holds at least one character that is no digit."""
    return [
        Tag(name, Span(*found.span()))
        for found in _visible(_TAG, text, start)
        if (name := found.group(1)) and not name.isdecimal()
    ]


def find_block_ids(text: str, start: int = 0) -> list[BlockId]:
    """`^id` at a line's end after a blank, or alone on its line: Latin letters, digits and dashes."""
    return [BlockId(found.group(1), Span(*found.span())) for found in _visible(_BLOCK_ID, text, start)]


def find_footnote_definitions(text: str, start: int = 0) -> list[FootnoteDefinition]:
    """Definitions at the start of a line, inside quotes too."""
    definitions = []
    for found in _visible(_FOOTNOTE, text, start):
        rest = _definition_text(text, found)
        if rest:
            written = rest.group(1).rstrip(" \t")
            span = Span(found.start(), rest.start(1) + len(written))
            definitions.append(FootnoteDefinition(found.group(1), written, span))
    return definitions


def find_footnote_references(text: str, start: int = 0) -> list[FootnoteReference]:
    """References in order, a repeated one each time; definitions are none."""
    return [
        FootnoteReference(found.group(1), Span(*found.span()))
        for found in _visible(_FOOTNOTE, text, start)
        if not _definition_text(text, found)
    ]


def _definition_text(text: str, mark: re.Match[str]) -> re.Match[str] | None:
    """What follows the mark of a definition; None when the mark is a reference."""
    before = mark.start()
    while before and text[before - 1] in " \t>":
        before -= 1
    at_line_start = before == 0 or text[before - 1] in "\r\n"
    return _FOOTNOTE_TEXT.match(text, mark.end()) if at_line_start else None


def _visible(pattern: re.Pattern[str], text: str, start: int) -> Iterator[re.Match[str]]:
    """Matches that begin outside everything hidden."""
    hidden = iter(hidden_ranges(text, start))
    behind = next(hidden, None)
    at = start
    while found := pattern.search(text, at):
        while behind and behind.end <= found.start():
            behind = next(hidden, None)
        if behind and behind.start <= found.start():
            at = behind.end
        else:
            yield found
            at = max(found.end(), found.start() + 1)
