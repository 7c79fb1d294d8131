"""Lock files shared by processes.  The system releases a lock when the process that holds it ends."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING

from crucible.core.errors import LockTimeout
from crucible.core.named_tuples import NamedTuple

if TYPE_CHECKING:  # every query locks the index, and `pathlib` is slow to import
    from pathlib import Path

_FLAGS = os.O_RDWR | os.O_CREAT
for _name in ("O_NOFOLLOW", "O_NONBLOCK", "O_CLOEXEC", "O_BINARY"):
    _FLAGS |= getattr(os, _name, 0)
_FAR = 1 << 40
"""Offset of the byte to lock, far beyond the end: Windows blocks other processes from reading locked bytes."""

_SHORTEST, _LONGEST = 0.001, 0.5
"""Seconds between attempts.  The pause grows with the time waited, since each attempt slows down the holder."""


class Lock(NamedTuple):
    """A held lock.  Its file can carry a word from one holder to the next."""

    descriptor: int

    def word(self) -> str:
        """Return the word that the previous holder left, or ""."""
        os.lseek(self.descriptor, 0, os.SEEK_SET)
        return os.read(self.descriptor, 200).decode("ascii", "replace")

    def leave(self, word: str) -> None:
        """Leave a word for the next holder.  It may get lost."""
        with suppress(OSError):
            os.ftruncate(self.descriptor, 0)
            os.lseek(self.descriptor, 0, os.SEEK_SET)
            os.write(self.descriptor, word.encode("ascii"))


def timed_out(path: Path, seconds: float) -> LockTimeout:
    """Return the error for a lock that could not be acquired in time."""
    return LockTimeout(f"{path}: another process has held it for {seconds:g} s", "try again")


@contextmanager
def hold(path: Path, timeout: float) -> Iterator[Lock | None]:
    """Hold a lock file, created if missing; yields None after `timeout` seconds.  Raises `OSError`."""
    descriptor = open_locked(path, timeout)
    try:
        yield None if descriptor is None else Lock(descriptor)
    finally:
        if descriptor is not None:
            os.close(descriptor)


def open_locked(path: Path | str, timeout: float, flags: int = 0) -> int | None:
    """Open a file, created if missing, and lock it until it is closed; None after `timeout` seconds.

    Raises `OSError`.
    """
    begin = time.monotonic()
    while (descriptor := _attempt(path, _FLAGS | flags)) is None:
        waited = time.monotonic() - begin
        if waited >= timeout:
            break
        pause = min(max(waited / 8, _SHORTEST), _LONGEST)
        import random  # noqa: PLC0415  the lock is rarely taken

        time.sleep(min(timeout - waited, pause * random.uniform(0.5, 1.5)))  # noqa: S311
    return descriptor


def _attempt(path: Path | str, flags: int) -> int | None:
    descriptor = os.open(path, flags, 0o666)
    try:
        # Another process may have deleted the file in the meantime, and locking a deleted file has no effect.
        with suppress(FileNotFoundError):
            if _take(descriptor) and os.path.samestat(os.fstat(descriptor), os.lstat(path)):
                return descriptor
    except BaseException:
        os.close(descriptor)
        raise
    os.close(descriptor)
    return None


def _take(descriptor: int) -> bool:
    try:
        try:
            from fcntl import LOCK_EX, LOCK_NB, flock  # type: ignore[attr-defined,unused-ignore]  # noqa: PLC0415
        except ImportError:  # on Windows
            from msvcrt import LK_NBLCK, locking  # type: ignore[attr-defined,unused-ignore]  # noqa: PLC0415

            os.lseek(descriptor, _FAR, os.SEEK_SET)
            locking(descriptor, LK_NBLCK, 1)
        else:
            flock(descriptor, LOCK_EX | LOCK_NB)
    except (BlockingIOError, PermissionError):
        return False
    return True
