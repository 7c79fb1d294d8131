"""Which notes changed since they were last reported, whoever brought the index up to date.

The index alone cannot say it: a note that `cru` itself wrote is in the index before a watcher looks.
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
"""Notes that are looked up one by one; for more all rows are read once."""

_NAMES = frozenset({"path", "id", "title"})
"""Columns of a session that a rename changes."""

_PLAIN = re.compile(r"[A-Za-z0-9._/-]+")


class NoteChange(NamedTuple):
    """`added`, `changed`, `removed` or `renamed` (then `old` is where it was); paths seen from the vault."""

    kind: str
    path: str
    status: str = ""
    old: str = ""


class _Known(NamedTuple):
    """A note as it was, as hashes: its row, its row without what a rename changes, and when it began.

    `inode` is 0 when it is gone since, `began` 0 without a date.
    """

    inode: int
    size: int
    row: int
    content: int
    began: int
    status: str


class KnownNotes:
    """What was last told of every note, or was there at the start."""

    def __init__(self) -> None:
        self._known: dict[str, _Known] = {}

    def __len__(self) -> int:
        return len(self._known)

    def compare(self, refreshed: Refreshed, root: Path, paths: Collection[str] | None) -> list[NoteChange]:
        """What is new of the notes at `paths`, and of what the refresh found; of all notes with None.  By path."""
        asked = None if paths is None else {*paths, *(change.path for change in refreshed.changes)}
        # What is new to the index need not be news: one that cannot be kept, or is made anew, meets each note again.
        kept = not refreshed.unsaved
        changed = {change.path for change in refreshed.changes if kept and change.kind == "changed"}
        # All rows first: when one cannot be read, nothing counts as told.
        found = {path: _known(root / path, row) for path, row in _rows(refreshed.view, asked)}
        gone = [path for path in (self._known if asked is None else asked) if path not in found]
        told = [one for path, known in found.items() for one in self._met(path, known, path in changed)]
        lost = {path: known for path in gone if (known := self._known.pop(path, None))}
        return sorted(self._with_renames(told, lost), key=lambda one: one.path)

    def _met(self, path: str, known: _Known, surely: bool) -> Iterator[NoteChange]:
        old = self._known.get(path)
        self._known[path] = known
        if old is None or surely or (old.row, old.size) != (known.row, known.size):
            yield NoteChange("changed" if old else "added", path, known.status)

    def _with_renames(self, told: list[NoteChange], lost: dict[str, _Known]) -> Iterator[NoteChange]:
        """A note that is gone and one that came are one when they have the file or the content in common."""
        came = {one.path: self._known[one.path] for one in told if one.kind == "added"}
        renamed = _pair(lost, came)
        for one in told:
            old = renamed.get(one.path, "")
            yield one._replace(kind="renamed", old=old) if old else one
        yield from (NoteChange("removed", path) for path in lost.keys() - renamed.values())


_Mark = Callable[[_Known], Hashable]


def _pair(lost: dict[str, _Known], came: dict[str, _Known]) -> dict[str, str]:
    """Of each note that was renamed the old path, by the new one; the surest signs first."""
    pairs: dict[str, str] = {}
    for mark in _MARKS:
        old = _only_ones(lost, mark, set(pairs.values()))
        new = _only_ones(came, mark, pairs.keys())
        pairs |= {new[sign]: old[sign] for sign in new.keys() & old.keys()}
    return pairs


def _only_ones(notes: dict[str, _Known], mark: _Mark, without: Collection[str]) -> dict[Hashable, str]:
    """The notes by their mark, where no other one has the same."""
    found: dict[Hashable, list[str]] = {}
    for path, known in notes.items():
        if path not in without and (sign := mark(known)) is not None:
            found.setdefault(sign, []).append(path)
    return {sign: paths[0] for sign, paths in found.items() if len(paths) == 1}


def _same_file(known: _Known) -> Hashable:
    return (known.inode, known.size, known.content) if known.inode else None


def _same_file_edited(known: _Known) -> Hashable:
    # The system gives the inode of a removed file to the next one: they must have begun at the same time, too.
    return (known.inode, known.began) if known.inode and known.began else None


def _same_content(known: _Known) -> Hashable:
    # `cru session rename` writes the id into a new file.  Without a date there is too little to tell notes apart.
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
    """The rows of the notes at `paths`; of all with None."""
    cells = None if paths is None else {cell_of_path(path) for path in paths}
    for needles in _needles(cells):
        for row in view.rows("sessions", needles=needles):
            cell = str(row["path"])
            if cells is None or cell in cells:
                yield path_of_cell(cell), row


def _needles(cells: Collection[str] | None) -> list[tuple[str, ...]]:
    """A way through the table for each note, or one for all."""
    if cells is None or len(cells) > _FEW:
        return [()]
    return [(cell,) for cell in cells] if all(map(_PLAIN.fullmatch, cells)) else [()]
