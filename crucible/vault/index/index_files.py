"""The files of the index in `.crucible/index/`, and `manifest.toon`, which lists them.

A shard's file never changes: a new version gets a new name, and the old file is removed once no manifest lists it, so
readers see either the old or the new index.  Nothing is fsynced; files that fail their checksum are rebuilt.
"""

from __future__ import annotations

import errno
import os
import re
import stat
import zlib
from collections.abc import Iterable, Iterator, Mapping
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from typing import Any, BinaryIO
from zlib import crc32

import toons

from crucible.core.errors import IndexBroken, reason_of
from crucible.core.locks import open_locked
from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.vault.index.schema import SCHEMA, TABLES, cell_of_path, head_of, path_of_cell


class ShardFile(NamedTuple):
    """The file for one table's shard: `rows` lines in `size` bytes with the CRC-32 `crc`.

    `file` is its path relative to the index's folder.
    """

    shard: str
    table: str
    rows: int
    size: int
    crc: int
    file: str


class FolderBlock(NamedTuple):
    """The rows of one folder in `files.toon`: `notes` lines in `size` bytes, from offset `start`.

    `digest` is the `FolderScan.digest` of the folder when all lines were up to date, or "" if some may not be.
    """

    folder: str
    notes: int
    start: int
    size: int
    crc: int
    digest: str


class Manifest(NamedTuple):
    """The contents of an index.  `token` is `line-number` (see `next_token`), or "" for an empty index.

    `files` is the name of the table of files.  `doubtful` lists notes modified so recently that a later change may go
    unnoticed.  `whole` is set once all notes have been read; during a build, the index covers only some.  `home` is the
    inode of the index's folder: a copied index, from a backup or another user's vault, is not trusted.
    """

    token: str
    files: str
    shards: Mapping[tuple[str, str], ShardFile]
    folders: Mapping[str, FolderBlock]
    doubtful: frozenset[str]
    whole: bool = False
    home: int = 0

    def months(self) -> list[str]:
        """Return all shards that have sessions."""
        return [shard for shard, table in self.shards if table == "sessions"]

    def notes(self) -> int:
        """Return the number of notes."""
        return sum(block.notes for block in self.folders.values())


EMPTY = Manifest("", "", {}, {}, frozenset())


def next_token(token: str) -> str:
    """Return the next token: the next number in the same line, or the first in a new line for a new index."""
    line, _, number = token.partition("-")
    return f"{line}-{int(number) + 1}" if token else f"{os.urandom(4).hex()}-1"


def follows(token: str, earlier: str) -> bool:
    """Return whether an index is the `earlier` one or was derived from it; a copy put in its place is not."""
    (line, _, number), (old_line, _, old_number) = token.partition("-"), earlier.partition("-")
    return bool(token) and line == old_line and int(number) >= int(old_number)


def dump_manifest(manifest: Manifest) -> str:
    """Serialise as TOON: schema, totals, the tables of shards, folders and doubtful notes, and a CRC-32."""
    totals: dict[str, int] = {}
    for found in manifest.shards.values():
        totals[found.table] = totals.get(found.table, 0) + found.rows
    text = toons.dumps(
        {
            "schema": SCHEMA,
            "token": manifest.token,
            "whole": manifest.whole,
            "home": manifest.home,
            "files": manifest.files,
            "totals": {"notes": manifest.notes(), **totals},
            "shards": [found._asdict() for found in manifest.shards.values()],
            "folders": [
                {**block._asdict(), "folder": cell_of_path(block.folder)} for block in manifest.folders.values()
            ],
            "doubtful": [{"path": cell_of_path(path)} for path in sorted(manifest.doubtful)],
        }
    )
    return f"{text}{_CRC}{crc32(text.encode())}\n"


_CRC = "\ncrc: "
"""The last line: a checksum of the text before it."""


def load_manifest(text: str) -> Manifest | None:
    """Parse a manifest; None for text that is incomplete or was not written by this version."""
    body, _, crc = text.rpartition(_CRC)
    if crc != f"{crc32(body.encode())}\n":
        return None
    try:
        found: Any = toons.loads(body)
        if found["schema"] != SCHEMA:
            return None
        shards = [ShardFile(**row) for row in found["shards"]]
        folders = [FolderBlock(**{**row, "folder": path_of_cell(row["folder"])}) for row in found["folders"]]
        doubtful = frozenset(path_of_cell(row["path"]) for row in found["doubtful"])
        manifest = Manifest(
            found["token"],
            found["files"],
            {(one.shard, one.table): one for one in shards},
            {one.folder: one for one in folders},
            doubtful,
            found["whole"] is True,
            found["home"],
        )
    except (ValueError, KeyError, TypeError, AttributeError):
        return None
    return manifest if _is_plausible(manifest) else None


def _is_plausible(manifest: Manifest) -> bool:
    """Return whether all types and names are as we write them.  A manifest must not make us read other files."""
    names: list[object] = [manifest.files, *(one.file for one in manifest.shards.values())]
    texts: list[object] = [*(one.digest for one in manifest.folders.values())]
    numbers: list[object] = [n for one in manifest.shards.values() for n in (one.rows, one.size, one.crc)]
    for one in manifest.folders.values():
        numbers += [one.notes, one.start, one.size, one.crc]
    return (
        _TOKEN.fullmatch(str(manifest.token)) is not None
        and all(isinstance(name, str) and _FILE.fullmatch(name) for name in names)
        and all(_SHARD.fullmatch(str(shard)) and table in TABLES for shard, table in manifest.shards)
        and all(isinstance(text, str) for text in texts)
        and all(isinstance(number, int) and 0 <= number < _LARGEST for number in numbers)
    )


_LARGEST = 2**48
_TOKEN = late_pattern(r"[0-9a-f]{8}-\d{1,15}", re.ASCII)
_SHARD = late_pattern(r"\d{4}-\d\d|undated", re.ASCII)
_FILE = late_pattern(r"(?:(?:\d{4}-\d\d|undated)/)?[a-z]+\.[0-9a-f]+\.toon", re.ASCII)


_MANIFEST = "manifest.toon"
_LARGEST_MANIFEST = 256 * 1024 * 1024
"""Maximum bytes of a manifest; enough for a million doubtful notes."""

_READ_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_WRITTEN_AT_ONCE = 4096
"""Lines per write."""


class IndexFolder:
    """The folder `.crucible/index` of the vault at `root`, a real path.  `unusable` is why it must not be used, or "".

    A vault may come from anyone.  Following a symlink here could overwrite or delete files in another folder.
    """

    def __init__(self, root: str) -> None:
        self.path = os.path.join(root, ".crucible", "index")
        real = os.path.realpath(self.path)
        self.unusable = "" if real == self.path else f"{self.path}: a symlink, to {real}"

    def load(self) -> Manifest:
        """Load the manifest; empty if it is missing, damaged, of another schema, or from another folder."""
        if self.unusable:
            return EMPTY
        try:
            with self._reading(_MANIFEST) as file:
                found = load_manifest(file.read(_LARGEST_MANIFEST).decode())
            return found if found and found.home == self._home() else EMPTY
        except (OSError, ValueError):
            return EMPTY

    def read_shard(self, found: ShardFile) -> bytes:
        """Return the joined lines of a shard without its header.

        `IndexBroken` if they differ from what was written.
        """
        data = self._read(found.file, 0, -1)
        head = head_of(found.table, found.rows)
        if len(data) != found.size or zlib.crc32(data) != found.crc or not data.startswith(head):
            raise IndexBroken(f"{self._at(found.file)}: damaged")
        return data[len(head) :]

    def read_block(self, manifest: Manifest, block: FolderBlock) -> bytes:
        """Return the joined lines of one folder in the table of files."""
        data = self._read(manifest.files, block.start, block.size)
        if len(data) != block.size or zlib.crc32(data) != block.crc:
            raise IndexBroken(f"{self._at(manifest.files)}: damaged")
        return data

    def read_blocks(self, manifest: Manifest, folders: AbstractSet[str]) -> dict[str, bytes]:
        """Return the lines of several folders, reading the file once."""
        if not folders:
            return {}
        data = self._read(manifest.files, 0, -1)
        found = {}
        for folder in folders:
            block = manifest.folders[folder]
            found[folder] = data[block.start : block.start + block.size]
            if zlib.crc32(found[folder]) != block.crc:
                raise IndexBroken(f"{self._at(manifest.files)}: damaged")
        return found

    def write_shard(self, shard: str, table: str, lines: Iterable[bytes], rows: int, token: str) -> ShardFile:
        """Write a new file with `rows` lines."""
        name = f"{shard}/{table}.{token}.toon"
        crc = size = 0
        self._make(shard)
        with self._writing(name) as file:
            for part in _parts(head_of(table, rows), lines):
                file.write(part)
                crc, size = zlib.crc32(part, crc), size + len(part)
        return ShardFile(shard, table, rows, size, crc, name)

    def write_files(self, head: bytes, blocks: Iterable[bytes], token: str) -> str:
        """Write a new table of files; each block ends with a line end."""
        name = f"files.{token}.toon"
        self._make("")
        with self._writing(name) as file:
            file.write(head)
            file.writelines(blocks)
        return name

    def commit(self, manifest: Manifest) -> None:
        """Make this manifest the current one."""
        self._make("")
        temporary = f".{_MANIFEST}.{os.getpid()}.tmp"
        with self._writing(temporary) as file:
            file.write(dump_manifest(manifest._replace(home=self._home())).encode())
        try:
            os.replace(self._at(temporary), self._at(_MANIFEST))
        except OSError:
            self.remove(temporary)
            raise

    def remove(self, name: str) -> None:
        """Remove a file that no manifest lists."""
        with suppress(OSError):
            os.unlink(self._at(name))

    def sweep(self, manifest: Manifest, shards: Iterable[str] | None) -> None:
        """Remove files that no manifest lists: at the top level and in the folders of `shards` (None for all).

        The caller must hold the lock.
        """
        named = {one.file for one in manifest.shards.values()} | {manifest.files, _MANIFEST, "lock"}
        for folder in ["", *(self._folders() if shards is None else shards)]:
            self._sweep_folder(folder, named)

    @contextmanager
    def locked(self, seconds: float) -> Iterator[int]:
        """Lock the index against other writers, and yield the file system's time in nanoseconds.

        Compare files' stamps with that time, since the files may be on another machine.  Raises `OSError` if locking
        fails, and `BlockingIOError` if another process holds the lock for longer than `seconds`.
        """
        self._make("")
        descriptor = open_locked(self._at("lock"), seconds)
        if descriptor is None:
            raise BlockingIOError(f"another process has held the index for {seconds:g} s")
        try:
            os.utime(self._at("lock"))
            yield os.fstat(descriptor).st_mtime_ns
        finally:
            os.close(descriptor)  # which releases the lock

    def _at(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/"))

    @contextmanager
    def _writing(self, name: str) -> Iterator[BinaryIO]:
        """Write a new file; on failure, remove what was written."""
        try:
            with open(self._at(name), "wb") as file:
                yield file
        except OSError:
            self.remove(name)
            raise

    def _make(self, folder: str) -> None:
        """Create a folder to write to; `OSError` if it leads elsewhere."""
        if self.unusable:
            raise PermissionError(errno.EPERM, self.unusable)
        path = self._at(folder) if folder else self.path
        if os.path.islink(path):
            raise PermissionError(errno.EPERM, f"{path}: a symlink")
        os.makedirs(path, exist_ok=True)

    def _read(self, name: str, start: int, size: int) -> bytes:
        try:
            with self._reading(name) as file:
                file.seek(start)
                return file.read(size)
        except OSError as error:
            raise IndexBroken(f"{self._at(name)}: {reason_of(error)}") from error

    @contextmanager
    def _reading(self, name: str) -> Iterator[BinaryIO]:
        """Open a regular file.  Refuses symlinks and pipes: reading a pipe may never end."""
        descriptor = os.open(self._at(name), _READ_ONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "not a regular file", self._at(name))
            yield file

    def _home(self) -> int:
        return os.stat(self.path).st_ino

    def _folders(self) -> list[str]:
        with suppress(OSError), os.scandir(self.path) as entries:
            return [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return []

    def _sweep_folder(self, folder: str, named: set[str]) -> None:
        path = self._at(folder) if folder else self.path
        if os.path.islink(path):
            return
        with suppress(OSError), os.scandir(path) as entries:
            for entry in entries:
                name = f"{folder}/{entry.name}" if folder else entry.name
                if name not in named and _OURS.fullmatch(entry.name) and entry.is_file(follow_symlinks=False):
                    with suppress(OSError):
                        os.unlink(entry.path)


_OURS = late_pattern(r"\w+\.[0-9a-f]+\.toon|\.manifest\.toon\.\d+\.tmp")
"""Names of our files that may be left over."""


def _parts(head: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    """Yield the header, then the lines in large chunks.  The last line has no line end."""
    yield head
    waiting: list[bytes] = []
    between = b""
    for line in lines:
        waiting.append(line)
        if len(waiting) >= _WRITTEN_AT_ONCE:
            yield between + b"\n".join(waiting)
            waiting, between = [], b"\n"
    if waiting:
        yield between + b"\n".join(waiting)
