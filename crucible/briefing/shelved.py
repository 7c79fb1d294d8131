"""Of which type an item of knowledge is that recall found: the shelf knows, by its note's path."""

from __future__ import annotations

from functools import cache

from crucible.briefing.knowledge import Type
from crucible.knowledge.shelving import ItemShelf
from crucible.recall.model import Hit

__all__ = ["types_on"]


def types_on(shelf: ItemShelf) -> Type:
    """Asks the shelf once, when the first item is found; "" for what it does not have."""

    @cache
    def known() -> dict[str, str]:
        return {path: facts.type for path, (_, facts) in shelf.shelved().items()}

    def type_of(hit: Hit) -> str:
        return known().get(hit.path, "")

    return type_of
