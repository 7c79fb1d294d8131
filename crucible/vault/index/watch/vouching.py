"""Whether a running `cru watch` vouches that the saved index is true now.

Owns both sides of the handshake, and imports next to nothing, since every query comes by here.  What a watcher must
have done before it says yes is `watching`'s.

A watcher holds the lock `.crucible/cache/watch/lock` as long as it lives, and while it sees every change it writes the
sessions folder into it.  A query then makes a file of its own in a hidden folder of the sessions folder.  The
watcher hears of it through the same queue as of every change of a note, so when it comes to that file it has heard of all
that happened before the query asked.  It answers by writing a letter into the file.  It does not answer by
removing it, as other watchers do: a file that somebody cleaned up would look like a yes.
"""

from __future__ import annotations

import os
import stat
import sys
import time

LOCK = ".crucible/cache/watch/lock"
ASKING = ".crucible-watch"
"""Where queries ask, in the sessions folder: watched with it, hidden from Obsidian, ignored by git."""

YES, NO, WAIT = b"y", b"n", b"w"
"""Answers.  After `WAIT`, said by a watcher that reads what has just changed, comes one of the others."""

_PREFIX = "ask-"
_PATIENCE, _LONG_PATIENCE = 0.1, 2.0
"""Seconds that a query waits for a first word, and for an answer, before it looks for itself."""

_STALE = 10.0
"""Seconds after which a question's process was killed or asked nobody."""

_READ_ONLY = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_APPEND = os.O_WRONLY | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_FOLDER = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_DIRECTORY", 0)
_READ_WRITE = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0)


def ask(root: str | os.PathLike[str]) -> bool:
    """Whether the saved index holds all that was on disk when this was called; `root` must be real.

    False when there is no watcher, when it is in doubt, and for anything that goes wrong: then look for yourself.
    """
    # Only inotify has one queue for all folders, in the order of what happened.
    if sys.platform != "linux":
        return False
    try:
        folder = _watched(os.fspath(root))
        return bool(folder) and _ask_in(folder)
    except (OSError, ValueError):
        return False


def _watched(root: str) -> str:
    """The folder to ask in, inside the vault, or ""."""
    lock = os.open(f"{root}/{LOCK}", _READ_ONLY)
    try:
        sessions = os.read(lock, 4096).decode("utf-8", "surrogateescape")
        if not sessions or _try_lock(lock, shared=True):
            return ""
    finally:
        os.close(lock)
    folder = os.path.normpath(f"{root}/{sessions}/{ASKING}")
    # A symlink on the way could lead out of the vault, or to where nobody watches.
    real = all(os.path.realpath(path) == path for path in (f"{root}/{LOCK}", folder))
    return folder if real else ""


def _ask_in(folder: str) -> bool:
    path = f"{folder}/{_PREFIX}{os.urandom(8).hex()}"
    question = os.open(path, _READ_WRITE | os.O_EXCL, 0o600)
    try:
        return _answer_to(question)
    finally:
        os.close(question)
        _remove(path)


def _answer_to(question: int) -> bool:
    asked = time.monotonic()
    pause, patience = 0.0002, _PATIENCE
    while time.monotonic() - asked < patience:
        time.sleep(pause)
        pause = min(pause * 1.3, 0.002)
        said = os.read(question, 1)
        if said in (YES, NO):
            return said == YES
        if said == WAIT:
            patience = _LONG_PATIENCE
    return False


def is_question(path: str) -> bool:
    """Whether a file is one that a query made to ask."""
    folder, _, name = path.rpartition("/")
    return name.startswith(_PREFIX) and folder.endswith(f"/{ASKING}")


def answer(path: str, word: bytes) -> None:
    """Tell the query that made the file; it may be gone."""
    try:
        question = os.open(path, _APPEND)
    except OSError:
        return
    try:
        status = os.fstat(question)
        # Anybody can put something here: a pipe, or a second name of a note.
        if stat.S_ISREG(status.st_mode) and status.st_nlink == 1:
            os.write(question, word)
    except OSError:
        pass
    finally:
        os.close(question)


def prepare(sessions: str) -> None:
    """Make the folder to ask in, and remove the questions of killed queries; `sessions` must be real."""
    folder = f"{sessions}/{ASKING}"
    if os.path.realpath(folder) != folder:
        raise OSError(None, "a symlink, where a folder was expected", folder)
    if not os.path.isdir(folder):
        # Never the sessions folder itself: it may be gone because git checks something out.
        os.mkdir(folder)
    ignore = f"{folder}/.gitignore"
    if not os.path.lexists(ignore):
        with open(ignore, "x", encoding="ascii") as file:
            file.write("*\n")
    for name in os.listdir(folder):
        if name.startswith(_PREFIX) and _is_stale(f"{folder}/{name}"):
            _remove(f"{folder}/{name}")


def _is_stale(question: str) -> bool:
    try:
        return time.time() - os.lstat(question).st_mtime > _STALE
    except OSError:  # answered, and gone
        return False


def handle_of(sessions: str) -> int | None:
    """The sessions folder, opened, so that `clean` finds it wherever it is moved to; None where no system can."""
    return None if sys.platform == "win32" else os.open(sessions, _FOLDER)


def clean(sessions: str, handle: int | None = None) -> bool:
    """Remove the folder to ask in, when nobody is asking; with a handle, from where the sessions folder is now.

    Whether it is gone.
    """
    folder = ASKING if handle is not None else f"{sessions}/{ASKING}"
    try:
        _clean(folder, handle)
        os.rmdir(folder, dir_fd=handle)
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


if sys.platform == "win32":

    def _clean(folder: str, handle: int | None) -> None:
        del handle
        _remove(f"{folder}/.gitignore")

else:

    def _clean(folder: str, handle: int | None) -> None:
        # A symlink in its place must not lead us to another one's file.
        descriptor = os.open(folder, _FOLDER, dir_fd=handle)
        try:
            if os.listdir(descriptor) == [".gitignore"]:
                os.unlink(".gitignore", dir_fd=descriptor)
        finally:
            os.close(descriptor)


class Lock:
    """The right to watch a vault, until `release` or the end of the process."""

    def __init__(self, path: str, descriptor: int) -> None:
        self._path = path
        self._descriptor = descriptor

    def vouch_for(self, sessions: str) -> None:
        """Let queries ask in that folder, seen from the vault; in none of them with ""."""
        os.ftruncate(self._descriptor, 0)
        os.lseek(self._descriptor, 0, os.SEEK_SET)
        try:  # noqa: SIM105  a module less to import
            os.write(self._descriptor, os.fsencode(sessions))
        except OSError:  # a full disk: queries look for themselves
            pass

    def is_in_place(self) -> bool:
        """Whether the file is still where others look for it."""
        try:
            return os.path.samestat(os.fstat(self._descriptor), os.lstat(self._path))
        except OSError:
            return False

    def release(self) -> None:
        """The file stays: who removes a lock may remove another one's."""
        try:
            os.ftruncate(self._descriptor, 0)
        finally:
            os.close(self._descriptor)


def hold(root: str) -> Lock | None:
    """The lock of the vault; None when another process watches it.  `OSError` when there can be none."""
    path = f"{root}/{LOCK}"
    if os.path.realpath(path) != path:
        raise OSError(None, "a symlink, where a file was expected", path)
    os.makedirs(os.path.dirname(path), exist_ok=True)
    descriptor = os.open(path, _READ_WRITE, 0o666)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(None, "not a file", path)
    for _ in range(20):
        # A query that looks for a watcher holds it too, for a moment.
        if _try_lock(descriptor, shared=False):
            lock = Lock(path, descriptor)
            lock.vouch_for("")
            return lock
        time.sleep(0.01)
    os.close(descriptor)
    return None


def _remove(path: str) -> None:
    try:  # noqa: SIM105  a module less to import
        os.unlink(path)
    except OSError:
        pass


if sys.platform == "win32":

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        """Whether nobody else holds it; `shared` makes no difference here."""
        import msvcrt  # noqa: PLC0415  Windows only

        del shared
        try:
            # Far behind the text: Windows forbids others to read what is locked.
            os.lseek(descriptor, 1 << 20, os.SEEK_SET)
            msvcrt.locking(descriptor, msvcrt.LK_NBLCK, 1)
        except OSError:
            return False
        return True

else:

    def _try_lock(descriptor: int, *, shared: bool) -> bool:
        """Whether nobody else holds it in a way that excludes ours."""
        import fcntl  # noqa: PLC0415  only with a watcher

        try:
            fcntl.flock(descriptor, (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
        except BlockingIOError:
            return False
        return True
