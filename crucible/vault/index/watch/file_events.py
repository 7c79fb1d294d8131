"""What happens in a folder, as the system tells it, and whether it tells everything.

Owns watchdog, imported nowhere else, and what is known of its gaps: an overflowing queue, folders that could not be
watched, symlinks and hard links to elsewhere, file systems that other machines write.  `watching` decides what to do.

One gap stays: a hard link that is made from outside the folder, to a note that nothing else happens to, is not heard of,
and neither is what is then written through it.
"""

from __future__ import annotations

import logging
import os
import re
import stat
import sys
import threading
import warnings
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path
from queue import Empty, SimpleQueue
from typing import NamedTuple

from watchdog import events
from watchdog.events import FileSystemEvent, FileSystemEventHandler
from watchdog.observers import Observer
from watchdog.utils import BaseThread

from crucible.vault.index.watch.vouching import NO, answer, is_question
from crucible.vault.notes.walk import is_markdown

_WANTED: list[type[FileSystemEvent]] = [
    events.FileCreatedEvent,
    events.FileModifiedEvent,
    # Also when a mapped file is unmapped: writing through a mapping is no event.
    events.FileClosedEvent,
    events.FileAttribEvent,
    events.FileDeletedEvent,
    events.FileMovedEvent,
    events.DirCreatedEvent,
    events.DirAttribEvent,
    events.DirDeletedEvent,
    events.DirMovedEvent,
]
"""Not that a file was opened or read: refreshing opens every changed note."""

_LOCAL = frozenset(
    {"bcachefs", "btrfs", "exfat", "ext2", "ext3", "ext4", "f2fs", "jfs", "ntfs3", "overlay", "ramfs"}
    | {"reiserfs", "tmpfs", "vfat", "xfs", "zfs"}
)
"""File systems of Linux on which all writes pass this machine's kernel, which tells of them."""


class Heard(NamedTuple):
    """A note or folder that something happened to, a question, or with none of them: anything may have changed."""

    note: str = ""
    folder: str = ""
    question: str = ""


class Listener(FileSystemEventHandler):
    """Tells what happens below a real folder from the moment it exists until `close`.  `OSError` when it cannot.

    While `refusing`, questions are answered with no at once.
    """

    def __init__(self, folder: str) -> None:
        self.folder = folder
        self.refusing = True
        self._moved = False
        self.complaints = _Complaints()
        self._heard: SimpleQueue[Heard] = SimpleQueue()
        # Of a folder that was moved and is watched again, which is as it should be.
        warnings.filterwarnings("ignore", "Callback with id", RuntimeWarning)
        before = set(threading.enumerate())
        self._threads: set[threading.Thread] = set()
        self._observer = Observer()
        self._observer.schedule(self, folder, recursive=True, event_filter=_WANTED)
        try:
            self._observer.start()
        except BaseException:
            self.close()
            raise
        self._threads = set(threading.enumerate()) - before

    def next(self, seconds: float) -> Heard | None:
        """The next thing that was heard; None when nothing was for so long."""
        try:
            return self._heard.get(timeout=max(seconds, 0.001))
        except Empty:
            return None

    def is_sound(self) -> bool:
        """Whether nothing that happened can have been lost on the way here, or taken for something else."""
        return not (self.complaints.any or self._moved) and all(one.is_alive() for one in self._threads)

    def dispatch(self, event: FileSystemEvent) -> None:
        """Called by watchdog, in a thread of its own."""
        for path in {os.fsdecode(event.src_path), os.fsdecode(event.dest_path)} - {""}:
            self._hear(path, event)

    def _hear(self, path: str, event: FileSystemEvent) -> None:
        if "/." in path[len(self.folder) :].replace(os.sep, "/"):
            if isinstance(event, events.FileCreatedEvent) and is_question(path):
                self._hear_question(path)
        elif event.is_directory:
            # When folders move in quick succession, watchdog mistakes one for another from then on.
            self._moved = self._moved or not isinstance(event, events.DirCreatedEvent | events.DirAttribEvent)
            self._heard.put(Heard(folder=path if path != self.folder else ""))
        elif is_markdown(path):
            self._heard.put(Heard(note=path))
        elif os.path.islink(path):
            # It may lead to a folder of notes.
            self._heard.put(Heard())

    def _hear_question(self, path: str) -> None:
        if self.refusing:
            answer(path, NO)
        else:
            self._heard.put(Heard(question=path))

    def close(self) -> None:
        """End all threads."""
        try:
            if self._observer.is_alive():
                self._observer.stop()
                self._observer.join()
        except (KeyError, OSError):
            # Watchdog can lose count of folders that moved: what it holds of the system is given back one by one.
            for thread in self._threads:
                if isinstance(thread, BaseThread):
                    with suppress(KeyError, OSError):
                        thread.stop()
        finally:
            self.complaints.close()


class _Complaints(logging.Handler):
    """Whether watchdog warned of anything: an overflow of the kernel's queue is told in no other way.

    Nor is the end of one of its threads, which Python would print.
    """

    def __init__(self) -> None:
        super().__init__(logging.WARNING)
        self.any = False
        self._log = logging.getLogger("watchdog")
        self._propagated, self._log.propagate = self._log.propagate, False
        self._log.addHandler(self)
        self._hook, threading.excepthook = threading.excepthook, self._crashed

    def emit(self, record: logging.LogRecord) -> None:  # noqa: ARG002
        self.any = True

    def _crashed(self, _: threading.ExceptHookArgs) -> None:
        self.any = True

    def close(self) -> None:
        threading.excepthook = self._hook
        self._log.removeHandler(self)
        self._log.propagate = self._propagated
        super().close()


class Survey(NamedTuple):
    """`linked` are notes with a second name; `unheard` says why other changes may pass unheard, "" when they cannot."""

    linked: frozenset[str]
    unheard: str = ""


def survey(folder: str, within: str | None = None) -> Survey:
    """Look at everything in a folder that is listened to, or in one `within` it; look after listening began."""
    notes: list[str] = []
    folders = [] if within is None else [os.stat(folder)]
    unheard = ""
    for entry in _walk(within or folder, folders):
        if entry.is_symlink():
            unheard = unheard or f"{entry.path} is a symlink, and what it leads to is not watched"
        elif is_markdown(entry.name):
            notes.append(entry.path)
    return Survey(linked_still(notes), unheard or _unheard_folder(folders))


def _walk(folder: str, folders: list[os.stat_result]) -> Iterator[os.DirEntry[str]]:
    """Every entry that is not hidden and no folder; the folders' own status goes to `folders`."""
    waiting = [folder]
    while waiting:
        path = waiting.pop()
        try:
            folders.append(os.stat(path))
            with os.scandir(path) as entries:
                seen = [entry for entry in entries if not entry.name.startswith(".")]
        except OSError:
            continue  # gone since, which is heard; or unreadable, which the index tells
        for entry in seen:
            if entry.is_dir(follow_symlinks=False):
                waiting.append(entry.path)
            else:
                yield entry


def _unheard_folder(folders: list[os.stat_result]) -> str:
    if sys.platform != "linux":
        return ""
    if len({status.st_dev for status in folders}) > 1:
        return "the sessions folder lies on several file systems"
    watched = _watched_inodes()
    missing = sum(status.st_ino not in watched for status in folders)
    return f"the system lets us watch only {len(folders) - missing} of {len(folders)} folders" if missing else ""


_INODE = re.compile(r"^inotify wd:\S+ ino:([0-9a-f]+)", re.MULTILINE)


def _watched_inodes() -> set[int]:
    """The folders that the kernel watches for this process.

    Watchdog keeps it to itself when it could not watch one.
    """
    found: set[int] = set()
    for name in os.listdir("/proc/self/fdinfo"):
        try:
            text = Path("/proc/self/fdinfo", name).read_text(encoding="ascii")
        except OSError:
            continue
        found.update(int(inode, 16) for inode in _INODE.findall(text))
    return found


def mounts_of(folder: str) -> tuple[tuple[str, str], ...]:
    """Mount point and type of every file system that is mounted above, at or in a real folder; none where unknown."""
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


def unheard_mount(folder: str) -> str:
    """Why a folder's file system does not tell of all changes, "" when it does."""
    if sys.platform != "linux":
        return "only Linux tells of changes in a strict order"
    mounts = mounts_of(folder)
    if any(point != folder and _is_within(point, folder) for point, _ in mounts):
        return "another file system is mounted in the sessions folder"
    # Of two file systems that are mounted at one place the later one is seen.
    above = [(len(point), at, kind) for at, (point, kind) in enumerate(mounts)]
    kind = max(above)[2] if above else "unknown"
    return "" if kind in _LOCAL else f"a file system of type {kind} does not tell of every change"


def linked_still(paths: Iterable[str]) -> frozenset[str]:
    """Those that have a second name, a hard link, through which they could be written unheard."""
    return frozenset(path for path in paths if _has_second_name(path))


def _has_second_name(path: str) -> bool:
    try:
        status = os.lstat(path)
    except OSError:
        return False
    return status.st_nlink > 1 and stat.S_ISREG(status.st_mode)
