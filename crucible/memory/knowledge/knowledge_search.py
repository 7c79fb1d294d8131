"""Knowledge items for search: list them, return their text, and weigh them for a viewer.

`.crucible/cache/knowledge.json` caches each note by its stamp, so that unchanged notes are not read.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from crucible.core import files
from crucible.core.errors import CrucibleError
from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import blake2b, parse_json
from crucible.documents.knowledge.item_rules import EVERYTHING, Audience, WeightFacts, sees, weigh
from crucible.search.recall import Document, Event, EventKind
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import KNOWLEDGE, find_notes, note_name

if TYPE_CHECKING:
    from crucible.documents.knowledge.items import Item


_CACHE = ".crucible/cache/knowledge.json"
_SCHEMA = 1


class _Card(NamedTuple):
    """An item in the cache.  `words` is a digest of its searchable text, "" if it is not searchable."""

    stamp: str
    words: str
    place: Audience
    facts: WeightFacts


class ItemShelf:
    """Implements `ItemCatalog` for `knowledge/`.  Items that `viewer` may not see weigh 0, so search skips them."""

    def __init__(self, vault: Vault, viewer: Audience = EVERYTHING) -> None:
        self._vault = vault
        self._viewer = viewer
        self._cards: dict[str, list[_Card]] = {}
        """The items by id; several notes may have the same name."""

    def stamps(self) -> Mapping[str, str]:
        """Return a digest of each active item's text, by the path of its note."""
        cards = self._refreshed()
        self._cards = {}
        for path, card in cards.items():
            if card.words:
                self._cards.setdefault(note_name(path.rpartition("/")[2]), []).append(card)
        return {path: card.words for path, card in cards.items() if card.words}

    def facts(self) -> Mapping[str, tuple[Audience, WeightFacts]]:
        """Return each active item's audience and the facts for its weight, by the path of its note."""
        return {path: (card.place, card.facts) for path, card in self._refreshed().items() if card.words}

    def document(self, name: str) -> Document | None:
        """Return the item in a note; None if it is gone, retired or invalid."""
        item = self._item(self._vault.root / name)
        return _document(name, note_name(name.rpartition("/")[2]), item) if item and item.active else None

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        """Return an item's weight, and its factors by type, freshness and usefulness; 0 if hidden from the viewer."""
        cards = self._cards.get(identity, [])
        # Several notes may have this name.  It is unknown which one was found, so the viewer must have access to all.
        if not cards or not all(sees(self._viewer, card.place) for card in cards):
            return 0.0, {}
        weight = weigh(cards[0].facts, now, self._vault.settings.knowledge)
        return weight.total, weight.parts

    # --- the cache ----------------------------------------------------------------------------------------------------

    def _refreshed(self) -> dict[str, _Card]:
        path = self._vault.root / _CACHE
        known = _load(self._vault.root)
        found = dict(self._scanned(known))
        if found != known and (found or known):
            with suppress(CrucibleError):  # a read-only vault cannot have a cache
                files.make_folders(self._vault.root, path.parent)
                import json  # noqa: PLC0415  slow to load, and only needed after a change

                data = json.dumps({"schema": _SCHEMA, "items": found}, default=datetime.isoformat)
                files.write_atomic(path, data.encode(), fsync=False)
        return found

    def _scanned(self, known: Mapping[str, _Card]) -> Iterator[tuple[str, _Card]]:
        walk = find_notes(self._vault.root, self._vault.root / KNOWLEDGE)
        for path in sorted(folder / name for folder, names in walk for name in names):
            name = self._vault.relative(path)
            with suppress(OSError):
                status = path.stat()
                # If a note was copied over another, its size and modification time may be the same.
                stamp = f"{status.st_size}-{status.st_mtime_ns}-{status.st_ctime_ns}-{status.st_ino}"
                card = known.get(name)
                yield name, card if card and card.stamp == stamp else self._read(path, stamp)

    def _item(self, path: Path) -> Item | None:
        """Return the item in a note; None if it is invalid, which `cru knowledge check` reports."""
        # Late: a query about unchanged notes reads none, and this import is slow.
        from crucible.memory.knowledge.knowledge_folder import load_item  # noqa: PLC0415

        try:
            return load_item(self._vault, path).item
        except CrucibleError:
            return None

    def _read(self, path: Path, stamp: str) -> _Card:
        item = self._item(path)
        if item is None or not item.active:
            return _Card(stamp, "", EVERYTHING, WeightFacts(""))
        return _Card(stamp, _digest(item), Audience.of(item), WeightFacts.of(item))


def _document(path: str, name: str, item: Item) -> Document:
    at = item.updated or item.created
    event = Event(name, name, EventKind.KNOWLEDGE, item.searched, line=1, at=at, project=item.project, title=item.title)
    return Document(name, path, item.title, (event,), item.created, item.project, tags=item.tags)


def _digest(item: Item) -> str:
    texts = (item.title, item.searched, item.project, *item.tags, str(item.updated or item.created))
    return blake2b("\x1f".join(texts).encode("utf-8", "surrogatepass"), digest_size=12).hexdigest()


def _load(root: Path) -> dict[str, _Card]:
    """Return the cached items; none if the cache is damaged or from another version."""
    try:
        cache = parse_json(files.read_bytes(files.inside(root, root / _CACHE))[0])
        if cache["schema"] != _SCHEMA:
            return {}
        return {name: _card(*row) for name, row in cache["items"].items()}
    except (CrucibleError, ArithmeticError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return {}


def _card(stamp: str, words: str, place: list[str], facts: list[Any]) -> _Card:
    times = (datetime.fromisoformat(text) if text else None for text in facts[4:])
    return _Card(stamp, words, Audience(*place), WeightFacts(*facts[:4], *times))
