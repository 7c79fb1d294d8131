"""Stamps of files, and a digest of all files below a folder: whether anything changed, without opening a file."""

from __future__ import annotations

import os
import stat
from array import array
from collections.abc import Iterable

from crucible.core.quick_imports import blake2b

Stamp = tuple[int, int, int, int]
"""Size in bytes, mtime and ctime in nanoseconds, inode."""

_FINE, _COARSE = 50_000_000, 2_500_000_000
"""Nanoseconds within which two writes may get the same time; the larger one applies to times in whole seconds."""
_SECOND = 1_000_000_000
_NEVER = 1 << 63
_MOST = 4096
"""Names that are hashed at once."""
_TYPE, _FOLDER, _LINK = 0o170000, stat.S_IFDIR, stat.S_IFLNK
"""For the same checks as `stat.S_ISDIR`, but without a function call per file."""


def stamp_at(path: str | os.PathLike[str]) -> Stamp | None:
    """Return the stamp of what is at a path, following symlinks; None if there is nothing."""
    try:
        found = os.stat(path)
    except (OSError, ValueError):
        return None
    return found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino


def digest_of(*values: object) -> str:
    """Return a digest of the values as `repr` shows them."""
    return blake2b(repr(values).encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()


def settles_at(last: int) -> int:
    """Return the time from which on no write can leave `last` as its time, all in nanoseconds."""
    return last + (_FINE if last % _SECOND else _COARSE)


def digest_below(places: Iterable[str]) -> tuple[str, int]:
    """Return a digest of the names and stamps of everything at and below `places`, and when it settles.

    Folders that symlinks lead to are included, each once.  What cannot be read never settles.
    """
    found, pending, linked = _Found(), list(places), set[tuple[int, int]]()
    while pending:
        place = pending.pop()
        found.begin(place)
        names, numbers = found.names, found.numbers
        try:
            for entry in os.scandir(place):
                names.append(entry.name)
                if entry.is_dir(follow_symlinks=False):  # which costs no system call
                    pending.append(entry.path)
                    continue
                at = entry.stat(follow_symlinks=False)
                if at.st_mode & _TYPE == _LINK:
                    at = os.stat(entry.path)
                if at.st_mode & _TYPE != _FOLDER:
                    numbers += (at.st_size, at.st_mtime_ns, at.st_ctime_ns, at.st_ino)
                elif (at.st_dev, at.st_ino) not in linked:
                    linked.add((at.st_dev, at.st_ino))
                    pending.append(entry.path)
        except NotADirectoryError:
            numbers += stamp_at(place) or ()
        except OSError:
            found.settled = _NEVER
    return found.end()


class _Found:
    """Names and stamps, hashed in batches; `settled` is when those hashed so far settle."""

    def __init__(self) -> None:
        self.names: list[str] = []
        self.numbers: list[int] = []
        self.settled = 0
        self._digest = blake2b(digest_size=16)

    def begin(self, place: str) -> None:
        """Begin a place."""
        if len(self.names) >= _MOST:
            self._hash()
        self.names.append(f"{place}\0")

    def end(self) -> tuple[str, int]:
        """Return the digest, and when it settles."""
        self._hash()
        return self._digest.hexdigest(), self.settled

    def _hash(self) -> None:
        names, numbers = "\0".join(self.names), self.numbers
        self._digest.update(names.encode("utf-8", "surrogateescape"))
        self._digest.update(array("Q", numbers).tobytes())
        if numbers:
            self.settled = max(self.settled, *map(settles_at, {*numbers[1::4], *numbers[2::4]}))
        self.names.clear()
        self.numbers.clear()
