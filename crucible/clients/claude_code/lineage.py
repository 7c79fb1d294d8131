"""Which other session a file goes on from, and which of its rows are that one's.

A fork (`--resume X --fork-session`, `/branch`) is a new file that begins with the other's rows: with their uuids and times,
and in most versions with its own `sessionId`.  Those rows are the other's, else they would be told, and paid for, twice.

Owns the signs by which such a file is known, and the order in which two files that share rows were begun, so that no two
ever take each other for the elder.  Looking costs the first rows of a file; only where they have a sign are files beside
it looked at.
"""

from __future__ import annotations

import mmap
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path
from typing import Any, NamedTuple

from crucible.clients.jsonl_reader import read_file, read_records
from crucible.clients.log_values import as_dict, as_str, as_time
from crucible.core.errors import TranscriptError

_HEADS = (1 << 16, 4 << 20)
"""Bytes in which the first row of a chain is looked for; the second only where it is not in the first."""
_ID = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\Z")
_NEVER = datetime.max.replace(tzinfo=UTC)


class Rows(NamedTuple):
    """What a file's rows are known by: their uuids, and the ids of the model's messages."""

    uuids: frozenset[str]
    messages: frozenset[str]

    def has(self, row: dict[str, Any]) -> bool:
        """Whether this row stands there, as itself or as what it was copied from."""
        return (
            as_str(row.get("uuid")) in self.uuids
            or as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) in self.uuids
            or as_str(as_dict(row.get("message")).get("id")) in self.messages
        )


NO_ROWS = Rows(frozenset(), frozenset())


class _Head(NamedTuple):
    """How a file begins: when, with which row of a chain, when that was written, and which other session it names."""

    begun: datetime
    first: str
    time: datetime
    named: str
    goes_on: bool

    @property
    def has_sign(self) -> bool:
        """Whether the first row may be another file's."""
        return bool(self.first) and (bool(self.named) or self.goes_on or self.begun > self.time)


def followed(path: Path) -> str:
    """The id of the session that this file goes on from and repeats, "" for none; its file lies beside this one."""
    head = _head(path)
    if not head.has_sign:
        return ""
    named = path.with_name(f"{head.named}.jsonl")
    if head.named and _may_be_elder(named, head) and not _leads_to(named, path.stem) and _holds(named, head):
        return head.named
    elder = [(other, its) for other, its in _beside(path, head.time) if its.begun < head.begun]
    alike = [each for each in elder if each[1].first == head.first] or [e for e in elder if _holds(e[0], head)]
    if len(alike) > 1:
        # Of a fork's fork both hold the first rows; the nearest holds most.  Of two forks of one the older is as good.
        own = rows_of(path).uuids
        alike.sort(key=lambda each: (-len(own & rows_of(each[0]).uuids), each[1].begun))
    return alike[0][0].stem if alike else ""


def followers(path: Path) -> tuple[str, ...]:
    """The ids of the sessions beside this file that go on from it."""
    head = _head(path)
    if not head.first:
        return ()
    signed = (other for other, its in _beside(path, head.time) if its.has_sign)
    return tuple(other.stem for other in signed if followed(other) == path.stem)


def rows_of(path: Path) -> Rows:
    """What the rows of a file are known by; none for what cannot be read."""
    uuids, messages = set[str](), set[str]()
    with suppress(TranscriptError):
        for _, row, _ in read_file(path):
            if row is not None:
                uuids.add(as_str(row.get("uuid")))
                messages.add(as_str(as_dict(row.get("message")).get("id")))
    return Rows(frozenset(uuids - {""}), frozenset(messages - {""}))


# --- heads -----------------------------------------------------------------------------------------------------------


def _head(path: Path) -> _Head:
    try:
        status = path.stat()
        return _head_of(path, status.st_size if status.st_size < _HEADS[1] else -1)
    except OSError:
        return _Head(_NEVER, "", _NEVER, "", False)


@lru_cache(maxsize=8192)
def _head_of(path: Path, _size: int) -> _Head:
    """Remembered while a file has its size, and for good when its head is as long as is ever looked at."""
    for size in _HEADS:
        begun = _NEVER
        with path.open("rb") as file:
            lines = file.read(size).split(b"\n")
        for row in _rows(lines):
            time = as_time(row.get("timestamp")) or _NEVER
            if uuid := as_str(row.get("uuid")):
                # What stands before a copied row was written when the copy was made.
                begun = time if begun == _NEVER else begun
                first = as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) or uuid
                return _Head(begun, first, time, _named(row, path), _goes_on(row))
            begun = min(begun, time)
    return _Head(_NEVER, "", _NEVER, "", False)


def _rows(lines: Iterable[bytes]) -> Iterator[dict[str, Any]]:
    return (row for _, row, _ in read_records(lines) if row is not None)


def _named(row: dict[str, Any], path: Path) -> str:
    """Another session whose row this is, as far as it says so itself."""
    said = (as_str(as_dict(row.get("forkedFrom")).get("sessionId")), as_str(row.get("sessionId")))
    return next((name for name in said if _ID.match(name) and name != path.stem), "")


def _goes_on(row: dict[str, Any]) -> bool:
    """The first row of a conversation has no other before it; what a compaction left of a fork's has."""
    return bool(row.get("parentUuid") or row.get("logicalParentUuid"))


# --- files beside it -------------------------------------------------------------------------------------------------


def _beside(path: Path, since: datetime) -> Iterator[tuple[Path, _Head]]:
    """The other sessions of the folder that were written to since then: what ended before holds no row of that time."""
    if since == _NEVER:
        return
    with suppress(OSError):
        for other in sorted(path.parent.glob("*.jsonl")):
            if other.name != path.name and _ID.match(other.stem) and _written(other) >= since.timestamp():
                yield other, _head(other)


def _written(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return 0.0


def _may_be_elder(path: Path, head: _Head) -> bool:
    return path.is_file() and _head(path).begun <= head.begun


def _leads_to(path: Path, session: str) -> bool:
    """Whether the sessions that files name, one after another, come to this one: none of them is the elder then."""
    seen = {path.stem}
    while (named := _head(path).named) and named not in seen:
        if named == session:
            return True
        seen.add(named)
        path = path.with_name(f"{named}.jsonl")
    return False


def _holds(path: Path, head: _Head) -> bool:
    """Whether a file has a row with the uuid that another one begins with."""
    wanted = re.compile(rb'"uuid"\s*:\s*"' + re.escape(head.first.encode("utf-8", "replace")) + rb'"')
    try:
        with path.open("rb") as file, mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_READ) as data:
            return wanted.search(data) is not None
    except (OSError, ValueError):  # an empty file cannot be mapped
        return False
