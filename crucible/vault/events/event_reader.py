"""Read event logs from the folder, the archive or both.

Torn lines are reported to the caller and skipped.  A session without a folder has no records.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Container, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from crucible.core.errors import VaultError
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.vault.events.event_archive import (
    EventLine,
    after_archived,
    archived_lines,
    archived_lines_of,
    archived_meta,
    folder_lines,
    joined_meta,
    last_archived_lines,
)
from crucible.vault.events.event_files import OWN_FIELDS, archive_path, flight_folder, last_lines
from crucible.vault.events.event_summary import COUNTS, load_own_meta, with_counts


class EventRecord(NamedTuple):
    """One event or entry.  `type` is a class in `clients.events` or the entry's kind; `values` are its other fields.

    `cut` maps each cut field to its original size in bytes.  `line`, `row` and `agent` locate the event in the client's
    transcript, which `source` names (`client:native-id`, or `recorder` for an entry).  `key` identifies the record.
    """

    seq: int
    type: str
    time: datetime | None = None
    phase: str = ""
    source: str = ""
    line: int = 0
    row: str = ""
    agent: str = ""
    values: Mapping[str, object] = {}
    cut: Mapping[str, int] = {}
    key: str = ""


OnTorn = Callable[[Path, int], None]


_TYPE = late_pattern(rb'\{"seq":\d+,(?:"key":"\w+",)?(?:"time":"[^"\\]*",)?(?:"phase":"[^"\\]*",)?"type":"(\w+)"')
"""The type of a record as we write it, without parsing the line."""
_KEY = late_pattern(rb'\{"seq":\d+,"key":"(\w+)"')


def read_records(
    vault_root: Path,
    session_id: str,
    on_torn: OnTorn | None = None,
    types: Container[str] | None = None,
    keys: Collection[str] | None = None,
) -> Iterator[EventRecord]:
    """Yield the records by sequence number, without those of other `types` or `keys`.

    With keys, only a part of the archive is read.

    `on_torn` gets the file and line number (from 1) of each invalid line.

    Raises `VaultError` if the archive is damaged, after the records that could be read.
    """
    with _lines(vault_root, session_id, keys) as lines:
        for line in lines:
            if types is not None and (found := _TYPE.match(line.data)) and found[1].decode() not in types:
                continue
            if keys is not None and (found := _KEY.match(line.data)) and found[1].decode() not in keys:
                continue
            try:
                record = _record(orjson.loads(line.data) if line.number else None)
            except (ValueError, KeyError, TypeError):
                if on_torn:
                    on_torn(line.path, line.at)
            else:
                if keys is None or record.key in keys:
                    yield record


def read_fields(vault_root: Path, session_id: str, on_torn: OnTorn | None = None) -> Iterator[dict[str, Any]]:
    """Yield the fields of each record as stored, by sequence number.  Twice as fast as `read_records`.

    Raises `VaultError` like `read_records`.  No type is checked, not even that of `type`.
    """
    with _lines(vault_root, session_id) as lines:
        for line in lines:
            try:
                fields = orjson.loads(line.data) if line.number else None
            except ValueError:
                fields = None
            if isinstance(fields, dict):
                yield fields
            elif on_torn:
                on_torn(line.path, line.at)


def load_meta(vault_root: Path, session_id: str) -> Mapping[str, object]:
    """Return the summary with current counts; empty without records.  Writes nothing."""
    folder, archived = flight_folder(vault_root, session_id), archived_meta(vault_root, session_id)
    if not folder.is_dir():
        return archived
    meta = with_counts(load_own_meta(folder), folder)
    if not archived:
        return meta
    with _lines(vault_root, session_id) as lines:
        written = Counter(line.path.name for line in lines if line.number)
    return joined_meta(archived, meta, written)


def last_time(vault_root: Path, session_id: str, ignored: Container[str] = ()) -> datetime | None:
    """Return the time of the last event, except for the types in `ignored`.  Reads only the end of each file."""
    folder = flight_folder(vault_root, session_id)
    later = max(filter(None, (_last_in(folder / name, ignored) for name in COUNTS)), default=None)
    with suppress(VaultError):
        return later or _last_of(last_archived_lines(archive_path(vault_root, session_id)), ignored)
    return None


def _last_in(path: Path, ignored: Container[str]) -> datetime | None:
    with suppress(OSError), path.open("rb") as file:
        return _last_of(last_lines(file.fileno()), ignored)
    return None


def _last_of(lines: Iterable[bytes], ignored: Container[str]) -> datetime | None:
    for line in lines:
        with suppress(ValueError, KeyError, TypeError):
            record = _record(orjson.loads(line))
            if record.time and record.type not in ignored:
                return record.time
    return None


@contextmanager
def _lines(vault_root: Path, session_id: str, keys: Collection[str] | None = None) -> Iterator[Iterator[EventLine]]:
    archive = archive_path(vault_root, session_id)
    # Open the folder first: if a purge then empties it, the archive is already written.
    with folder_lines(flight_folder(vault_root, session_id)) as later:
        yield after_archived(_archived(archive, keys), later) if archive.is_file() else later


def _archived(path: Path, keys: Collection[str] | None) -> Iterator[EventLine]:
    if keys is None or not all(map(_IS_KEY.fullmatch, keys)):
        return archived_lines(path)
    return archived_lines_of(path, [bytes.fromhex(key) for key in keys])


_IS_KEY = late_pattern(r"[0-9a-f]{16}")


def _record(raw: object) -> EventRecord:
    if not isinstance(raw, dict):
        raise TypeError("no record")
    time = raw.get("time")
    cut = raw.get("cut", {})
    return EventRecord(
        seq=_integer(raw["seq"]),
        type=str(raw["type"]),
        time=_time(time) if isinstance(time, str) else None,
        phase=str(raw.get("phase", "")),
        source=str(raw.get("source", "")),
        line=_integer(raw.get("line", 0)),
        row=str(raw.get("row", "")),
        agent=str(raw.get("agent", "")),
        values={name: value for name, value in raw.items() if name not in OWN_FIELDS},
        cut={k: v for k, v in cut.items() if isinstance(v, int)} if isinstance(cut, dict) else {},
        key=str(raw.get("key", "")),
    )


def _time(text: str) -> datetime | None:
    """Parse a time; None if it is invalid, which does not make the record invalid."""
    with suppress(ValueError):
        return datetime.fromisoformat(text)
    return None


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is not a number")
    return value
