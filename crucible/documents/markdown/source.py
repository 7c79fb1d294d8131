"""The exact text of a note, its lines, and edits that change it.

A note may contain a byte order mark, CRLF, lone CR, and bytes that are not UTF-8.  `Source.from_bytes(b).to_bytes()` is
always `b`: the mark is kept separately, and invalid bytes become lone surrogates.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from itertools import accumulate

from crucible.core.errors import EditRefused
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern

_BOM = b"\xef\xbb\xbf"
_LINE_END = late_pattern(r"\r\n?|\n")


class Span(NamedTuple):
    """A range of code points in a source's text; `end` is exclusive."""

    start: int
    end: int


class Lines(NamedTuple):
    """A range of lines, counted from 0; `end` is exclusive."""

    first: int
    end: int


NOWHERE = Lines(-1, -1)
"""The lines of a value that was built in memory and is not in a note yet."""


class Edit(NamedTuple):
    """Replace `span` with `text`; an empty span inserts."""

    span: Span
    text: str


class Problem(NamedTuple):
    """Something irregular in a user's note.  It is reported and never fatal.

    `code` is a stable identifier in kebab case (`unclosed-fence`), `line` counts from 1 in the file.
    """

    code: str
    line: int
    message: str


@dataclass(frozen=True)
class Source:
    """The exact text of one note, without its byte order mark."""

    text: str
    bom: bool = False

    @classmethod
    def from_bytes(cls, data: bytes) -> Source:
        """Decode a file without losing any bytes."""
        bom = data.startswith(_BOM)
        return cls((data[3:] if bom else data).decode("utf-8", "surrogateescape"), bom)

    def to_bytes(self) -> bytes:
        """Return the bytes of the file, exactly as passed to `from_bytes`."""
        return (_BOM if self.bom else b"") + self.text.encode("utf-8", "surrogateescape")

    @cached_property
    def starts(self) -> list[int]:
        """The offset of each line's first code point, followed by the length of the text.

        Lines end only at LF, CRLF or a lone CR (not at U+2028 or a form feed).  Text that ends in a line ending has an
        empty last line, as in an editor.
        """
        if "\r" in self.text:
            return [0, *(found.end() for found in _LINE_END.finditer(self.text)), len(self.text)]
        starts = [0, *accumulate([len(line) + 1 for line in self.text.split("\n")])]
        starts[-1] = len(self.text)  # the last line has no line ending, but one was counted
        return starts

    @cached_property
    def lines(self) -> list[str]:
        """All lines without their line endings.  The last one is empty if the text ends in a line ending."""
        if "\r" not in self.text:
            return self.text.split("\n")
        return _LINE_END.split(self.text)

    @cached_property
    def newline(self) -> str:
        """The line ending for new lines: the first one in the text, or LF."""
        found = _LINE_END.search(self.text)
        return found.group() if found else "\n"

    def span_of(self, lines: Lines) -> Span:
        """The span of the lines, including the last line ending."""
        return Span(self.starts[lines.first], self.starts[min(lines.end, len(self.starts) - 1)])

    def line_of(self, offset: int) -> int:
        """The line, counted from 0, that contains `offset`."""
        return min(bisect_right(self.starts, offset, 0, len(self.starts) - 1), len(self.starts) - 1) - 1

    def slice(self, span: Span) -> str:
        """The exact text of a span."""
        return self.text[span.start : span.end]


def apply_edits(source: Source, edits: Iterable[Edit]) -> Source:
    """Apply edits; text outside their spans is unchanged.

    Edits may be in any order.  Insertions at the same offset keep their order.  Raises `EditRefused` if edits overlap.
    """
    parts: list[str] = []
    at = 0
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        if edit.span.start < at or edit.span.end > len(source.text):
            raise EditRefused(f"edits overlap at offset {edit.span.start}")
        parts.append(source.text[at : edit.span.start])
        parts.append(edit.text)
        at = edit.span.end
    parts.append(source.text[at:])
    return Source("".join(parts), source.bom)
