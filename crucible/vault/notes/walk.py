"""Walk a vault's folders for Markdown files.

Dot-folders, dot-files, and symlinks to folders outside the vault are skipped, as in Obsidian.  Unreadable files are
never skipped: every list must include all notes.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from heapq import heappop, heappush
from pathlib import Path
from typing import TypeAlias

from crucible.core.errors import CrucibleError, NoteUnreadable, OutsideVault, reason_of
from crucible.core.files import inside

CASES = "cases"
"""Folder of proposed learning cases."""
KNOWLEDGE = "knowledge"
"""Folder of knowledge items."""
PERSONAS = "agents"
"""Folder of personas."""
WORKFLOWS = "workflows"
"""Folder in which notes without a type are workflows."""


OnError: TypeAlias = Callable[[CrucibleError], None]
"""A function called for each path that may contain notes but cannot be walked."""


def find_notes(root: Path, start: Path, on_error: OnError | None = None) -> Iterator[tuple[Path, list[str]]]:
    """Yield every folder from `start` down, with the names of its notes.  A missing folder is skipped.

    A folder that can be reached in several ways is yielded once: under its own name, else under the first symlink.
    """
    pending, links, seen = [start], list[Path](), set[Path]()
    while pending or links:
        folder = pending.pop() if pending else heappop(links)
        try:
            real = inside(root, folder)
            if real in seen:
                continue
            seen.add(real)
            entries = _entries(folder, on_error)
        except FileNotFoundError as error:
            if folder.is_symlink():
                _report(on_error, folder, error)
        except (OSError, OutsideVault) as error:
            _report(on_error, folder, error)
        else:
            folders, notes = _split_entries(folder, entries, on_error)
            yield folder, notes
            for path in (folder / name for name in folders):
                if path.is_symlink():
                    heappush(links, path)
                else:
                    pending.append(path)


def _entries(folder: Path, on_error: OnError | None) -> list[os.DirEntry[str]]:
    """Return a folder's visible entries.  If listing fails midway, return the entries read so far."""
    found: list[os.DirEntry[str]] = []
    with os.scandir(folder) as entries:
        try:
            found.extend(entry for entry in entries if not entry.name.startswith("."))
        except OSError as error:
            _report(on_error, folder, error)
    return found


def _split_entries(
    folder: Path, entries: list[os.DirEntry[str]], on_error: OnError | None
) -> tuple[list[str], list[str]]:
    """Split entries into folders and notes.

    An entry that cannot be examined counts as a note if it is named like one.
    """
    folders, notes = [], []
    for entry in entries:
        try:
            is_folder = entry.is_dir()
        except OSError as error:
            is_folder = False
            if not is_markdown(entry.name):
                _report(on_error, folder / entry.name, error)
        if is_folder:
            folders.append(entry.name)
        elif is_markdown(entry.name):
            notes.append(entry.name)
    return sorted(folders, reverse=True), sorted(notes)


def _report(on_error: OnError | None, path: Path, error: OSError | OutsideVault) -> None:
    if on_error is None:
        return
    if isinstance(error, OutsideVault):
        on_error(error)
    else:
        on_error(NoteUnreadable(f"{path}: {reason_of(error)}"))


def is_markdown(name: str) -> bool:
    """Return whether the name ends in `.md`, in any case."""
    return name[-3:].lower() == ".md"


def note_name(name: str) -> str:
    """Return a file's name without `.md`."""
    return name[:-3] if is_markdown(name) else name
