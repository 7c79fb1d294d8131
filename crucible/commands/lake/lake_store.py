"""The files of a lake, in a folder or in an S3 bucket: read, replace in one step, list and remove them."""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Protocol

from pyarrow import fs

from crucible.core.buckets import S3, Bucket, bucket_errors
from crucible.core.errors import UsageError, VaultError
from crucible.core.files import fsync_folder, inside, locked, make_folders, write_atomic, write_errors
from crucible.core.locks import hold, timed_out

_SYNCS = 16
"""Files to sync at a time."""


class LakeStore(Protocol):
    """Where a lake is stored.  Names are relative, with `/`."""

    place: str
    """The place to show; without credentials."""
    filesystem: Any
    """The pyarrow file system for reading."""

    def path(self, name: str) -> str:
        """Return a file's path in `filesystem`."""
        ...

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes; None if it does not exist."""
        ...

    def write(self, name: str, data: bytes) -> None:
        """Create or replace a file in one step."""
        ...

    def temporary(self, name: str, scratch: Path) -> Path:
        """Return a path for writing a new file before `put` moves it.  `scratch` is an existing folder."""
        ...

    def put(self, temporary: Path, name: str) -> None:
        """Move a complete file to its name, in one step."""
        ...

    def settle(self) -> None:
        """Wait until all files that were put survive a power failure."""
        ...

    def names(self, folder: str) -> list[str]:
        """Return the names of all files in or below a folder, sorted."""
        ...

    def remove(self, name: str) -> None:
        """Remove a file, if it exists."""
        ...

    def hold(self, vault_root: Path, name: str, seconds: float) -> Any:
        """Hold the lock for exports from one vault; `LockTimeout` if another export holds it."""
        ...


def open_store(place: str) -> LakeStore:
    """Return the store at a folder or at `s3://bucket/prefix`."""
    return S3Store(place) if place.startswith(S3) else FolderStore(place)


class FolderStore:
    """A lake in a folder."""

    def __init__(self, place: str) -> None:
        if "\0" in place or "://" in place:
            raise UsageError(f"{place!r}: not a folder and not an address", "name a folder, or s3://BUCKET/PREFIX")
        self.root = Path(os.path.realpath(place))
        self.place = str(self.root)
        self.filesystem = fs.LocalFileSystem()
        self._unsettled: list[Path] = []

    def path(self, name: str) -> str:
        """Return a file's path in `filesystem`."""
        return str(inside(self.root, self.root / name))

    def read(self, name: str) -> bytes | None:
        """Return a file's bytes; None if it does not exist."""
        try:
            return inside(self.root, self.root / name).read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return None
        except OSError as error:
            raise VaultError(f"{self.root / name}: cannot be read: {error.strerror}") from error

    def write(self, name: str, data: bytes) -> None:
        """Create or replace a file in one step."""
        write_atomic(self._target(name), data)

    def temporary(self, name: str, scratch: Path) -> Path:  # noqa: ARG002  a bucket needs it
        """Return a hidden path next to the file, on the same file system."""
        target = self._target(name)
        return target.with_name(f".{target.name}.tmp")

    def put(self, temporary: Path, name: str) -> None:
        """Move a complete file to its name, in one step."""
        target = self._target(name)
        with write_errors(target):
            temporary.replace(target)
        self._unsettled.append(target)

    def settle(self) -> None:
        """Sync the new files and their folders, several at a time: that takes a quarter of the time."""
        folders = {target.parent for target in self._unsettled}
        with write_errors(self.root), ThreadPoolExecutor(_SYNCS) as pool:
            deque(pool.map(_fsync, self._unsettled), maxlen=0)
            deque(pool.map(fsync_folder, folders), maxlen=0)
        self._unsettled.clear()

    def names(self, folder: str) -> list[str]:
        """Return the names of all files in or below a folder, sorted, without following symlinks."""
        found: list[str] = []
        for at, _, files in os.walk(inside(self.root, self.root / folder)):
            found += [os.path.relpath(os.path.join(at, name), self.root).replace(os.sep, "/") for name in files]
        return sorted(found)

    def remove(self, name: str) -> None:
        """Remove a file, and its folders if they are empty now."""
        path = inside(self.root, self.root / name)
        with write_errors(path):
            path.unlink(missing_ok=True)
        for folder in path.parents:
            if folder == self.root or any(folder.iterdir()):
                break
            folder.rmdir()

    @contextmanager
    def hold(self, vault_root: Path, name: str, seconds: float) -> Iterator[None]:  # noqa: ARG002  as above
        """Hold a lock file in the lake, so that two copies of a vault take turns, too."""
        make_folders(self.root, self.root)
        path = self.root / f".{name}.lock"
        with write_errors(path), hold(path, seconds) as held:
            if held is None:
                raise timed_out(path, seconds)
            yield

    def _target(self, name: str) -> Path:
        target = self.root / name
        return make_folders(self.root, target.parent) / target.name


def _fsync(path: Path) -> None:
    with path.open("rb") as file:
        os.fsync(file.fileno())


class S3Store(Bucket):
    """A lake in an S3 bucket."""

    def write(self, name: str, data: bytes) -> None:
        """Create or replace an object.  It becomes visible when it is complete."""
        with bucket_errors(self.place), self.filesystem.open_output_stream(self.path(name)) as stream:
            stream.write(data)

    def temporary(self, name: str, scratch: Path) -> Path:
        """Return a path in the scratch folder."""
        return scratch / name.replace("/", "_")

    def put(self, temporary: Path, name: str) -> None:
        """Upload a complete file, and remove it."""
        # In one piece: closing a stream after a failed read would store half a file under its name.
        self.write(name, temporary.read_bytes())
        temporary.unlink()

    def settle(self) -> None:
        """Do nothing: an upload that ended is stored."""

    def names(self, folder: str) -> list[str]:
        """Return the names of all objects below a prefix, sorted."""
        selector = fs.FileSelector(self.path(folder), allow_not_found=True, recursive=True)
        with bucket_errors(self.place):
            found = self.filesystem.get_file_info(selector)
        start = len(self.path(""))
        return sorted(one.path[start:] for one in found if one.type == fs.FileType.File)

    def remove(self, name: str) -> None:
        """Remove an object, if it exists."""
        with bucket_errors(self.place):
            try:
                self.filesystem.delete_file(self.path(name))
            except FileNotFoundError:
                return

    @contextmanager
    def hold(self, vault_root: Path, name: str, seconds: float) -> Iterator[None]:
        """Hold a lock in the vault.  Other copies of the vault are noticed when the manifest is replaced."""
        with locked(vault_root, vault_root / ".crucible" / f"{name}.lake", seconds):
            yield
