"""The history of a session that is renamed: its file, the id that it tells, and what leads to it.

Owns that it follows at all: it is found by the session's id, so that one left behind would be written anew, without a human's edits.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

from crucible.commands.rename.rename_targets import Left
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.source import Edit, Problem
from crucible.memory.history.history_folder import HISTORY, move_entry
from crucible.memory.history.history_notes import read_entry
from crucible.vault.notes.links import plan_rename
from crucible.vault.notes.vault import Note, Vault


class Followed(NamedTuple):
    """How many links were changed, by the notes' paths seen from the vault, and what could not be."""

    links: Mapping[str, int]
    left: tuple[Left, ...] = ()


def move_history(vault: Vault, old_id: str, new_id: str, notes: Mapping[str, Note]) -> Followed:
    """Move the history of the session that was called `old_id`; `notes` are the vault's as they are now, by their paths.

    Nothing is done where it has none, or a note of another kind is there.
    """
    old, new = (f"{HISTORY}/{name}.md" for name in (old_id, new_id))
    try:
        if old not in notes:
            return _finish(vault, old_id, new_id)
        if read_entry(notes[old].source).entry is None:
            return Followed({})
        plan = plan_rename({at: note.source for at, note in notes.items()}, old, new)
        others = [at for at, edits in plan.edits.items() if edits]
        links = {at: _mend(vault, notes[at], at, (old, new), plan.edits[at]) for at in others}
        move_entry(vault, old_id, new_id)
    except CrucibleError as error:
        return Followed({}, (Left(vault.root / old, Problem("history-not-moved", 1, str(error))),))
    return Followed({new: 0} | {new if at == old else at: count for at, count in links.items()})


def _finish(vault: Vault, old_id: str, new_id: str) -> Followed:
    """After a move, or if there was nothing to move: update a history that still has the old id."""
    new = f"{HISTORY}/{new_id}.md"
    if not (vault.root / new).is_file():
        return Followed({})
    before = vault.read(vault.root / new)
    entry = read_entry(before.source).entry
    if entry is None or entry.session_id != old_id:
        return Followed({})
    path = move_entry(vault, old_id, new_id)
    return Followed({} if vault.read(path).data == before.data else {new: 0})


def _mend(vault: Vault, note: Note, at: str, names: tuple[str, str], planned: list[Edit]) -> int:
    """Write the links of one note; one that changed meanwhile is looked at anew."""
    edits = planned

    def wanted(now: Note) -> list[Edit]:
        nonlocal edits
        if now.source != note.source:
            others = [] if at == names[0] else [names[0]]
            edits = plan_rename({at: now.source}, *names, others).edits.get(at, [])
        return edits

    vault.update(vault.root / at, wanted)
    return len(edits)
