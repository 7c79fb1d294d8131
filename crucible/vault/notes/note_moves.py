"""Move notes to new names, with the links to them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.core import files
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.source import Edit, Source
from crucible.vault.notes.links import plan_rename
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name


def move_notes(vault: Vault, moves: Sequence[tuple[str, str]]) -> Iterator[tuple[str, str]]:
    """Move notes, given as old and new path in the vault; yield each old path with the reason if it was not moved.

    Links are changed before the note moves, so that an interrupted run can be repeated.
    """
    notes: dict[str, Source] = {}
    for path in vault.note_paths():
        try:
            notes[vault.relative(path)] = vault.read(path).source
        except CrucibleError:
            notes[vault.relative(path)] = Source("")  # it keeps its links
    for old, new in moves:
        try:
            _move(vault, notes, old, new)
        except CrucibleError as error:
            yield old, str(error)
        else:
            yield old, ""


def _move(vault: Vault, notes: dict[str, Source], old: str, new: str) -> None:
    name = note_name(old.rpartition("/")[2])
    near = {at: source for at, source in notes.items() if at == old or name in source.text}
    plan = plan_rename(near, old, new, [at for at in notes if at not in near])
    for at, edits in plan.edits.items():

        def planned(note: Note, at: str = at, edits: Sequence[Edit] = edits) -> Sequence[Edit]:
            if note.source == notes[at]:
                return edits
            return plan_rename({at: note.source}, old, new, [one for one in notes if one != at]).edits.get(at, ())

        notes[at] = vault.update(vault.root / at, planned).source
    paths = vault.root / old, vault.root / new
    with vault.locked(paths[0]), vault.locked(paths[1]):
        files.move_exclusive(*paths, fsync=vault.settings.fsync)
        vault.touched |= set(paths)
    notes[new] = notes.pop(old)
