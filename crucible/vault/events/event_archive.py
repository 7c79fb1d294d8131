"""The archive of a session's event log: one compressed file, `.crucible/archive/<session_id>.jsonl.zst`.

Its first line is a summary like `meta.json`, with `archive` (the format version) and `last_seq`; the records follow in
order.  A new archive is written next to the old one, and replaces it once verified.
"""

from __future__ import annotations

import hashlib
import heapq
import io
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import IO, NamedTuple

import orjson

from crucible.core.errors import VaultError
from crucible.core.files import append_errors, fsync_folder
from crucible.core.patterns import late_pattern
from crucible.vault.events.event_files import EVENTS, TOOLS, EventFiles, archive_path, number_of
from crucible.vault.events.event_summary import COUNTS, load_own_meta, with_counts


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
    known: set[bytes] = set()
    last = shift = 0
    for line in archived:
        known.add(_identity(line))
        last = max(last, line.number)
        yield line
    for line in later:
        if _identity(line) not in known:
            if line.number and line.number + shift <= last:
                shift = last + 1 - line.number
            yield _renumbered(line, shift) if line.number and shift else line


def _rising(lines: Iterable[EventLine]) -> Iterator[tuple[int, EventLine]]:
    highest = 0
    for line in lines:
        highest = max(highest, line.number)
        yield highest, line


_HEAD = late_pattern(rb'\{"seq":\d+,(?:"key":"([0-9a-f]{16})",)?')


def _identity(line: EventLine) -> bytes:
    """Return an identity shared by copies of a record with different numbers: its key, else a hash of the line."""
    found = _HEAD.match(line.data) if line.number else None
    if found and found[1]:
        return bytes(found[1])
    return hashlib.blake2b(line.data[found.end() :] if found else line.data, digest_size=16).digest()


def _renumbered(line: EventLine, shift: int) -> EventLine:
    """Return the record with its number increased by `shift`."""
    number = line.number + shift
    found = _HEAD.match(line.data)
    if found:
        data = b'{"seq":%d,' % number + line.data.partition(b",")[2]
    else:
        data = orjson.dumps({**orjson.loads(line.data), "seq": number}) + b"\n"
    return line._replace(data=data, number=number)


_FORM = 1
_BUFFER = 1 << 18
_LEVEL = 9
"""One of Zstandard's 22 levels.  At this one, text shrinks to a tenth, at about 50 MB a second."""


class Contents(NamedTuple):
    """A checksum over lines: the number of records, the last sequence number, and a digest of all bytes."""

    records: int
    last: int
    digest: bytes


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
    with _reading(path) as file:
        expected = _summary(file.readline(), path).get("records")
        for line in numbered(file, path, start=2):
            found += line.number > 0
            yield line
    if found != expected:
        raise _damaged(path, f"{found} of {expected} records remain")


def archived_meta(vault_root: Path, session_id: str) -> Mapping[str, object]:
    """Return the summary in a session's archive, or an empty one.  Reads only the first line."""
    path = archive_path(vault_root, session_id)
    if not path.is_file():
        return {}
    with _reading(path) as file:
        return _summary(file.readline(), path)


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


def put_away(vault_root: Path, session_id: str, files: EventFiles) -> Contents:
    """Archive a session: write the lines in an existing archive, then those in the folder.

    Leaves the folder unchanged.  Raises `VaultError` if the archive cannot be written, or if an existing one cannot be
    read; the existing one is then unchanged.
    """
    path = archive_path(vault_root, session_id)
    new = path.with_name(f"{path.name}.tmp")
    with append_errors(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            expected = _write(new, vault_root, session_id, files)
            _check(new, expected)
            new.replace(path)
            fsync_folder(path.parent)
        finally:
            new.unlink(missing_ok=True)
    return expected


def _write(new: Path, vault_root: Path, session_id: str, files: EventFiles) -> Contents:
    """Write the archive.  Reads all lines twice, since the summary comes first."""
    path = archive_path(vault_root, session_id)
    written: Counter[str] = Counter()
    with folder_lines(files.folder) as later:
        expected = _contents(after_archived(archived_lines(path), later), written)
    meta = with_counts(load_own_meta(files.folder), files.folder)
    head = {"archive": _FORM, **joined_meta(archived_meta(vault_root, session_id), meta, written)}
    # Use the actual counts, whatever an older summary says.
    head |= {"session_id": session_id, "records": expected.records, "last_seq": expected.last}
    with _writing(new) as file, folder_lines(files.folder) as later:
        file.write(orjson.dumps(head) + b"\n")
        for line in after_archived(archived_lines(path), later):
            file.write(line.data)
    return expected


def _check(new: Path, expected: Contents) -> None:
    found = _contents(archived_lines(new), Counter())
    if found != expected:
        raise _damaged(new, f"{found.records} of {expected.records} records could be read back")


def _contents(lines: Iterable[EventLine], written: Counter[str]) -> Contents:
    """Summarise all lines.  `written` receives the number of records in each file."""
    records = last = 0
    digest = hashlib.blake2b(digest_size=16)
    for line in lines:
        if line.number:
            records += 1
            written[line.path.name] += 1
        last = max(last, line.number)
        digest.update(line.data)
    return Contents(records, last, digest.digest())


@contextmanager
def _reading(path: Path) -> Iterator[IO[bytes]]:
    from crucible.core.zstd import ZstdError, ZstdFile  # noqa: PLC0415  slow to import, and rarely needed

    with append_errors(path, "read"), path.open("rb") as packed:
        try:
            with ZstdFile(packed) as stream:
                yield io.BufferedReader(stream, _BUFFER)
        except (EOFError, ZstdError) as error:
            raise _damaged(path, str(error)) from error


@contextmanager
def _writing(new: Path) -> Iterator[io.BufferedIOBase]:
    """Open a new compressed file.  It is on disk when the block ends."""
    from crucible.core.zstd import CompressionParameter, ZstdFile  # noqa: PLC0415  as above

    options: dict[int, int] = {CompressionParameter.compression_level: _LEVEL, CompressionParameter.checksum_flag: 1}

    new.unlink(missing_ok=True)  # left by a killed purge, or a symlink
    with new.open("xb") as packed:
        with ZstdFile(packed, "w", options=options) as stream:
            yield stream
        packed.flush()
        os.fsync(packed.fileno())


def _summary(line: bytes, path: Path) -> Mapping[str, object]:
    try:
        head = orjson.loads(line)
        if isinstance(head, dict) and isinstance(head["archive"], int):
            return head
    except (ValueError, KeyError):
        pass
    raise _damaged(path, "its first line is not a summary")


def _damaged(path: Path, reason: str) -> VaultError:
    return VaultError(f"{path}: damaged: {reason}", "nothing was removed; restore it from a backup, or move it away")


def _integer(value: object) -> int:
    return value if isinstance(value, int) else 0


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []
