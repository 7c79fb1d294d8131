"""The text below an item's properties: its title, what it says, and the parts with a heading of their own.

Owns which heading holds which part, and both directions of a text: as prose, contained, where that reads back as it was, else in a fence
`text`.  What stands under any other heading is the item's own text, since a human put it there.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT
from crucible.documents.markdown.containment import contain, uncontain
from crucible.documents.markdown.fences import contain_code, uncontain_code, whole_fences
from crucible.documents.markdown.quoting import fenced
from crucible.documents.session.markup import render_title
from crucible.documents.session.note_entries import fenced_lines
from crucible.documents.session.phase_headings import read_title

TEXT = "text"
"""The part that has no heading."""

HEADINGS: Mapping[str, str] = {
    "root_cause": "Root cause",
    "preventable_with": "What would have prevented it",
    "resolution": "Resolution",
}
"""Parts of a note, in order, and their level-2 headings."""

_PARTS = {heading.lower(): part for part, heading in HEADINGS.items()}
_HEADING = late_pattern(r"(#{1,2})[ \t]+(.*?)[ \t]*")
_FENCE = late_pattern(r"(`{3,}|~{3,})text[ \t]*")


class Chunk(NamedTuple):
    """Lines `first` up to `end`, from 0, that belong to a part; a known heading is not among them.  `end` is behind the last line that is not blank."""

    part: str
    first: int
    end: int


class Body(NamedTuple):
    """What a note says.  `title` is None where no heading tells one, `parts` leaves out what is empty."""

    title: str | None
    parts: Mapping[str, str]
    chunks: tuple[Chunk, ...]


# --- reading ---------------------------------------------------------------------------------------------------------


def read_body(lines: Sequence[str], form: int = FORMAT) -> Body:
    """The lines below the properties, which the user may have edited; `form` is the note's `format`."""
    title, chunks = None, [Chunk(TEXT, 0, 0)]
    for at, level, words in _headings(lines):
        part = _PARTS.get(words.rstrip("# \t").lower(), "") if level == 2 else ""
        is_title = level == 1 and title is None
        chunks[-1] = _closed(chunks[-1], lines, at)
        if is_title:
            title = read_title(words, form)
        chunks.append(Chunk(part or TEXT, at + 1 if part or is_title else at, at + 1))
    chunks[-1] = _closed(chunks[-1], lines, len(lines))
    parts = {part: _joined(part, chunks, lines, form) for part in (TEXT, *HEADINGS)}
    return Body(title, {part: text for part, text in parts.items() if text}, tuple(chunks))


def _headings(lines: Sequence[str]) -> Iterator[tuple[int, int, str]]:
    """Place, level and words of each heading outside of fences."""
    code = fenced_lines(lines)
    for at, line in enumerate(lines):
        if line[:1] == "#" and at not in code and (found := _HEADING.fullmatch(line)):
            yield at, len(found[1]), found[2]


def _closed(chunk: Chunk, lines: Sequence[str], end: int) -> Chunk:
    while end > chunk.first and not lines[end - 1].strip(" \t"):
        end -= 1
    return chunk._replace(end=max(end, chunk.first))


def _joined(part: str, chunks: Sequence[Chunk], lines: Sequence[str], form: int) -> str:
    told = [_read_text(lines[one.first : one.end], form) for one in chunks if one.part == part]
    return "\n\n".join(text for text in told if text)


def _read_text(lines: Sequence[str], form: int) -> str:
    first = next((at for at, line in enumerate(lines) if line.strip(" \t")), len(lines))
    text = "\n".join(lines[first:])
    # What stands alone in such a fence is what could not stand there otherwise.
    if _FENCE.fullmatch(lines[first] if text else "") and whole_fences(text) == [(0, len(lines) - first)]:
        return uncontain_code("\n".join(lines[first + 1 : -1]), form)
    return uncontain(text, form=form)


# --- writing ---------------------------------------------------------------------------------------------------------


def render_body(title: str, parts: Mapping[str, str]) -> str:
    """The title and every part that says something."""
    blocks = [render_title(title), *_blocks(parts)]
    return "\n\n".join(block for block in blocks if block) + "\n"


def _blocks(parts: Mapping[str, str]) -> Iterator[str]:
    yield render_text(parts.get(TEXT, ""))
    for part, heading in HEADINGS.items():
        if parts.get(part):
            yield f"## {heading}\n\n{render_text(parts[part])}"


def render_text(text: str, form: int = FORMAT) -> str:
    """A text in normal form as a block of a note; `form` is its `format`.  "" for ""."""
    shown = contain(text, form=form)
    # What follows must be a heading still.
    after = f"{shown}\n\n## {HEADINGS['resolution']}\n\nx"
    if not text or read_body(after.split("\n"), form).parts == {TEXT: text, "resolution": "x"}:
        return shown
    return fenced(text if form < FORMAT else contain_code(text))
