"""The manifest of the search index, `index.json`: which part holds each note, and the digests of all files."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping
from contextlib import suppress
from itertools import starmap
from typing import Any, NamedTuple
from zlib import crc32

SCHEMA = 4
"""Incremented when the index changes its content or form; an index with another number is rebuilt."""

SIDES = ("events", "sessions")
"""The two indexes: of events, and of whole sessions, since how rare a word is differs between them."""


ITEM = "item"
"""Marks an item, which has no event log."""


class FileStamp(NamedTuple):
    """What a file is; `digest` is of its bytes."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    digest: str


class IndexedNote(NamedTuple):
    """An indexed note.

    `flight` is the state of its event log, `number` identifies its documents and changes each time it is indexed;
    documents with an older number are outdated. `events` and `size` count documents and bytes of text.
    """

    sha: str
    session: str
    flight: str
    number: int
    events: int
    size: int


class IndexPart(NamedTuple):
    """Some notes' documents, never changed: segments as tantivy describes them, by side, and their files.

    `members` are the notes by path, with their numbers then.
    """

    documents: int
    members: Mapping[str, int]
    segments: Mapping[str, list[dict[str, Any]]]
    files: Mapping[str, FileStamp]

    def is_dead(self, rows: Mapping[str, IndexedNote]) -> bool:
        """Whether nothing in it counts any more."""
        return not any(path in rows and rows[path].number == at for path, at in self.members.items())


class RecallManifest(NamedTuple):
    """What is known.  `token` is that of the index of notes it was made from, "" when some of it may be older.

    `whole` says that every note was looked at once: while the first index is made it holds some of them only.
    `writing` counts manifests, `numbers` is the last that a note got. `heads` is, by side, what tantivy wrote about
    schema and settings. `home` is the inode of the folder it was made for: a copy, which somebody may have sent us,
    says what somebody wrote into it.
    """

    line: str = ""
    engine: str = ""
    writing: int = 0
    numbers: int = 0
    token: str = ""
    home: int = 0
    whole: bool = False
    rows: Mapping[str, IndexedNote] = {}
    parts: tuple[IndexPart, ...] = ()
    heads: Mapping[str, dict[str, Any]] = {}

    def documents(self) -> int:
        """How many events can be found."""
        return sum(row.events for row in self.rows.values())


EMPTY = RecallManifest()


class KnownState(NamedTuple):
    """What was indexed beside the notes: event logs by session, sessions without one, and items."""

    flights: Mapping[str, str]
    without: frozenset[str]
    items: Mapping[str, str]

    def is_same(self, flights: Mapping[str, str], items: Mapping[str, str]) -> bool:
        """True if nothing changed; event logs of sessions without a note do not count."""
        is_same = self.flights.items() <= flights.items() and self.without.isdisjoint(flights)
        return is_same and self.items == items


def known_of(manifest: RecallManifest) -> KnownState:
    """See `KnownState`."""
    rows = manifest.rows
    sessions = {row.session: row.flight for row in rows.values() if row.flight != ITEM}
    return KnownState(
        {session: flight for session, flight in sessions.items() if flight},
        frozenset(session for session, flight in sessions.items() if not flight),
        {path: row.sha for path, row in rows.items() if row.flight == ITEM},
    )


def meta_of(manifest: RecallManifest, side: str) -> bytes:
    """The description that tantivy reads of a side: every part's segments.  No two manifests have the same."""
    segments = [one for part in manifest.parts for one in part.segments.get(side, ())]
    head = manifest.heads.get(side, {})
    told = {**head, "segments": segments, "opstamp": 0, "payload": f"{manifest.line}-{manifest.writing}"}
    return json.dumps(told, separators=(",", ":")).encode()


def dump_manifest(manifest: RecallManifest) -> bytes:
    """As JSON in one line, and its CRC-32."""
    told = [SCHEMA, *manifest]
    data = json.dumps(told, separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"%s\n%d\n" % (data, crc32(data))


def load_manifest(data: bytes) -> RecallManifest | None:
    """The manifest again; None for anything that this version did not write whole."""
    body, _, crc = data.rpartition(b"\n")[0].rpartition(b"\n")
    if not body or crc != str(crc32(body)).encode():
        return None
    try:
        schema, *told = _parsed(body)
        if schema != SCHEMA or len(told) != len(RecallManifest._fields):
            return None
        found = RecallManifest(*told)
        rows = dict(zip(found.rows, starmap(IndexedNote, found.rows.values()), strict=True))
        parts = tuple(starmap(_part, found.parts))
        _check(found, parts, rows.values())
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    return found._replace(rows=rows, parts=parts) if _is_plausible(parts) else None


def _parsed(body: bytes) -> Any:
    if len(body) > _LONG:
        # Late: of a small one it is read sooner without.
        import orjson  # noqa: PLC0415

        # A name that is no text has half a pair of surrogates, which only the other one reads.
        with suppress(orjson.JSONDecodeError):
            return orjson.loads(body)
    return json.loads(body)


_LONG = 100_000


def _part(documents: int, members: dict[str, int], segments: Any, files: dict[str, Any]) -> IndexPart:
    return IndexPart(documents, members, segments, {name: FileStamp(*stamp) for name, stamp in files.items()})


def _check(found: RecallManifest, parts: Iterable[IndexPart], rows: Iterable[IndexedNote]) -> None:
    """Raises `ValueError` for numbers that were never ours."""
    numbers = [found.writing, found.numbers, *(row.number for row in rows)]
    for part in parts:
        numbers += part.members.values()
    # In whole steps: it is done at each question of a new process.
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= _ENDLESS:
        raise ValueError("no numbers")


_ENDLESS = 2**60


def _is_plausible(parts: tuple[IndexPart, ...]) -> bool:
    """Names as we write them: a manifest must not lead a read to another place."""
    names = [name for part in parts for name in part.files]
    return all(name.split("/")[0] in SIDES and name.count("/") == 1 and not _leads(name) for name in names)


def _leads(name: str) -> bool:
    return ".." in name or os.sep in name.replace("/", "") or "\0" in name
