"""Read Codex's rollouts: their rows, the heads of sessions, and which files belong to one session.

A rollout is a file of JSON lines, optionally compressed (`.zst`).  A subagent has its own rollout with its parent's id.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from io import BufferedReader
from itertools import islice
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from crucible.clients.codex.client import CLIENT
from crucible.clients.codex.state import parent_of
from crucible.clients.log_files import (
    Reach,
    Record,
    SubagentFile,
    files_below,
    reach_of_lines,
    read_file,
    read_records,
)
from crucible.clients.log_values import Row, as_dict, as_list, as_str, as_time, number
from crucible.core.errors import TranscriptError

_ZST = ".zst"
_HEAD = 4 << 20
_ENVELOPED = frozenset({"session_meta", "turn_context", "response_item", "event_msg", "compacted", "world_state"})
_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')


class Line(NamedTuple):
    """One row: its `type` and `payload`.  If the row cannot be read, `type` is "" and `reason` says why.

    If the client numbers its rows, `row` and `ordinal` are that number; otherwise `row` is a hash and `ordinal` is -1.
    """

    number: int
    type: str
    payload: Row
    row: str = ""
    time: datetime | None = None
    ordinal: int = -1
    reason: str = ""


def read_lines(path: Path) -> Iterator[Line]:
    """Yield the rows of a file, with one in memory at a time.  Raises `TranscriptError` if it cannot be opened."""
    records = _compressed(path) if path.suffix == _ZST else read_file(path)
    return map(_line, records)


def first_lines(path: Path, limit: int) -> list[Line]:
    """Return the first rows, each up to a few megabytes; empty if the file cannot be read."""
    head: list[bytes] = []
    try:
        with _opened(path) as stream:
            head.extend(stream.readline(_HEAD) for _ in range(limit))
    except (OSError, EOFError, _zstd_error()):
        pass  # of a damaged file, what could be read
    return list(map(_line, islice(read_records(head), limit)))


def reach_of_file(path: Path) -> Reach:
    """Return how far a file goes; a compressed file is read to its end."""
    if path.suffix != _ZST:
        return reach_of_lines(path)
    last, first = None, ""
    try:
        with _opened(path) as stream:
            for line in stream:
                first = first or (_meta_id(line) if b"session_meta" in line[:200] else "")
                found = _STAMP.search(line[:200])
                last = as_time(found[1].decode("utf-8", "replace")) or last if found else last
    except (EOFError, _zstd_error()):
        pass
    return Reach(last, path.stat().st_size, first)


def _meta_id(line: bytes) -> str:
    try:
        return as_str(as_dict(as_dict(orjson.loads(line)).get("payload")).get("id"))
    except ValueError:
        return ""


# --- compressed files ------------------------------------------------------------------------------------------------


def _zstd_error() -> type[Exception]:
    from crucible.core.zstd import ZstdError  # noqa: PLC0415  few files are compressed, and it loads a C library

    return ZstdError


@contextmanager
def _opened(path: Path) -> Iterator[IO[bytes]]:
    if path.suffix != _ZST or path.stat().st_size == 0:
        with path.open("rb") as stream:
            yield stream
        return
    from crucible.core.zstd import ZstdFile  # noqa: PLC0415  as above

    with ZstdFile(path) as packed:
        yield BufferedReader(packed, 1 << 18)


def _compressed(path: Path) -> Iterator[Record]:
    """Yield the records of a compressed file; truncated or damaged data ends them with a reason."""
    line = 0
    try:
        with _opened(path) as stream:
            for record in read_records(stream):
                line = record.line
                yield record
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error
    except (EOFError, _zstd_error()) as error:
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
    """Return the type and payload of a row.

    The oldest versions logged items without an envelope and the head without a type.
    """
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
    except TypeError:  # an integer of more than 64 bits
        data = repr(value).encode("utf-8", "replace")
    return hashlib.blake2b(data, digest_size=8).hexdigest()


_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def dicts(value: object) -> list[Row]:
    """Return the objects in a list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def parsed(text: object) -> Row:
    """Parse a string with a JSON object.  An object is returned unchanged, anything else becomes {}."""
    if not isinstance(text, str):
        return as_dict(text)
    try:
        return as_dict(orjson.loads(text)) if text[:1] in "{ \n" else {}
    except ValueError:
        return {}


def made_at(ident: str) -> int:
    """Return the time in a version 7 UUID, in milliseconds; 0 for any other id."""
    found = _UUID7.match(ident)
    return int(found[1] + found[2], 16) if found else 0


_NAME = re.compile(r"rollout-(?P<time>\d{4}-\d\d-\d\dT\d\d-\d\d-\d\d)-(?P<id>.+?)\.jsonl(?:\.zst)?\Z")
_SUFFIXES = (".jsonl", f".jsonl{_ZST}")
INDEX = "session_index.jsonl"
_HOMES = CLIENT.logs_below
_LATE = 86_400_000
"""Milliseconds after a session's last row in which its subagents may still start others."""
_UP = 5
"""Number of folders from a rollout up to the client's folder: `sessions/YYYY/MM/DD/`."""


@dataclass(frozen=True, slots=True)
class Head:
    """The first row of a rollout: its session, and the id of a subagent's parent or of the forked session."""

    path: Path
    id: str
    parent: str = ""
    role: str = ""
    name: str = ""
    depth: int = 0
    forked_from: str = ""


def head_of(path: Path) -> Head:
    """Read the head of a file.  If no row has the id, it is taken from the file name."""
    for line in first_lines(path, 5):
        if line.type == "session_meta":
            ident = as_str(line.payload.get("id")) or _id_of(path)
            parent, role, name, depth = parent_of(line.payload)
            # A subagent that inherits its parent's context is also marked as a fork.
            origin = "" if parent else as_str(line.payload.get("forked_from_id"))
            return Head(path, ident, parent if parent != ident else "", role, name, depth, origin)
    return Head(path, _id_of(path))


def _id_of(path: Path) -> str:
    found = _NAME.match(path.name)
    return found["id"] if found else path.name.removesuffix(".zst").removesuffix(".jsonl")


def is_rollout(path: Path) -> bool:
    """Return whether a file is named like a rollout."""
    return path.name.startswith("rollout-") and path.name.endswith(_SUFFIXES)


# --- folders ---------------------------------------------------------------------------------------------------------


def rollouts(folder: Path) -> Iterator[Path]:
    """Yield the rollouts in a folder, or in the client's entire folder, sorted by name.

    If a rollout exists both plain and compressed, only the plain file counts.  Raises `OSError` if a folder cannot be
    listed.
    """
    homes = [folder / home for home in _HOMES if (folder / home).is_dir()]
    for home in homes or [folder]:
        home.stat()
        named = (path for path in files_below(home) if path.name.endswith(_SUFFIXES))
        # Later entries win, so plain files come last.
        there = sorted(named, key=lambda path: (path.suffix != _ZST, path))
        found = {path.name.removesuffix(_ZST): path for path in there}
        yield from (path for _, path in sorted(found.items()) if path.is_file())


def place_of(path: Path) -> Path:
    """Return the folder to search for related rollouts: the client's own folder, or the rollout's folder."""
    for folder in list(path.parents)[:_UP]:
        if folder.name in _HOMES:
            return folder.parent
    return path.parent


def near(path: Path) -> Iterable[Path]:
    """Return files that may be related to a rollout.

    Only the client's own folders are searched recursively: a copied rollout may be in any folder.
    """
    place = place_of(path)
    if place != path.parent:
        return rollouts(place)
    try:
        return sorted(place.iterdir())
    except OSError:  # a folder that we may enter, but not list
        return [path]


def kin_of(own: Head) -> list[Head]:
    """Return the heads of nearby files that may belong to a rollout's family: ancestors, and files from their time."""
    named = {found["id"]: path for path in near(own.path) if (found := _NAME.match(path.name))}
    heads = {own.id: own}
    root = own
    while root.parent in named and root.parent not in heads:
        ident = root.parent
        root = heads[ident] = head_of(named[ident])
    first, last = _NAME.match(root.path.name), root.path.stat().st_mtime * 1000 + _LATE
    for ident, path in named.items():
        found = _NAME.match(path.name)
        in_time = not (found and first) or found["time"] >= first["time"]
        if ident not in heads and in_time and made_at(ident) <= last:
            heads[ident] = head_of(path)
    return list(heads.values())


def title_of(path: Path, session: str) -> str:
    """Return a session's title from the client's index; the last entry counts."""
    index = place_of(path) / INDEX
    title = ""
    try:
        with index.open("rb") as lines:
            for line in lines:
                if session.encode("utf-8", "replace") in line:
                    row = _row(line)
                    title = (as_str(row.get("thread_name")) or title) if row.get("id") == session else title
    except OSError:
        return ""
    return title.strip()


def _row(line: bytes) -> dict[str, object]:
    try:
        return as_dict(orjson.loads(line))
    except ValueError:
        return {}


# --- families --------------------------------------------------------------------------------------------------------


def families(heads: Iterable[Head]) -> list[tuple[Head, list[Head]]]:
    """Return each session whose parent is not in `heads`, with all its descendants."""
    heads = list(heads)
    known = {head.id: head for head in heads}
    own = [head for head in heads if _root(head, known) is head]
    below: dict[str, list[Head]] = {head.id: [] for head in own}
    for head in heads:
        root = _root(head, known)
        if root is not head and root.id in below:
            below[root.id].append(head)
    return [(head, below[head.id]) for head in own]


def _root(head: Head, known: dict[str, Head]) -> Head:
    """Return a head's oldest known ancestor; the head itself in a cycle, which no client writes."""
    seen = {head.id}
    at = head
    while at.parent in known:
        if at.parent in seen:
            return head
        seen.add(at.parent)
        at = known[at.parent]
    return at


def subagents_of(root: Head, below: Iterable[Head]) -> tuple[SubagentFile, ...]:
    """Return the files of a session's subagents, one per id."""
    below = list(below)
    depths = {root.id: 0}
    files: dict[str, SubagentFile] = {}
    for head in sorted(below, key=lambda head: (head.depth, head.path.name)):
        depths[head.id] = head.depth or depths.get(head.parent, 0) + 1
        files.setdefault(head.id, SubagentFile(head.id, head.path, head.role, depth=depths[head.id]))
    return tuple(sorted(files.values(), key=lambda file: file.path.name))
