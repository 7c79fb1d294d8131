"""The files of the search index in `.crucible/cache/recall/`, and how they are replaced.

Readers never wait: a writer adds files, then the meta files that name them, and last the manifest.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crucible.core.locks import hold
from crucible.core.quick_imports import blake2b
from crucible.search.embedded.index_format import (
    EMPTY_MANIFEST,
    SIDES,
    FileStamp,
    IndexPart,
    KnownState,
    RecallManifest,
    dump_manifest,
    known_of,
    load_manifest,
    meta_of,
)
from crucible.search.embedded.segments import WrittenPart

_MANIFEST, _META, _LOCK, _BUILDING = "index.json", "meta.json", "lock", "building"
_ENGINE_FILES = (".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json")
"""Files that tantivy opens in a side's folder, even if they are symlinks or pipes."""
_LARGEST_MANIFEST = 1024 * 1024 * 1024
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class RecallStore:
    """The index in a folder, which need not exist and must not be reached through a symlink.

    The files of a part never change. tantivy does not detect damage, so the manifest has a digest of each file.  Each
    question checks the stamps of all files, and the digests of files whose stamp has changed.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._verified: set[tuple[str, FileStamp]] = set()
        """Files whose digest was checked because their stamp had changed, for example after a restore from backup."""
        self._loaded: tuple[tuple[int, ...], RecallManifest] = ((), EMPTY_MANIFEST)
        self._metas: tuple[RecallManifest, dict[str, bytes]] = (EMPTY_MANIFEST, {})
        self._current: tuple[RecallManifest, list[_Numbers]] = (EMPTY_MANIFEST, [])
        """The manifest whose meta files were last checked, and their stamps at that time."""
        self._known = (EMPTY_MANIFEST, known_of(EMPTY_MANIFEST))

    def load(self) -> RecallManifest:
        """Load the manifest; an empty one if it is missing, damaged, or has another schema or folder.

        The same object is returned while the file is unchanged.
        """
        try:
            self._check_real()
            stamp = _numbers(f"{self.folder}/{_MANIFEST}")
            if stamp != self._loaded[0]:
                found = load_manifest(_bytes_of(self.folder / _MANIFEST))
                is_ours = found is not None and found.folder_inode == self.folder.stat().st_ino
                self._loaded = (stamp, found if found and is_ours else EMPTY_MANIFEST)
            return self._loaded[1]
        except OSError:
            return EMPTY_MANIFEST

    def known(self, manifest: RecallManifest) -> KnownState:
        """Return the state of event logs and items as recorded in the manifest."""
        if self._known[0] is not manifest:
            self._known = (manifest, known_of(manifest))
        return self._known[1]

    def damaged(self, manifest: RecallManifest) -> tuple[IndexPart, ...]:
        """Return the parts with a damaged or missing file."""
        return tuple(part for part in manifest.parts if not self._is_intact(part))

    def is_current(self, manifest: RecallManifest) -> bool:
        """Return whether the meta files name this manifest's segments."""
        try:
            stamps = [_numbers(f"{self.folder}/{side}/{_META}") for side in SIDES]
            if self._current[0] is manifest and self._current[1] == stamps:
                return True
            if self._metas[0] is not manifest:
                self._metas = (manifest, {side: meta_of(manifest, side) for side in SIDES})
            if all(_bytes_of(self.folder / side / _META) == self._metas[1][side] for side in SIDES):
                self._current = (manifest, stamps)
                return True
        except OSError:
            pass
        return False

    @contextmanager
    def locked(self, seconds: float) -> Iterator[bool]:
        """Lock the index; yield False if another writer holds the lock.  Raises `OSError` if it is not writable."""
        self._check_real()
        self.folder.mkdir(parents=True, exist_ok=True)
        with hold(self.folder / _LOCK, seconds) as lock:
            yield lock is not None

    @contextmanager
    def building(self) -> Iterator[Path]:
        """Yield an empty temporary folder for writing a part.  The caller holds the lock."""
        path = self.folder / _BUILDING
        with suppress(FileNotFoundError):
            _remove_tree(path)
        path.mkdir()
        try:
            yield path
        finally:
            with suppress(OSError):
                _remove_tree(path)

    def take(self, written: WrittenPart) -> IndexPart:
        """Move the files of a written part into the index."""
        files = {}
        for side in SIDES:
            (self.folder / side).mkdir(exist_ok=True)
            prefixes = tuple(one["segment_id"].replace("-", "") for one in written.segments[side])
            for name in sorted(os.listdir(written.folder / side)):
                if prefixes and name.startswith(prefixes):
                    place = self.folder / side / name
                    (written.folder / side / name).replace(place)
                    files[f"{side}/{name}"] = FileStamp(*_numbers(place), _digest_of(place))
        return IndexPart(written.documents, written.members, written.segments, files)

    def commit(self, manifest: RecallManifest) -> RecallManifest:
        """Make this manifest the current one, and remove files that it does not name."""
        kept = manifest._replace(folder_inode=self.folder.stat().st_ino)
        self._write_metas(kept)
        _replace(self.folder / _MANIFEST, dump_manifest(kept))
        self._remove_unnamed(kept)
        self._loaded = (_numbers(self.folder / _MANIFEST), kept)
        return kept

    def _write_metas(self, manifest: RecallManifest) -> None:
        """Write the meta files that name this manifest's segments."""
        for side in SIDES:
            (self.folder / side).mkdir(exist_ok=True)
            _replace(self.folder / side / _META, meta_of(manifest, side))

    def write(self, name: str, data: bytes) -> None:
        """Write a file of its own beside the index."""
        self._check_real()
        _replace(self.folder / name, data)

    def forget(self) -> None:
        """Remove the manifest, so that the next writer rebuilds the index."""
        with suppress(FileNotFoundError):
            (self.folder / _MANIFEST).unlink()

    def discard(self, manifest: RecallManifest) -> None:
        """Discard an index that tantivy cannot open, unless another process is writing or has replaced it."""
        with suppress(OSError), self.locked(0) as is_ours:
            if is_ours and self.load() is manifest:
                self.forget()

    def size(self) -> int:
        """Return the size of all files in bytes."""
        return sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _is_intact(self, part: IndexPart) -> bool:
        # Check every file for every question: if a memory-mapped file is truncated, reading it kills the process.
        folder = str(self.folder)
        try:
            for name, known in part.files.items():
                stamp = _numbers(f"{folder}/{name}")
                if stamp != known[:4] and not self._is_same(name, stamp, known):
                    return False
        except OSError:
            return False
        return True

    def _is_same(self, name: str, stamp: _Numbers, known: FileStamp) -> bool:
        """Return whether a file whose stamp differs still has the digest it was written with."""
        now = FileStamp(*stamp, known.digest)
        if (name, now) in self._verified:
            return True
        if now.size != known.size or _digest_of(self.folder / name) != known.digest:
            return False
        self._verified.add((name, now))
        return True

    def _remove_unnamed(self, manifest: RecallManifest) -> None:
        named = {name for part in manifest.parts for name in part.files}
        for side in SIDES:
            for name in os.listdir(self.folder / side):
                if f"{side}/{name}" not in named and name != _META and not name.startswith(".tantivy"):
                    with suppress(OSError):
                        (self.folder / side / name).unlink()

    def _check_real(self) -> None:
        """Raise `PermissionError` for symlinks: through them, we would write to and delete from another folder."""
        # Strings instead of `Path`: this runs for each question, and creating a `Path` takes as long as a system call.
        folder = str(self.folder)
        for path in (folder, *(f"{folder}/{side}" for side in SIDES)):
            if os.path.islink(path):
                raise PermissionError(f"{path}: a symlink")
        if os.path.realpath(folder) != folder:
            raise PermissionError(f"{folder}: reached through a symlink")
        for side in SIDES:
            for name in _ENGINE_FILES:
                _clear(f"{folder}/{side}/{name}")


def _clear(path: str) -> None:
    """Remove anything except the empty regular file that tantivy itself creates."""
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size:
            _remove_tree(Path(path))


_Numbers = tuple[int, int, int, int]


def _numbers(path: str | Path) -> _Numbers:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _bytes_of(path: Path) -> bytes:
    """Return the bytes of a file.  Symlinks and pipes are rejected: they may lead to endless data."""
    descriptor = os.open(path, _READ)
    with os.fdopen(descriptor, "rb") as file:
        return file.read(_LARGEST_MANIFEST)


def _digest_of(path: Path) -> str:
    descriptor = os.open(path, _READ)
    found = blake2b(digest_size=16)
    with os.fdopen(descriptor, "rb") as file:
        while data := file.read(1 << 20):
            found.update(data)
    return found.hexdigest()


def _replace(path: Path, data: bytes) -> None:
    temporary = path.with_name(f"{path.name}.new")
    with suppress(FileNotFoundError):
        temporary.unlink()
    temporary.write_bytes(data)
    if path.is_dir() and not path.is_symlink():
        _remove_tree(path)
    temporary.replace(path)


def _remove_tree(path: Path) -> None:
    if path.is_symlink() or not path.is_dir():
        path.unlink()
    else:
        import shutil  # noqa: PLC0415  only a writer needs it

        shutil.rmtree(path)
