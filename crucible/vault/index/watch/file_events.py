"""File changes as the system reports them, and reasons why some may be missed.

Only this module uses watchdog.  Known gaps: a full queue, folders that could not be watched, symlinks and hard links,
and file systems to which other machines write.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import sys
import threading
import warnings
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from crucible.vault.index.vouching import is_cookie
from crucible.vault.notes.walk import is_markdown

_EVENT_TYPES: list[type[FileSystemEvent]] = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    # Also sent when a mapped file is unmapped: writing through a mapping sends no other event.
    events.FileClosedEvent,
    events.FileAttribEvent,
    events.FileDeletedEvent,
    events.FileMovedEvent,
    events.DirCreatedEvent,
    events.DirAttribEvent,
    events.DirDeletedEvent,
    events.DirMovedEvent,
]
"""Excludes events for opening and reading files: a refresh opens every changed note."""

_LOCAL = frozenset(
    {"bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "overlay", "ramfs"}
    | {"reiserfs", "tmpfs", "vfat", "xfs", "zfs"}
)
"""Linux file systems written only by this machine's kernel, which therefore reports every change."""


class FileEvent(NamedTuple):
    """A change to the note or folder at a path, or a cookie's name.  If all are empty, anything may have changed."""

    note: str = ""
    folder: str = ""
    cookie: str = ""


class Observing(FileSystemEventHandler):
    """Runs watchdog on real folders, each with its subfolders if its value is true, until `close`.

    A subclass defines `dispatch`, which watchdog calls in its own thread.  `OSError` if a folder cannot be watched.
    """

    def __init__(self, folders: Mapping[str, bool]) -> None:
        self.has_moved = False
        """True if a folder was moved or deleted: after several in quick succession, watchdog confuses their paths."""
        # Watchdog warns about a moved folder that is watched again, which is harmless.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        self._faults = _FAULTS.begin()
        before = set(threading.enumerate())
        self._threads: set[threading.Thread] = set()
        self._observer = Observer()
        try:
            for folder, is_deep in folders.items():
                self._observer.schedule(self, folder, recursive=is_deep, event_filter=_EVENT_TYPES)
            self._observer.start()
        except BaseException:
            self.close()
            raise
        self._threads = set(threading.enumerate()) - before

    def is_sound(self) -> bool:
        """Return whether all events were received and were reported for the right folder."""
        has_fault = self.has_moved or _FAULTS.count != self._faults
        return not has_fault and all(one.is_alive() for one in self._threads)

    def close(self) -> None:
        """Stop all threads."""
        try:
            if self._observer.is_alive():
                self._observer.stop()
                self._observer.join()
        except (KeyError, OSError):
            # Watchdog can lose track of moved folders, so stop its threads one by one.
            for thread in self._threads:
                if isinstance(thread, BaseThread):
                    with suppress(KeyError, OSError):
                        thread.stop()
        finally:
            _FAULTS.end()


class Listener(Observing):
    """Reports events below the sessions folder."""

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self._events: SimpleQueue[FileEvent] = SimpleQueue()
        super().__init__({folder: True})

    def next(self, seconds: float) -> FileEvent | None:
        """Return the next event; None if there is none within `seconds`."""
        try:
            return self._events.get(timeout=max(seconds, 0.001))
        except Empty:
            return None

    def dispatch(self, event: FileSystemEvent) -> None:
        """Handle an event."""
        for path in {os.fsdecode(event.src_path), os.fsdecode(event.dest_path)} - {""}:
            if is_cookie(name := os.path.basename(path)) and isinstance(event, events.FileCreatedEvent):
                self._events.put(FileEvent(cookie=name))
            elif "/." not in path[len(self.folder) :].replace(os.sep, "/"):
                self._put(path, event)

    def _put(self, path: str, event: FileSystemEvent) -> None:
        if event.is_directory:
            self.has_moved = self.has_moved or not isinstance(event, events.DirCreatedEvent | events.DirAttribEvent)
            self._events.put(FileEvent(folder=path if path != self.folder else ""))
        elif is_markdown(path):
            self._events.put(FileEvent(note=path))
        elif os.path.islink(path):
            # A symlink may lead to a folder of notes.
            self._events.put(FileEvent())


class _Faults(logging.Handler):
    """Counts watchdog's warnings and crashed threads while a listener is open: a full queue is reported in no other way."""

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.count = 0
        self._open = 0

    def begin(self) -> int:
        """Note that a listener opens; return the count so far."""
        self._open += 1
        if self._open == 1:
            log = logging.getLogger("watchdog")
            self._propagated, log.propagate = log.propagate, False
            log.addHandler(self)
            self._hook, threading.excepthook = threading.excepthook, self._on_crash
        return self.count

    def end(self) -> None:
        """Note that a listener has closed."""
        self._open -= 1
        if not self._open:
            log = logging.getLogger("watchdog")
            threading.excepthook = self._hook
            log.removeHandler(self)
            log.propagate = self._propagated

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        """Count a warning."""
        self.count += 1

    def _on_crash(self, _: threading.ExceptHookArgs) -> None:
        self.count += 1


_FAULTS = _Faults()


# --- changes that go unreported --------------------------------------------------------------------------------------


def unreported_reason(folder: str) -> str:
    """Return why changes in a watched folder may go unreported, or "".  Scans the entire folder."""
    return mount_reason(folder) or _entry_reason(folder)


def is_linked(path: str) -> bool:
    """Return whether a note is a symlink or has a second hard link, through which it can change without an event."""
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return stat.S_ISLNK(status.st_mode) or (status.st_nlink > 1 and stat.S_ISREG(status.st_mode))


def _entry_reason(folder: str) -> str:
    folders: list[os.stat_result] = []
    for entry in _walk(folder, folders):
        if entry.is_symlink():
            return f"{entry.path} is a symlink; its target is not watched"
        if is_markdown(entry.name) and is_linked(entry.path):
            return f"{entry.path} has a hard link"
    return _folder_reason(folders)


def _walk(folder: str, folders: list[os.stat_result]) -> Iterator[os.DirEntry[str]]:
    """Yield all visible entries except folders; append each folder's status to `folders`."""
    pending = [folder]
    while pending:
        path = pending.pop()
        try:
            folders.append(os.stat(path))
            with os.scandir(path) as entries:
                seen = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            continue  # deleted in the meantime, which sends an event; or unreadable, which the index reports
        for entry in seen:
            if entry.is_dir(follow_symlinks=False):
                pending.append(entry.path)
            else:
                yield entry


def _folder_reason(folders: list[os.stat_result]) -> str:
    if sys.platform != "linux":
        return ""
    if len({status.st_dev for status in folders}) > 1:
        return "the sessions folder spans several file systems"
    watched = watched_inodes()
    missing = sum(status.st_ino not in watched for status in folders)
    return f"the system allows watching only {len(folders) - missing} of {len(folders)} folders" if missing else ""


_INODE = re.compile(r"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)


def watched_inodes() -> set[int]:
    """Return the inodes that the kernel watches for this process.  Watchdog does not report missing ones."""
    found: set[int] = set()
    for name in os.listdir("/proc/self/fdinfo"):
        with suppress(OSError):
            text = Path("/proc/self/fdinfo", name).read_text(encoding="ascii")
            found.update(int(inode, 16) for inode in _INODE.findall(text))
    return found


def mounts_of(folder: str) -> tuple[tuple[str, str], ...]:
    """Return the mount point and type of each file system mounted above, at or in a real folder; empty if unknown."""
    try:
        lines = Path("/proc/self/mountinfo").read_bytes().decode("utf-8", "surrogateescape").split("\n")
    except OSError:
        return ()
    found = []
    for line in lines:
        left, _, right = line.partition(" - ")
        if right:
            point = _OCTAL.sub(lambda m: chr(int(m[1], 8)), left.split(" ")[4])
            if _is_within(folder, point) or _is_within(point, folder):
                found.append((point, right.split(" ")[0]))
    return tuple(found)


_OCTAL = re.compile(r"\\([0-7]{3})")


def _is_within(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder.rstrip("/") + "/")


def mount_reason(folder: str) -> str:
    """Return why the file system of a real folder may not report changes, or ""."""
    if sys.platform != "linux":
        return ""
    mounts = mounts_of(folder)
    if any(point != folder and _is_within(point, folder) for point, _ in mounts):
        return "another file system is mounted in the sessions folder"
    # If two file systems are mounted at the same place, the later one is visible.
    above = [(len(point), at, kind) for at, (point, kind) in enumerate(mounts)]
    kind = max(above)[2] if above else "unknown"
    return "" if kind in _LOCAL else f"a file system of type {kind} does not report every change"
