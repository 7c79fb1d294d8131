"""The folder `knowledge/` of a vault: which items are there, and which one a name means.

Owns the walk, and that a note which is not understood is there all the same.  What stands in a note is `item_notes`', writing is `adding`'s and
`changing`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_notes import read_item
from crucible.documents.knowledge.item_scope import EVERYTHING, Place, sees
from crucible.documents.knowledge.item_weight import Facts, Weight, needs_verification, weigh
from crucible.documents.knowledge.items import Item, ItemType
from crucible.documents.markdown.source import Problem
from crucible.vault.notes.note_folder import FolderNotes
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import KNOWLEDGE, OnError


class ItemNote(NamedTuple):
    """An item's note: `item` is None where it is not understood, and `problems` say why."""

    note: Note
    item: Item | None
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """The file's name without `.md`: what the item is called."""
        return self.note.name


class Wish(NamedTuple):
    """Which items are wanted; what is empty or None narrows nothing.  Retired ones only when asked for."""

    types: frozenset[ItemType] = frozenset()
    tags: frozenset[str] = frozenset()
    viewer: Place = EVERYTHING
    retired: bool | None = False
    to_verify: bool = False


class Row(NamedTuple):
    """An item as a list tells it; `path` is seen from the vault.  `to_verify` is one that is old and nobody looked at, or that did not hold."""

    id: str
    path: str
    item: Item
    weight: Weight
    to_verify: bool


# --- reading ---------------------------------------------------------------------------------------------------------


_ITEMS = FolderNotes(KNOWLEDGE, "item of knowledge", "items of knowledge", "`cru knowledge list` shows them")
item_paths, find_item = _ITEMS.paths, _ITEMS.find


def load_item(vault: Vault, path: Path) -> ItemNote:
    """The item of a note."""
    note = vault.read(path)
    return ItemNote(note, *read_item(note.source, note.name))


def load_items(vault: Vault, on_error: OnError | None = None) -> Iterator[ItemNote]:
    """Every note of the folder, those that are not understood too; what cannot be read is told to `on_error`."""
    for path in item_paths(vault, on_error):
        try:
            yield load_item(vault, path)
        except CrucibleError as error:
            if on_error:
                on_error(error)


def items_by_id(notes: Iterable[ItemNote]) -> dict[str, Item]:
    """The items that are understood; of several notes of one name the first."""
    found: dict[str, Item] = {}
    for one in notes:
        if one.item:
            found.setdefault(one.id, one.item)
    return found


def list_items(
    vault: Vault, notes: Iterable[ItemNote], wish: Wish, now: datetime, settings: KnowledgeSettings
) -> list[Row]:
    """What is wanted of the notes, by weight, the heaviest first."""
    rows = (_row(vault, one, one.item, now, settings) for one in notes if one.item and _wanted(one.item, wish))
    wanted = [row for row in rows if row.to_verify or not wish.to_verify]
    return sorted(wanted, key=lambda row: (-row.weight.total, row.id))


def _row(vault: Vault, one: ItemNote, item: Item, now: datetime, settings: KnowledgeSettings) -> Row:
    facts = Facts.of(item)
    to_verify = item.active and (item.disproved or needs_verification(facts, now, settings))
    return Row(one.id, vault.relative(one.note.path), item, weigh(facts, now, settings), to_verify)


def _wanted(item: Item, wish: Wish) -> bool:
    tags = {tag.casefold() for tag in item.tags}
    return (
        (not wish.types or item.type in wish.types)
        and tags.issuperset(tag.casefold() for tag in wish.tags)
        and (wish.retired is None or item.active is not wish.retired)
        and sees(wish.viewer, Place.of(item))
    )
