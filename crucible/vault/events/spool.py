"""The spool: a line for each event that a hook was told of, a file a session, until the notes hold what it points at.

A line in `.crucible/spool/<client>/<session>.jsonl` has ids and pointers and never content.  Every hook pays for what
this module imports, so it has its own lock.
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
        """Nothing: a file that somebody has open cannot be removed there, and of two imports one waits anyway."""


_NAME = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-")
_FLAGS = os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0) | getattr(os, "O_BINARY", 0)
# Opening a named pipe would wait for ever.
_FLAGS |= getattr(os, "O_NONBLOCK", 0)
_LONGEST = 1.0
"""Seconds that a hook waits for a file that somebody holds, who was stopped perhaps."""


def is_name(text: object) -> bool:
    """Whether a session's native id can be a file's name."""
    return isinstance(text, str) and 0 < len(text) <= 128 and text[0] != "." and _NAME.issuperset(text)


def spool_folder(root: str, client: str) -> str:
    """Where a client's sessions are spooled; it need not be there.  `ValueError` when it would lie outside the vault."""
    folder = os.path.join(root, ".crucible", "spool", client)
    real = os.path.realpath(root)
    if os.path.realpath(folder) != os.path.join(real, ".crucible", "spool", client):
        raise ValueError(f"{folder}: leads out of the vault")
    return folder


def append(folder: str, session: str, line: bytes) -> None:
    """Put a line in.  `OSError` when that fails; when it returns the line is there, though power may fail."""
    os.makedirs(folder, exist_ok=True)
    path = os.path.join(folder, session + ".jsonl")
    while True:
        file = os.open(path, os.O_WRONLY | os.O_APPEND | _FLAGS, 0o600)
        try:
            _wait_for_lock(file)
            status = os.fstat(file)
            if not stat.S_ISREG(status.st_mode):
                raise OSError(f"{path}: no regular file")
            if status.st_nlink:  # else it was removed between the two lines above
                # A line that a full disk cut has no end: the line break before ours keeps ours whole.
                _write(file, b"\n" + line + b"\n")
                return
        finally:
            os.close(file)


def remove(folder: str, session: str, size: int) -> bool:
    """Remove a session's file unless somebody holds it, or put something in behind `size` bytes; False then."""
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
    """Held by the one process that writes a vault's spooled sessions down; `held` is False when another one has it.

    A hook that finds it taken starts none: who has it looks at the spool once more after it has let go.
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
    """Share a file, or go on without: only `remove` holds one, for a moment, and an agent must not wait for ever."""
    deadline = time.monotonic() + _LONGEST
    while not _try_lock(file, LOCK_SH) and time.monotonic() < deadline:
        time.sleep(0.005)


def _try_lock(file: int, how: int) -> bool:
    """False when somebody else holds it.  Where a file system has no locks everybody gets them, as on Windows."""
    try:
        flock(file, how | LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:
        return True
    return True
