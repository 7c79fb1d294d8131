"""The formats of the search index: its manifest, `index.json`, and the card of each session.

The manifest lists the part that holds each note, and the digests of all files.
"""

from __future__ import annotations

import os
import zlib
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from itertools import starmap
from typing import Any
from zlib import crc32

import orjson

from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import parse_json
from crucible.search.recall import Document, Event, EventKind, seconds_of, time_of

SCHEMA = 8
"""Incremented when the content or format of the index changes; an index with a different number is rebuilt."""

SIDES = ("events", "sessions")
"""The two indexes, for events and for entire sessions.  They are separate because their word frequencies differ."""

ITEM = "item"
"""The event log state of a knowledge item, which has no event log."""


class FileStamp(NamedTuple):
    """The identity of a file, and the digest of its bytes."""

    size: int
    mtime_ns: int
    ctime_ns: int
    ino: int
    digest: str


class IndexedNote(NamedTuple):
    """An indexed note.

    `log_state` is the state of its event log.  `number` identifies its documents and changes each time it is indexed;
    documents with an older number are outdated.  `events` and `size` count its events and their bytes of text.
    """

    sha: str
    session: str
    log_state: str
    number: int
    events: int
    size: int


class IndexPart(NamedTuple):
    """The documents of some notes; a part never changes.

    Holds tantivy's descriptions of the segments, by side, and the files.  `members` maps each note's path to its number
    when the part was written.
    """

    documents: int
    members: Mapping[str, int]
    segments: Mapping[str, list[dict[str, Any]]]
    files: Mapping[str, FileStamp]

    def is_dead(self, rows: Mapping[str, IndexedNote]) -> bool:
        """Return whether all documents of the part are outdated."""
        return not any(path in rows and rows[path].number == at for path, at in self.members.items())


class RecallManifest(NamedTuple):
    """The contents of the index.

    `lineage` is a random string that changes when the index is rebuilt.  `writing` counts manifests; `numbers` is the
    last number given to a note.  `token` is the token of the note index that this index was built from, "" if some
    notes may be older.  `folder_inode` identifies the folder, since a copied index cannot be trusted.  `is_complete` is
    False while the first index is being built.  `heads` holds tantivy's description of schema and settings, by side.
    """

    lineage: str = ""
    engine: str = ""
    writing: int = 0
    numbers: int = 0
    token: str = ""
    folder_inode: int = 0
    is_complete: bool = False
    rows: Mapping[str, IndexedNote] = {}
    parts: tuple[IndexPart, ...] = ()
    heads: Mapping[str, dict[str, Any]] = {}

    def documents(self) -> int:
        """The number of events in the index."""
        return sum(row.events for row in self.rows.values())


EMPTY_MANIFEST = RecallManifest()


class KnownState(NamedTuple):
    """Indexed state outside of notes: event logs by session, sessions without a log, and knowledge items."""

    logs: Mapping[str, str]
    without_log: frozenset[str]
    items: Mapping[str, str]

    def is_same(self, logs: Mapping[str, str], items: Mapping[str, str]) -> bool:
        """Return whether nothing has changed.  Event logs of sessions without a note are ignored."""
        is_same = self.logs.items() <= logs.items() and self.without_log.isdisjoint(logs)
        return is_same and self.items == items


def known_of(manifest: RecallManifest) -> KnownState:
    """Return the state of event logs and items as recorded in a manifest."""
    rows = manifest.rows
    sessions = {row.session: row.log_state for row in rows.values() if row.log_state != ITEM}
    return KnownState(
        {session: state for session, state in sessions.items() if state},
        frozenset(session for session, state in sessions.items() if not state),
        {path: row.sha for path, row in rows.items() if row.log_state == ITEM},
    )


def meta_of(manifest: RecallManifest, side: str) -> bytes:
    """Return the meta file of a side, which lists the segments of all parts.  It is different for each manifest."""
    segments = [one for part in manifest.parts for one in part.segments.get(side, ())]
    head = manifest.heads.get(side, {})
    meta = {**head, "segments": segments, "opstamp": 0, "payload": f"{manifest.lineage}-{manifest.writing}"}
    return orjson.dumps(meta)


def dump_manifest(manifest: RecallManifest) -> bytes:
    """Encode the manifest as a line of JSON and a line with its CRC-32."""
    import json  # noqa: PLC0415  slow to load, and no question needs it

    data = json.dumps([SCHEMA, *manifest], separators=(",", ":")).encode("utf-8", "surrogatepass")
    return b"%s\n%d\n" % (data, crc32(data))


def load_manifest(data: bytes) -> RecallManifest | None:
    """Decode a manifest; None for anything that this version did not write in full."""
    body, _, crc = data.rpartition(b"\n")[0].rpartition(b"\n")
    if not body or crc != str(crc32(body)).encode():
        return None
    try:
        schema, *fields = parse_json(body)
        if schema != SCHEMA or len(fields) != len(RecallManifest._fields):
            return None
        found = RecallManifest(*fields)
        rows = dict(zip(found.rows, starmap(IndexedNote, found.rows.values()), strict=True))
        parts = tuple(starmap(_part, found.parts))
        _check(found, parts, rows.values())
    except (ValueError, TypeError, AttributeError, IndexError, RecursionError):
        return None
    return found._replace(rows=rows, parts=parts) if _is_plausible(parts) else None


def _part(documents: int, members: dict[str, int], segments: Any, files: dict[str, Any]) -> IndexPart:
    return IndexPart(documents, members, segments, {name: FileStamp(*stamp) for name, stamp in files.items()})


def _check(found: RecallManifest, parts: Iterable[IndexPart], rows: Iterable[IndexedNote]) -> None:
    """Raise `ValueError` for numbers that are never written."""
    numbers = [found.writing, found.numbers, *(row.number for row in rows)]
    for part in parts:
        numbers += part.members.values()
    # Built-in functions instead of a loop: this runs for the first question of each process.
    if set(map(type, numbers)) != {int} or min(numbers) < 0 or max(numbers) >= _ENDLESS:
        raise ValueError("no numbers")


_ENDLESS = 2**60


def _is_plausible(parts: tuple[IndexPart, ...]) -> bool:
    """Return whether all file names are valid: a manifest must not make us read files elsewhere."""
    names = [name for part in parts for name in part.files]
    return all(name.split("/")[0] in SIDES and name.count("/") == 1 and not _leads_elsewhere(name) for name in names)


def _leads_elsewhere(name: str) -> bool:
    return ".." in name or os.sep in name.replace("/", "") or "\0" in name


class TextPlace(NamedTuple):
    """The lines of an event's text, from 0, `end` excluded.  `keys` identify its records in the event log."""

    first: int
    end: int
    keys: tuple[str, ...] = ()


class Card(NamedTuple):
    """A session and its events without their text; each sequence has one value per event.

    `digits` has eight digits of each id, `kinds` a letter per kind.  `groups` are positions in `shared`, which holds
    values that many events share: the phase, its name, the agent, the channel and the time.  `firsts` and `sizes` give
    the lines of the text.  `records` has the keys of recorded calls.  Use `event_at` and `place_at` to read a card.
    """

    session: str
    path: str
    title: str
    started: datetime | None
    project: str
    shared: Sequence[Sequence[Any]]
    digits: str
    kinds: str
    groups: Sequence[int]
    lines: Sequence[int]
    firsts: Sequence[int]
    sizes: Sequence[int]
    records: Mapping[str, Sequence[str]]


KINDS = tuple(EventKind)
"""The index stores the position of a kind: new kinds are added at the end."""
_LETTERS = "abcdefghijklm"


def dump_card(document: Document, places: Sequence[TextPlace]) -> bytes:
    """Encode the card of a session; `places` are the places of its events."""
    import json  # noqa: PLC0415  slow to load, and no question needs it

    events = document.events
    shared: dict[tuple[str | int | None, ...], int] = {}
    groups = [
        shared.setdefault((one.phase, one.phase_name, one.agent, one.channel, seconds_of(one.at)), len(shared))
        for one in events
    ]
    fields = [
        document.session,
        document.path,
        document.title,
        seconds_of(document.started),
        document.project,
        list(shared),
        "".join(one.id.rpartition("#")[2][:8] for one in events if one.kind is not EventKind.KNOWLEDGE),
        "".join(_LETTERS[KINDS.index(one.kind)] for one in events),
        groups,
        [one.line for one in events],
        [place.first for place in places],
        [place.end - place.first for place in places],
        {str(at): place.keys for at, place in enumerate(places) if place.keys},
    ]
    return zlib.compress(json.dumps(fields, separators=(",", ":")).encode(), 6)


def load_card(data: bytes) -> Card:
    """Decode a card.  Raises `ValueError` for invalid data."""
    try:
        card = Card(*parse_json(zlib.decompress(data)))
        return card._replace(started=time_of(card.started))  # type: ignore[arg-type]
    except (zlib.error, TypeError) as error:
        raise ValueError(f"no card: {error}") from error


def event_at(card: Card, at: int, text: str = "") -> Event:
    """Return the event at this position in a card, with the given text."""
    phase, phase_name, agent, channel, seconds = card.shared[card.groups[at]]
    kind = KINDS[_LETTERS.index(card.kinds[at])]
    return Event(
        _id_at(card, at, kind),
        card.session,
        kind,
        text,
        phase,
        phase_name,
        card.lines[at],
        time_of(seconds),
        agent,
        channel,
        card.project,
    )


def _id_at(card: Card, at: int, kind: EventKind) -> str:
    return card.session if kind is EventKind.KNOWLEDGE else f"{card.session}#{card.digits[8 * at : 8 * at + 8]}"


def place_at(card: Card, at: int) -> TextPlace:
    """Return the place of an event's text."""
    first = card.firsts[at]
    return TextPlace(first, first + card.sizes[at], tuple(card.records.get(str(at), ())))


def find_event(card: Card, digits: str) -> int | None:
    """Return the position of the event whose id has these digits.  An item's card has only one event."""
    if not card.digits:
        return 0 if card.kinds else None
    at = card.digits.find(digits) if len(digits) == _DIGITS else -1
    while at % _DIGITS and at > 0:
        at = card.digits.find(digits, at + 1)
    return at // _DIGITS if at >= 0 else None


_DIGITS = 8
