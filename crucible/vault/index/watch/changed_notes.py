"""Find the notes that changed since they were last reported, whichever process updated the index.

The index alone does not show this: a note that `cru` itself wrote is in the index before the watcher looks.
"""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Callable, Collection, Hashable, Iterator
from pathlib import Path
from typing import NamedTuple

from crucible.vault.index.index import Refreshed
from crucible.vault.index.schema import Row, View, cell_of_path, path_of_cell

_FEW = 8
"""Maximum number of notes to look up one by one.  For more, all rows are read once."""

_NAMES = frozenset({"path", "id", "title"})
"""Session columns that change when a note is renamed."""

_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


class NoteChange(NamedTuple):
    """A change: `added`, `changed`, `removed` or `renamed`.  Paths are relative to the vault.

    `old` is the previous path of a renamed note.
    """

    kind: str
    path: str
    status: str = ""
    old: str = ""


class _Known(NamedTuple):
    """A note's last reported state, as hashes: its row, its row without `_NAMES`, and its start.

    `inode` is 0 if the file is gone; `began` is 0 if the note has no date.
    """

    inode: int
    size: int
    row: int
    content: int
    began: int
    status: str


class KnownNotes:
    """The state of each note when it was last reported, or at the start."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def compare(self, refreshed: Refreshed, root: Path, paths: Collection[str] | None) -> list[NoteChange]:
        """Return changes to the notes at `paths` (None for all) and to those that the refresh found, sorted by path."""
        requested = None if paths is None else {*paths, *(change.path for change in refreshed.changes)}
        # A note that is new to the index may already have been reported: after a rebuild, or if the index cannot be
        # stored, all notes are new.
        kept = not refreshed.unsaved
        changed = {change.path for change in refreshed.changes if kept and change.kind == "changed"}
        # Read all rows first: if one cannot be read, nothing counts as reported.
        found = {path: _known(root / path, row) for path, row in _rows(refreshed.view, requested)}
        gone = [path for path in (self._known if requested is None else requested) if path not in found]
        changes = [one for path, known in found.items() for one in self._compared(path, known, path in changed)]
        missing = {path: known for path in gone if (known := self._known.pop(path, None))}
        return sorted(self._with_renames(changes, missing), key=lambda one: one.path)

    def _compared(self, path: str, known: _Known, is_changed: bool) -> Iterator[NoteChange]:
        old = self._known.get(path)
        self._known[path] = known
        if old is None or is_changed or (old.row, old.size) != (known.row, known.size):
            yield NoteChange("changed" if old else "added", path, known.status)

    def _with_renames(self, changes: list[NoteChange], missing: dict[str, _Known]) -> Iterator[NoteChange]:
        """Combine a missing note and an added one into a rename if they have the same file or content."""
        added = {one.path: self._known[one.path] for one in changes if one.kind == "added"}
        renamed = _pair(missing, added)
        for one in changes:
            old = renamed.get(one.path, "")
            yield one._replace(kind="renamed", old=old) if old else one
        yield from (NoteChange("removed", path) for path in missing.keys() - renamed.values())


_Mark = Callable[[_Known], Hashable]


def _pair(missing: dict[str, _Known], added: dict[str, _Known]) -> dict[str, str]:
    """Map the new path of each renamed note to its old path, trying the most reliable marks first."""
    pairs: dict[str, str] = {}
    for mark in _MARKS:
        old = _only_ones(missing, mark, set(pairs.values()))
        new = _only_ones(added, mark, pairs.keys())
        pairs |= {new[sign]: old[sign] for sign in new.keys() & old.keys()}
    return pairs


def _only_ones(notes: dict[str, _Known], mark: _Mark, without: Collection[str]) -> dict[Hashable, str]:
    """Map each mark to its note, except marks that several notes share."""
    found: dict[Hashable, list[str]] = {}
    for path, known in notes.items():
        if path not in without and (sign := mark(known)) is not None:
            found.setdefault(sign, []).append(path)
    return {sign: paths[0] for sign, paths in found.items() if len(paths) == 1}


def _same_file(known: _Known) -> Hashable:
    return (known.inode, known.size, known.content) if known.inode else None


def _same_file_edited(known: _Known) -> Hashable:
    # A new file may reuse the inode of a deleted one, so the sessions must also have the same start.
    return (known.inode, known.began) if known.inode and known.began else None


def _same_content(known: _Known) -> Hashable:
    # `cru session rename` writes the id into a new file.  Without a date, the content does not identify a note.
    return known.content if known.began else None


_MARKS: tuple[_Mark, ...] = (_same_file, _same_file_edited, _same_content)


def _known(path: Path, row: Row) -> _Known:
    try:
        found = os.lstat(path)
        inode, size = found.st_ino, found.st_size
    except OSError:
        inode, size = 0, 0
    content = [cell for name, cell in row.items() if name not in _NAMES]
    status = sys.intern(str(row["status"] or ""))
    began = hash(row["started"]) if row["started"] else 0
    return _Known(inode, size, hash(tuple(row.values())), hash(tuple(content)), began, status)


def _rows(view: View, paths: Collection[str] | None) -> Iterator[tuple[str, Row]]:
    """Yield the path and row of each note at `paths`; None for all."""
    cells = None if paths is None else {cell_of_path(path) for path in paths}
    for needles in _needles(cells):
        for row in view.rows("sessions", needles=needles):
            cell = str(row["path"])
            if cells is None or cell in cells:
                yield path_of_cell(cell), row


def _needles(cells: Collection[str] | None) -> list[tuple[str, ...]]:
    """Return the needles for one lookup per note, or for a single pass over all rows."""
    if cells is None or len(cells) > _FEW:
        return [()]
    return [(cell,) for cell in cells] if all(map(_PLAIN.fullmatch, cells)) else [()]
