"""The walk over a vault's folders: which Markdown files there are.

Owns what is skipped: dot-folders and dot-files (Obsidian does not see them either), and symlinked folders that leave
the vault.  A file is never skipped for being unreadable, since no note may be absent from a list.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TypeAlias

from crucible.errors import CrucibleError, NoteUnreadable, OutsideVault
from crucible.vault.files import inside

__all__ = ["OnError", "find_notes", "is_markdown", "note_name"]

OnError: TypeAlias = Callable[[CrucibleError], None]
"""Told of every folder that cannot be walked."""


def find_notes(root: Path, start: Path, on_error: OnError | None = None) -> Iterator[tuple[Path, list[str]]]:
    """Every folder from `start` down with the names of its notes; each real folder once, a missing one never."""
    waiting, seen = [start], set[Path]()
    while waiting:
        folder = waiting.pop()
        try:
            real = inside(root, folder)
            if real not in seen:
                seen.add(real)
                folders, notes = _scan(folder)
                yield folder, notes
                waiting += [folder / name for name in folders]
        except FileNotFoundError:
            continue
        except (OSError, OutsideVault) as error:
            _tell(on_error, folder, error)


def _scan(folder: Path) -> tuple[list[str], list[str]]:
    folders, notes = [], []
    with os.scandir(folder) as entries:
        for entry in entries:
            if entry.name.startswith("."):
                continue
            if entry.is_dir():
                folders.append(entry.name)
            elif is_markdown(entry.name):
                notes.append(entry.name)
    return sorted(folders, reverse=True), sorted(notes)


def _tell(on_error: OnError | None, folder: Path, error: OSError | OutsideVault) -> None:
    if on_error is None:
        return
    if isinstance(error, OutsideVault):
        on_error(error)
    else:
        on_error(NoteUnreadable(f"{folder}: {(error.strerror or str(error)).lower()}"))


def is_markdown(name: str) -> bool:
    """Ends in `.md`, in any case."""
    return name[-3:].lower() == ".md"


def note_name(name: str) -> str:
    """A file's name without `.md`."""
    return name[:-3] if is_markdown(name) else name
