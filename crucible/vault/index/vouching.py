"""Ask a running `cru watch` whether the stored index includes every change made so far, and answer such questions.

The kernel reports changes in their order, so a watcher answers when it hears of a file that it made for the question.
Every query asks, so this module imports next to nothing.
"""

from __future__ import annotations

import errno
import os
import sys
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from socket import socket

_PLACE = ".crucible/cache/watch"
_PATIENCE = 1.0
"""Seconds to wait for an answer.  While a watcher reads many notes, a query compares the folders itself."""
_LONGEST = 4096


def vouched_index(root: str, sessions: str) -> str:
    """Return the token of an index that includes all changes to the notes in `sessions`; "" if no watcher knows one."""
    try:
        address = _address(root)
    except OSError:
        return ""  # never watched
    token, _, folder = _ask(address).partition(" ")
    return token if folder == sessions else ""


def _ask(address: bytes) -> str:
    import _socket  # noqa: PLC0415

    if sys.platform != "linux":
        return ""

    asking = _socket.socket(_socket.AF_UNIX, _socket.SOCK_STREAM)
    try:
        asking.settimeout(_PATIENCE)
        asking.connect(address)
        # Another user's process could hide changes to the notes.
        user = int.from_bytes(asking.getsockopt(_socket.SOL_SOCKET, _socket.SO_PEERCRED, 12)[4:8], sys.byteorder)
        return asking.recv(_LONGEST).decode("utf-8", "replace") if user == os.getuid() else ""
    except OSError:
        return ""
    finally:
        asking.close()


def _address(root: str) -> bytes:
    """Return an abstract address, which needs no file: a nul byte and what identifies the watcher's folder."""
    if sys.platform != "linux":
        raise OSError(errno.ENOSYS, "only Linux reports changes in order")
    folder = os.stat(f"{root}/{_PLACE}")
    return b"\0crucible-%d-%d" % (folder.st_dev, folder.st_ino)


_COOKIE = ".cru-watch-"


def is_cookie(name: str) -> bool:
    """Return whether a file in the sessions folder is a question's cookie."""
    return name.startswith(_COOKIE)


class Voucher:
    """The watcher's side.  `OSError` if another process has its address, or on another system than Linux.

    A thread takes questions.  For each it creates and removes a cookie, a hidden file in the sessions `folder`: when the
    cookie's event arrives, all events of earlier changes have arrived.  While `folder` is "", nobody gets an answer.
    """

    def __init__(self, root: str) -> None:
        address = _address(root)  # raises an error on Windows, which has no such sockets
        from socket import AF_UNIX, SOCK_STREAM, socket  # type: ignore[attr-defined,unused-ignore]  # noqa: PLC0415

        self.folder = ""
        self._questions: dict[str, socket] = {}
        self._socket = socket(AF_UNIX, SOCK_STREAM)
        self._socket.bind(address)
        self._socket.listen(64)
        self._thread = Thread(target=self._take, daemon=True)
        self._thread.start()

    def answer(self, cookie: str, token: str, sessions: str) -> None:
        """Answer the question of a cookie with an index's token, or "" for an index that may not be current."""
        if asking := self._questions.pop(cookie, None):
            with suppress(OSError), asking:
                asking.send(f"{token} {sessions}".encode())

    def refuse_all(self) -> None:
        """Stop answering, and send away all who wait."""
        self.folder = ""
        while self._questions:
            self.answer(next(iter(self._questions)), "", "")

    def close(self) -> None:
        """Free the address."""
        from socket import SHUT_RDWR  # noqa: PLC0415

        with suppress(OSError):
            self._socket.shutdown(SHUT_RDWR)
        self._thread.join()
        self._socket.close()
        self.refuse_all()

    def _take(self) -> None:
        with suppress(OSError):  # the socket was shut down
            while True:
                self._ask(self._socket.accept()[0])

    def _ask(self, asking: socket) -> None:
        cookie, folder = f"{_COOKIE}{os.urandom(8).hex()}", self.folder
        self._questions[cookie] = asking
        try:
            path = os.path.join(folder, cookie)
            os.close(os.open(path if folder else "", os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
            os.unlink(path)
        except OSError:
            self.answer(cookie, "", "")
