"""The lock on a session while a client continues it, with one holder at a time.

The lock ends with the process that holds it.  The client that this process starts may outlive it, so the client's
process id is stored in the lock file and checked as well.
"""

from __future__ import annotations

import os
import platform
import re
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError, VaultError, reason_of
from crucible.core.files import inside, make_folders
from crucible.core.locks import Lock, hold
from crucible.core.processes import is_alive
from crucible.documents.session.properties import format_time
from crucible.documents.session.session_id import check_session_id


class SessionHeld(CrucibleError):
    """Another process is already continuing the session."""


class _Holder(NamedTuple):
    """The process that continues a session.

    `child` is the client's process id, or 0 before it starts.  `child_start` is the client's start time, which
    distinguishes it from a later process with the same id.
    """

    host: str
    pid: int
    client: str
    since: str
    child: int = 0
    child_start: str = "-"

    def __str__(self) -> str:
        return f"{self.client}, process {self.child or self.pid} on {self.host}, since {self.since}"


class SessionLock:
    """A held session lock."""

    def __init__(self, lock: Lock, holder: _Holder) -> None:
        self._lock = lock
        self._holder = holder
        self._lock.leave(_line(holder))

    def started(self, pid: int) -> None:
        """Record the client's process id."""
        self._lock.leave(_line(self._holder._replace(child=pid, child_start=_start_of(pid))))

    def ended(self) -> None:
        """Record that the client has ended."""
        self._lock.leave(_line(self._holder))


@contextmanager
def hold_session(
    root: Path, session_id: str, *, client: str, now: datetime, force: bool = False
) -> Iterator[SessionLock]:
    """Hold a session during the block.  The message of `SessionHeld` names the current holder.

    `force` takes over the session from a client whose `cru` process was killed, but never from a running `cru`.
    """
    name = check_session_id(session_id)
    with ExitStack() as stack:
        try:
            folder = make_folders(root, inside(root, root / _PLACE))
            path = folder / f"{name}.lock"
            lock, left = _take(stack, path)
        except OSError as error:
            raise VaultError(f"{name}: cannot be locked: {reason_of(error)}") from error
        if lock is None:
            raise SessionHeld(f"{name}: held by {left or 'another process'}", "continue there, or end it there first")
        if left is not None and not force and _is_client_running(left):
            hint = "continue there, or end it there first; --force takes over"
            raise SessionHeld(f"{name}: held by {left}", hint)
        yield SessionLock(lock, _Holder(_here(), os.getpid(), _word(client), format_time(now)))


def is_held(root: Path, session_id: str) -> bool:
    """Return whether a process is continuing the session; False if that cannot be determined."""
    try:
        path = inside(root, root / _PLACE) / f"{check_session_id(session_id)}.lock"
        if not path.is_file():
            return False
        with hold(path, 0.0) as lock:
            left = _last_holder(path)
            return lock is None or (left is not None and _is_client_running(left))
    except (OSError, CrucibleError):
        return False


_RETRY_SECONDS, _RETRY_PAUSE = 0.5, 0.02
"""Seconds to keep retrying a lock whose recorded holder is not running, and seconds between attempts."""


def _take(stack: ExitStack, path: Path) -> tuple[Lock | None, _Holder | None]:
    """Return the lock, or None if it is taken, and its last recorded holder.  Raises `OSError`.

    A failure is retried, since `is_held` takes the lock for a moment, and a new holder records itself only after taking
    it.
    """
    end = time.monotonic() + _RETRY_SECONDS
    while True:
        lock = stack.enter_context(hold(path, 0.0))
        left = _last_holder(path)
        if lock or (left and (left.host != _here() or is_alive(left.pid))) or time.monotonic() > end:
            return lock, left
        time.sleep(_RETRY_PAUSE)


_PLACE = Path(".crucible", "cache", "resuming")
_WORD = re.compile(r"[^A-Za-z0-9._+@-]+")


def _word(text: str) -> str:
    return _WORD.sub("-", text)[:40] or "-"


def _here() -> str:
    return _word(platform.node())


def _line(holder: _Holder) -> str:
    return " ".join(map(str, holder)) + "\n"


_LONGEST = 200
"""Maximum bytes to read from a lock file; ours are shorter."""


def _last_holder(path: Path) -> _Holder | None:
    """Return the last recorded holder.  Raises `OSError`."""
    # Opening a named pipe would block forever.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0))
    try:
        return _holder(os.read(descriptor, _LONGEST).decode("ascii", "replace"))
    except BlockingIOError:
        return None
    finally:
        os.close(descriptor)


def _holder(line: str) -> _Holder | None:
    words = line.split()
    if len(words) != len(_Holder._fields) or not (words[1].isdecimal() and words[4].isdecimal()):
        return None
    # Any program can write to the cache, and these values are shown to the user.
    host, pid, client, since, child, child_start = (
        words[0],
        int(words[1]),
        words[2],
        words[3],
        int(words[4]),
        words[5],
    )
    return _Holder(_word(host), pid, _word(client), re.sub(r"[^0-9TZ:-]", "", since), child, child_start)


def _is_client_running(holder: _Holder) -> bool:
    """Return whether the client is still running, as far as this machine can determine."""
    if holder.host != _here() or not holder.child or not is_alive(holder.child):
        return False
    return holder.child_start == _start_of(holder.child)


def _start_of(pid: int) -> str:
    """Return when a process started, in the system's own unit; "-" if unknown or if the process has ended."""
    try:
        fields = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return "-"
    return "-" if fields[0] == b"Z" else fields[19].decode("ascii", "replace")
