"""The knowledge items in `knowledge/`: list, find and check them, and compute statistics.  Read-only."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_notes import read_item
from crucible.documents.knowledge.item_rules import (
    EVERYTHING,
    Audience,
    ItemWeight,
    Room,
    WeightFacts,
    needs_verification,
    room_for,
    sees,
    weigh,
)
from crucible.documents.knowledge.items import Item, ItemScope, ItemType, Origin
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Problem
from crucible.vault.notes.note_folder import FolderNotes
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import KNOWLEDGE, OnError, note_name


class ItemNote(NamedTuple):
    """The note of an item.  If it cannot be parsed, `item` is None and `problems` say why."""

    note: Note
    item: Item | None
    problems: tuple[Problem, ...]

    @property
    def id(self) -> str:
        """The id of the item: the file name without `.md`."""
        return self.note.name


class ItemFilter(NamedTuple):
    """A filter; empty fields and None match all.  Retired items are excluded by default."""

    types: frozenset[ItemType] = frozenset()
    tags: frozenset[str] = frozenset()
    viewer: Audience = EVERYTHING
    retired: bool | None = False
    to_verify: bool = False


class ItemRow(NamedTuple):
    """An item in a list.  `to_verify` is True if it is old and has not been verified since, or has been disproved."""

    id: str
    path: str
    item: Item
    weight: ItemWeight
    to_verify: bool


# --- reading ---------------------------------------------------------------------------------------------------------


_ITEMS = FolderNotes(KNOWLEDGE, "knowledge item", "knowledge items", "cru knowledge list")
item_paths, find_item = _ITEMS.paths, _ITEMS.find


def load_item(vault: Vault, path: Path) -> ItemNote:
    """Read the item of a note."""
    note = vault.read(path)
    return ItemNote(note, *read_item(note.source, note.name))


def load_items(vault: Vault, on_error: OnError | None = None) -> Iterator[ItemNote]:
    """Read all notes in the folder, including those that are not items; errors are passed to `on_error`."""
    return _ITEMS.load(vault, load_item, on_error)


def items_by_id(notes: Iterable[ItemNote]) -> dict[str, Item]:
    """Return the valid items by id; the first one if several notes have the same name."""
    found: dict[str, Item] = {}
    for one in notes:
        if one.item:
            found.setdefault(one.id, one.item)
    return found


def list_items(
    vault: Vault, notes: Iterable[ItemNote], only: ItemFilter, now: datetime, settings: KnowledgeSettings
) -> list[ItemRow]:
    """Return the items that match a filter, by descending weight."""
    rows = (_row(vault, one, one.item, now, settings) for one in notes if one.item and _matches(one.item, only))
    listed = [row for row in rows if row.to_verify or not only.to_verify]
    return sorted(listed, key=lambda row: (-row.weight.total, row.id))


def _row(vault: Vault, one: ItemNote, item: Item, now: datetime, settings: KnowledgeSettings) -> ItemRow:
    facts = WeightFacts.of(item)
    to_verify = item.active and (item.disproved or needs_verification(facts, now, settings))
    return ItemRow(one.id, vault.relative(one.note.path), item, weigh(facts, now, settings), to_verify)


def _matches(item: Item, only: ItemFilter) -> bool:
    tags = {tag.casefold() for tag in item.tags}
    return (
        (not only.types or item.type in only.types)
        and tags.issuperset(tag.casefold() for tag in only.tags)
        and (only.retired is None or item.active is not only.retired)
        and sees(only.viewer, Audience.of(item))
    )


class ItemProblem(NamedTuple):
    """A problem in a note; `path` is relative to the vault."""

    path: str
    problem: Problem


class KnowledgeStats(NamedTuple):
    """Statistics about all items; `by_type` and `by_scope` count active ones.

    `used` are the most used items, `never_useful` those that never helped, `stale` those that need verification;
    `rooms` are the scopes with items, fullest first; `unread` counts notes that are not items.
    """

    active: int
    retired: int
    unread: int
    uses: int
    useful: int
    by_type: Mapping[str, int]
    by_scope: Mapping[str, int]
    used: Sequence[ItemRow]
    never_useful: Sequence[ItemRow]
    never_used: Sequence[ItemRow]
    stale: Sequence[ItemRow]
    rooms: Sequence[Room]


# --- problems --------------------------------------------------------------------------------------------------------


def check_items(vault: Vault) -> Iterator[ItemProblem]:
    """Yield all problems in the notes, by path and line; a file that cannot be read has one on line 1."""
    unread: list[CrucibleError] = []
    sessions = vault.session_ids()
    names: dict[str, str] = {}
    for path in item_paths(vault, unread.append):
        shown = vault.relative(path)
        try:
            one = load_item(vault, path)
            problems = [*one.problems, *_of_item(one, sessions)]
        except CrucibleError as error:
            problems = [Problem("unreadable", 1, str(error))]
        first = names.setdefault(note_name(path.name).casefold(), shown)
        if first != shown:
            problems.append(Problem("same-name", 1, f"{first} has the same name; an id must be unique"))
        yield from (ItemProblem(shown, problem) for problem in sorted(problems, key=lambda found: found.line))
    for wrong in unread:
        yield ItemProblem(KNOWLEDGE, Problem("unreadable", 1, str(wrong)))


def _of_item(one: ItemNote, sessions: set[str]) -> Iterator[Problem]:
    if one.item is None:
        if not one.problems:
            yield Problem("no-item", 1, "not a knowledge item")
        return
    item, keys = one.item, find_frontmatter(one.note.source).keys

    def line(key: str) -> int:
        return one.note.source.line_of(keys[key].start) + 1 if key in keys else 1

    if not (item.created or item.updated):
        yield Problem("no-date", 1, "`created` and `updated` are missing, so it never ages")
    if item.source.origin is Origin.SESSION and not item.source.session:
        yield Problem("no-session", line("source"), "its source is a session, but `session` is missing")
    for key, session in [("session", item.source.session), *(("also_from", also) for also in item.also_from)]:
        if session and session not in sessions:
            yield Problem("no-such-session", line(key), f"no session {session}: renamed or deleted")
    if item.useful_count > item.use_count:
        yield Problem("bad-count", line("useful_count"), "`useful_count` is higher than `use_count`")
    if item.scope is not ItemScope.GLOBAL and not Audience.of(item).name:
        message = f"its scope is {item.scope}, but no {item.scope} is named: it is seen only where none is"
        yield Problem("no-place", line("scope"), message)


# --- statistics ------------------------------------------------------------------------------------------------------


def stats_of(
    vault: Vault, notes: Iterable[ItemNote], now: datetime, settings: KnowledgeSettings, most: int = 10
) -> KnowledgeStats:
    """Return statistics about the items; each list has up to `most` rows."""
    notes = [*notes]
    rows = list_items(vault, notes, ItemFilter(), now, settings)
    items = [row.item for row in rows]
    used = [row for row in rows if row.item.use_count]
    by_use = sorted(used, key=lambda row: (-row.item.use_count, row.id))
    return KnowledgeStats(
        active=len(rows),
        retired=sum(1 for one in notes if one.item and not one.item.active),
        unread=sum(1 for one in notes if one.item is None),
        uses=sum(item.use_count for item in items),
        useful=sum(item.useful_count for item in items),
        by_type=dict(Counter(item.type.value for item in items).most_common()),
        by_scope=dict(Counter(item.scope.value for item in items).most_common()),
        used=by_use[:most],
        never_useful=[row for row in by_use if not row.item.useful_count][:most],
        never_used=_oldest(row for row in rows if not row.item.use_count)[:most],
        stale=_oldest(row for row in rows if row.to_verify)[:most],
        rooms=_rooms(items, settings),
    )


def _oldest(rows: Iterable[ItemRow]) -> list[ItemRow]:
    return sorted(rows, key=lambda row: (row.item.updated is not None, row.item.updated, row.id))


def _rooms(items: Sequence[Item], settings: KnowledgeSettings) -> list[Room]:
    places = [Audience.of(item) for item in items]
    firsts = {(place.scope, place.name.casefold()): item for place, item in zip(places, items, strict=True)}
    rooms = [room_for(item, items, settings) for item in firsts.values()]
    return sorted(rooms, key=lambda room: (-room.held / room.limit, room.where))
