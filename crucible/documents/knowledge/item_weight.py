"""What an item of knowledge weighs in recall: its type, how fresh it is, and how useful it proved to be.

Owns the formulas, whose numbers are settings, over plain values, so that an index can weigh without a note.  Where the plan they come from says two
things, `docs/knowledge.md` tells which one counts.  Nothing of this is kept in a note, since it changes every day.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, NamedTuple

from crucible.core.settings.settings import KnowledgeSettings

if TYPE_CHECKING:
    from crucible.documents.knowledge.items import Item


_DAY = timedelta(days=1)


class Facts(NamedTuple):
    """What the weight of an item depends on; `type` is one of `items.ItemType`, times are aware.  `changed` is when it was last changed, else made."""

    type: str
    verified: bool = False
    use_count: int = 0
    useful_count: int = 0
    last_used: datetime | None = None
    changed: datetime | None = None

    @classmethod
    def of(cls, item: Item) -> Facts:
        """Those of an item."""
        return cls(
            item.type.value,
            item.verification.passed,
            item.use_count,
            item.useful_count,
            item.last_used,
            item.updated or item.created,
        )


class Weight(NamedTuple):
    """The factors by which a text's score is multiplied."""

    type: float
    freshness: float
    usefulness: float

    @property
    def total(self) -> float:
        """Their product."""
        return self.type * self.freshness * self.usefulness

    @property
    def parts(self) -> Mapping[str, float]:
        """The same by name, to be shown."""
        return self._asdict()


def weigh(facts: Facts, now: datetime, settings: KnowledgeSettings) -> Weight:
    """The weight now, which is aware."""
    return Weight(type_weight(facts, settings), freshness(facts, now, settings), usefulness(facts, settings))


def type_weight(facts: Facts, settings: KnowledgeSettings) -> float:
    """By its type, and a little more when it was verified."""
    # The settings have the types' names; a type of a newer Crucible gets the lowest weight.
    weight: float = getattr(settings, facts.type, settings.observation)
    return weight + (settings.verified_bonus if facts.verified else 0.0)


def freshness(facts: Facts, now: datetime, settings: KnowledgeSettings) -> float:
    """Halved with every half-life since it was last changed, never below the floor, more after recent use, at most 1.

    An item that tells no time counts as new; `check` tells of it.
    """
    halved = math.pow(0.5, _age_in_days(facts, now) / settings.half_life_days)
    fresh = max(halved, settings.freshness_floor)
    if facts.use_count and facts.last_used and (now - facts.last_used) / _DAY < settings.recent_days:
        fresh *= settings.recent_boost
    return min(fresh, 1.0)


def usefulness(facts: Facts, settings: KnowledgeSettings) -> float:
    """1 for an item that nobody told of yet, else from `usefulness_floor` (never helped) to that and `usefulness_span` (always)."""
    if not facts.use_count:
        return 1.0
    share = min(facts.useful_count / facts.use_count, 1.0)
    return settings.usefulness_floor + settings.usefulness_span * share


def needs_verification(facts: Facts, now: datetime, settings: KnowledgeSettings) -> bool:
    """Whether it was never verified, and is older than the settings allow."""
    return not facts.verified and _age_in_days(facts, now) > settings.verify_after_days


def _age_in_days(facts: Facts, now: datetime) -> float:
    return max((now - facts.changed) / _DAY, 0.0) if facts.changed else 0.0
