"""What is searched beside sessions: items that somebody else keeps, such as knowledge.

Owns the seam only: who keeps items says which there are, what they say, and how much they count.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Protocol

from crucible.search.recall import Document


class Shelf(Protocol):
    """Items by name, which is a note's path from the vault and no session's."""

    def stamps(self) -> Mapping[str, str]:
        """Every item, and what changes whenever its words do: asked at each question."""
        ...

    def document(self, name: str) -> Document | None:
        """The item: one event of kind knowledge whose `id` and `session` are the item's id, as is the document's `session`."""
        ...

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        """What an item's score is multiplied by, and what that comes from, for `--explain`."""
        ...


class _Nothing:
    """No items."""

    def stamps(self) -> Mapping[str, str]:
        return {}

    def document(self, name: str) -> Document | None:
        del name
        return None

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        del identity, now
        return 1.0, {}


NOTHING: Shelf = _Nothing()
"""A shelf without items."""
