"""Add a knowledge item: redact it, compare it with existing items, and write its note if there is room.

Runs under one lock, so that two processes that add the same item write only one note.
"""

from __future__ import annotations

import itertools
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from datetime import datetime
from enum import StrEnum
from pathlib import Path
from typing import Any, TypeVar

from crucible.core import files
from crucible.core.errors import NoteExists, UsageError
from crucible.core.secrets.scanner import Redact
from crucible.core.text import LINE_END
from crucible.documents.knowledge.item_notes import HEADINGS, read_item, render_item, slug_of
from crucible.documents.knowledge.item_rules import (
    Similar,
    SimilarItem,
    WeightFacts,
    lightest_items,
    room_for,
    similar_items,
    type_weight,
)
from crucible.documents.knowledge.items import UNTITLED, FailureCause, Item, ItemSource, Origin, Verification
from crucible.documents.markdown.containment import cut
from crucible.documents.markdown.source import Edit, Source
from crucible.documents.markdown.wikilinks import strip_heading_for_link
from crucible.documents.session.property_values import link_to
from crucible.memory.knowledge.item_status import merge_edits, retire_item
from crucible.memory.knowledge.knowledge_folder import ItemNote, items_by_id, load_item, load_items
from crucible.vault.notes.note_folder import create_note
from crucible.vault.notes.note_homes import folder_of_session
from crucible.vault.notes.session_notes import find_phase, heading_of
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import KNOWLEDGE, OnError

_TITLE, _LONGEST = 100, 200
"""Maximum code points of a title made from the text, and of any title."""
_OTHER_FOLDERS = ("workflows", "cases")
_Value = TypeVar("_Value", Item, ItemSource, FailureCause, Verification)


def provenance_in(note: Note, phase: str, origin: Origin = Origin.SESSION) -> ItemSource:
    """Return a session, or a phase of it, as the source of an item.  Raises `UsageError` for an unknown phase."""
    if not phase:
        return ItemSource(origin, note.name)
    found = find_phase(note, phase)
    return ItemSource(origin, note.name, found.id, strip_heading_for_link(heading_of(note, found.id)))


class SimilarChoice(StrEnum):
    """What to do with an item that is similar to an existing one."""

    MERGE = "merge"
    KEEP_BOTH = "keep_both"
    SKIP = "skip"


class AddOutcome(StrEnum):
    """The outcome of adding: a new note, merged, already exists, similar so that a choice is needed, or no room."""

    ADDED = "added"
    MERGED = "merged"
    SKIPPED = "skipped"
    ALIKE = "alike"
    FULL = "full"


@dataclass(frozen=True, slots=True)
class Added:
    """The result of adding an item.

    `id` and `path` identify the note that now has the item, or are empty.  `alike` are similar items, most similar
    first; `choices` are the possible choices.  `why` and `warnings` are messages; `redactions` counts redactions by
    rule.
    """

    outcome: AddOutcome
    item: Item
    id: str = ""
    path: Path | None = None
    why: str = ""
    alike: tuple[SimilarItem, ...] = ()
    choices: tuple[SimilarChoice, ...] = ()
    to_retire: tuple[str, ...] = ()
    warnings: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)


def add_item(
    vault: Vault,
    item: Item,
    now: datetime,
    redact: Redact,
    *,
    choice: SimilarChoice | None = None,
    similar: Similar | None = None,
    on_error: OnError | None = None,
) -> Added:
    """Write the item as `knowledge/<slug of its title>.md`, or return why not; see `ItemWriter.add`."""
    with item_writer(vault, now, redact, on_error) as writer:
        return writer.add(item, choice, similar)


@contextmanager
def item_writer(vault: Vault, now: datetime, redact: Redact, on_error: OnError | None = None) -> Iterator[ItemWriter]:
    """Hold the lock of the knowledge folder, to add several items.  Read errors are passed to `on_error`."""
    files.make_folders(vault.root, vault.root / KNOWLEDGE)
    with vault.locked(vault.root / KNOWLEDGE):
        yield ItemWriter(vault, now, redact, {one.note.path: one for one in load_items(vault, on_error)})


@dataclass(frozen=True, slots=True)
class ItemWriter:
    """Adds items while it holds the lock of the knowledge folder; `notes` are those in the folder, by path."""

    vault: Vault
    now: datetime
    redact: Redact
    notes: dict[Path, ItemNote]

    def add(self, item: Item, choice: SimilarChoice | None = None, similar: Similar | None = None) -> Added:
        """Write the item as `knowledge/<slug of its title>.md`, or return why not.

        An item with the same title is skipped unless merged; a similar one needs a `choice`.  `SimilarChoice.MERGE`
        merges into the most similar item.  Raises `VaultError` if the note cannot be written.
        """
        clean, redactions = redacted(item, self.redact)
        clean = _completed(clean, self.vault, self.now)
        notes = [*self.notes.values()]
        added = _write_if_new(self.vault, clean, notes, self.now, choice=choice, similar=similar)
        if added.path:
            self.notes[added.path] = load_item(self.vault, added.path)
        return replace(added, redactions=redactions)


def _completed(item: Item, vault: Vault, now: datetime) -> Item:
    """Add a title, times and a confidence to the item."""
    if item.title == UNTITLED:
        item = replace(item, title=title_of(item.text))
    if item.title == UNTITLED:
        raise UsageError("a knowledge item needs a title or a text", "give it a text")
    confidence = item.confidence
    if confidence is None:
        confidence = type_weight(WeightFacts.of(item), vault.settings.knowledge)
    return replace(
        item,
        title=cut(item.title, _LONGEST),  # after redaction, since the scanner does not find truncated secrets
        created=item.created or now,
        updated=item.updated or now,
        confidence=min(confidence, 1.0),
    )


def title_of(text: str) -> str:
    """Return the first sentence of a text, cut to the length of a title."""
    begin = text.lstrip("\n #>-*")
    end = LINE_END.search(begin, 1)
    return cut(" ".join(begin[: end.start() if end else None].split()), _TITLE)


def _write_if_new(
    vault: Vault,
    item: Item,
    notes: Sequence[ItemNote],
    now: datetime,
    *,
    choice: SimilarChoice | None,
    similar: Similar | None,
) -> Added:
    settings, known = vault.settings.knowledge, items_by_id(notes)
    alike = tuple(similar_items(item, known, settings, similar))
    if alike:
        first = alike[0]
        closest = next(one for one in notes if one.id == first.id and one.item)
        if choice is SimilarChoice.MERGE:
            return _merged_into(vault, closest, item, alike, now)
        is_same = first.exact and not first.retired
        if is_same or choice is not SimilarChoice.KEEP_BOTH:
            state = "retired " if first.retired else ""
            why = f"{state}{vault.relative(closest.note.path)} says the same: “{first.title}”: {first.why}"
            if is_same or choice is SimilarChoice.SKIP:
                return Added(AddOutcome.SKIPPED, item, why=why, alike=alike)
            return Added(AddOutcome.ALIKE, item, why=why, alike=alike, choices=tuple(SimilarChoice))
    room = room_for(item, known.values(), settings)
    least = lightest_items(item, known, now, settings) if room.full or room.nearly_full else []
    shown = ", ".join(f"{id_} ({weight:.2f})" for id_, weight in least)
    if room.full:
        why = f"no room: {room}; retire the items with the lowest weight: {shown}"
        return Added(AddOutcome.FULL, item, why=why, to_retire=tuple(id_ for id_, _ in least))
    id_, path = _written(vault, item, notes)
    room = room._replace(held=room.held + item.active)
    warnings = (
        (f"nearly full: {room}; consider retiring the items with the lowest weight: {shown}",)
        if room.nearly_full
        else ()
    )
    why = f"updated {vault.relative(path)}"
    return Added(AddOutcome.ADDED, item, id_, path, why, alike, warnings=warnings)


def _merged_into(vault: Vault, into: ItemNote, item: Item, alike: tuple[SimilarItem, ...], now: datetime) -> Added:
    vault.update(into.note.path, lambda note: merge_edits(note.source, note.name, item, now))
    why = f"merged into {vault.relative(into.note.path)} ({alike[0].why})"
    return Added(AddOutcome.MERGED, item, into.id, into.note.path, why, alike)


# --- writing ---------------------------------------------------------------------------------------------------------


def _written(vault: Vault, item: Item, notes: Sequence[ItemNote]) -> tuple[str, Path]:
    """Write a new note with a name that no other item, workflow or case has, so that links are unique."""
    taken = {one.id.casefold() for one in notes}
    folder = vault.root / KNOWLEDGE
    slug, data = (
        slug_of(item.title),
        Source(render_item(item, folder_of_session(vault, item.source.session))).to_bytes(),
    )
    if len(data) > files.LARGEST_NOTE:
        raise UsageError("too large for a note", "shorten the text and link to the rest")
    for id_ in itertools.chain([slug], (f"{slug}-{n}" for n in itertools.count(2))):
        path = folder / f"{id_}.md"
        if id_ in taken or any(os.path.lexists(vault.root / one / path.name) for one in _OTHER_FOLDERS):
            continue
        with suppress(NoteExists):
            create_note(vault, path, data)
            return id_, path
    raise AssertionError("never reached")


def merge_items(vault: Vault, into: ItemNote, other: ItemNote, now: datetime) -> str:
    """Merge `other` into `into`, and retire `other` with a link to the merged item; return a message.

    Raises `UsageError` if both are the same note, or if a note has no valid item.
    """
    if into.note.path == other.note.path or into.item is None or other.item is None:
        raise UsageError(f"{into.id} and {other.id}: the same item", '"cru knowledge list" shows the ids')
    # Recorded in the target, so that repeating an interrupted merge counts nothing twice.
    item = replace(other.item, merged=(*other.item.merged, other.id))

    def edits(note: Note) -> list[Edit]:
        known = read_item(note.source, note.name).item
        return [] if known and other.id in known.merged else merge_edits(note.source, note.name, item, now)

    with vault.locked(vault.root / KNOWLEDGE):
        vault.update(into.note.path, edits)
        retire_item(vault, other.note.path, now, f"merged into {link_to(into.id, KNOWLEDGE)}")
    return f"merged {other.id} into {into.id} and retired it"


# --- secrets ---------------------------------------------------------------------------------------------------------


def redacted(item: Item, redact: Redact) -> tuple[Item, dict[str, int]]:
    """Redact all text of the item; also return the number of redactions by rule."""
    counts: Counter[str] = Counter()

    def clean(text: str) -> str:
        clean_text, found = redact(text) if text else ("", {})
        counts.update(found)
        return clean_text

    def without(value: _Value, *names: str) -> _Value:
        texts: dict[str, Any] = {name: clean(getattr(value, name)) for name in names}
        return replace(value, **texts)

    clean_item = replace(
        without(item, "title", "text", "project", "domain", "retired_because"),
        tags=tuple(map(clean, item.tags)),
        source=without(item.source, "heading"),
        failure=without(item.failure, *HEADINGS),
        verification=without(item.verification, "how", "by"),
    )
    return clean_item, dict(counts)
