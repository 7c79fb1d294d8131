"""The lock of a session that somebody goes on with, one at a time.

It ends with the process that holds it.  The client that this process started may outlive it, so its process number
stands in the lock's file and is checked as well.
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
from crucible.documents.session.properties import format_time
from crucible.documents.session.session_id import check_session_id


class SessionHeld(CrucibleError):
    """Somebody goes on with the session already."""


class _Holder(NamedTuple):
    """`child` is the client's process, 0 before it is there; `born` tells it from a later one of the same number."""

    host: str
    pid: int
    client: str
    since: str
    child: int = 0
    born: str = "-"

    def __str__(self) -> str:
        return f"{self.client}, process {self.child or self.pid} on {self.host}, since {self.since}"


class SessionLock:
    """A session that is ours to go on with."""

    def __init__(self, lock: Lock, holder: _Holder) -> None:
        self._lock = lock
        self._holder = holder
        self._lock.leave(_line(holder))

    def started(self, pid: int) -> None:
        """The client runs as this process."""
        self._lock.leave(_line(self._holder._replace(child=pid, born=_born(pid))))

    def ended(self) -> None:
        """The client is gone."""
        self._lock.leave(_line(self._holder))


@contextmanager
def hold_session(
    root: Path, session_id: str, *, client: str, now: datetime, force: bool = False
) -> Iterator[SessionLock]:
    """Hold a session as long as the block runs; `SessionHeld` says who does.

    `force` takes it from a client whose `cru` was killed, never from one that is at work.
    """
    name = check_session_id(session_id)
    with ExitStack() as stack:
        try:
            folder = make_folders(root, inside(root, root / _PLACE))
            path = folder / f"{name}.lock"
            lock, left = _take(stack, path)
        except OSError as error:
            raise VaultError(f"{name}: nobody can hold it: {reason_of(error)}") from error
        if lock is None:
            raise SessionHeld(f"{name}: held by {left or 'another process'}", "go on there, or end it there first")
        if left is not None and not force and _lives(left):
            hint = "go on there, or end it there first; --force does not wait for it"
            raise SessionHeld(f"{name}: held by {left}", hint)
        yield SessionLock(lock, _Holder(_here(), os.getpid(), _word(client), format_time(now)))


def is_held(root: Path, session_id: str) -> bool:
    """Whether somebody goes on with the session; False where that cannot be told."""
    try:
        path = inside(root, root / _PLACE) / f"{check_session_id(session_id)}.lock"
        if not path.is_file():
            return False
        with hold(path, 0.0) as lock:
            left = _left(path)
            return lock is None or (left is not None and _lives(left))
    except (OSError, CrucibleError):
        return False


_MOMENT, _LOOK = 0.5, 0.02
"""Seconds: how long a lock is asked for that nobody alive says he holds, and how often."""


def _take(stack: ExitStack, path: Path) -> tuple[Lock | None, _Holder | None]:
    """The lock, None where somebody has it, and who held it last.  Raises `OSError`.

    Who only looks whether it is held has it for a moment, and who has just taken it has not said yet who he is.
    """
    end = time.monotonic() + _MOMENT
    while True:
        lock = stack.enter_context(hold(path, 0.0))
        left = _left(path)
        if lock or (left and (left.host != _here() or _is_there(left.pid))) or time.monotonic() > end:
            return lock, left
        time.sleep(_LOOK)


_PLACE = Path(".crucible", "cache", "resuming")
_WORD = re.compile(r"[^A-Za-z0-9._+@-]+")


def _word(text: str) -> str:
    return _WORD.sub("-", text)[:40] or "-"


def _here() -> str:
    return _word(platform.node())


def _line(holder: _Holder) -> str:
    return " ".join(map(str, holder)) + "\n"


_LONGEST = 200
"""Bytes that are read of what was left; ours are fewer."""


def _left(path: Path) -> _Holder | None:
    """Who held it last.  Raises `OSError`."""
    # A named pipe would keep us waiting for ever.
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
    # Anybody may write into a cache, and it is shown.
    host, pid, client, since, child, born = (
        words[0],
        int(words[1]),
        words[2],
        words[3],
        int(words[4]),
        words[5],
    )
    return _Holder(_word(host), pid, _word(client), re.sub(r"[^0-9TZ:-]", "", since), child, born)


def _lives(holder: _Holder) -> bool:
    """Whether the client still runs, as far as this machine can tell."""
    if holder.host != _here() or not holder.child or not _is_there(holder.child):
        return False
    return holder.born == _born(holder.child)


def _is_there(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True  # somebody else's
    return True


def _born(pid: int) -> str:
    """When a process began, in the system's own count, "-" where it does not tell or the process is dead."""
    try:
        told = Path(f"/proc/{pid}/stat").read_bytes().rpartition(b")")[2].split()
    except OSError:
        return "-"
    return "-" if told[0] == b"Z" else told[19].decode("ascii", "replace")
