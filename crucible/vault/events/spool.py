"""The spool: hooks add one line per call to a file per session, until the new events are imported into the notes.

A line in `.crucible/spool/<client>/<session>.jsonl` has ids and paths, but no content.  This module has its own lock,
since every import delays each hook.
"""

from __future__ import annotations

import os
import stat
import time

try:
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock  # type: ignore[attr-defined,unused-ignore]
except ImportError:  # on Windows
    LOCK_EX, LOCK_NB, LOCK_SH = 0, 0, 0  # type: ignore[misc,unused-ignore]

    def flock(_file: int, _how: int, /) -> None:  # type: ignore[misc,unused-ignore]
        """Do nothing: Windows cannot delete open files, and concurrent imports wait for the import lock."""


_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_FLAGS = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Opening a named pipe would block forever.
_FLAGS |= getattr(os, "O_NONBLOCK", 0)
_LOCK_SECONDS = 1.0
"""Seconds that a hook waits for a locked file: the process that holds the lock may be suspended."""


def is_name(text: object) -> bool:
    """Return whether a session's native id can be a file name."""
    return isinstance(text, str) and 0 < len(text) <= 128 and text[0] != "." and _NAME.issuperset(text)


def spool_folder(root: str, client: str) -> str:
    """Return the folder of a client's spool, which may not exist.  `ValueError` if it would be outside the vault."""
    folder = os.path.join(root, ".crucible", "spool", client)
    real = os.path.realpath(root)
    if os.path.realpath(folder) != os.path.join(real, ".crucible", "spool", client):
        raise ValueError(f"{folder}: points outside the vault")
    return folder


def make_folder(path: str) -> None:
    """Create a folder, but not the one above it: a vault that was moved or deleted must not be created again."""
    if not os.path.isdir(path):
        try:
            os.mkdir(path)
        except FileExistsError:
            return  # created meanwhile; anything else there is an error when it is used


def append(folder: str, session: str, line: bytes) -> None:
    """Append a line; `OSError` on failure.  The line survives a crash of this process, but not a power failure."""
    make_folder(os.path.dirname(folder))
    make_folder(folder)
    path = os.path.join(folder, session + ".jsonl")
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | _FLAGS, 0o600)
        try:
            _wait_for_lock(file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{path}: not a regular file")
            if status.st_nlink:  # otherwise it was deleted after it was opened
                # If the disk was full, the last line may have no end: the leading line break keeps this line complete.
                _write(file, b"\n" + line + b"\n")
                return
        finally:
            os.close(file)


def remove(folder: str, session: str, size: int) -> bool:
    """Remove a session's file; False if it is locked or has grown beyond `size` bytes."""
    path = os.path.join(folder, session + ".jsonl")
    try:
        file = os.open(path, os.O_RDONLY | _FLAGS & ~os.O_CREAT)
    except FileNotFoundError:
        return True
    try:
        if not _try_lock(file, LOCK_EX) or os.fstat(file).st_size != size:
            return False
        os.unlink(path)
        return True
    finally:
        os.close(file)


class syncing:  # noqa: N801  a context manager, and contextlib takes longer to import than a hook may run
    """Lock held by the process that imports a vault's spooled sessions.  `held` is False if another process has it.

    A hook that finds the lock taken starts no import: the holder checks the spool again after releasing it.
    """

    def __init__(self, root: str) -> None:
        self.held = False
        self._file = -1
        self._path = os.path.join(root, ".crucible", "spool", "lock")

    def __enter__(self) -> syncing:  # noqa: PYI034  `typing` is not imported here
        make_folder(os.path.dirname(self._path))
        self._file = os.open(self._path, os.O_RDWR | _FLAGS, 0o600)
        self.held = _try_lock(self._file, LOCK_EX)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _wait_for_lock(file: int) -> None:
    """Wait for a shared lock, for a limited time, then continue without it: hooks must not delay the agent.

    Only `remove` locks exclusively, and briefly.
    """
    deadline = time.monotonic() + _LOCK_SECONDS
    while not _try_lock(file, LOCK_SH) and time.monotonic() < deadline:
        time.sleep(0.005)


def _try_lock(file: int, how: int) -> bool:
    """Return False if another process holds the lock.  True if the file system has no locks, as on Windows."""
    try:
        flock(file, how | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
