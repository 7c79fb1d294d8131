"""Which steps of two sessions are the same step: how alike they are, and the best way to pair two sequences of them.

Owns the weights.  Steps are alike by what was done to what; by what was done, to whatever; and by their names, in this order.
Two steps of one name are taken for one unless others fit better.

Pairing is the heaviest chain of pairs that cross nowhere.  Only a bounded number of partners is looked at for each step (those that
share the most with it, near the same part of the session), so n steps take n log n.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice
from typing import Generic, NamedTuple, TypeAlias, TypeVar

from crucible.acts.model import Act, Deed
from crucible.codify.model import DraftStep
from crucible.workflow.model import key_of

__all__ = ["Likeness", "best_pairs"]

_Trait: TypeAlias = tuple[str, str]

_LEAST = 0.35
_SAME_NAME = 0.4
_NEAREST = 8
"""Partners that are looked at for each trait, and for each step."""
_MOST_TRAITS = 20
_MOST_MARKS = 8
_KINDS = {
    Deed.WRITE: "change",
    Deed.EDIT: "change",
    Deed.DELETE: "change",
    Deed.READ: "look",
    Deed.SEARCH: "look",
    Deed.FETCH: "look",
    Deed.PLAN: "",
}
"""Deeds that come to the same; those that are not here are their own kind, and bookkeeping is none."""
_WEIGHTS = {"change": 3.0, "look": 1.0, "other": 1.0}
_USUAL = 2.0


_T = TypeVar("_T", bound=Hashable)


class _Weighed(Generic[_T]):
    """Things with their weights, summed over `count` steps."""

    __slots__ = ("count", "total", "weights")

    def __init__(self, weights: dict[_T, float]) -> None:
        self.weights = weights
        self.total = sum(weights.values())
        self.count = 1

    def add(self, other: _Weighed[_T]) -> None:
        for thing, weight in other.weights.items():
            self.weights[thing] = self.weights.get(thing, 0.0) + weight
        self.total += other.total
        self.count += other.count


@dataclass(frozen=True, slots=True)
class Likeness:
    """What one step, or several that have been taken for one, does and is called."""

    traits: _Weighed[_Trait]
    kinds: _Weighed[str]
    words: _Weighed[str]
    keys: dict[str, None]

    @classmethod
    def of(cls, step: DraftStep) -> Likeness:
        """What a step and all below it do."""
        traits = list(
            dict.fromkeys(trait for one in step.walk() for act in one.acts for trait in _traits(act))
        )
        traits.sort(key=lambda trait: -_weight(trait[0]))
        words = dict.fromkeys(filter(None, map(key_of, step.name.split()[:_MOST_TRAITS])), 1.0)
        return cls(
            _Weighed({trait: _weight(trait[0]) for trait in traits[:_MOST_TRAITS]}),
            _Weighed(dict.fromkeys((kind for kind, _ in traits), 1.0)),
            _Weighed(words),
            {key_of(step.name): None},
        )

    def add(self, other: Likeness) -> None:
        """Take another step for the same."""
        self.traits.add(other.traits)
        self.kinds.add(other.kinds)
        self.words.add(other.words)
        self.keys.update(other.keys)

    def marks(self) -> Iterator[_Trait]:
        """By what a partner is found: its names, what it did most, a few of its words."""
        yield from (("", key) for key in self.keys)
        yield from islice(self.traits.weights, _MOST_MARKS)
        yield from (("word", word) for word in islice(self.words.weights, _MOST_MARKS))


def _traits(act: Act) -> Iterator[_Trait]:
    """An act's kind with each thing that it was done to."""
    kind = _KINDS.get(act.deed, act.deed.value)
    if not kind:
        return
    data = (
        act.writes if kind == "change" else act.reads
    )  # what a check writes has the name of every other check's
    for target in [datum.name for datum in data] or [act.what[:80]]:
        yield kind, target.casefold()


def _weight(kind: str) -> float:
    return _WEIGHTS.get(kind, _USUAL)


def _alike(one: Likeness, other: Likeness) -> float:
    """From 0 to 1; 0 for what is not to be paired."""
    same_name = not one.keys.keys().isdisjoint(other.keys)
    names = 1.0 if same_name else _shared(one.words, other.words)
    if not one.traits.weights and not other.traits.weights:
        return names if names >= 0.5 else 0.0
    done = 0.7 * _shared(one.traits, other.traits) + 0.3 * _shared(one.kinds, other.kinds)
    found = 0.75 * done + 0.25 * names
    found = max(found, _SAME_NAME) if same_name else found
    return found if found >= _LEAST else 0.0


def _shared(one: _Weighed[_T], other: _Weighed[_T]) -> float:
    """Which part of what either has both have, each thing as often as it was there."""
    few, many = (one, other) if len(one.weights) <= len(other.weights) else (other, one)
    both = 0.0
    for thing, weight in few.weights.items():
        there = many.weights.get(thing)
        if there is not None:
            both += min(weight / few.count, there / many.count)
    whole = few.total / few.count + many.total / many.count - both
    return both / whole if whole > 0 else 0.0


# --- pairing ---------------------------------------------------------------------------------------------------------


def best_pairs(left: Sequence[Likeness], right: Sequence[Likeness]) -> list[tuple[int, int]]:
    """The pairs of positions that together are most alike, no two crossing, in order."""
    places: dict[_Trait, list[int]] = {}
    for at, one in enumerate(left):
        for mark in one.marks():
            places.setdefault(mark, []).append(at)
    chain = _Chain(len(left))
    for at, one in enumerate(right):
        near = at * len(left) // len(right)
        partners = [(other, _alike(left[other], one)) for other in _partners(one, places, near)]
        chain.add(at, [(other, found) for other, found in partners if found])
    return chain.pairs()


def _partners(one: Likeness, places: Mapping[_Trait, Sequence[int]], near: int) -> list[int]:
    """Those that share most with a step, of each trait the nearest ones; from the last to the first."""
    shared: dict[int, float] = {}
    for mark in one.marks():
        found = places.get(mark, ())
        middle = bisect_left(found, near)
        for at in found[max(middle - _NEAREST // 2, 0) : middle + _NEAREST // 2]:
            shared[at] = shared.get(at, 0.0) + _weight(mark[0])
    best = sorted(shared, key=lambda at: (-shared[at], abs(at - near), at))
    return sorted(best[:_NEAREST], reverse=True)


class _Link(NamedTuple):
    left: int
    right: int
    weight: float
    before: _Link | None


class _Chain:
    """The heaviest chain of pairs that ends at each position so far, kept so that the best of all up to one is found at once."""

    def __init__(self, size: int) -> None:
        self._best: list[_Link | None] = [None] * (size + 1)

    def add(self, right: int, partners: Iterable[tuple[int, float]]) -> None:
        """Offer the partners of the next step, the last one first, so that none is put behind another of the same step."""
        for left, weight in partners:
            before = self._up_to(left)
            link = _Link(left, right, weight + (before.weight if before else 0.0), before)
            at = left + 1
            while at < len(self._best):
                known = self._best[at]
                if known is None or known.weight < link.weight:
                    self._best[at] = link
                at += at & -at

    def _up_to(self, size: int) -> _Link | None:
        """The heaviest that uses only positions below `size`."""
        best: _Link | None = None
        while size:
            found = self._best[size]
            if found and (best is None or found.weight > best.weight):
                best = found
            size -= size & -size
        return best

    def pairs(self) -> list[tuple[int, int]]:
        """The heaviest chain of all."""
        found: list[tuple[int, int]] = []
        link = self._up_to(len(self._best) - 1)
        while link:
            found.append((link.left, link.right))
            link = link.before
        return found[::-1]
