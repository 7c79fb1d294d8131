"""The files of the index in `.crucible/index/`: read with their checksums, written beside the old ones, swapped by the manifest.

A shard's file is never changed: a new one gets a new name, and the old one is removed when no manifest names it any
more.  So a reader has the old index or the new one, and a killed writer leaves at most files that nobody names.
Nothing here waits for the disk: what a power cut leaves half done does not fit its checksum, and is built anew.
"""

from __future__ import annotations

import errno
import os
import stat
import time
import zlib
from collections.abc import Iterable, Iterator
from collections.abc import Set as AbstractSet
from contextlib import contextmanager, suppress
from typing import BinaryIO

from crucible.core.errors import IndexBroken, reason_of
from crucible.core.patterns import late_pattern
from crucible.vault.index.index_manifest import EMPTY, FolderBlock, Manifest, ShardFile, dump_manifest, load_manifest
from crucible.vault.index.schema import head_of

_MANIFEST = "manifest.toon"
_LARGEST_MANIFEST = 256 * 1024 * 1024
"""Bytes; a million doubtful notes are in less."""

_READ_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

_WRITTEN_AT_ONCE = 4096
"""Lines joined for one write."""


class IndexFolder:
    """`.crucible/index` of the vault at `root`, which must be real; `unusable` is why it may not be used, or empty.

    A vault comes from anywhere.  Through a symlink on the way we would write, and sweep, somebody else's folder.
    """

    def __init__(self, root: str) -> None:
        self.path = os.path.join(root, ".crucible", "index")
        real = os.path.realpath(self.path)
        self.unusable = "" if real == self.path else f"{self.path}: a symlink, to {real}"

    def load(self) -> Manifest:
        """The manifest; an empty one for none, or one that is damaged, of another schema, or made somewhere else."""
        if self.unusable:
            return EMPTY
        try:
            with self._reading(_MANIFEST) as file:
                found = load_manifest(file.read(_LARGEST_MANIFEST).decode())
            return found if found and found.home == self._home() else EMPTY
        except (OSError, ValueError):
            return EMPTY

    def read_shard(self, found: ShardFile) -> bytes:
        """The lines of a shard, joined, without its head.  `IndexBroken` when they are not what was written."""
        data = self._read(found.file, 0, -1)
        head = head_of(found.table, found.rows)
        if len(data) != found.size or zlib.crc32(data) != found.crc or not data.startswith(head):
            raise IndexBroken(f"{self._at(found.file)}: damaged")
        return data[len(head) :]

    def read_block(self, manifest: Manifest, block: FolderBlock) -> bytes:
        """The lines of one folder in the table of files, joined."""
        data = self._read(manifest.files, block.start, block.size)
        if len(data) != block.size or zlib.crc32(data) != block.crc:
            raise IndexBroken(f"{self._at(manifest.files)}: damaged")
        return data

    def read_blocks(self, manifest: Manifest, folders: AbstractSet[str]) -> dict[str, bytes]:
        """The lines of several folders, the file read once."""
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
        """A new file with `rows` lines."""
        name = f"{shard}/{table}.{token}.toon"
        crc = size = 0
        self._make(shard)
        with self._writing(name) as file:
            for part in _parts(head_of(table, rows), lines):
                file.write(part)
                crc, size = zlib.crc32(part, crc), size + len(part)
        return ShardFile(shard, table, rows, size, crc, name)

    def write_files(self, head: bytes, blocks: Iterable[bytes], token: str) -> str:
        """The table of files anew; each block ends with a line end."""
        name = f"files.{token}.toon"
        self._make("")
        with self._writing(name) as file:
            file.write(head)
            file.writelines(blocks)
        return name

    def commit(self, manifest: Manifest) -> None:
        """From here on this is the index."""
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
        """Remove a file that no manifest names."""
        with suppress(OSError):
            os.unlink(self._at(name))

    def sweep(self, manifest: Manifest, shards: Iterable[str] | None) -> None:
        """Remove what no manifest names: at the top, and in the folders of `shards` (None: all of them).

        Call it holding the lock.
        """
        named = {one.file for one in manifest.shards.values()} | {manifest.files, _MANIFEST, "lock"}
        for folder in ["", *(self._folders() if shards is None else shards)]:
            self._sweep_folder(folder, named)

    @contextmanager
    def locked(self, seconds: float) -> Iterator[int]:
        """Hold the index against other writers, and say what time the file system has, in nanoseconds.

        What a file's stamps say can be compared with that time only: another machine may keep the clock.  Raises
        `OSError` when the lock cannot be had: `BlockingIOError` when another process has kept it for so many seconds.
        """
        self._make("")
        descriptor = os.open(
            self._at("lock"),
            os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0),
            0o666,
        )
        try:
            _acquire(descriptor, seconds)
            os.utime(self._at("lock"))
            yield os.fstat(descriptor).st_mtime_ns
        finally:
            os.close(descriptor)  # which releases it

    def _at(self, name: str) -> str:
        return os.path.join(self.path, *name.split("/"))

    @contextmanager
    def _writing(self, name: str) -> Iterator[BinaryIO]:
        """A new file; what could be written of it on a full disk is removed."""
        try:
            with open(self._at(name), "wb") as file:
                yield file
        except OSError:
            self.remove(name)
            raise

    def _make(self, folder: str) -> None:
        """A folder to write into; `OSError` when that would be elsewhere."""
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
        """A regular file of ours: at the end of a symlink or a pipe something endless may wait."""
        descriptor = os.open(self._at(name), _READ_ONLY)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                raise OSError(errno.EINVAL, "no regular file", self._at(name))
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
"""The names of files that we leave behind."""


def _parts(head: bytes, lines: Iterable[bytes]) -> Iterator[bytes]:
    """The head, and the lines joined many at a time; the last line has no end."""
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


def _acquire(descriptor: int, seconds: float) -> None:
    """Ask again and again, so that a process that stands still cannot hold up ours for ever."""
    deadline = time.monotonic() + seconds
    while True:
        try:
            _lock(descriptor)
        except OSError as error:
            if time.monotonic() >= deadline:
                raise BlockingIOError(f"another process has held the index for {seconds:g} s") from error
            time.sleep(0.01)
        else:
            return


def _lock(descriptor: int) -> None:
    """The system's own lock, which ends with the process.  filelock, the notes' lock, takes 40 ms to import."""
    if os.name == "nt":
        import msvcrt  # noqa: PLC0415  there is one on Windows only

        msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)  # type: ignore[attr-defined,unused-ignore]
    else:
        import fcntl  # noqa: PLC0415  there is none on Windows

        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
