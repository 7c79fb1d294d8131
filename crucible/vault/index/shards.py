"""The lines of one table's shard: their order, and old ones with new ones merged in.

Every line belongs to one note, by the path in it.  `sessions` is ordered newest first, then by id; all other tables
by path, and the lines of one note stay in the note's order.  So a shard is the same however it came about.
"""

from __future__ import annotations

from bisect import insort
from collections.abc import Callable, Iterable, Iterator
from collections.abc import Set as AbstractSet
from heapq import merge
from typing import NamedTuple

from crucible.core.patterns import late_pattern

_CELL = rb'(?:"(?:[^"\\]|\\.)*"|[^,]*)'
_SESSION = late_pattern(rb"  (" + _CELL + rb"),(" + _CELL + rb"),(" + _CELL + rb")")
_FIRST = late_pattern(rb"  (" + _CELL + rb")")
_NEWEST_FIRST = bytes.maketrans(b"0123456789", b"9876543210")

Key = Callable[[bytes], tuple[bytes, ...]]


class Merged(NamedTuple):
    """`rows` lines; `changed` says whether they are other lines than before."""

    rows: int
    lines: Iterable[bytes]
    changed: bool


def merged_lines(table: str, old: bytes, old_rows: int, drop: AbstractSet[bytes], new: list[bytes]) -> Merged:
    """The old lines, without those whose path (as a cell) is in `drop`, and the new ones, in order."""
    key, path_of = (_session_key, _session_path) if table == "sessions" else (_path_key, _path)
    if not drop and len(new) * _FEW > old_rows:
        lines = merge(split_lines(old), sorted(new, key=key), key=key)
        return Merged(old_rows + len(new), lines, bool(new))
    kept = _without(split_lines(old), drop, path_of)
    changed = bool(new) or len(kept) != old_rows
    if len(new) * _FEW > len(kept):
        return Merged(len(kept) + len(new), merge(kept, sorted(new, key=key), key=key), changed)
    for line in new:
        insort(kept, line, key=key)
    return Merged(len(kept), kept, changed)


_FEW = 50
"""Old lines a new one, from which on it is quicker to look for its place than to compare it with them all."""


def _without(lines: Iterable[bytes], drop: AbstractSet[bytes], path_of: Callable[[bytes], bytes]) -> list[bytes]:
    if len(drop) == 1:
        (path,) = drop
        return [line for line in lines if path not in line or path_of(line) != path]
    return [line for line in lines if path_of(line) not in drop] if drop else list(lines)


def split_lines(text: bytes) -> Iterator[bytes]:
    """One line after the other, so that a large shard is in memory once."""
    at = 0
    while at < len(text):
        end = text.find(b"\n", at)
        end = len(text) if end < 0 else end
        yield text[at:end]
        at = end + 1


def _session_key(line: bytes) -> tuple[bytes, ...]:
    """Times have one length, so digits turned round sort the newest first."""
    found = _SESSION.match(line)
    return (found[1].translate(_NEWEST_FIRST), found[2], found[3]) if found else (line,)


def _session_path(line: bytes) -> bytes:
    found = _SESSION.match(line)
    return found[3] if found else b""


def _path_key(line: bytes) -> tuple[bytes, ...]:
    return (_path(line),)


def _path(line: bytes) -> bytes:
    if line[2:3] != b'"':
        return line[2 : line.find(b",")]
    found = _FIRST.match(line)
    return found[1] if found else b""
