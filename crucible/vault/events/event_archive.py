"""The archive of a session's event log: one compressed file, `.crucible/archive/<session_id>.jsonl.zst`.

Its first block is a line with a summary like `meta.json`, with `archive` (the format version), `last_seq` and `last`
(the time of the last record); the records follow in order.  Version 1 has one block and no `last`.  An archive is
changed only while the session's files are held: a new one is written next to the old one, and replaces it.
"""

from __future__ import annotations

import heapq
import io
from collections import deque
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import IO

import orjson

from crucible.core.errors import VaultError
from crucible.core.files import append_errors
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.quick_imports import blake2b
from crucible.vault.events.archive_blocks import KEY, Place, load_places, read_block
from crucible.vault.events.event_files import EVENTS, TOOLS, EventFiles, archive_path, number_of
from crucible.vault.events.event_summary import COUNTS


class EventLine(NamedTuple):
    """A line in a file: its bytes including any line end, and its line number `at`, from 1.

    `number` is the record's sequence number, or 0 if the line is not a record.
    """

    data: bytes
    number: int
    path: Path
    at: int


def numbered(lines: Iterable[bytes], path: Path, start: int = 1) -> Iterator[EventLine]:
    """Yield the lines of one file, numbered from `start`."""
    for at, data in enumerate(lines, start):
        # A record without a line end is torn: the next writer removes it.
        yield EventLine(data, number_of(data) if data.endswith(b"\n") else 0, path, at)


@contextmanager
def folder_lines(folder: Path) -> Iterator[Iterator[EventLine]]:
    """Merge both files in a folder by sequence number; lines that are not records follow the record above them.

    Both files are opened first, so they stay readable even if a purge removes them.
    """
    with ExitStack() as stack:
        files: list[Iterator[tuple[int, EventLine]]] = []
        for path in (folder / EVENTS, folder / TOOLS):
            with suppress(FileNotFoundError):
                files.append(_rising(numbered(stack.enter_context(path.open("rb", _BUFFER)), path)))
        yield (line for _, line in heapq.merge(*files, key=lambda pair: pair[0]))


def after_archived(archived: Iterable[EventLine], later: Iterable[EventLine]) -> Iterator[EventLine]:
    """Yield the lines in the archive, then the other lines in the folder, renumbered to follow the archive's."""
    first = next(iter_later := iter(later), None)
    if first is None:
        yield from archived
        return
    later = chain((first,), iter_later)
    known: set[bytes] = set()
    last = shift = 0
    for line in archived:
        known.add(identity(line))
        last = max(last, line.number)
        yield line
    for line in later:
        if identity(line) not in known:
            if line.number and line.number + shift <= last:
                shift = last + 1 - line.number
            yield _renumbered(line, shift) if line.number and shift else line


def _rising(lines: Iterable[EventLine]) -> Iterator[tuple[int, EventLine]]:
    highest = 0
    for line in lines:
        highest = max(highest, line.number)
        yield highest, line


_HEAD = late_pattern(rb'\{"seq":\d+,(?:"key":"([0-9a-f]{16})",)?')


def identity(line: EventLine) -> bytes:
    """Return the key of a line, shared by copies of a record with different numbers: its own, else a hash."""
    found = _HEAD.match(line.data) if line.number else None
    if found and found[1]:
        return bytes.fromhex(found[1].decode())
    return blake2b(line.data[found.end() :] if found else line.data, digest_size=KEY).digest()


def keys_of(places: Iterable[Place]) -> Iterator[bytes]:
    """Yield the keys of the lines in blocks."""
    for place in places:
        yield from (place.keys[at : at + KEY] for at in range(0, len(place.keys), KEY))


def _renumbered(line: EventLine, shift: int) -> EventLine:
    """Return the record with its number increased by `shift`."""
    number = line.number + shift
    found = _HEAD.match(line.data)
    if found:
        data = b'{"seq":%d,' % number + line.data.partition(b",")[2]
    else:
        data = orjson.dumps({**orjson.loads(line.data), "seq": number}) + b"\n"
    return line._replace(data=data, number=number)


_BUFFER = 1 << 18


def next_number(files: EventFiles, vault_root: Path, session_id: str) -> int:
    """Return the sequence number for a session's next record, after all records in the folder and the archive.

    An unreadable archive does not block writers; reading renumbers the later records.
    """
    last = files.last_number()
    if not last:
        with suppress(VaultError):
            last = _integer(archived_meta(vault_root, session_id).get("last_seq"))
    return last + 1


def archived_lines(path: Path) -> Iterator[EventLine]:
    """Yield the lines of an archive except the first; none if there is no archive.

    Raises `VaultError` if the archive is damaged, after the lines that could be read.
    """
    if not path.is_file():
        return
    found = 0
    with archive_errors(path), path.open("rb") as file:
        places = load_places(file)
        parts = (io.BytesIO(read_block(file, place)) for place in places) if places else _streamed(file)
        lines = chain.from_iterable(parts)
        expected = parse_summary(next(lines, b""), path).get("records")
        for at, data in enumerate(lines, 2):
            number = number_of(data) if data.endswith(b"\n") else 0
            found += number > 0
            yield EventLine(data, number, path, at)
    if found != expected:
        raise damaged(path, f"{found} of {expected} records remain")


def archived_lines_of(path: Path, keys: Iterable[bytes]) -> Iterator[EventLine]:
    """Yield the lines of an archive with these keys, or all lines if it has no table of keys.

    Decompresses only their blocks.  Raises `VaultError` if the archive is damaged.
    """
    if not path.is_file():
        return
    with archive_errors(path), path.open("rb") as file:
        places = load_places(file)
        start = 1
        for place in places:
            if found := sorted(set(_positions(place.keys, keys))):
                lines = read_block(file, place).split(b"\n")
                yield from (EventLine(lines[at] + b"\n", number_of(lines[at]), path, start + at) for at in found)
            start += len(place.keys) // KEY or 1
    if not places:
        yield from archived_lines(path)


def _positions(table: bytes, keys: Iterable[bytes]) -> Iterator[int]:
    for key in keys:
        at = table.find(key)
        while at >= 0:
            if at % KEY == 0:
                yield at // KEY
            at = table.find(key, at + 1)


def last_archived_lines(path: Path) -> Iterator[bytes]:
    """Yield the lines of an archive, last one first, without line ends.  Reads only as far as needed.

    Raises `VaultError` if the archive is damaged.
    """
    if not path.is_file():
        return
    with archive_errors(path), path.open("rb") as file:
        places = load_places(file)
        for place in reversed(places[1:]):
            yield from reversed(read_block(file, place).split(b"\n")[:-1])
    if not places:
        yield from reversed([line.data.rstrip(b"\n") for line in archived_lines(path)])


def verify_archive(path: Path) -> None:
    """Raise `VaultError` if an archive is damaged.  Decompresses all of it."""
    with archive_errors(path), path.open("rb") as file:
        places = load_places(file)
        for place in places:
            lines = read_block(file, place).count(b"\n")
            if place.start and lines * KEY != len(place.keys):
                raise damaged(path, "a block does not have the lines that its table names")
    head = archived_meta_of(path)
    if not places:
        deque(archived_lines(path), maxlen=0)
        if head.get("archive") != 1:
            raise damaged(path, "its table of blocks cannot be read")


def archived_meta(vault_root: Path, session_id: str) -> Mapping[str, object]:
    """Return the summary in a session's archive, or an empty one.  Reads only the first line."""
    path = archive_path(vault_root, session_id)
    return archived_meta_of(path) if path.is_file() else {}


def archived_meta_of(path: Path) -> Mapping[str, object]:
    """Return the summary in an archive."""
    with archive_errors(path), path.open("rb") as file:
        line = next(stream.readline() for stream in _streamed(file))
    return parse_summary(line, path)


def last_of(meta: Mapping[str, object]) -> datetime | None:
    """Return the time of the last record in an archive, from its summary; None if its version stored no time."""
    last = meta.get("last")
    with suppress(ValueError):
        return datetime.fromisoformat(last) if isinstance(last, str) else None
    return None


def joined_meta(
    archived: Mapping[str, object], later: Mapping[str, object], written: Mapping[str, int]
) -> dict[str, object]:
    """Join the summaries of an archive and of later records.  `written` counts the later records by file."""
    joined = {
        **later,
        **archived,
        **{name: value for name, value in later.items() if value not in (None, [])},
    }
    joined |= {name: archived[name] for name in ("started", "initial_agent") if archived.get(name)}
    agents = [agent for meta in (archived, later) for agent in _list(meta.get("agent_switches"))]
    joined["agent_switches"] = [a for at, a in enumerate(agents) if agents[at - 1 : at] != [a]]
    for name, key in COUNTS.items():
        joined[key] = _integer(archived.get(key)) + written.get(name, 0)
    joined["records"] = sum(_integer(joined[key]) for key in COUNTS.values())
    return {name: value for name, value in joined.items() if name != "sizes"}


def _streamed(packed: IO[bytes]) -> Iterator[IO[bytes]]:
    """Yield the content of an archive without tables as one stream."""
    from crucible.core.zstd import ZstdFile  # noqa: PLC0415  slow to import, and not always needed

    packed.seek(0)
    with ZstdFile(packed) as stream:
        yield io.BufferedReader(stream, _BUFFER)


@contextmanager
def archive_errors(path: Path) -> Iterator[None]:
    """Convert the errors of a damaged or unreadable archive to a `VaultError`."""
    from crucible.core.zstd import ZstdError  # noqa: PLC0415  as above

    with append_errors(path, "read"):
        try:
            yield
        except (EOFError, ZstdError) as error:
            raise damaged(path, str(error)) from error


def parse_summary(line: bytes, path: Path) -> Mapping[str, object]:
    """Parse the first line of an archive.  Raises `VaultError` if it is not a summary."""
    try:
        head = orjson.loads(line)
        if isinstance(head, dict) and isinstance(head["archive"], int):
            return head
    except (ValueError, KeyError):
        pass
    raise damaged(path, "its first line is not a summary")


def damaged(path: Path, reason: str) -> VaultError:
    """Return the error for a damaged archive."""
    return VaultError(f"{path}: damaged: {reason}", "nothing was removed; restore it from a backup, or move it away")


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
