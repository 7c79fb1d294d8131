"""Walk a vault's folders for Markdown files, and read the properties at a note's top.

Dot-folders and dot-files are skipped, as in Obsidian, and symlinked folders that leave the vault.  A file is never
skipped for being unreadable, since no note may be missing from a list.
"""

from __future__ import annotations

import os
import re
import stat
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from pathlib import Path
from typing import TypeAlias

from crucible.core.errors import CrucibleError, NoteUnreadable, OutsideVault, reason_of
from crucible.core.files import inside
from crucible.core.patterns import late_pattern

CASES = "cases"
"""The folder of the vault in which what sessions teach is proposed."""
KNOWLEDGE = "knowledge"
"""The folder of the vault in which items of knowledge are kept."""
WORKFLOWS = "workflows"
"""The folder of the vault in which a note is a workflow unless it says what else it is."""


OnError: TypeAlias = Callable[[CrucibleError], None]
"""Told of everything that may hold notes and cannot be walked."""


def find_notes(root: Path, start: Path, on_error: OnError | None = None) -> Iterator[tuple[Path, list[str]]]:
    """Every folder from `start` down with the names of its notes; a missing one never.

    A folder that can be reached in several ways counts once: under its own name, else under the first of the symlinks.
    """
    waiting, links, seen = [start], list[Path](), set[Path]()
    while waiting or links:
        folder = waiting.pop() if waiting else heappop(links)
        try:
            real = inside(root, folder)
            if real in seen:
                continue
            seen.add(real)
            entries = _entries(folder, on_error)
        except FileNotFoundError as error:
            if folder.is_symlink():
                _tell(on_error, folder, error)
        except (OSError, OutsideVault) as error:
            _tell(on_error, folder, error)
        else:
            folders, notes = _sorted_out(folder, entries, on_error)
            yield folder, notes
            for path in (folder / name for name in folders):
                if path.is_symlink():
                    heappush(links, path)
                else:
                    waiting.append(path)


def _entries(folder: Path, on_error: OnError | None) -> list[os.DirEntry[str]]:
    """What Obsidian sees of a folder; of a folder that breaks off, what could be had."""
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        try:
            found.extend(entry for entry in entries if not entry.name.startswith("."))
        except OSError as error:
            _tell(on_error, folder, error)
    return found


def _sorted_out(folder: Path, entries: list[os.DirEntry[str]], on_error: OnError | None) -> tuple[list[str], list[str]]:
    """Folders and notes.  What cannot be looked at is no folder; called like a note it is one, which cannot be read."""
    folders, notes = [], []
    for entry in entries:
        try:
            is_folder = entry.is_dir()
        except OSError as error:
            is_folder = False
            if not is_markdown(entry.name):
                _tell(on_error, folder / entry.name, error)
        if is_folder:
            folders.append(entry.name)
        elif is_markdown(entry.name):
            notes.append(entry.name)
    return sorted(folders, reverse=True), sorted(notes)


def _tell(on_error: OnError | None, path: Path, error: OSError | OutsideVault) -> None:
    if on_error is None:
        return
    if isinstance(error, OutsideVault):
        on_error(error)
    else:
        on_error(NoteUnreadable(f"{path}: {reason_of(error)}"))


def is_markdown(name: str) -> bool:
    """Ends in `.md`, in any case."""
    return name[-3:].lower() == ".md"


def note_name(name: str) -> str:
    """A file's name without `.md`."""
    return name[:-3] if is_markdown(name) else name


_HEAD = 4096
"""Bytes that are looked at first: of nearly every note all of its properties."""

_FENCE = late_pattern(rb"\A(?:\xef\xbb\xbf)?---[ \t]*(?:\r\n?|\n)")
_CLOSER = late_pattern(rb"(?:\r\n?|\n)---[ \t]*(?:[\r\n]|\Z)")
_RUST = late_pattern(rb"^dialect[ \t]*:[ \t]*([\"']?)crucible\1[ \t]*\r?$", re.MULTILINE | re.IGNORECASE)


def read_head(path: str) -> bytes:
    """The properties of a note with their fences, b"" for none.  What is no regular file raises `OSError`, and never waits."""
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    try:
        if not stat.S_ISREG(os.fstat(descriptor).st_mode):
            raise OSError(f"{path}: no regular file")
        head = os.read(descriptor, _HEAD)
        if not _FENCE.match(head):
            return b""
        while not (closer := _CLOSER.search(head)):
            more = os.read(descriptor, len(head))
            if not more:
                return b""  # never closed, so there are no properties
            head += more
    finally:
        os.close(descriptor)
    return head[: closer.end()]


def is_for_rust(head: bytes) -> bool:
    """Whether the property `dialect` says that the note is written for the Rust Crucible."""
    return b"ialect" in head and bool(_RUST.search(head))
