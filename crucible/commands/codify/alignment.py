"""Which steps of two sessions are the same step, and the best way to pair two sequences of them.

Steps are alike by what was done to what, by what was done to whatever, and by their names, in this order.  Two steps of one name are
the same unless others fit better.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TypeVar

from crucible.analysis.tools.tool_acts import Act, Deed
from crucible.commands.codify.draft_steps import DraftStep
from crucible.documents.workflow.workflow import key_of

__all__ = ["Traits", "best_pairs", "traits_of"]

_LEAST = 0.35
_SAME_NAME = 0.4
_CHANGE, _LOOK = "change", "look"
_KINDS = {
    Deed.WRITE: _CHANGE,
    Deed.EDIT: _CHANGE,
    Deed.DELETE: _CHANGE,
    Deed.READ: _LOOK,
    Deed.SEARCH: _LOOK,
    Deed.FETCH: _LOOK,
    Deed.PLAN: "",
}
"""Deeds that come to the same; those that are not here are their own kind, and bookkeeping is none."""

_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Traits:
    """What a step and all below it do, and what it is called."""

    key: str
    words: frozenset[str]
    done: frozenset[tuple[str, str]]
    kinds: frozenset[str]


def traits_of(step: DraftStep) -> Traits:
    """What a step is compared by.  What was only looked at counts where nothing else was done."""
    done = frozenset(trait for one in step.walk() for act in one.acts for trait in _done(act))
    worked = frozenset(trait for trait in done if trait[0] != _LOOK)
    words = frozenset(filter(None, map(key_of, step.name.split())))
    return Traits(key_of(step.name), words, worked or done, frozenset(kind for kind, _ in done))


def _done(act: Act) -> Iterator[tuple[str, str]]:
    """An act's kind with each thing that it was done to."""
    kind = _KINDS.get(act.deed, act.deed.value)
    if kind:
        # What a check writes has the name of every other check's.
        data = act.writes if kind == _CHANGE else act.reads
        yield from ((kind, target.casefold()) for target in [one.name for one in data] or [act.what])


def best_pairs(left: Sequence[Sequence[Traits]], right: Sequence[Traits]) -> list[tuple[int, int]]:
    """The pairs of positions that together are most alike, no two crossing, in order; `left` has a step of several sessions at each."""
    best = [[0.0] * (len(right) + 1)]
    for several in left:
        above, row = best[-1], [0.0]
        for at, one in enumerate(right):
            paired = above[at] + max(_alike(other, one) for other in several)
            row.append(max(paired, above[at + 1], row[at]))
        best.append(row)
    pairs: list[tuple[int, int]] = []
    at, other = len(left), len(right)
    while at and other:
        if best[at][other] == best[at - 1][other]:
            at -= 1
        elif best[at][other] == best[at][other - 1]:
            other -= 1
        else:
            at, other = at - 1, other - 1
            pairs.append((at, other))
    return pairs[::-1]


def _alike(one: Traits, other: Traits) -> float:
    """From 0 to 1; 0 for what is not to be paired."""
    same_name = one.key == other.key
    names = 1.0 if same_name else _shared(one.words, other.words)
    if not one.done and not other.done:
        return names if names >= 0.5 else 0.0
    done = 0.7 * _shared(one.done, other.done) + 0.3 * _shared(one.kinds, other.kinds)
    found = max(0.75 * done + 0.25 * names, _SAME_NAME if same_name else 0.0)
    return found if found >= _LEAST else 0.0


def _shared(one: frozenset[_T], other: frozenset[_T]) -> float:
    """Which part of what either has both have."""
    both = len(one & other)
    return both / (len(one) + len(other) - both) if both else 0.0
