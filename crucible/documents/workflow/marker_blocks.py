"""Read and write `session-toon` blocks: a header `execution[N]{phase,…}:` and rows of execution markers.

Unlike `toons`, this reader reports errors with line and column, and keeps every readable row.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from crucible.core.patterns import late_pattern
from crucible.core.text import counted
from crucible.documents.markdown.code_spans import harmless_json
from crucible.documents.workflow.workflow import Cell, Diagnostic, Marker, Place, RunStatus, Severity

LONGEST_NUMBER = 400
"""Maximum characters of a number.  Longer ones are kept as text, since Python refuses to parse them."""


class RawCell(NamedTuple):
    """The stripped text of a cell, and its offset in the line."""

    text: str
    at: int


class BadCell(ValueError):
    """A cell that cannot be parsed.  `at` is the offset at which something is missing."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


_QUOTED = late_pattern(r'"(?>(?:[^"\\]|\\.)*)"', re.DOTALL)
_NUMBER = late_pattern(r"-?(?:0|[1-9][0-9]*)(\.[0-9]+)?([eE][+-]?[0-9]+)?\Z")
_ESCAPE = late_pattern(r"\\(u[0-9A-Fa-f]{4}|.)", re.DOTALL)
_ESCAPES = {'"': '"', "\\": "\\", "n": "\n", "r": "\r", "t": "\t", "b": "\b", "f": "\f", "/": "/"}
_WORDS: dict[str, Cell] = {"true": True, "false": False, "null": None}


def split_cells(line: str, start: int, end: int, delimiter: str = ",") -> list[RawCell]:
    """Split the text between two offsets of a line into cells.

    Raises `BadCell` for an unclosed quote or text after one.
    """
    cells: list[RawCell] = []
    at = start
    while True:
        first = min(_skip_blanks(line, at, delimiter), end)
        if line.startswith('"', first, end):
            close = _quote_end(line, first, end)
            at = min(_skip_blanks(line, close, delimiter), end)
            if at < end and line[at] != delimiter:
                raise BadCell("a delimiter is missing after the closing quote", at)
            cells.append(RawCell(line[first:close], first))
        else:
            at = line.find(delimiter, first, end)
            at = end if at < 0 else at
            cells.append(RawCell(line[first:at].rstrip(" \t"), first))
        if at >= end:
            return cells
        at += 1


def _skip_blanks(line: str, at: int, delimiter: str) -> int:
    """Skip blanks around a cell, but not a delimiter that is a blank."""
    while at < len(line) and line[at] in " \t" and line[at] != delimiter:
        at += 1
    return at


def _quote_end(line: str, first: int, end: int) -> int:
    found = _QUOTED.match(line, first, end)
    if found is None:
        raise BadCell('the closing `"` is missing', end)
    return found.end()


def read_cell(text: str) -> Cell:
    """Parse a cell as in TOON.  Unknown escapes are kept."""
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


# Excludes characters that end a line, cell or fence, or that a TOON reader may treat as markup (one takes `#` for a
# comment).
_BARE = late_pattern(r"[^\s\x00-\x1f\x7f\",:\\\[\]{}|`~#-](?:[^\s\x00-\x1f\x7f\",:\\\[\]{}|`~]|\ (?=[^\s]))*\Z")
_UNSAFE = late_pattern(r'["\\\x00-\x1f\x7f\x85\u2028\u2029]')
_SURROGATE = late_pattern("[\ud800-\udfff]")
_SHORT = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\r": "\\r", "\t": "\\t"}
_KEY = late_pattern(r"[A-Za-z_][A-Za-z0-9_.]*\Z")


def render_cell(value: Cell) -> str:
    """Render a cell that reads back as `value`; `nan` and infinity become null, lone surrogates U+FFFD."""
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


# Other TOON readers are less strict about what counts as a number.
_NUMBER_LIKE = late_pattern(r"[+-]?[0-9.]")


def _escape(match: re.Match[str]) -> str:
    return _SHORT.get(match[0]) or f"\\u{ord(match[0]):04x}"


def render_key(name: str) -> str:
    """Render a column's name in the header."""
    return name if _KEY.match(name) else f'"{_UNSAFE.sub(_escape, _SURROGATE.sub(chr(0xFFFD), name))}"'


def read_keys(cells: Sequence[RawCell]) -> list[str]:
    """The column names, always as text."""
    return [str(read_cell(cell.text)) if cell.text[:1] == '"' else cell.text for cell in cells]


INFO = "session-toon"
"""The info string of the fence."""

_TABLE = "execution"
_REQUIRED = ("phase", "status")
_KNOWN = frozenset({
    "agent", "channel", "duration_ms", "input", "output", "phase", "session", "started", "status", "tokens_used",
})  # fmt: skip
"""Known columns, matched case-insensitively."""
_STATUSES = frozenset(RunStatus)
_NAME = late_pattern(r'[ \t]*("(?>(?:[^"\\]|\\.)*)"|[A-Za-z_][\w.-]*)?')
_COUNT = late_pattern(r"[ \t]*#?([0-9]*)([,|\t]?)[ \t]*")
_HEADER_LIKE = late_pattern(r"(?:execution\b|[A-Za-z_][\w.-]*[ \t]*(?:[\[{]|:(?:[ \t]|$))|[\[{])")
_OTHER = late_pattern(r"[ \t]*(?!execution\b)[A-Za-z_][\w.-]*[ \t]*(?:\[[^\]]*\](?:\{[^}]*\})?)?[ \t]*:")
"""A different top-level TOON key."""


class MarkerBlock(NamedTuple):
    """The rows of a block, and its problems."""

    markers: tuple[Marker, ...]
    diagnostics: tuple[Diagnostic, ...]


def is_marker_fence(info: str) -> bool:
    """True if a fence with this info string contains markers."""
    return info.partition(" ")[0].partition("\t")[0] == INFO


def may_belong(line: str) -> bool:
    """True if a line may be part of a block: it is indented, a row without blanks, or another header."""
    return line[:1] in {"", " ", "\t"} or _HEADER_LIKE.match(line) is not None or ("," in line and " " not in line)


def read_marker_block(lines: Sequence[str], first_line: int) -> MarkerBlock:
    """Read the lines between the fences.  `first_line` is the number of the first one, from 1.  Never raises."""
    reader = _Reader()
    for number, line in enumerate(lines, first_line):
        reader.read(line, number)
    reader.end()
    if not reader.seen_header and not reader.diagnostics:
        place = Place(max(1, first_line - 1), 1)
        reader.complain("empty-block", place, f"the header `{_TABLE}[N]{{phase,status}}:` is missing")
    return MarkerBlock(tuple(reader.markers), tuple(reader.diagnostics))


class _Header(NamedTuple):
    columns: list[str]
    rows: int
    delimiter: str
    place: Place


class _Reader:
    """Read a block line by line.  Holds the open table and the rows so far."""

    def __init__(self) -> None:
        self.markers: list[Marker] = []
        self.diagnostics: list[Diagnostic] = []
        self.seen_header = False
        self._header: _Header | None = None
        self._rows = 0

    def complain(self, code: str, place: Place, message: str, severity: Severity = Severity.ERROR) -> None:
        self.diagnostics.append(Diagnostic(code, severity, place, message))

    def read(self, line: str, number: int) -> None:
        """Read one line of the block."""
        text = line.strip(" \t")
        if not text:
            return
        if not self.seen_header or (line[0] not in " \t" and _HEADER_LIKE.match(line)):
            self.end()
            self.seen_header = True
            self._header = self._read_header(line, number)
        elif self._header is not None:
            self._rows += 1
            self._read_row(self._header, line, number)

    def end(self) -> None:
        """Close the open table."""
        header, rows, self._rows = self._header, self._rows, 0
        self._header = None
        if header and header.rows != rows:
            message = f"the header says {counted(header.rows, 'row')}, the block has {rows}"
            self.complain("wrong-count", header.place, message, Severity.WARNING)

    def _read_header(self, line: str, number: int) -> _Header | None:
        if _OTHER.match(line):
            message = f"only the table `{_TABLE}` is parsed"
            self.complain("unknown-table", Place(number, 1), message, Severity.WARNING)
            return None
        try:
            header = _parse_header(line, number)
        except BadCell as error:
            self.complain("bad-header", Place(number, error.at + 1), f"broken marker block: {error}")
            return None
        missing = [name for name in _REQUIRED if name not in header.columns]
        for name in missing:
            self.complain("missing-column", header.place, f"the column `{name}` is missing in the header")
        if len({column.casefold() for column in header.columns}) < len(header.columns):
            message = "a column is repeated in the header; the last one wins"
            self.complain("duplicate-column", header.place, message, Severity.WARNING)
        return None if missing else header

    def _read_row(self, header: _Header, line: str, number: int) -> None:
        start = len(line) - len(line.lstrip(" \t" if header.delimiter != "\t" else " "))
        end = len(line.rstrip(" \t" if header.delimiter != "\t" else " "))
        try:
            cells = split_cells(line, start, end, header.delimiter)
        except BadCell as error:
            self.complain("bad-row", Place(number, error.at + 1), f"broken row: {error}")
            return
        if len(cells) != len(header.columns):
            message = (
                f"the row has {counted(len(cells), 'cell')}, the header names {counted(len(header.columns), 'column')}"
            )
            self.complain("bad-row", Place(number, start + 1), message)
            return
        self._keep(header, cells, number)

    def _keep(self, header: _Header, cells: list[RawCell], number: int) -> None:
        values = {name: read_cell(cell.text) for name, cell in zip(header.columns, cells, strict=True)}
        marker = Marker(values, Place(number, cells[0].at + 1))
        self.markers.append(marker)
        places = {name: Place(number, cell.at + 1) for name, cell in zip(header.columns, cells, strict=True)}
        for name in _REQUIRED:
            if values[name] is None or values[name] == "":
                self.complain("bad-row", places[name], f"the row has no {name}")
        if marker.status and marker.status not in _STATUSES:
            message = f"unknown status {marker.status!r}; known are {', '.join(RunStatus)}"
            self.complain("unknown-status", places["status"], message, Severity.WARNING)


def _parse_header(line: str, number: int) -> _Header:
    """Parse `execution[N]{a,b}:`.  Raises `BadCell` with the missing part and its offset."""
    end = len(line.rstrip(" \t"))
    name = _NAME.match(line)
    at = name.end() if name else 0
    place = Place(number, len(line) - len(line.lstrip(" \t")) + 1)
    if not name or (name[1] or "").strip('"') != _TABLE:
        raise BadCell(f"the name `{_TABLE}` is missing before the header", place.column - 1)
    at = _expect(line, at, end, "[")
    count = _COUNT.match(line, at, end)
    digits, delimiter = (count[1], count[2] or ",") if count else ("", ",")
    if not digits and "]" in line[at : line.find("{", at, end)]:
        raise BadCell("the number of rows is missing between `[` and `]`", at)
    at = _expect(line, count.end() if count else at, end, "]")
    at = _expect(line, at, end, "{")
    close = _closing_brace(line, at, end)
    written = read_keys(split_cells(line, at, close, delimiter))
    columns = [name.lower() if name.isascii() and name.lower() in _KNOWN else name for name in written]
    after = _expect(line, close + 1, end, ":")
    if after < end:
        raise BadCell("each row must be on its own line", len(line) - len(line[after:].lstrip(" \t")))
    return _Header(columns, int(digits[:18]), delimiter, place)


def _expect(line: str, at: int, end: int, sign: str) -> int:
    while at < end and line[at] in " \t":
        at += 1
    if not line.startswith(sign, at, end):
        raise BadCell(f"`{sign}` is missing", at)
    return at + 1


_BRACE = late_pattern(r'(?>(?:[^"}]|"(?>(?:[^"\\]|\\.)*)")*)\}')


def _closing_brace(line: str, at: int, end: int) -> int:
    found = _BRACE.match(line, at, end)
    if found is None:
        raise BadCell("`}` is missing", end - 1 if line[end - 1] == ":" else end)
    return found.end() - 1


def render_markers(rows: Sequence[Mapping[str, Cell]]) -> list[str]:
    """Render a new block with its fences and the columns of all rows.  Returns no lines if there are no rows."""
    if not rows:
        return []
    columns = list(dict.fromkeys(name for row in rows for name in row))
    header = f"{_TABLE}[{len(rows)}]{{{','.join(map(render_key, columns))}}}:"
    body = [f"  {','.join(render_cell(row.get(name)) for name in columns)}" for row in rows]
    return [f"```{INFO}", header, *body, "```"]
