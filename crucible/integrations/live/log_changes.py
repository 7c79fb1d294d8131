"""Report which logs have changed: from the system's file events if there are any, else by checking all logs.

An event only shows where to check: a log has changed if its stamp has.  If events may have been missed, all stamps are
compared, so that nothing is lost.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from collections.abc import Iterable, Mapping, Sequence

from watchdog.events import DirDeletedEvent, DirMovedEvent, FileSystemEvent

from crucible.clients.log_folders import LogFolder
from crucible.core.file_stamps import Stamp, stamp_at
from crucible.vault.index.watch.file_events import Observing, mount_reason, watched_inodes

_SHORTEST, _PATIENCE = 2.0, 100
"""Minimum seconds between checks of all logs, and the factor by which the pause is longer than the last check."""


class _Listener(Observing):
    """Collects the paths of events.  `folders` are real paths."""

    def __init__(self, folders: Mapping[str, bool]) -> None:
        self._lock = threading.Lock()
        self._files: set[str] = set()
        self._folders: set[str] = set()
        super().__init__(folders)

    def dispatch(self, event: FileSystemEvent) -> None:
        """Handle an event."""
        # A deleted folder had logs that were deleted before; a moved one may confuse watchdog.
        self.has_moved = self.has_moved or isinstance(event, DirMovedEvent)
        if isinstance(event, DirDeletedEvent):
            return
        with self._lock:
            into = self._folders if event.is_directory else self._files
            into.update(os.fsdecode(path) for path in (event.src_path, event.dest_path) if path)

    def take(self) -> tuple[set[str], set[str]]:
        """Return the files and the folders with events since the last call."""
        with self._lock:
            taken = self._files, self._folders
            self._files, self._folders = set(), set()
        return taken


class LogChanges:
    """The logs of some folders with their stamps; `changed` returns those that changed since the last call."""

    def __init__(self, folders: Sequence[LogFolder]) -> None:
        self._folders = folders
        self._stamps: dict[str, Stamp] = {}
        self._listener: _Listener | None = None
        self._places: dict[str, tuple[int, int]] = {}
        """The watched folders, with their device and inode."""
        self._real: dict[str, str] = {}
        """The watched folders by their real path."""
        self._polled: list[LogFolder] = []
        """The folders in which the system does not report every change."""
        self._look_at = 0.0
        self.changed()

    @property
    def present(self) -> list[LogFolder]:
        """The folders that exist."""
        return [folder for folder in self._folders if any(path in self._places for path in folder.watched())]

    def changed(self) -> dict[str, str]:
        """Return the paths of the logs that changed or appeared, with the client of each."""
        if self._is_lost():
            self._listen()
            return self._compare(self._folders)
        files, folders = self._listener.take() if self._listener else (set[str](), set[str]())
        found = self._compare_files(map(self._named, files))
        for place in map(self._named, folders):
            found |= self._compare([each for each in self._folders if place.startswith(each.root + os.sep)])
        if folders:
            self._find_polled()
        if self._polled and time.monotonic() >= self._look_at:
            found |= self._look()
        return found

    def written_since(self, time: float) -> dict[str, str]:
        """Return the logs that were last written after a time, with the client of each."""
        paths = [path for path, (_, written, *_) in self._stamps.items() if written > time * 1e9]
        return {path: folder.client for path in paths for folder in self._folders if folder.is_log(path)}

    def age(self, path: str) -> float:
        """Return how many seconds ago a log was written."""
        return max(0.0, time.time() - self._stamps[path][1] / 1e9)

    def close(self) -> None:
        """Stop listening."""
        listener, self._listener = self._listener, None
        if listener:
            listener.close()

    # --- listening ---------------------------------------------------------------------------------------------------

    def _is_lost(self) -> bool:
        """Return whether a folder appeared or went, or events may have been missed."""
        return self._places != self._places_now() or (self._listener is not None and not self._listener.is_sound())

    def _places_now(self) -> dict[str, tuple[int, int]]:
        found = {}
        for path in (path for folder in self._folders for path in folder.watched()):
            try:
                status = os.stat(path)
            except OSError:
                continue
            found[path] = status.st_dev, status.st_ino
        return found

    def _listen(self) -> None:
        """Listen to all folders that exist."""
        self.close()
        self._places = self._places_now()
        watched = {path: deep for folder in self._folders for path, deep in folder.watched().items()}
        self._real = {os.path.realpath(path): path for path in self._places}
        deep = {real: watched.get(path, False) for real, path in self._real.items()}
        try:
            self._listener = _Listener(deep) if deep else None
        except OSError:
            self._listener = None
        self._find_polled()

    def _named(self, path: str) -> str:
        """Return the path in a client's folder for the real path of an event."""
        for real, named in self._real.items():
            if path.startswith(real) and real != named:
                return named + path[len(real) :]
        return path

    def _find_polled(self) -> None:
        """Find the folders in which changes may go unreported: on other file systems, or beyond the system's limits."""
        if self._listener is None:
            self._polled = [*self._folders]
            return
        inodes = watched_inodes() if sys.platform == "linux" else None
        self._polled = [each for each in self.present if _is_unreported(each, inodes)]

    # --- comparing ---------------------------------------------------------------------------------------------------

    def _look(self) -> dict[str, str]:
        began = time.monotonic()
        found = self._compare(self._polled)
        now = time.monotonic()
        self._look_at = now + max(_SHORTEST, _PATIENCE * (now - began))
        return found

    def _compare(self, folders: Iterable[LogFolder]) -> dict[str, str]:
        """Compare the stamps of all logs in these folders."""
        found = {path: folder.client for folder in folders for path in folder.logs()}
        return {path: client for path, client in found.items() if self._has_changed(path)}

    def _compare_files(self, paths: Iterable[str]) -> dict[str, str]:
        found = {path: folder.client for path in paths for folder in self._folders if folder.is_log(path)}
        return {path: client for path, client in found.items() if self._has_changed(path)}

    def _has_changed(self, path: str) -> bool:
        stamp = stamp_at(path)
        if stamp is None:
            self._stamps.pop(path, None)
            return False
        is_new = self._stamps.get(path) != stamp
        self._stamps[path] = stamp
        return is_new


def _is_unreported(folder: LogFolder, inodes: set[int] | None) -> bool:
    return any(
        mount_reason(os.path.realpath(path)) or (inodes is not None and not _inodes_below(path, is_deep) <= inodes)
        for path, is_deep in folder.watched().items()
    )


def _inodes_below(path: str, is_deep: bool) -> set[int]:
    """Return the inodes of a folder and its subfolders, as far as they can be read."""
    found, pending = set[int](), [path]
    while pending:
        place = pending.pop()
        try:
            found.add(os.stat(place).st_ino)
            if is_deep:
                pending += [entry.path for entry in os.scandir(place) if entry.is_dir(follow_symlinks=False)]
        except OSError:
            continue
    return found
