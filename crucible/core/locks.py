"""One lock file, held by one process or thread at a time.

Owns how it is waited for.  Which file locks what is for `files`.  Where the system has `flock`, that is asked directly, as
filelock would: importing filelock takes longer than the write that is locked.
"""

from __future__ import annotations

import errno
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import NamedTuple

_HAS_FLOCK = os.name == "posix"

_SHORTEST, _LONGEST = 0.001, 0.5
"""Seconds between two attempts.  Who has waited for long has many before him, and asks less often: with hundreds waiting,
asking takes the time from the one that works."""
_HELD = {errno.EACCES, errno.EAGAIN, errno.EWOULDBLOCK}
_NO_FLOCK = {errno.ENOSYS, errno.ENOLCK, errno.EOPNOTSUPP, errno.ENOTSUP}


class Lock(NamedTuple):
    """A lock that is held, and what the file says: the one who held it before may have left a word there."""

    descriptor: int

    def word(self) -> str:
        """What was left last; "" where nothing was, or cannot be."""
        return os.pread(self.descriptor, 200, 0).decode("ascii", "replace") if self.descriptor >= 0 else ""

    def leave(self, word: str) -> None:
        """Tell it to the next one.  It may get lost."""
        if self.descriptor >= 0:
            with suppress(OSError):
                os.ftruncate(self.descriptor, 0)
                os.pwrite(self.descriptor, word.encode("ascii"), 0)


@contextmanager
def hold(path: Path, timeout: float) -> Iterator[Lock | None]:
    """Hold the lock file, made where it is missing; None when `timeout` seconds were not enough.

    The system lets go when the process ends, however it ends.  Not reentrant.  Raises `OSError`.
    """
    descriptor = _wait(path, timeout) if _HAS_FLOCK else _UNKNOWN
    if descriptor == _UNKNOWN:
        with _hold_by_library(path, timeout) as held:
            yield Lock(-1) if held else None
        return
    try:
        yield Lock(descriptor) if descriptor >= 0 else None
    finally:
        if descriptor >= 0:
            os.close(descriptor)


_TAKEN, _UNKNOWN = -1, -2


def _wait(path: Path, timeout: float) -> int:
    """A descriptor that holds the lock, `_TAKEN` when time is up, `_UNKNOWN` where the file system has no such lock."""
    begin = time.monotonic()
    while (descriptor := _attempt(path)) == _TAKEN:
        waited = time.monotonic() - begin
        if waited >= timeout:
            break
        pause = min(max(waited / 8, _SHORTEST), _LONGEST)
        # Not all at once.  Late: most wait for nobody.
        import random  # noqa: PLC0415

        time.sleep(min(timeout - waited, pause * random.uniform(0.5, 1.5)))  # noqa: S311
    return descriptor


def _attempt(path: Path) -> int:
    import fcntl  # noqa: PLC0415  there is none on Windows

    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o666)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        # Somebody may have emptied the cache meanwhile: a file that has no name any more locks nothing.
        if os.path.samestat(os.fstat(descriptor), os.stat(path)):
            return descriptor
        result = _TAKEN
    except FileNotFoundError:
        result = _TAKEN
    except OSError as error:
        if error.errno not in _HELD | _NO_FLOCK:
            os.close(descriptor)
            raise
        result = _UNKNOWN if error.errno in _NO_FLOCK else _TAKEN
    os.close(descriptor)
    return result


@contextmanager
def _hold_by_library(path: Path, timeout: float) -> Iterator[bool]:
    from filelock import FileLock, Timeout  # noqa: PLC0415  slow to import, and only some systems need it

    lock = FileLock(path, timeout=timeout)
    try:
        lock.acquire(poll_interval=0.01)
    except Timeout:
        yield False
        return
    try:
        yield True
    finally:
        lock.release()
