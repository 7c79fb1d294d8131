"""The tables of the index: their columns, how to encode a row as TOON, and a view of all rows.

A shard is a month of `started`, such as `2026-11`, or `undated`.  A cell is a string, an integer or null; a list is a
string with items joined by `, `.  Except in `sessions`, the path is the first column, since lines are sorted.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import chain

import toons

from crucible.core.errors import IndexBroken
from crucible.core.patterns import late_pattern
from crucible.core.prices import KINDS

SCHEMA = 9
"""Increase when a table's columns or their meaning change.  An index with another number is rebuilt."""

UNDATED = "undated"
"""The shard for notes without a usable `started`."""

CALLOUT_LENGTH = 200
"""Maximum characters kept from each callout and task."""

Row = dict[str, str | int | None]

TABLES: Mapping[str, tuple[str, ...]] = {
    "sessions": (
        "started",
        "id",
        "path",
        "title",
        "project",
        "status",
        "ended",
        "duration_s",
        "participants",
        "channel",
        "model",
        "tokens",
        "tokens_cached",
        "phases",
        "tool_calls",
        "failures",
        "decisions",
        "errors",
        "users",
        "parent",
        "branch",
        "tags",
        "archived",
        "problems",
        "agents",
        "channels",
        "models",
        "persona",
        "unreadable",
    ),
    "phases": (
        "path",
        "phase_id",
        "line",
        "phase",
        "agent",
        "channel",
        "started",
        "status",
        "duration_s",
        "tokens",
        "tool_calls",
        "failures",
        "decisions",
        "errors",
        "users",
    ),
    "participants": ("path", "role", "agent", "version", "model", "session", "tokens"),
    "callouts": (
        "path",
        "line",
        "phase_id",
        "kind",
        "waits",
        "text",
        "finding",
        "why",
        "by",
        "source",
        "confidence",
    ),
    "links": ("path", "line", "kind", "target", "subpath", "alias"),
    "tasks": ("path", "task_id", "status", "priority", "content", "depends_on", "started", "completed"),
    "usage": ("path", "day", "model", "over", "tokens", *KINDS),
}
"""The columns of each table, in file order.

A row of `usage` has the tokens of a note by kind, on one day by one model with prompts longer than `over`.  If a note
says how many tokens it used but not of which kind, only `tokens` is known.
"""

_FILES = ("path", "size", "mtime_ns", "ctime_ns", "ino", "sha", "shard")
"""Each note's file as it was read.  `sha` is half of its SHA-256."""

_COLUMNS = {**TABLES, "files": _FILES}

LISTS = frozenset({"participants", "agents", "channels", "models", "persona", "tags", "depends_on", "unpriced_models"})
TIMES = frozenset({"started", "ended", "completed"})
NUMBERS = frozenset(
    {
        "duration_s",
        "tokens",
        "tokens_cached",
        "phases",
        "tool_calls",
        "failures",
        "decisions",
        "errors",
        "users",
        "problems",
        "line",
        "waits",
        "confidence",
        "over",
        *KINDS,
        "cost",
        "cost_usd_micros",
    }
)
"""Columns by the type of their cells; all others are text."""


def shard_of(started: str | None) -> str:
    """Return the shard for a time such as `2026-11-21T20:26:47Z`: its month."""
    return started[:7] if started else UNDATED


def encode_rows(table: str, rows: Iterable[Sequence[object]]) -> list[bytes]:
    """Encode each row, with cells in column order, as a line indented by two spaces, without a line end."""
    columns = _COLUMNS[table]
    shaped = [dict(zip(columns, row, strict=True)) for row in rows]
    return toons.dumps({table: shaped}).encode().split(b"\n")[1:] if shaped else []


def encode_cell(text: str) -> bytes:
    """Encode a string as a cell."""
    return toons.dumps({"t": [{"c": text}]}).encode().partition(b"\n")[2][2:]


def head_of(table: str, count: int) -> bytes:
    """Return the header line of a table with `count` rows."""
    return f"{table}[{count}]{{{','.join(_COLUMNS[table])}}}:\n".encode()


def decode_lines(table: str, lines: Sequence[bytes]) -> list[Row]:
    """Decode lines into rows.  `ValueError` if a line does not fit the table."""
    if not lines:
        return []
    rows: list[Row] = toons.loads((head_of(table, len(lines)) + b"\n".join(lines)).decode())[table]
    return rows


def join_list(items: Iterable[str]) -> str:
    """Join items into one string.  An item with a comma, quote or line end is quoted as in CSV."""
    return ", ".join(f'"{item.replace(chr(34), chr(34) * 2)}"' if _UNSAFE.search(item) else item for item in items)


def split_list(text: str) -> tuple[str, ...]:
    """Split a string made by `join_list`."""
    if '"' not in text:
        return tuple(text.split(", ")) if text else ()
    return tuple(item[1:-1].replace('""', '"') if item[:1] == '"' else item for item in _ITEM.findall(text))


_ITEM = late_pattern(r'(?:^|(?<=, ))(?:"(?>(?:[^"]|"")*)"|[^",]*+)(?=, |\Z)')
_UNSAFE = late_pattern(r'[,"\s]|^\Z')


_SURROGATE = late_pattern("[\ufffd\udc80-\udcff]")
_ESCAPED_BYTE = late_pattern("\ufffd([0-9A-F]{2}|--)")


def cell_of_path(path: str) -> str:
    """Encode a path as a cell.  TOON cannot encode bytes that are not UTF-8: each becomes U+FFFD and two hex digits."""
    return _SURROGATE.sub(lambda m: f"\ufffd{_byte(m[0])}", path)


def path_of_cell(cell: str) -> str:
    """Decode a path from a cell."""
    if "\ufffd" not in cell:
        return cell
    return _ESCAPED_BYTE.sub(lambda m: "\ufffd" if m[1] == "--" else chr(0xDC00 + int(m[1], 16)), cell)


def _byte(character: str) -> str:
    return "--" if character == "\ufffd" else f"{ord(character) - 0xDC00:02X}"


_CHUNK = 2000
"""Lines decoded at a time: few enough to bound memory, enough to be fast."""

_FIRST_CHUNK = 64
"""A small first chunk, so that listing the newest twenty sessions does not decode an entire month."""


class View:
    """All rows, one shard at a time.  `read` returns the joined lines of a table's shard, without the header."""

    def __init__(self, shards: Sequence[str], read: Callable[[str, str], bytes]) -> None:
        dated = sorted((shard for shard in shards if shard != UNDATED), reverse=True)
        self.shards = (*dated, *(shard for shard in shards if shard == UNDATED))
        """Newest first, `undated` last."""
        self._read = read

    def rows(self, table: str, shards: Sequence[str] | None = None, needles: Sequence[str] = ()) -> Iterator[Row]:
        """Yield the rows in the shards (all by default), in order; for `sessions`, newest first.

        Lines that lack one of the `needles` are skipped without being decoded.  Each needle must occur literally in the
        line of every matching row; put the rarest first.
        """
        for shard in self.shards if shards is None else shards:
            lines = self.lines(table, shard, needles)
            at, size = 0, _FIRST_CHUNK
            while at < len(lines):
                yield from _decoded(table, lines[at : at + size])
                at, size = at + size, _CHUNK

    def lines(self, table: str, shard: str, needles: Sequence[str] = ()) -> list[bytes]:
        """Return a shard's lines with all `needles`, for `decode_lines`."""
        return _with_needles(self._read(table, shard), needles)

    def count_sessions(self) -> int:
        """Return the number of sessions except subagents', almost without decoding rows."""
        columns = TABLES["sessions"]
        last = len(columns) - columns.index("parent")
        count, quoted = 0, []
        for line in chain.from_iterable(self.lines("sessions", shard) for shard in self.shards):
            # Counted from the end of the line, where cells with commas, which are quoted, are rare.
            head, parent, *_ = line.rsplit(b",", last)
            if line.find(b'"', len(head)) >= 0:
                quoted.append(line)
            else:
                count += parent == b"null"
        return count + sum(row["parent"] is None for row in _decoded("sessions", quoted))

    def since(self, shard: str) -> View:
        """Return a view without the months before `shard`."""
        return View([one for one in self.shards if one == UNDATED or one >= shard], self._read)


def _decoded(table: str, lines: Sequence[bytes]) -> list[Row]:
    try:
        return decode_lines(table, lines)
    except ValueError as error:
        raise IndexBroken(f"index table {table}: {error}") from error


def _with_needles(text: bytes, needles: Sequence[str]) -> list[bytes]:
    """Return the lines that contain every needle."""
    if not text:
        return []
    if not needles:
        return text.split(b"\n")
    first, *others = (needle.encode("utf-8", "surrogatepass") for needle in needles)
    found = []
    at = text.find(first)
    while at >= 0:
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        line = text[text.rfind(b"\n", 0, at) + 1 : end]
        if all(other in line for other in others):
            found.append(line)
        at = text.find(first, end)
    return found
