"""List the session notes on disk with their stamps: all of them, or those at given paths."""

from __future__ import annotations

import os
import stat
import sys
import threading
from array import array
from collections.abc import Iterable, Sequence
from heapq import heappop, heappush
from typing import TYPE_CHECKING

from crucible.core.named_tuples import NamedTuple

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which takes 3 ms
except ImportError:
    from hashlib import blake2b

if TYPE_CHECKING:
    from mmap import mmap


Stamp = tuple[int, int, int, int]
"""Size in bytes, mtime and ctime in nanoseconds, inode."""

_WORTH_A_PROCESS = 4_000
"""Minimum number of files for which a second process is faster."""

_TYPE, _FILE = 0o170000, stat.S_IFREG
"""For the same check as `stat.S_ISREG`, but without a function call per note."""
UNKNOWN: Stamp = (-1, -1, -1, -1)
"""Stamp of anything but a regular file."""
_WITH_DIR_FD = os.stat in os.supports_dir_fd and hasattr(os, "O_DIRECTORY")
_FOLDER_FLAGS = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0)


class FolderScan(NamedTuple):
    """One folder's notes, in the order in which the system lists them.

    `folder` is relative to the vault.  `stamps` has four numbers per name.  Anything but a regular file (a symlink, a
    pipe, a file in an inaccessible folder) has four times -1 and is listed in `odd`: it must be read to detect changes.
    """

    folder: str
    names: list[str]
    stamps: array[int]
    odd: tuple[str, ...] = ()

    def digest(self) -> str:
        """Return a digest of all names and stamps in this order."""
        found = blake2b("\0".join(self.names).encode(errors="surrogateescape"), digest_size=16)
        found.update(self.stamps.tobytes())
        return found.hexdigest()

    def items(self) -> Iterable[tuple[str, Stamp]]:
        """Return each name with its stamp."""
        numbers = iter(self.stamps)
        return zip(self.names, zip(numbers, numbers, numbers, numbers, strict=True), strict=True)


class VaultScan(NamedTuple):
    """The result of a walk.  `unwalked` has a line for each place that may contain notes but could not be listed."""

    folders: list[FolderScan]
    unwalked: list[str]


def joined(folder: str, name: str) -> str:
    """Return a note's path in the vault.  The folder "" is the vault itself."""
    return f"{folder}/{name}" if folder else name


def parted(path: str) -> tuple[str, str]:
    """Split a path into folder and name."""
    folder, _, name = path.rpartition("/")
    return folder, name


def stamp_of(status: os.stat_result) -> Stamp:
    """Return the stamp from a file's status."""
    return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def scan_folders(root: str, starts: Iterable[str]) -> VaultScan:
    """Scan the folders `starts`, relative to the real path `root`, and all folders below them.

    Missing folders have no notes.  A folder that can be reached in several ways counts once: under its own name, else
    under the first symlink.
    """
    walk = _Walk(root)
    for start in starts:
        walk.enter("" if start == "." else start)
    while walk.pending or walk.listed or walk.links:
        if not walk.pending and not walk.listed:
            walk.enter(heappop(walk.links))
        while walk.pending:
            walk.list_folder(walk.pending.pop())
        # This may discover folders that are named like notes.
        walk.stat_listed()
    walk.found.sort(key=lambda found: found.folder)
    return VaultScan(walk.found, walk.unwalked)


class _Walk:
    """Folders to list, symlinks to follow afterwards, and listed folders whose files still need stamps."""

    def __init__(self, root: str) -> None:
        self.root = root
        self.pending: list[str] = []
        self.links: list[str] = []
        self.listed: list[tuple[str, list[str]]] = []
        self.found: list[FolderScan] = []
        self.unwalked: list[str] = []
        self._seen: set[str] = set()

    def enter(self, folder: str) -> None:
        """Queue a folder, but only once, and only inside the vault."""
        path = os.path.join(self.root, folder)
        real = os.path.realpath(path)
        if real != self.root and not real.startswith(self.root.rstrip(os.sep) + os.sep):
            self.unwalked.append(f"{path}: points outside the vault, to {real}")
        elif real not in self._seen:
            self._seen.add(real)
            self.pending.append(folder)

    def list_folder(self, folder: str) -> None:
        path = os.path.join(self.root, folder)
        try:
            names = os.listdir(path)
        except FileNotFoundError:
            if os.path.islink(path):
                self._report(path, "no such file or directory")
            return
        except OSError as error:
            self._report(path, error.strerror or str(error))
            return
        notes = [name for name in names if name[-3:] == ".md" and name[0] != "."]
        if len(notes) != len(names):
            notes += self._sort_others(folder, names)
        self.listed.append((folder, notes))

    def _sort_others(self, folder: str, names: Sequence[str]) -> list[str]:
        """Queue the folders among names that do not end in `.md`; return the notes that end in `.MD`."""
        notes = []
        for name in names:
            if name.endswith(".md") or name.startswith("."):
                continue
            if name[-3:].lower() == ".md":
                notes.append(name)
            else:
                self._enter_if_folder(folder, name)
        return notes

    def _enter_if_folder(self, folder: str, name: str) -> bool:
        path = joined(folder, name)
        full_path = os.path.join(self.root, path)
        try:
            is_folder = stat.S_ISDIR(os.stat(full_path).st_mode)
        except FileNotFoundError:
            return False
        except OSError as error:
            if name[-3:].lower() != ".md":
                self._report(full_path, error.strerror or str(error))
            return False
        if is_folder and os.path.islink(full_path):
            heappush(self.links, path)
        elif is_folder:
            self.enter(path)
        return is_folder

    def stat_listed(self) -> None:
        """Get the stamps of everything listed.  Uses two processes if there are many files."""
        tasks, self.listed = self.listed, []
        for (folder, names), stamps in zip(tasks, _stamps(self.root, tasks), strict=True):
            self.found.append(self._without_folders(FolderScan(folder, names, stamps)))

    def _without_folders(self, scan: FolderScan) -> FolderScan:
        """Return the scan without folders that are named like notes, and without files that were just deleted."""
        odd = [at for at, ino in enumerate(scan.stamps[3::4]) if ino < 0]
        if not odd:
            return scan
        drop = {at for at in odd if self._is_no_note(scan.folder, scan.names[at])}
        kept = [at for at in range(len(scan.names)) if at not in drop]
        stamps = array("q", [number for at in kept for number in scan.stamps[4 * at : 4 * at + 4]])
        names = [scan.names[at] for at in kept]
        return FolderScan(scan.folder, names, stamps, tuple(scan.names[at] for at in odd if at not in drop))

    def _is_no_note(self, folder: str, name: str) -> bool:
        try:
            os.lstat(os.path.join(self.root, folder, name))
        except FileNotFoundError:
            return True
        except OSError:
            return False
        return self._enter_if_folder(folder, name)

    def _report(self, path: str, reason: str) -> None:
        self.unwalked.append(f"{path}: {reason.lower()}")


Task = tuple[str, list[str]]


def _stamps(root: str, tasks: Sequence[Task]) -> list[array[int]]:
    """Return the stamps of each task's names."""
    count = sum(len(names) for _, names in tasks)
    if count < _WORTH_A_PROCESS or not _may_fork():
        return [_folder_stamps(root, folder, names) for folder, names in tasks]
    first, second = _halves(tasks, count // 2)
    numbers = _numbers_of_two(root, first, second)
    found, at = [], 0
    for _, names in tasks:
        found.append(numbers[at : at + 4 * len(names)])
        at += 4 * len(names)
    return found


def _may_fork() -> bool:
    # A forked child has only the forking thread: locks held by other threads would never be released.
    return sys.platform == "linux" and threading.active_count() == 1 and (os.cpu_count() or 1) > 1


def _halves(tasks: Sequence[Task], half: int) -> tuple[list[Task], list[Task]]:
    """Split the tasks after `half` names.  One folder may be in both parts."""
    first: list[Task] = []
    for at, (folder, names) in enumerate(tasks):
        if len(names) >= half:
            return [*first, (folder, names[:half])], [(folder, names[half:]), *tasks[at + 1 :]]
        half -= len(names)
        first.append((folder, names))
    return first, []


def _numbers_of_two(root: str, first: Sequence[Task], second: Sequence[Task]) -> array[int]:
    """Return the stamps for all tasks.  A child process handles `second` and returns its stamps in shared memory."""
    from mmap import mmap  # noqa: PLC0415  only needed for a large vault

    size = 32 * sum(len(names) for _, names in second)
    with mmap(-1, max(size, 1)) as shared:
        child = os.fork()  # type: ignore[attr-defined,unused-ignore]  # not on Windows
        if not child:
            os._exit(_fill(shared, root, second))
        numbers = _numbers(root, first)
        if os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]):
            return numbers + _numbers(root, second)
        numbers.frombytes(shared[:size])
    return numbers


def _fill(shared: mmap, root: str, tasks: Sequence[Task]) -> int:
    """Run in the child.  Must not raise: the frames above belong to the parent's code."""
    try:
        numbers = _numbers(root, tasks).tobytes()
        shared[: len(numbers)] = numbers
    except BaseException:  # noqa: BLE001
        return 1
    return 0


def _numbers(root: str, tasks: Sequence[Task]) -> array[int]:
    numbers = array("q")
    for folder, names in tasks:
        numbers += _folder_stamps(root, folder, names)
    return numbers


def _folder_stamps(root: str, folder: str, names: Sequence[str]) -> array[int]:
    path = os.path.join(root, folder)
    try:
        opened = os.open(path, _FOLDER_FLAGS) if _WITH_DIR_FD else None
    except OSError:
        return array("q", UNKNOWN * len(names))
    try:
        return _stamps_at(opened, names if _WITH_DIR_FD else [f"{path}{os.sep}{name}" for name in names])
    finally:
        if opened is not None:
            os.close(opened)


def _stamps_at(opened: int | None, names: Sequence[str]) -> array[int]:
    """Stat all names.  Avoids function calls: each one in this loop costs 0.1 s per million notes."""
    numbers: list[int] = []
    status = os.stat
    for name in names:
        try:
            found = status(name, dir_fd=opened, follow_symlinks=False)
        except OSError:
            numbers += UNKNOWN
            continue
        if found.st_mode & _TYPE == _FILE:
            numbers += (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)
        else:
            numbers += UNKNOWN
    try:
        return array("q", numbers)
    except OverflowError:  # some file systems use 64-bit inodes
        return array("q", (number % 2**63 if number >= 0 else number for number in numbers))


class Seen(NamedTuple):
    """Scanned folders in `scans`, and single notes by path in `names` (None if missing).

    In and below the folders `within` ("" is the vault) the scan is complete, so a note that is not listed is gone.
    """

    scans: list[FolderScan]
    names: dict[str, Stamp | None]
    within: tuple[str, ...]
    unwalked: list[str]

    @property
    def whole(self) -> bool:
        """Whether every note was scanned."""
        return "" in self.within


def scan_notes(root: str, sessions: str, places: Sequence[str] | None) -> Seen:
    """Scan the sessions folder, or only the `places`, relative to the vault.  `root` must be a real path."""
    if places is None:
        return _everything(root, sessions)
    names: dict[str, Stamp | None] = {}
    folders = []
    selected = [place for place in dict.fromkeys(places) if _may_hold_notes(place, sessions)]
    if any(_is_symlink(root, folder) for folder in {os.path.dirname(place) for place in selected}):
        # A folder counts once, under one name, and only a full walk can determine that name.
        return _everything(root, sessions)
    for place in selected:
        stamp = _stamp_at(root, place)
        if stamp is None or stamp == _FOLDER:
            folders.append(place)
        if stamp != _FOLDER and place[-3:].lower() == ".md":
            names[place] = stamp
    found = scan_folders(root, folders)
    return Seen(found.folders, names, tuple(folders), found.unwalked)


def newest_notes(root: str, sessions: str, count: int, few: int) -> list[str] | None:
    """Return the paths of the notes whose names sort last, since ids begin with the date.

    None if there are at most `few` notes, or if not every folder can be listed: then everything must be scanned.
    """
    walk = _Walk(root)
    walk.enter("" if sessions == "." else sessions)
    while walk.pending:
        walk.list_folder(walk.pending.pop())
    if walk.links or walk.unwalked or sum(len(names) for _, names in walk.listed) <= few:
        return None
    newest = sorted((name, folder) for folder, names in walk.listed for name in sorted(names)[-count:])[-count:]
    return [joined(folder, name) for name, folder in newest]


_FOLDER: Stamp = (-2, -2, -2, -2)


def _everything(root: str, sessions: str) -> Seen:
    found = scan_folders(root, [sessions])
    return Seen(found.folders, {}, ("",), found.unwalked)


def _may_hold_notes(place: str, sessions: str) -> bool:
    inside = place == sessions or place.startswith(f"{sessions}/") or (sessions == "." and place != ".")
    return inside and not any(part.startswith(".") for part in place.split("/"))


def _is_symlink(root: str, folder: str) -> bool:
    path = os.path.normpath(os.path.join(root, folder))
    return os.path.realpath(path) != path


def _stamp_at(root: str, place: str) -> Stamp | None:
    try:
        found = os.lstat(os.path.join(root, place))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return UNKNOWN
    if stat.S_ISDIR(found.st_mode):
        return _FOLDER
    # A symlink is read like a note.  A symlink to a folder is ignored here; the next full scan lists the folder.
    return stamp_of(found) if stat.S_ISREG(found.st_mode) else UNKNOWN
