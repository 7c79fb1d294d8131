"""Read and write data in the form `name::Type`.

A name is one word or a code span; a type is one word, optionally with brackets (`Report[]`, `Map<String, Order>`).
"""

from __future__ import annotations

import re
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import FORMAT, code_span, read_code, read_code_span
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.workflow.workflow import Datum, Place

_TICKS = late_pattern(r"`+")


class Line:
    """A line's text, its place in the file, and its code spans by their start offset."""

    __slots__ = ("place", "spans", "text")

    def __init__(self, text: str, place: Place) -> None:
        self.text, self.place = text, place
        self.spans: dict[int, tuple[str, int]] = {}
        at = 0
        dead: set[str] = set()
        while found := _TICKS.search(text, at):
            # After an unclosed run of backticks, later runs of the same length are also unclosed.
            span = None if found[0] in dead else read_code_span(text, found.start())
            if span:
                self.spans[found.start()] = span
            else:
                dead.add(found[0])
            at = span[1] if span else found.end()

    def at(self, offset: int) -> Place:
        """The place of the character at an offset of the text."""
        return Place(self.place.line, self.place.column + offset)

    def bare(self, start: int, end: int) -> tuple[int, int]:
        """Shrink a range to exclude the blanks at both ends."""
        while start < end and self.text[start] in " \t":
            start += 1
        while end > start and self.text[end - 1] in " \t":
            end -= 1
        return start, end


class ReadDatum(NamedTuple):
    """A datum and the offset at its end."""

    datum: Datum
    end: int


# Characters that are invalid in plain names: separators, markup, quotes, brackets, and control characters.
_NOT_IN_NAME = r"\x00-\x1f\x7f-\x9f\ud800-\udfff\s,`|<>\"'()\[\]{}\\;:→←↔⇒“”„‘’…"
_NAME = late_pattern(rf"(?![-+#^~=@!]|%%|\$\$)(?:[^{_NOT_IN_NAME}]|:(?!:|[\s,]|$))+")
_EMPHASIS = late_pattern(rf"(\*\*|\*)([^*{_NOT_IN_NAME}]+)\1")
_HALF_BOLD = late_pattern(r"\*\*(?!/)|.*\*\*$", re.DOTALL)
_TYPE_WORD = late_pattern(
    r"[^\x00-\x1f\x7f-\x9f\ud800-\udfff\s,`|<>\"'()\[\]{}\\;→:]+(?:::?[^\x00-\x1f\x7f-\x9f\ud800-\udfff\s,`|<>\"'()\[\]{}\\;→:]+)*"
)
_PAIRS = {"<": ">", "[": "]", "(": ")"}


def read_datum(line: Line, at: int, end: int) -> ReadDatum | None:
    """Read the datum at `at`, which a blank, a comma or `end` must follow; None if there is none."""
    text = line.text
    if span := line.spans.get(at):
        name, after = normal(read_code(span[0], FORMAT)), span[1]
    else:
        name, after = _plain_name(text, at, end)
    if after > end or not name.strip(" \t"):
        return None
    if not text.startswith("::", after, end):
        return ReadDatum(Datum(name, None, line.at(at)), after) if _ends(text, after, end) else None
    type_end = _type_end(text, after + 2, end)
    if type_end == after + 2 or not _ends(text, type_end, end):
        return None
    return ReadDatum(Datum(name, text[after + 2 : type_end], line.at(at)), type_end)


def _ends(text: str, at: int, end: int) -> bool:
    return at >= end or text[at] in " \t,"


def _plain_name(text: str, at: int, end: int) -> tuple[str, int]:
    """Read a plain name and its end.

    A name needs a letter: `1.0 → 2.0` and `60% → 75%` are prose.  `items[]` is named `items`.
    """
    found = _EMPHASIS.match(text, at, end)
    name, after = (found[2], found.end()) if found else ("", at)
    if not found and (plain := _NAME.match(text, at, end)):
        name, after = plain[0], plain.end()
    if name[-1:] in {".", ":"} or _HALF_BOLD.match(name) or not any(c.isalpha() or c == "_" for c in name):
        return "", at
    return name, after + 2 if text.startswith("[]", after, end) else after


def _type_end(text: str, at: int, end: int) -> int:
    """The end of a type: a word and balanced brackets, which may contain blanks and commas."""
    word = _TYPE_WORD.match(text, at, end)
    if word is None or word[0][-1] == "." or not any(c.isalpha() or c == "_" for c in word[0]):
        return at
    at = word.end()
    while at < end and text[at] in _PAIRS:
        close = _bracket_end(text, at, end)
        if close < 0:
            break
        at = close
    return at


def _bracket_end(text: str, at: int, end: int) -> int:
    """The offset after the bracket that closes the one at `at`; -1 if it is not closed."""
    expected: list[str] = []
    while at < end:
        sign = text[at]
        if sign in _PAIRS:
            expected.append(_PAIRS[sign])
        elif expected and sign == expected[-1]:
            expected.pop()
        elif sign in ">])`→":
            return -1
        at += 1
        if not expected:
            return at
    return -1


_KEYWORDS = frozenset({"otherwise", "else"})


def render_datum(datum: Datum) -> str:
    """Render a datum as text that reads back equal; a name that is not a plain word becomes a code span.

    An invalid type, such as one of several words, loses its invalid characters.
    """
    name = normal_line(datum.name)
    suffix = f"::{kind}" if datum.type and (kind := _legal_type(datum.type)) else ""
    plain = f"{name}{suffix}"
    read = read_datum(Line(plain, Place(0, 1)), 0, len(plain))
    if read and read.end == len(plain) and read.datum.name == name and not _means_more(name):
        return plain
    return f"{code_span(name)}{suffix}"


def _means_more(name: str) -> bool:
    """True if the plain name could be read as `Otherwise` or `creates:`."""
    bare = name.strip("*_")
    return bare.endswith(":") or bare.rstrip(":").casefold() in _KEYWORDS


_ILLEGAL = late_pattern(r"[^\w.-]+")


def _legal_type(text: str) -> str:
    return text if text and _type_end(text, 0, len(text)) == len(text) else _ILLEGAL.sub("", text).strip(".")
