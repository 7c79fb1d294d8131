"""The files of the search index in `.crucible/cache/recall/`, and how new ones replace them.

The files of a part never change. A writer adds new files, then the two meta files that name them, and last the
manifest; files that no manifest names are removed. A reader thus sees the old index or the new one and never waits.
tantivy does not notice damaged files, so the manifest holds a digest of each; files whose stamp changed are compared
with it at each question.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from hashlib import blake2b
from pathlib import Path

from crucible.core.locks import hold
from crucible.search.embedded.recall_manifest import (
    EMPTY,
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
_ENGINES = (".tantivy-meta.lock", ".tantivy-writer.lock", ".managed.json")
"""What tantivy opens by itself in the folder of a side, through symlinks and pipes, too."""
_LARGEST_MANIFEST = 1024 * 1024 * 1024
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)


class RecallStore:
    """The index in a folder, whose parents must be real; it need not exist."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._sure: set[tuple[str, FileStamp]] = set()
        """Files that were compared byte by byte because their stamps changed, such as after a restore."""
        self._loaded: tuple[tuple[int, ...], RecallManifest] = ((), EMPTY)
        self._metas: tuple[RecallManifest, dict[str, bytes]] = (EMPTY, {})
        self._current: tuple[RecallManifest, list[_Numbers]] = (EMPTY, [])
        """The manifest whose meta files were compared, and their stamps then."""
        self._known = (EMPTY, known_of(EMPTY))

    def load(self) -> RecallManifest:
        """The manifest; an empty one for none, or one that is damaged, of another schema, or made somewhere else.

        As long as its file stays, it is the same value.
        """
        try:
            self._check_real()
            stamp = _numbers(f"{self.folder}/{_MANIFEST}")
            if stamp != self._loaded[0]:
                found = load_manifest(_bytes_of(self.folder / _MANIFEST))
                is_ours = found is not None and found.home == self.folder.stat().st_ino
                self._loaded = (stamp, found if found and is_ours else EMPTY)
            return self._loaded[1]
        except OSError:
            return EMPTY

    def known(self, manifest: RecallManifest) -> KnownState:
        """What it knows of beside notes."""
        if self._known[0] is not manifest:
            self._known = (manifest, known_of(manifest))
        return self._known[1]

    def damaged(self, manifest: RecallManifest) -> tuple[IndexPart, ...]:
        """The parts with a damaged file."""
        found = [part for part in manifest.parts if not self._is_whole(part)]
        return tuple(found)

    def is_current(self, manifest: RecallManifest) -> bool:
        """Whether the meta files name this manifest's segments."""
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
        """Lock the index; False if another writer has it.  Raises `OSError` if it cannot be written."""
        self._check_real()
        self.folder.mkdir(parents=True, exist_ok=True)
        with hold(self.folder / _LOCK, seconds) as lock:
            yield lock is not None

    @contextmanager
    def building(self) -> Iterator[Path]:
        """An empty folder to write a part in, removed in the end.  Call it holding the lock."""
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
        """Put a written part's files in their place, under the names that tantivy gave them."""
        files = {}
        for side in SIDES:
            (self.folder / side).mkdir(exist_ok=True)
            prefixes = tuple(one["segment_id"].replace("-", "") for one in written.segments[side])
            for name in sorted(os.listdir(written.folder / side)):
                if prefixes and name.startswith(prefixes):
                    place = self.folder / side / name
                    (written.folder / side / name).replace(place)
                    files[f"{side}/{name}"] = _stamp_of(place, _digest_of(place))
        return IndexPart(written.documents, written.members, written.segments, files)

    def commit(self, manifest: RecallManifest) -> RecallManifest:
        """From here on this is the index; what it does not name is removed."""
        kept = manifest._replace(home=self.folder.stat().st_ino)
        self.point(kept)
        _replace(self.folder / _MANIFEST, dump_manifest(kept))
        self._sweep(kept)
        self._loaded = (_numbers(self.folder / _MANIFEST), kept)
        return kept

    def point(self, manifest: RecallManifest) -> None:
        """Let the meta files name this manifest's segments."""
        for side in SIDES:
            (self.folder / side).mkdir(exist_ok=True)
            _replace(self.folder / side / _META, meta_of(manifest, side))

    def forget(self) -> None:
        """Remove the manifest: the next writer begins with nothing."""
        with suppress(FileNotFoundError):
            (self.folder / _MANIFEST).unlink()

    def doubt(self, manifest: RecallManifest) -> None:
        """Discard an index that passes its checks but that tantivy cannot open; not while another process writes it."""
        with suppress(OSError), self.locked(0) as is_ours:
            if is_ours and self.load() is manifest:
                self.forget()

    def size(self) -> int:
        """Bytes of all files."""
        return sum(path.lstat().st_size for path in self.folder.rglob("*") if path.is_file())

    def _is_whole(self, part: IndexPart) -> bool:
        # Every file at every question: a shorter one would kill who has it mapped.
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
        """Whether a file with another stamp has the bytes that were written."""
        now = FileStamp(*stamp, known.digest)
        if (name, now) in self._sure:
            return True
        if now.size != known.size or _digest_of(self.folder / name) != known.digest:
            return False
        self._sure.add((name, now))
        return True

    def _sweep(self, manifest: RecallManifest) -> None:
        named = {name for part in manifest.parts for name in part.files}
        for side in SIDES:
            for name in os.listdir(self.folder / side):
                if f"{side}/{name}" not in named and name != _META and not name.startswith(".tantivy"):
                    with suppress(OSError):
                        (self.folder / side / name).unlink()

    def _check_real(self) -> None:
        """A vault may contain a symlink, through which we would write to, and clean up, a foreign folder."""
        # By text: it is done at each question, and a `Path` takes as long to make as the question to the system.
        folder = str(self.folder)
        for path in (folder, *(f"{folder}/{side}" for side in SIDES)):
            if os.path.islink(path):
                raise PermissionError(f"{path}: a symlink")
        if os.path.realpath(folder) != folder:
            raise PermissionError(f"{folder}: reached through a symlink")
        for side in SIDES:
            for name in _ENGINES:
                _clear(f"{folder}/{side}/{name}")


def _clear(path: str) -> None:
    """Nothing but an empty file stays: what the engine leaves itself."""
    with suppress(FileNotFoundError, NotADirectoryError):
        found = os.lstat(path)
        if not stat.S_ISREG(found.st_mode) or found.st_size:
            _remove_tree(Path(path))


_Numbers = tuple[int, int, int, int]


def _numbers(path: str | Path) -> _Numbers:
    found = os.lstat(path)
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def _bytes_of(path: Path) -> bytes:
    """A regular file's bytes: at the end of a symlink or a pipe something endless may wait."""
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


def _stamp_of(path: Path, digest: str) -> FileStamp:
    return FileStamp(*_numbers(path), digest)


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
