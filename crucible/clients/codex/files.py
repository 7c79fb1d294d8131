"""Codex's files as rows: plain or compressed, of the first generation or of today.

Owns bytes to a typed row with an id that stays when the file grows, is compressed or moved; what a row means is
`rows`'s.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from crucible.clients.jsonl_reader import Record, read_file, read_records
from crucible.clients.log_values import Row, as_dict, as_str, as_time, number
from crucible.clients.session_files import Reach, reach_of_lines
from crucible.core.errors import TranscriptError

_ZST = ".zst"
_HEAD = 4 << 20
_ENVELOPED = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')


class Line(NamedTuple):
    """One row: its `type` and `payload`; `type` is "" and `reason` says why where nothing could be read.

    `row` is the ordinal where the client numbers its rows, else a hash of what the row says; `ordinal` is -1 then.
    """

    number: int
    type: str
    payload: Row
    row: str = ""
    time: datetime | None = None
    ordinal: int = -1
    reason: str = ""


def read_lines(path: Path) -> Iterator[Line]:
    """The rows of a file, one in memory at a time.  `TranscriptError` when it cannot be opened."""
    records = _compressed(path) if path.suffix == _ZST else read_file(path)
    return map(_line, records)


def first_lines(path: Path, limit: int) -> list[Line]:
    """The first rows, each as far as it lies in its first megabytes; none for what cannot be read."""
    try:
        with _opened(path) as stream:
            head = [stream.readline(_HEAD) for _ in range(limit)]
    except (OSError, EOFError, _broken()):
        return []
    return list(map(_line, islice(read_records(head), limit)))


def reach_of_file(path: Path) -> Reach:
    """How far a file goes; a compressed one is read to its end."""
    if path.suffix != _ZST:
        return reach_of_lines(path)
    last, first = None, ""
    try:
        with _opened(path) as stream:
            for line in stream:
                first = first or (_meta_id(line) if b"session_meta" in line[:200] else "")
                found = _STAMP.search(line[:200])
                last = as_time(found[1].decode("utf-8", "replace")) or last if found else last
    except (EOFError, _broken()):
        pass
    return Reach(last, path.stat().st_size, first)


def _meta_id(line: bytes) -> str:
    try:
        return as_str(as_dict(as_dict(orjson.loads(line)).get("payload")).get("id"))
    except ValueError:
        return ""


# --- compressed files ------------------------------------------------------------------------------------------------


def _broken() -> type[Exception]:
    from zstandard import ZstdError  # noqa: PLC0415  few files are compressed, and it loads a C library

    return ZstdError


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != _ZST:
        with path.open("rb") as stream:
            yield stream
        return
    from zstandard import ZstdDecompressor  # noqa: PLC0415  as above

    with path.open("rb") as file:
        reader = ZstdDecompressor().stream_reader(file, read_across_frames=True)
        yield BufferedReader(reader, 1 << 18)


def _compressed(path: Path) -> Iterator[Record]:
    """The records of a compressed file; what is cut off or broken ends them with a reason."""
    line = 0
    try:
        with _opened(path) as stream:
            for record in read_records(stream):
                line = record.line
                yield record
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error
    except (EOFError, _broken()) as error:
        yield Record(line + 1, None, f"broken compression: {error}")


# --- rows ------------------------------------------------------------------------------------------------------------


def _line(record: Record) -> Line:
    value = record.value
    if value is None:
        return Line(record.line, "", {}, reason=record.reason)
    kind, payload = _typed(value)
    if not kind:
        return Line(record.line, "", {}, reason="a row without a type")
    ordinal = number(value.get("ordinal"))
    if ordinal is None or ordinal < 0:
        return Line(record.line, kind, payload, _hash(value), as_time(value.get("timestamp")))
    return Line(record.line, kind, payload, str(ordinal), as_time(value.get("timestamp")), ordinal)


def _typed(value: Row) -> tuple[str, Row]:
    """The type and payload of a row.  The oldest versions wrote both bare, and the session's head without a type."""
    kind, payload = as_str(value.get("type")), value.get("payload")
    if isinstance(payload, dict):
        return kind, payload
    if kind:
        return (kind, {}) if kind in _ENVELOPED else ("response_item", value)
    if "record_type" in value:
        return "state", value
    return ("session_meta", value) if isinstance(value.get("id"), str) else ("", {})


def _hash(value: Row) -> str:
    try:
        data = orjson.dumps(value)
    except TypeError:  # a whole number that no 64 bits hold
        data = repr(value).encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=8).hexdigest()
