"""Who sees an item of knowledge, and how much it counts in search: its type, freshness and usefulness.

The formulas take plain values, so an index can rank items without reading their notes; their numbers are settings.
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


class Audience(NamedTuple):
    """The scope of an item or a viewer: an `ItemScope`, and the names of project and domain.

    Who looks with the scope "" sees everything. A project's domain is known to who asks: with an empty `domain` a
    project sees the knowledge of every domain.
    """

    scope: str = ""
    project: str = ""
    domain: str = ""

    @classmethod
    def of(cls, item: Item) -> Audience:
        """For whom an item is."""
        return cls(item.scope.value, item.project, item.domain)

    @property
    def name(self) -> str:
        """What the scope is one of: the project's name, the domain's, "" for everybody's."""
        return {"project": self.project, "domain": self.domain}.get(self.scope, "")


EVERYTHING = Audience()


def sees(viewer: Audience, item: Audience) -> bool:
    """Whether an item for that place is seen by the viewer; names are compared without regard to case."""
    if not viewer.scope or item.scope == "global":
        return True
    if item.scope == "domain":
        every = viewer.scope == "project" and not viewer.domain
        return viewer.scope != "global" and (every or _same(item.domain, viewer.domain))
    return viewer.scope == "project" and _same(item.project, viewer.project)


def same_place(one: Audience, other: Audience) -> bool:
    """Whether items of both count towards the same limit: of one project, of one domain, or everybody's."""
    return one.scope == other.scope and _same(one.name, other.name)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


# --- weight ----------------------------------------------------------------------------------------------------------


class WeightFacts(NamedTuple):
    """What an item's weight depends on; times are aware; `changed` is the last change, else the creation."""

    type: str
    verified: bool = False
    use_count: int = 0
    useful_count: int = 0
    last_used: datetime | None = None
    changed: datetime | None = None

    @classmethod
    def of(cls, item: Item) -> WeightFacts:
        """Those of an item."""
        return cls(
            item.type.value,
            item.verification.passed,
            item.use_count,
            item.useful_count,
            item.last_used,
            item.updated or item.created,
        )


class ItemWeight(NamedTuple):
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


def weigh(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> ItemWeight:
    """The weight now, which is aware."""
    return ItemWeight(type_weight(facts, settings), freshness(facts, now, settings), usefulness(facts, settings))


def type_weight(facts: WeightFacts, settings: KnowledgeSettings) -> float:
    """By its type, and a little more when it was verified."""
    # The settings have the types' names; a type of a newer Crucible gets the lowest weight.
    weight: float = getattr(settings, facts.type, settings.observation)
    return weight + (settings.verified_bonus if facts.verified else 0.0)


def freshness(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> float:
    """Halved each half-life since the last change, at least the floor, more after recent use, at most 1.

    An item without a date counts as new; `check` reports it.
    """
    halved = math.pow(0.5, _age_in_days(facts, now) / settings.half_life_days)
    fresh = max(halved, settings.freshness_floor)
    if facts.use_count and facts.last_used and (now - facts.last_used) / _DAY < settings.recent_days:
        fresh *= settings.recent_boost
    return min(fresh, 1.0)


def usefulness(facts: WeightFacts, settings: KnowledgeSettings) -> float:
    """1 for an unused item, else from `usefulness_floor` (never helped) up by `usefulness_span` (always helped)."""
    if not facts.use_count:
        return 1.0
    share = min(facts.useful_count / facts.use_count, 1.0)
    return settings.usefulness_floor + settings.usefulness_span * share


def needs_verification(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> bool:
    """Whether it was never verified, and is older than the settings allow."""
    return not facts.verified and _age_in_days(facts, now) > settings.verify_after_days


def _age_in_days(facts: WeightFacts, now: datetime) -> float:
    return max((now - facts.changed) / _DAY, 0.0) if facts.changed else 0.0
