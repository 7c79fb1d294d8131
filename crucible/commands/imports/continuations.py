"""Sessions that a client went on with in another native session: a link each way.

Owns the two keys `continued_by` and `continues` of imported notes.  A link that a human took out is not put back: only
notes made in this run are linked.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable

from crucible.commands.imports.note_sources import SourceTable
from crucible.documents.markdown.source import Edit
from crucible.documents.session.edits import set_field
from crucible.documents.session.properties import link_to
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name


def link_moves(vault: Vault, table: SourceTable, moves: Iterable[tuple[str, str]], created: Collection[str]) -> None:
    """`moves` are pairs of sources, the earlier one first."""
    for earlier, later in moves:
        paths = table.find(earlier), table.find(later)
        if paths[0] is None or paths[1] is None or paths[0] == paths[1]:
            continue
        names = [note_name(path.name) for path in paths if path]
        if any(name in created for name in names):
            vault.update(paths[0], lambda note, to=names[1]: _linked(note, "continued_by", to))  # type: ignore[misc]
            vault.update(paths[1], lambda note, to=names[0]: _linked(note, "continues", to))  # type: ignore[misc]


def _linked(note: Note, key: str, to: str) -> list[Edit]:
    return set_field(note.source, note.session, key, link_to(to)) if note.session.properties.get(key) is None else []
