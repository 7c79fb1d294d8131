"""Rules for knowledge items: visibility, weight in search, similarity, and limits.

The weight formulas take plain values, so that an index can rank items without reading their notes.
"""

from __future__ import annotations

import math
import unicodedata
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from typing import TYPE_CHECKING, TypeAlias

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.settings.settings import KnowledgeSettings
from crucible.core.text import overlap, stop_words

if TYPE_CHECKING:  # recall weighs items without reading them
    from crucible.documents.knowledge.items import Item

_DAY = timedelta(days=1)


class Audience(NamedTuple):
    """The audience of an item or a viewer: an `ItemScope`, and the names of the project and domain.

    A viewer with the scope "" sees everything.  A project without a `domain` sees the knowledge of every domain.
    """

    scope: str = ""
    project: str = ""
    domain: str = ""

    @classmethod
    def of(cls, item: Item) -> Audience:
        """The audience of an item."""
        return cls(item.scope.value, item.project, item.domain)

    @property
    def name(self) -> str:
        """The name of the project or domain; "" for the scope `global`."""
        return {"project": self.project, "domain": self.domain}.get(self.scope, "")


EVERYTHING = Audience()


def sees(viewer: Audience, item: Audience) -> bool:
    """True if the viewer sees items of this audience.  Names are case-insensitive."""
    if not viewer.scope or item.scope == "global":
        return True
    if item.scope == "domain":
        every = viewer.scope == "project" and not viewer.domain
        return viewer.scope != "global" and (every or _same(item.domain, viewer.domain))
    return viewer.scope == "project" and _same(item.project, viewer.project)


def same_place(one: Audience, other: Audience) -> bool:
    """True if items of both audiences count towards the same limit."""
    return one.scope == other.scope and _same(one.name, other.name)


def _same(one: str, other: str) -> bool:
    return one.casefold() == other.casefold()


# --- weight ----------------------------------------------------------------------------------------------------------


class WeightFacts(NamedTuple):
    """The facts that determine an item's weight.  Times are aware; `changed` defaults to the creation time."""

    type: str
    verified: bool = False
    use_count: int = 0
    useful_count: int = 0
    last_used: datetime | None = None
    changed: datetime | None = None

    @classmethod
    def of(cls, item: Item) -> WeightFacts:
        """The weight facts of an item."""
        return cls(
            item.type.value,
            item.verification.passed,
            item.use_count,
            item.useful_count,
            item.last_used,
            item.updated or item.created,
        )


class ItemWeight(NamedTuple):
    """The factors by which the score of an item's text is multiplied."""

    type: float
    freshness: float
    usefulness: float

    @property
    def total(self) -> float:
        """The product of the factors."""
        return self.type * self.freshness * self.usefulness

    @property
    def parts(self) -> Mapping[str, float]:
        """The factors by name, for display."""
        return self._asdict()


def weigh(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> ItemWeight:
    """Compute the weight of an item at the aware time `now`."""
    return ItemWeight(type_weight(facts, settings), freshness(facts, now, settings), usefulness(facts, settings))


def type_weight(facts: WeightFacts, settings: KnowledgeSettings) -> float:
    """The factor of the type, with a bonus for a verified item."""
    # Settings are named after the types.  Types from newer versions get the lowest weight.
    weight: float = getattr(settings, facts.type, settings.observation)
    return weight + (settings.verified_bonus if facts.verified else 0.0)


def freshness(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> float:
    """Return a factor of at most 1 that halves with each half-life since the last change, down to a floor.

    Recent use raises it.  An item without a date counts as new; `check` reports it.
    """
    halved = math.pow(0.5, _age_in_days(facts, now) / settings.half_life_days)
    fresh = max(halved, settings.freshness_floor)
    if facts.use_count and facts.last_used and (now - facts.last_used) / _DAY < settings.recent_days:
        fresh *= settings.recent_boost
    return min(fresh, 1.0)


def usefulness(facts: WeightFacts, settings: KnowledgeSettings) -> float:
    """1 for an unused item, else `usefulness_floor` (never helped) plus up to `usefulness_span` (always helped)."""
    if not facts.use_count:
        return 1.0
    share = min(facts.useful_count / facts.use_count, 1.0)
    return settings.usefulness_floor + settings.usefulness_span * share


def needs_verification(facts: WeightFacts, now: datetime, settings: KnowledgeSettings) -> bool:
    """True if an item was never verified and is older than the settings allow."""
    return not facts.verified and _age_in_days(facts, now) > settings.verify_after_days


def _age_in_days(facts: WeightFacts, now: datetime) -> float:
    return max((now - facts.changed) / _DAY, 0.0) if facts.changed else 0.0


_AROUND = ".,;:!?\"'`’‘“”„«»()[]{}<>*_~…–—|"
# Scripts without spaces between words: each character counts as a word.
_SIGNS = late_pattern("([\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff])")
_FEWEST = 4
"""Minimum words of the shorter text to compare against it; with fewer words, compare against the longer text."""
_LONGEST = 8
"""Maximum ratio of lengths to measure overlap against the shorter text, since a very long text contains every word."""
_NAMED = 3


Similar: TypeAlias = "Callable[[str, int], Sequence[tuple[str, float]]]"
"""A search for items similar to a text: ids with a likeness from 0 to 1, best first.  Must not raise."""


class SimilarItem(NamedTuple):
    """An item with nearly the same content.  `exact` is true if the titles match; `why` explains the similarity."""

    id: str
    title: str
    likeness: float
    exact: bool
    retired: bool
    why: str


class Room(NamedTuple):
    """The number of items in a scope, and its limit."""

    where: str
    held: int
    limit: int
    warn_at: float

    @property
    def full(self) -> bool:
        """True if the limit is reached."""
        return self.held >= self.limit

    @property
    def nearly_full(self) -> bool:
        """True if the share of the limit that triggers a warning is reached."""
        return self.held >= self.limit * self.warn_at

    def __str__(self) -> str:
        """Return for example `480 of 500 items of the project shop`."""
        return f"{self.held:,} of {self.limit:,} items {self.where}"


# --- similar items ---------------------------------------------------------------------------------------------------


def normal_title(title: str) -> str:
    """Normalize a title for comparison: casefold it, and drop stop words and the punctuation around words."""
    return " ".join(_words(title)) or " ".join(title.casefold().split())


def words_of(text: str) -> frozenset[str]:
    """The words of a text without stop words.  Each Chinese, Japanese or Korean character counts as a word."""
    return frozenset(_words(text))


def _words(text: str) -> list[str]:
    spaced = _SIGNS.sub(r" \1 ", unicodedata.normalize("NFKC", text).casefold())
    words = (word.strip(_AROUND) for word in spaced.split())
    return [word for word in words if word and word not in stop_words("titles_of_items")]


def likeness(one: frozenset[str], other: frozenset[str]) -> float:
    """The share of the shorter text's words in both; of the longer one's if lengths differ too much or one is too short."""
    few, many = sorted((len(one), len(other)))
    return overlap(one, other, "larger" if few < _FEWEST or many > few * _LONGEST else "smaller")


def similar_items(
    item: Item, known: Mapping[str, Item], settings: KnowledgeSettings, similar: Similar | None = None
) -> list[SimilarItem]:
    """Find items with the same content that are visible to the audience of `item`, most similar first.

    `known` has items by id.  Retired items are included only if their title matches.
    """
    place = Audience.of(item)
    near = {id_: other for id_, other in known.items() if sees(place, Audience.of(other))}
    own = _words_in(item.title, item.text)
    found = [one for id_, other in near.items() if (one := _alike(id_, other, own, settings))]
    found_ids = {one.id for one in found}
    for id_, likeness in similar(f"{item.title}\n{item.text}", 10) if similar else ():
        other = near.get(id_)
        if other and other.active and id_ not in found_ids and likeness >= settings.alike_text:
            found.append(SimilarItem(id_, other.title, likeness, False, False, f"{likeness:.0%} alike by its text"))
    return sorted(found, key=lambda one: (one.retired, not one.exact, -one.likeness, one.id))


class _ItemWords(NamedTuple):
    """An item's normalized title, and the words of its title, and of its title and text."""

    title: str
    titled: frozenset[str]
    all: frozenset[str]


@lru_cache(2048)  # a capture compares each of its candidates with the same items
def _words_in(title: str, text: str) -> _ItemWords:
    return _ItemWords(normal_title(title), words_of(title), words_of(f"{title} {text}"))


def _alike(id_: str, other: Item, own: _ItemWords, settings: KnowledgeSettings) -> SimilarItem | None:
    words = _words_in(other.title, other.text)
    if words.title == own.title:
        return SimilarItem(id_, other.title, 1.0, True, not other.active, "the same title")
    if not other.active:
        return None
    alike = max(likeness(own.titled, words.titled), likeness(own.all, words.all))
    if alike < settings.alike_words:
        return None
    return SimilarItem(id_, other.title, alike, False, False, f"{alike:.0%} of its words")


# --- room ------------------------------------------------------------------------------------------------------------


def room_for(item: Item, known: Iterable[Item], settings: KnowledgeSettings) -> Room:
    """Count the items in the scope of `item`.  Retired items do not count."""
    place = Audience.of(item)
    held = sum(other.active and same_place(place, Audience.of(other)) for other in known)
    where = "of scope global" if place.scope == "global" else f"of the {place.scope} {place.name}".rstrip()
    return Room(where, held, getattr(settings, f"{place.scope}_limit"), settings.warn_at)


def lightest_items(
    item: Item, known: Mapping[str, Item], now: datetime, settings: KnowledgeSettings, number: int = _NAMED
) -> list[tuple[str, float]]:
    """The ids and weights of the items with the lowest weight in the scope of `item`."""
    place = Audience.of(item)
    weights = [
        (weigh(WeightFacts.of(other), now, settings).total, id_)
        for id_, other in known.items()
        if other.active and same_place(place, Audience.of(other))
    ]
    return [(id_, weight) for weight, id_ in sorted(weights)[:number]]
