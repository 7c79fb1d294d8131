"""Write a session's event log in `.crucible/flight/<session_id>/`, one JSON object per line, and read events back.

`tools.jsonl` has calls and results, `events.jsonl` everything else; both share one sequence of numbers.  An event that
was already recorded is not written again.  Callers remove secrets first.
"""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import types
import typing
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from enum import Enum
from functools import cache, lru_cache
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self, get_args, get_origin

import orjson

from crucible.clients import events
from crucible.clients.events import At, Event
from crucible.core.files import append_errors
from crucible.vault.events.archive_blocks import KEY
from crucible.vault.events.archive_writer import NewLine, archive_new, remove_files
from crucible.vault.events.event_archive import next_number
from crucible.vault.events.event_files import (
    EVENTS,
    LOCK_SECONDS,
    TOOL_TYPES,
    TOOLS,
    EventFiles,
    archive_path,
    cut_values,
    dump_record,
    flight_folder,
    hold_events,
    make_folder,
)
from crucible.vault.events.event_keys import Keys
from crucible.vault.events.event_reader import EventRecord
from crucible.vault.events.event_summary import Facts, keep_meta

RENAMED = {"agent": "subagent", "type": "row_type"}
"""Event fields that are stored under another name, because a record has a standard field with that name."""

_EVENTS: Mapping[str, Any] = {kind.__name__: kind for kind in get_args(Event)}


def events_of(records: Iterable[EventRecord]) -> Iterator[tuple[Event, EventRecord]]:
    """Yield the events with their records.  Skips records that are not events or have values of the wrong type."""
    for record in records:
        event = event_of(record)
        if event is not None:
            yield event, record


def event_of(record: EventRecord) -> Event | None:
    """Return the event of a record; None if the record is not an event."""
    kind = _EVENTS.get(record.type)
    if kind is None:
        return None
    at = At(record.line, record.row, record.time, record.agent)
    values = {
        name: record.values[stored] for name, _ in _fields(kind) if (stored := RENAMED.get(name, name)) in record.values
    }
    try:
        event: Event = kind(
            at=at, **{name: _typed(hint, values[name]) for name, hint in _fields(kind) if name in values}
        )
    except (TypeError, ValueError):
        return None
    return event


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    """Return the names and types of an event class's fields, without `at`."""
    hints = typing.get_type_hints(kind, vars(events))
    return tuple((each.name, hints[each.name]) for each in dataclasses.fields(kind) if each.name != "at")


def _typed(hint: Any, value: object) -> Any:
    """Convert a JSON value to a type.  Raises `TypeError` or `ValueError` if it does not fit."""
    kind = get_origin(hint) or hint
    if kind is types.UnionType or kind is typing.Union:
        return None if value is None else _typed(get_args(hint)[0], value)
    if kind is tuple:
        parts = get_args(hint)
        if not isinstance(value, list):
            raise TypeError
        inner = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        return tuple(_typed(one, each) for one, each in zip(inner, value, strict=True))
    if isinstance(value, dict) and isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return kind(**{name: _typed(one, value[name]) for name, one in _fields(kind) if name in value})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    expected_type = dict if kind is Mapping else kind
    if not isinstance(value, expected_type) or (expected_type is int and isinstance(value, bool)):
        raise TypeError
    return value


_BUFFER = 1 << 22


class FlightWriter:
    """Appends the events of one session.  Use it in a `with` block, or call `close`.

    Several writers, in several processes, may be open for one session.  Events are on file when `close` returns, or
    earlier.  `written` counts the new events.

    A session without earlier events whose last event is not later than `ended_by` is archived straight away, unless it
    is large.
    """

    def __init__(
        self,
        vault_root: Path,
        session_id: str,
        max_value_bytes: int = 65536,
        lock_seconds: float = LOCK_SECONDS,
        ended_by: datetime | None = None,
    ) -> None:
        self.folder = flight_folder(vault_root, session_id)
        self.vault_root = vault_root
        self.session_id = session_id
        self.max_value_bytes = max_value_bytes
        self.written = 0
        self._lock_seconds = lock_seconds
        self._keys = Keys(vault_root, session_id)
        self._pending: dict[int, Record] = {}
        self._size = 0
        self._ended_by = ended_by
        if ended_by is None:
            make_folder(self.folder)
        with append_errors(self.folder):
            self._keys.read_new(self.folder)

    def write(self, event: Event, phase: str = "", source: str = "") -> bool:
        """Append an event for a phase (`phase-2.1`) and a native session (`client:id`); False if already recorded."""
        return self.add(record_of(event, phase, source, self.max_value_bytes))

    def add(self, record: Record) -> bool:
        """Append a record; False if already recorded."""
        if record.key in self._keys or record.key in self._pending:
            return False
        self._pending[record.key] = record
        self._size += len(record.line)
        self.written += 1
        if self._size >= _BUFFER:
            self._flush()
        return True

    def close(self) -> None:
        """Write everything that is buffered."""
        self._flush(closes=True)
        self._keys.save()

    def _flush(self, *, closes: bool = False) -> None:
        """Number and write the pending records, after those that other processes have written since."""
        if not self._pending:
            return
        try:
            with hold_events(self.folder, self._lock_seconds) as files:
                self._keys.read_new(self.folder)
                fresh = {key: one for key, one in self._pending.items() if key not in self._keys}
                if closes and self._has_ended(files, fresh.values()):
                    self._archive(files, [*fresh.values()])
                else:
                    self._append(files, [*fresh.values()])
                    self._keys.add(fresh, self.folder, files.sizes)
        finally:
            self._pending.clear()
            self._size = 0

    def _append(self, files: EventFiles, fresh: list[Record]) -> None:
        """Append the records that no other process has written.  The lock must be held."""
        self.written -= len(self._pending) - len(fresh)
        if not fresh:
            return
        before = dict(files.sizes)
        number = next_number(files, self.vault_root, self.session_id)
        files.append((one.file, b'{"seq":%d,%s' % (at, one.line)) for at, one in enumerate(fresh, number))
        started = min((one.time for one in fresh if one.time), default=None)
        keep_meta(files, self.session_id, before, Counter(one.file for one in fresh), Facts(started=started))

    def _has_ended(self, files: EventFiles, fresh: Iterable[Record]) -> bool:
        times = [record.time for record in fresh if record.time]
        return (
            self._ended_by is not None
            and bool(times)
            and max(times) <= self._ended_by
            and not any(files.sizes.values())
            and not archive_path(self.vault_root, self.session_id).exists()
        )

    def _archive(self, files: EventFiles, fresh: Iterable[Record]) -> None:
        lines = [
            NewLine(one.file, one.key.to_bytes(KEY), b'{"seq":%d,%s' % (at, one.line))
            for at, one in enumerate(fresh, 1)
        ]
        times = [one.time for one in fresh if one.time]
        archive_new(self.vault_root, self.session_id, lines, min(times), max(times))
        remove_files(files)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()


class Record(NamedTuple):
    """An event's record without its number, the key and the file that it belongs to, and its time."""

    key: int
    file: str
    line: bytes
    time: datetime | None


def record_of(event: Event, phase: str, source: str, limit: int) -> Record:
    """Return an event's record for a phase and a native session, with strings longer than `limit` bytes cut."""
    body = _body(event, source, limit)
    key = int.from_bytes(hashlib.blake2b(body, digest_size=8).digest())
    time = orjson.dumps(event.at.time, option=orjson.OPT_UTC_Z)
    # Serialising the body is slow, so it is done once for both the key and the line.
    line = b'"key":"%016x","time":%s,"phase":%s,%s\n' % (key, time, _text(phase), body[1:])
    return Record(key, TOOLS if type(event).__name__ in TOOL_TYPES else EVENTS, line, event.at.time)


@lru_cache(maxsize=64)
def _text(text: str) -> bytes:
    try:
        return orjson.dumps(text)
    except TypeError:  # a lone surrogate
        return orjson.dumps(text.encode("utf-8", "replace").decode())


_NAMES = {
    kind.__name__: tuple((f.name, RENAMED.get(f.name, f.name)) for f in dataclasses.fields(kind) if f.name != "at")
    for kind in get_args(Event)
}
"""The fields of each event class, and their names in a record."""


def _body(event: Event, source: str, limit: int) -> bytes:
    """Return the record as JSON without number, key and time, with long strings cut.

    `cut` maps each cut string to its original size in bytes (0: nested too deeply).
    """
    at, kind = event.at, type(event).__name__
    body: dict[str, object] = {
        "type": kind,
        "source": source,
        "line": at.line,
        "row": at.row,
        "agent": at.agent,
    }
    for field, name in _NAMES[kind]:
        body[name] = getattr(event, field)
    with contextlib.suppress(TypeError):  # unsupported by orjson, or nested too deeply
        data = orjson.dumps(body, option=orjson.OPT_UTC_Z)
        if len(data) <= limit:
            return data
    cut: dict[str, int] = {}
    body |= {name: cut_values(body[name], name, limit, cut) for _, name in _NAMES[kind]}
    return dump_record(body | {"cut": cut} if cut else body)
