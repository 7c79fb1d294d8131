"""The keys of a session's records, so that a repeated import does not write a record twice.

An archive has a table of its keys.  Those in the folder are cached in `.crucible/cache/flight/` with the size of the
files that were read.  The cache is valid only while the files still begin with the same bytes.
"""

from __future__ import annotations

import os
import struct
import sys
from array import array
from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple

import orjson

from crucible.core.patterns import late_pattern
from crucible.core.quick_imports import blake2b
from crucible.vault.events.archive_blocks import load_places
from crucible.vault.events.event_files import EVENTS, TOOLS, archive_path, keys_path

_MAGIC = b"cruk\x01"
_WORTH_IT = 1 << 18
"""Minimum number of new bytes read before the cache is saved."""
_MARK = 4096
"""Number of bytes, before the end of what was read, used to recognise the file."""
_HEAD = struct.Struct("<5s16s16sQQQ")
_LINE = late_pattern(rb'\{"seq":\d{1,18},"key":"([0-9a-f]{16})",')


class _Read(NamedTuple):
    """How far a file was read, and its device and inode, which are (0, 0) if loaded from the cache."""

    end: int = 0
    mark: bytes = b""
    at: tuple[int, int] = (0, 0)


class Keys:
    """The keys of a session's records, as far as the files have been read, and of its archive."""

    def __init__(self, vault_root: Path, session_id: str) -> None:
        self._cache = keys_path(vault_root, session_id)
        self._archive = archive_path(vault_root, session_id)
        self._archived = _archived_keys(self._archive)
        self._known: set[int] = set()
        self._read = {EVENTS: _Read(), TOOLS: _Read()}
        self._saved_size = 0
        with suppress(OSError, ValueError, struct.error):
            self._load(self._cache.read_bytes())

    def __contains__(self, key: int) -> bool:
        return key in self._known or key in self._archived

    def read_new(self, folder: Path) -> None:
        """Read the records written since the last call, or all records if a file was replaced."""
        if any(not _is_same(folder / name, read) for name, read in self._read.items()):
            self._archived = _archived_keys(self._archive)  # the files may have been archived
            self._known.clear()
            self._read = {name: _Read() for name in self._read}
            self._saved_size = 0
        for name, read in self._read.items():
            self._read[name] = self._read_new_lines(folder / name, read)

    def add(self, keys: Iterable[int], folder: Path, sizes: Mapping[str, int]) -> None:
        """Add keys that were just written after everything already read, so they need not be read again."""
        self._known.update(keys)
        for name, end in sizes.items():
            if end != self._read[name].end:
                with (folder / name).open("rb") as file:
                    self._read[name] = _read_until(file.fileno(), end)

    def save(self) -> None:
        """Save the keys if enough was read.  A failure to save is not an error."""
        ends = sum(read.end for read in self._read.values())
        if ends - self._saved_size < _WORTH_IT:
            return
        keys = array("Q", self._known).tobytes()
        events, tools = self._read[EVENTS], self._read[TOOLS]
        body = _HEAD.pack(_MAGIC, events.mark, tools.mark, events.end, tools.end, len(self._known)) + keys
        new = self._cache.with_suffix(f".{os.getpid()}.tmp")
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            new.write_bytes(_digest(body) + body)
            new.replace(self._cache)
            self._saved_size = ends
        except OSError:
            with suppress(OSError):
                new.unlink(missing_ok=True)

    def _load(self, data: bytes) -> None:
        body = data[16:]
        magic, events, tools, end_of_events, end_of_tools, count = _HEAD.unpack_from(body)
        keys = body[_HEAD.size :]
        if magic != _MAGIC or len(keys) != 8 * count or data[:16] != _digest(body):
            return
        self._known = set(array("Q", keys))
        self._read = {EVENTS: _Read(end_of_events, events), TOOLS: _Read(end_of_tools, tools)}
        self._saved_size = end_of_events + end_of_tools

    def _read_new_lines(self, path: Path, read: _Read) -> _Read:
        try:
            file = path.open("rb")
        except FileNotFoundError:
            return read
        with file:
            file.seek(read.end)
            end = read.end
            for line in file:
                if not line.endswith(b"\n"):
                    break
                end += len(line)
                self._known.update(_key_of(line))
            return _read_until(file.fileno(), end)


def _archived_keys(path: Path) -> set[int]:
    """Return the keys in an archive's table; none for an archive of version 1."""
    keys = array("Q")
    with suppress(OSError), path.open("rb") as file:
        for place in load_places(file):
            keys.frombytes(place.keys)
    if sys.byteorder == "little":
        keys.byteswap()
    return set(keys)


def forget_keys(vault_root: Path, session_id: str) -> None:
    """Delete the cached keys of a session, for example when its records are archived."""
    with suppress(OSError):
        keys_path(vault_root, session_id).unlink(missing_ok=True)


def _key_of(line: bytes) -> Iterator[int]:
    """Yield the key of a record; nothing for other lines."""
    found = _LINE.match(line)
    if found and line.endswith(b"}\n"):
        yield int(found[1], 16)
        return
    with suppress(ValueError, KeyError, TypeError):
        yield int(orjson.loads(line)["key"], 16) & 0xFFFF_FFFF_FFFF_FFFF


def _is_same(path: Path, read: _Read) -> bool:
    """Return whether a file still begins with what was read from it."""
    try:
        with path.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size < read.end:
                return False
            if read.at == (status.st_dev, status.st_ino) and status.st_size == read.end:
                return True
            return not read.end or _mark(file.fileno(), read.end) == read.mark
    except FileNotFoundError:
        return not read.end


def _read_until(descriptor: int, end: int) -> _Read:
    status = os.fstat(descriptor)
    return _Read(end, _mark(descriptor, end), (status.st_dev, status.st_ino))


def _mark(descriptor: int, end: int) -> bytes:
    start = max(0, end - _MARK)
    os.lseek(descriptor, start, os.SEEK_SET)
    return _digest(os.read(descriptor, end - start))


def _digest(data: bytes) -> bytes:
    return blake2b(data, digest_size=16).digest()
