r"""One cell of a marker row: from text to a value with its type, and back.

Owns TOON's primitives as far as a table's row has them: quoted text with escapes, numbers, `true`, `false`, `null`, and text as
it stands.  Rows and their header are for `markers`.
"""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.documents.markdown.code_spans import harmless_json
from crucible.documents.workflow.workflow import Cell

__all__ = ["BadCell", "RawCell", "read_cell", "read_keys", "render_cell", "render_key", "split_cells"]

LONGEST_NUMBER = 400
"""Digits above which a number is kept as text: Python refuses to read very long ones."""


class RawCell(NamedTuple):
    """A cell as it stands: its text without blanks around it, and the offset of that in its line."""

    text: str
    at: int


class BadCell(ValueError):
    """A cell that cannot be read; `at` is the offset in the line where something is missing."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


_QUOTED = late_pattern(r'"(?>(?:[^"\\]|\\.)*)"', re.DOTALL)
_BLANKS = late_pattern(r"[ \t]*")
_NUMBER = late_pattern(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_ESCAPE = late_pattern(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "/": "/"}
_WORDS: dict[str, Cell] = {"true": True, "false": False, "null": None}


def split_cells(line: str, start: int, end: int, delimiter: str = ",") -> list[RawCell]:
    """The cells between two offsets of a line.  Raises `BadCell` where a quote is not closed or something follows it."""
    cells: list[RawCell] = []
    at = start
    while True:
        first = min(_skip_blanks(line, at, delimiter), end)
        if line.startswith('"', first, end):
            close = _quote_end(line, first, end)
            at = min(_skip_blanks(line, close, delimiter), end)
            if at < end and line[at] != delimiter:
                raise BadCell("a delimiter is missing behind the closing quote", at)
            cells.append(RawCell(line[first:close], first))
        else:
            at = line.find(delimiter, first, end)
            at = end if at < 0 else at
            cells.append(RawCell(line[first:at].rstrip(" \t"), first))
        if at >= end:
            return cells
        at += 1


def _skip_blanks(line: str, at: int, delimiter: str) -> int:
    """Blanks around a cell mean nothing, but a tab that parts cells does."""
    while at < len(line) and line[at] in " \t" and line[at] != delimiter:
        at += 1
    return at


def _quote_end(line: str, first: int, end: int) -> int:
    found = _QUOTED.match(line, first, end)
    if found is None:
        raise BadCell('the closing `"` is missing', end)
    return found.end()


def read_cell(text: str) -> Cell:
    """The value of a cell, its type as TOON has it.  Escapes that TOON does not know are kept as they stand."""
    if text[:1] == '"':
        return _ESCAPE.sub(_unescape, text[1:-1]) if "\\" in text else text[1:-1]
    if text in _WORDS:
        return _WORDS[text]
    found = _NUMBER.match(text) if len(text) <= LONGEST_NUMBER else None
    if not found:
        return text
    if not (found[1] or found[2]):
        return int(text)
    number = float(text)
    return number if math.isfinite(number) else text


def _unescape(match: re.Match[str]) -> str:
    sign = match[1]
    if len(sign) == 5:
        code = int(sign[1:], 16)
        return match[0] if 0xD800 <= code < 0xE000 else chr(code)
    return _ESCAPES.get(sign, match[0])


# What readers of TOON take for anything but the text itself (one takes `#` for a comment), or what would end a line, a cell or the fence around the block.
_BARE = late_pattern(r"[^\s\x00-\x1f\x7f\",:\\\[\]{}|`~#-](?:[^\s\x00-\x1f\x7f\",:\\\[\]{}|`~]|\ (?=[^\s]))*\Z")
_UNSAFE = late_pattern(r'["\\\x00-\x1f\x7f\x85\u2028\u2029]')
_SURROGATE = late_pattern("[\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEY = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


def render_cell(value: Cell) -> str:
    """The cell that reads back as `value`; a number that is none (`nan`, infinity) is null, a lone surrogate U+FFFD."""
    if value is None or value is True or value is False:
        return "null" if value is None else str(value).lower()
    if isinstance(value, int):
        return str(value) if abs(value) < 10**300 else render_cell(hex(value))
    if isinstance(value, float):
        return repr(value) if math.isfinite(value) else "null"
    text = _SURROGATE.sub("\ufffd", value)
    if text not in _WORDS and "<%" not in text and _BARE.match(text) and not _NUMBER_LIKE.match(text):
        return text
    return harmless_json(f'"{_UNSAFE.sub(_escape, text)}"')


# Other readers of TOON are less strict about what a number is.
_NUMBER_LIKE = late_pattern(r"[+-]?[0-9.]")


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def render_key(name: str) -> str:
    """A column's name for the header."""
    return name if _KEY.match(name) else f'"{_UNSAFE.sub(_escape, _SURROGATE.sub(chr(0xFFFD), name))}"'


def read_keys(cells: Sequence[RawCell]) -> list[str]:
    """The columns' names: text, whatever they look like."""
    return [str(read_cell(cell.text)) if cell.text[:1] == '"' else cell.text for cell in cells]
