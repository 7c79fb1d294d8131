"""What `cru doctor --fix` can fix: each fix finds what is to do, and `cru doctor` reports the same.

A fix looks at one note at a time, so that a vault is read once for all of them.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import tzinfo
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import CrucibleError
from crucible.core.text import counted
from crucible.documents.markdown.source import Edit, apply_edits
from crucible.integrations.doctor import CheckResult, good, notice
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.vault import Note, Vault


class NoteFix(NamedTuple):
    """The fix of one note: its edits, its new path in the vault if it moves, or why it is left as it is."""

    edits: Sequence[Edit] = ()
    target: str = ""
    reason: str = ""


NOTHING = NoteFix()


@dataclass(frozen=True)
class FixContext:
    """What fixes may look at: the vault, and the user's time zone (None for the system's)."""

    vault: Vault
    zone: tzinfo | None = None
    projects: dict[str, str] = field(default_factory=dict)
    """The link target of each project's note, as far as it was looked up."""

    @cached_property
    def links(self) -> LinkTable:
        """All notes of the vault, to resolve links."""
        return LinkTable(map(self.vault.relative, self.vault.note_paths()))


def _no_files(_: FixContext) -> dict[str, bytes]:
    return {}


@dataclass(frozen=True)
class Fix:
    """One thing that `cru doctor --fix` can fix.

    `fault` says what is wrong with notes (`lack a title`), `ok` that nothing is.  `find` returns what is to do with a
    note; `files` returns missing files by path in the vault.  `move` moves notes to the targets that `find` returned.
    """

    name: str
    fault: str
    ok: str
    find: Callable[[FixContext, Note], NoteFix] = lambda _context, _note: NOTHING
    files: Callable[[FixContext], dict[str, bytes]] = _no_files
    move: Callable[[FixContext, Sequence[tuple[str, str]]], Iterator[tuple[str, str]]] | None = None


class Found(NamedTuple):
    """What a fix would change (paths in the vault), and `path: reason` for each note that it leaves."""

    paths: tuple[str, ...] = ()
    left: tuple[str, ...] = ()


def find_faults(context: FixContext, fixes: Sequence[Fix]) -> dict[str, Found]:
    """Return what each fix found, by its name, reading every note once.  Unreadable notes are reported elsewhere."""
    paths: dict[str, list[str]] = {fix.name: [*fix.files(context)] for fix in fixes}
    left: dict[str, list[str]] = {fix.name: [] for fix in fixes}
    for path in context.vault.note_paths():
        name = context.vault.relative(path)
        with suppress(CrucibleError):
            note = context.vault.read(path)
            for fix in fixes:
                found = fix.find(context, note)
                if found.reason:
                    left[fix.name].append(f"{name}: {found.reason}")
                elif found.edits or found.target:
                    paths[fix.name].append(name)
    return {name: Found(tuple(paths[name]), tuple(left[name])) for name in paths}


def report_faults(context: FixContext, fixes: Sequence[Fix]) -> Iterator[CheckResult]:
    """Report what each fix would change."""
    found = find_faults(context, fixes)
    for fix in fixes:
        paths, left = found[fix.name]
        if paths:
            yield notice(fix.name, f"{_counted(fix, paths)} {fix.fault}", f"cru doctor --fix {fix.name}", paths)
        if left:
            yield notice(fix.name, f"{counted(len(left), 'note')} cannot be fixed automatically", "", left)
        if not (paths or left):
            yield good(fix.name, fix.ok)


def _counted(fix: Fix, paths: Sequence[str]) -> str:
    return counted(len(paths), "file" if fix.files is not _no_files else "note")


def difference(context: FixContext, fix: Fix, name: str) -> tuple[str, str, str]:
    """Return a file's text before and after a fix, and its path afterwards."""
    missing = fix.files(context)
    if name in missing:
        return "", missing[name].decode("utf-8", "replace"), name
    note = context.vault.read(context.vault.root / name)
    found = fix.find(context, note)
    return note.source.text, apply_edits(note.source, found.edits).text, found.target or name


def apply_fix(context: FixContext, fix: Fix, paths: Iterable[str]) -> Iterator[tuple[str, str]]:
    """Fix the files at these paths; yield each with the reason if it could not be fixed, else ""."""
    vault, missing = context.vault, fix.files(context)
    moves: list[tuple[str, str]] = []
    for name in paths:
        reason = ""
        try:
            if name in missing:
                _create(vault, vault.root / name, missing[name])
            else:
                note = vault.update(vault.root / name, lambda note: fix.find(context, note).edits)
                moves += [(name, target)] if (target := fix.find(context, note).target) else []
        except CrucibleError as error:
            reason = str(error)
        if reason or not (moves and moves[-1][0] == name):
            yield name, reason
    if fix.move and moves:
        yield from fix.move(context, moves)


def _create(vault: Vault, path: Path, data: bytes) -> None:
    files.make_folders(vault.root, path.parent)
    files.create_exclusive(path, data, fsync=vault.settings.fsync)
