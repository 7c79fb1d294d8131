"""The flight recorder read back: records in the order of events.

Owns what is forgiven: a line that is torn or no record is told to the caller and skipped, a session without a folder
has no records.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path

import orjson

from crucible.flight.recorder import EVENTS, META, TOOLS, flight_folder

__all__ = ["Flight", "Record", "load_flight", "read_records"]


@dataclass(frozen=True, slots=True)
class Record:
    """One event: `type` is its class in `transcript.events`, `values` its fields; `cut` the bytes of what was longer.

    `line`, `row` and `agent` say where it stood in the client's log, `source` in which (`client:native-id`).
    """

    seq: int
    type: str
    time: datetime | None = None
    phase: str = ""
    source: str = ""
    line: int = 0
    row: str = ""
    agent: str = ""
    values: Mapping[str, object] = field(default_factory=dict)
    cut: Mapping[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Flight:
    """All of a session's records; `torn` counts the lines that were none."""

    records: tuple[Record, ...] = ()
    torn: int = 0
    meta: Mapping[str, object] = field(default_factory=dict)


OnTorn = Callable[[Path, int], None]


def load_flight(vault_root: Path, session_id: str) -> Flight:
    """Everything at once; use `read_records` for what may be large."""
    torn: list[int] = []
    records = tuple(read_records(vault_root, session_id, lambda _, line: torn.append(line)))
    return Flight(records, len(torn), _meta(flight_folder(vault_root, session_id) / META))


def read_records(vault_root: Path, session_id: str, on_torn: OnTorn | None = None) -> Iterator[Record]:
    """The records by sequence number, one at a time; `on_torn` gets the file and line (from 1) of what is none."""
    folder = flight_folder(vault_root, session_id)
    streams = [_records(folder / name, on_torn) for name in (EVENTS, TOOLS)]
    return heapq.merge(*streams, key=lambda record: record.seq)


def _records(path: Path, on_torn: OnTorn | None) -> Iterator[Record]:
    if not path.is_file():
        return
    with path.open("rb") as file:
        for number, line in enumerate(file, 1):
            try:
                yield _record(orjson.loads(line))
            except (ValueError, KeyError, TypeError):
                if on_torn:
                    on_torn(path, number)


_OWN = {"seq", "key", "type", "time", "phase", "source", "line", "row", "agent", "cut"}


def _record(raw: dict[str, object]) -> Record:
    time = raw["time"]
    cut = raw.get("cut", {})
    return Record(
        seq=_integer(raw["seq"]),
        type=str(raw["type"]),
        time=datetime.fromisoformat(time) if isinstance(time, str) else None,
        phase=str(raw["phase"]),
        source=str(raw["source"]),
        line=_integer(raw["line"]),
        row=str(raw["row"]),
        agent=str(raw["agent"]),
        values={name: value for name, value in raw.items() if name not in _OWN},
        cut=cut if isinstance(cut, dict) else {},
    )


def _integer(value: object) -> int:
    if not isinstance(value, int):
        raise TypeError(f"{value!r} is no number")
    return value


def _meta(path: Path) -> Mapping[str, object]:
    try:
        meta = orjson.loads(path.read_bytes())
    except (OSError, ValueError):
        return {}
    return meta if isinstance(meta, dict) else {}
