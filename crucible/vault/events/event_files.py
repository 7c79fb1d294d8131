"""The files of a session's event log: paths, the lock, and appending complete lines.

Writers hold the lock on `events.jsonl`, so a last line without a line end comes from a killed process and is removed.
A completed write survives kill -9; a power failure may lose the last few seconds.
"""

from __future__ import annotations

import dataclasses
import errno
import math
import os
import re
import stat
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from datetime import datetime
from pathlib import Path

import orjson

from crucible.core.errors import BadSessionId, OutsideVault, VaultError
from crucible.core.file_stamps import digest_of
from crucible.core.files import append_errors, inside
from crucible.core.locks import open_locked, timed_out
from crucible.core.patterns import late_pattern
from crucible.documents.session.session_id import check_session_id

EVENTS, TOOLS, META = "events.jsonl", "tools.jsonl", "meta.json"

OWN_FIELDS = frozenset({"seq", "key", "type", "time", "phase", "source", "line", "row", "agent", "cut"})
"""Standard fields of a record; all other fields are values."""

TOOL_TYPES = frozenset({"tool", "ToolUsed", "ToolReturned", "SubagentStarted", "SubagentReturned"})
"""Record types that go to `tools.jsonl`."""


def flights_folder(vault_root: Path) -> Path:
    """Return the folder that contains the event logs of all sessions."""
    return _inside(vault_root, vault_root / ".crucible" / "flight")


def flight_folder(vault_root: Path, session_id: str) -> Path:
    """Return a session's folder.  Raises an error if the id or a symlink would lead out of the vault."""
    return _inside(vault_root, vault_root / ".crucible" / "flight" / check_session_id(session_id))


def archive_folder(vault_root: Path) -> Path:
    """Return the folder of the archives."""
    return _inside(vault_root, vault_root / ".crucible" / "archive")


def archive_path(vault_root: Path, session_id: str) -> Path:
    """Return the path of a session's archive.  Raises an error if the id or a symlink would lead out of the vault."""
    return _inside(vault_root, archive_folder(vault_root) / f"{check_session_id(session_id)}.jsonl.zst")


def log_files(vault_root: Path, session_id: str) -> Iterator[Path]:
    """Yield the files of a session's event log that there may be; none for an invalid id."""
    with suppress(BadSessionId, OutsideVault):
        yield archive_path(vault_root, session_id)
        yield from sorted(flight_folder(vault_root, session_id).glob("*"))


def log_files_of_note(vault_root: Path, path: Path) -> Iterator[Path]:
    """Yield the files of the event logs of a note's session, by its file's name and by its id, without parsing it."""
    with suppress(OSError):
        ids = {found.decode("utf-8", "replace") for found in _ID.findall(path.read_bytes())}
        for name in sorted({path.name.removesuffix(".md"), *ids}):
            yield from log_files(vault_root, name)


def may_have_records(vault_root: Path, session_id: str) -> bool:
    """Return whether a session seems to have records.  A quick check that does not validate anything."""
    inner = os.path.join(vault_root, ".crucible")
    # Check the folder first: a purge writes the archive before it removes the folder.
    return os.path.lexists(os.path.join(inner, "flight", session_id)) or os.path.lexists(
        os.path.join(inner, "archive", f"{session_id}.jsonl.zst")
    )


def keys_path(vault_root: Path, session_id: str) -> Path:
    """Return the path of the cache file with the keys of a session's records."""
    return _cached(vault_root, f"{check_session_id(session_id)}.keys")


def fold_path(vault_root: Path, source: str) -> Path:
    """Return the path of the cache file with the state of reading a native session's log."""
    return _inside(vault_root, vault_root / ".crucible" / "cache" / "folds" / f"{digest_of(source)}.fold")


def purged_path(vault_root: Path) -> Path:
    """Return the path of the cache file with the time of the last purge."""
    return _cached(vault_root, "purged")


def _cached(vault_root: Path, name: str) -> Path:
    return _inside(vault_root, vault_root / ".crucible" / "cache" / "flight" / name)


def _inside(vault_root: Path, path: Path) -> Path:
    return inside(Path(os.path.realpath(vault_root)), path)


_ID = late_pattern(rb"^session_id:[ \t]*[\"']?([^\s\"']+)", re.MULTILINE)

LOCK_SECONDS = 10.0
"""Seconds to wait for another process.  It rarely holds the lock longer than it takes to write a megabyte.

Archiving a large session is the exception.
"""

_FLAGS = os.O_RDWR | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)
_BLOCK = 1 << 16


class EventFiles:
    """A session's files while the lock is held.

    `sizes` are in bytes and cover only complete lines; a missing file has size 0.
    """

    def __init__(self, folder: Path, events: int) -> None:
        self.folder = folder
        self.descriptors = {EVENTS: events, TOOLS: _open_if_there(folder / TOOLS)}
        self.sizes = {name: _cut_torn_line(descriptor) for name, descriptor in self.descriptors.items()}

    def append(self, lines: Iterable[tuple[str, bytes]]) -> None:
        """Append lines, each a file name and bytes with a line end, in this order: all of them, or none on `OSError`.

        A process killed midway leaves only the first lines, so a later import can append the rest.
        """
        before = dict(self.sizes)
        try:
            for name, data in _joined_lines(lines):
                self._write(name, data)
        except OSError:
            for name, size in before.items():
                if self.descriptors[name] >= 0:
                    with suppress(OSError):
                        os.ftruncate(self.descriptors[name], size)
            self.sizes = before
            raise

    def last_number(self) -> int:
        """Return the highest sequence number; 0 without records.  Constant time."""
        return max(self._last_number(name) for name in self.descriptors)

    def empty(self) -> None:
        """Truncate both files."""
        for name, descriptor in self.descriptors.items():
            if descriptor >= 0:
                os.ftruncate(descriptor, 0)
            self.sizes[name] = 0

    def close(self) -> None:
        """Close the files, which releases the lock."""
        for descriptor in self.descriptors.values():
            if descriptor >= 0:
                os.close(descriptor)

    def _last_number(self, name: str) -> int:
        return next(
            (number for line in _backwards(self.descriptors[name], self.sizes[name]) if (number := number_of(line))),
            0,
        )

    def _write(self, name: str, data: bytes) -> None:
        if self.descriptors[name] < 0:
            self.descriptors[name] = os.open(self.folder / name, _FLAGS | os.O_CREAT, 0o666)
        view = memoryview(data)
        while view:
            view = view[os.write(self.descriptors[name], view) :]
        self.sizes[name] += len(data)


@contextmanager
def hold_events(folder: Path, seconds: float = LOCK_SECONDS, *, make: bool = True) -> Iterator[EventFiles]:
    """Hold the files of a session, created if missing.

    Raises `LockTimeout`, `OutsideVault` if a file is a symlink, and `VaultError` for system errors, including a missing
    folder if `make` is False.
    """
    if make:
        make_folder(folder)
    with append_errors(folder):
        descriptor = _locked(folder, seconds, make=make)
        try:
            files = EventFiles(folder, descriptor)
        except BaseException:
            os.close(descriptor)
            raise
        try:
            yield files
        finally:
            files.close()


def make_folder(folder: Path) -> None:
    """Create a session's folder; raise an error if a symlink takes the place of its files."""
    with append_errors(folder):
        folder.mkdir(parents=True, exist_ok=True)
        for name in (EVENTS, TOOLS):
            if (folder / name).is_symlink():
                raise OutsideVault(f"{folder / name}: is a symlink; event logs must be regular files", "remove it")


_NUMBER = late_pattern(rb'\{"seq":(\d{1,18}),')


def number_of(line: bytes) -> int:
    """Return the sequence number of a line, with or without its line end; 0 if it is not a record."""
    try:
        found = _NUMBER.match(line)
        number = int(found[1]) if found and line.endswith((b"}", b"}\n")) else orjson.loads(line)["seq"]
    except (ValueError, KeyError, TypeError):
        return 0
    return number if isinstance(number, int) else 0


def last_lines(descriptor: int) -> Iterator[bytes]:
    """Yield the complete lines of a file, last one first, without line ends.  Reads only as far as needed."""
    return _backwards(descriptor, _whole_end(descriptor, os.fstat(descriptor).st_size))


def _whole_end(descriptor: int, size: int) -> int:
    """Return the end of the last complete line within the first `size` bytes."""
    end = size
    while end:
        start = max(0, end - _BLOCK)
        at = _read_at(descriptor, start, end - start).rfind(b"\n")
        if at >= 0:
            return start + at + 1
        end = start
    return 0


def _locked(folder: Path, seconds: float, *, make: bool) -> int:
    """Open and lock `events.jsonl`.  Retries, since a purge may remove the folder in the meantime."""
    while True:
        if make:
            folder.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = open_locked(folder / EVENTS, seconds, os.O_APPEND)
        except FileNotFoundError:
            if not make:
                raise
            continue
        if descriptor is None:
            raise timed_out(folder / EVENTS, seconds)
        return descriptor


def _open_if_there(path: Path) -> int:
    try:
        return os.open(path, _FLAGS)
    except FileNotFoundError:
        return -1


def _cut_torn_line(descriptor: int) -> int:
    """Remove a last line that has no line end, and return the remaining size."""
    if descriptor < 0:
        return 0
    status = os.fstat(descriptor)
    if not stat.S_ISREG(status.st_mode):
        raise OSError(errno.EINVAL, "not a regular file")
    end = _whole_end(descriptor, status.st_size)
    if end < status.st_size:
        os.ftruncate(descriptor, end)
    return end


def _joined_lines(lines: Iterable[tuple[str, bytes]]) -> Iterator[tuple[str, bytes]]:
    """Join consecutive lines for the same file."""
    current, pending = "", bytearray()
    for name, line in lines:
        if name != current and pending:
            yield current, bytes(pending)
            pending.clear()
        current = name
        pending += line
    if pending:
        yield current, bytes(pending)


def _backwards(descriptor: int, size: int) -> Iterator[bytes]:
    """Yield lines, last one first.  Reads only as far as needed; long lines are read in growing blocks."""
    rest, end, block = b"", size, _BLOCK
    while end > 0:
        start = max(0, end - block)
        rest = _read_at(descriptor, start, end - start) + rest
        end, block = start, block * 2
        if b"\n" in rest[:-1] or not start:
            first, *lines = rest.split(b"\n")
            yield from (line for line in reversed(lines) if line)
            rest, block = first + b"\n", _BLOCK
    if rest.strip(b"\n"):
        yield rest.strip(b"\n")


def _read_at(descriptor: int, start: int, count: int) -> bytes:
    os.lseek(descriptor, start, os.SEEK_SET)
    data = os.read(descriptor, count)
    while data and len(data) < count:
        more = os.read(descriptor, count - len(data))
        if not more:
            break
        data += more
    if len(data) < count:
        raise VaultError("an event log shrank while it was locked", "try again")
    return data


_DEEPEST = 100
"""Maximum depth of nesting.  Deeper values are dropped: a hostile transcript must not exhaust the stack."""
_SURROGATE = late_pattern("[\ud800-\udfff]")


def cut_values(value: object, path: str, limit: int, cut: dict[str, int], depth: int = 0) -> object:
    """Shorten the strings in a JSON value to `limit` bytes.

    `cut` receives the path and original size of each shortened string (0: nested too deeply).
    """
    if isinstance(value, str):
        return _cut_text(value, path, limit, cut)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping | list | tuple) and depth >= _DEEPEST:
        cut[path] = 0
        return "…"
    if isinstance(value, Mapping):
        return {str(k): cut_values(inner, f"{path}.{k}", limit, cut, depth + 1) for k, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cut_values(inner, f"{path}.{at}", limit, cut, depth + 1) for at, inner in enumerate(value)]
    return value


def _cut_text(text: str, path: str, limit: int, cut: dict[str, int]) -> str:
    if len(text) * 4 <= limit or len(data := text.encode("utf-8", "surrogatepass")) <= limit:
        return text
    cut[path] = len(data)
    return data[:limit].decode("utf-8", "ignore")


def dump_record(record: Mapping[str, object]) -> bytes:
    """Return a record as one line of JSON, without a line end."""
    try:
        return orjson.dumps(record, option=orjson.OPT_UTC_Z)
    except TypeError:  # a lone surrogate, an integer of more than 64 bits, or a type that JSON lacks
        import json  # noqa: PLC0415  slow to load, and rarely needed

        text = json.dumps(_finite(record), ensure_ascii=False, separators=(",", ":"), default=_plain)
        return _SURROGATE.sub("\ufffd", text).encode("utf-8")


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _finite(value: object) -> object:
    """Replace NaN and infinities with null: `json` writes them, but they are invalid JSON and orjson rejects them."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
