"""How much each feature of a report speaks for each category.

Owns reading the table `weights.tsv` beside it and the sum.  The table is fitted by `python -m benchmarks.attribution_fit` to the labelled reports of
`tests/knowledge` and is not changed by hand; a feature that few reports have is not in it.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path

from crucible.knowledge.model import Category

__all__ = ["TABLE", "UNIT", "scores", "shares"]

TABLE = Path(__file__).parent / "weights.tsv"
"""A line each: the feature, a tab, what it speaks for each category, in the order of `Category`, in units of `UNIT`.  A line that
begins with # is a remark."""

UNIT = 0.05

_KINDS: Mapping[str, float] = {"word": 0.5, "about": 1.0}
"""What the features of a kind weigh together, by the word that their names begin with; all others are one kind."""
_OTHERS = 0.5


def shares(features: Iterable[str]) -> list[tuple[str, float]]:
    """Known features with how much each counts: the more of its kind there are, the less."""
    known = [(one, one.partition(" ")[0]) for one in features]
    kinds = [kind if kind in _KINDS else "" for _, kind in known]
    many = Counter(kinds)
    return [
        (one, _KINDS.get(kind, _OTHERS) / math.sqrt(many[kind]))
        for (one, _), kind in zip(known, kinds, strict=True)
    ]


def scores(features: Iterable[str]) -> dict[Category, float]:
    """What all features together say for each category, as logarithms of chances."""
    table = _table()
    counted = shares(sorted(one for one in features if one in table))
    return {
        one: sum(share * table[feature][place] for feature, share in counted)
        for place, one in enumerate(Category)
    }


@cache
def _table() -> Mapping[str, tuple[float, ...]]:
    rows = (line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#"))
    return {name: tuple(UNIT * int(one) for one in numbers) for name, *numbers in rows}
