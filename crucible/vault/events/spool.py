"""The spool: one line for each hook call, in one file per session, until the notes contain the session's news.

A line in `.crucible/spool/<client>/<session>.jsonl` has ids and paths, never content.  This module's imports delay
every hook, so it has its own lock.
"""

from __future__ import annotations

import os
import stat
import sys
import time

if sys.platform != "win32":
    from fcntl import LOCK_EX, LOCK_NB, LOCK_SH, flock
else:
    LOCK_EX, LOCK_NB, LOCK_SH = 0, 0, 0

    def flock(_file: int, _how: int, /) -> None:
        """Do nothing: Windows refuses to remove open files, and a second import waits anyway."""


_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_FLAGS = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Opening a named pipe would block forever.
_FLAGS |= getattr(os, "O_NONBLOCK", 0)
_LOCK_SECONDS = 1.0
"""Seconds that a hook waits for a file whose lock is held, perhaps by a stopped process."""


def is_name(text: object) -> bool:
    """Return whether a session's native id can be a file name."""
    return isinstance(text, str) and 0 < len(text) <= 128 and text[0] != "." and _NAME.issuperset(text)


def spool_folder(root: str, client: str) -> str:
    """Return the folder of a client's spool, which may not exist.  `ValueError` if it would be outside the vault."""
    folder = os.path.join(root, ".crucible", "spool", client)
    real = os.path.realpath(root)
    if os.path.realpath(folder) != os.path.join(real, ".crucible", "spool", client):
        raise ValueError(f"{folder}: leads out of the vault")
    return folder


def append(folder: str, session: str, line: bytes) -> None:
    """Append a line, or raise `OSError`.  The line survives a crash of this process, but not a power cut."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, session + ".jsonl")
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | _FLAGS, 0o600)
        try:
            _wait_for_lock(file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{path}: no regular file")
            if status.st_nlink:  # otherwise it was removed between the two lines above
                # A line cut off by a full disk has no end: the leading line break keeps ours complete.
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
    """Held by the only process that imports a vault's spooled sessions; `held` is False if another process has it.

    A hook that finds it held starts no import: the holder checks the spool again after releasing it.
    """

    def __init__(self, root: str) -> None:
        self.held = False
        self._file = -1
        self._path = os.path.join(root, ".crucible", "spool", "lock")

    def __enter__(self) -> syncing:  # noqa: PYI034  `typing` is not imported here
        os.makedirs(os.path.dirname(self._path), exist_ok=True)
        self._file = os.open(self._path, os.O_RDWR | _FLAGS, 0o600)
        self.held = _try_lock(self._file, LOCK_EX)
        return self

    def __exit__(self, *_: object) -> None:
        os.close(self._file)


def _write(file: int, data: bytes) -> None:
    while data:
        data = data[os.write(file, data) :]


def _wait_for_lock(file: int) -> None:
    """Take a shared lock, or continue without: only `remove` locks exclusively, and briefly; an agent must not wait."""
    deadline = time.monotonic() + _LOCK_SECONDS
    while not _try_lock(file, LOCK_SH) and time.monotonic() < deadline:
        time.sleep(0.005)


def _try_lock(file: int, how: int) -> bool:
    """Return False if another process holds the lock.  True where the file system has no locks, as on Windows."""
    try:
        flock(file, how | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
