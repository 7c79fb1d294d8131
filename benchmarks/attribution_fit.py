"""Fits how much each feature of a failure report speaks for each category to the labelled reports that may be learnt from.

`python -m benchmarks.attribution_fit` writes `crucible/knowledge/weights.tsv`.  It is a logistic regression over the features of
`crucible.knowledge.evidence`: plain gradients, drawn towards nothing, with two fifths of the features left out at random each time so that none
is relied on alone.  The same reports give the same table.
"""

from __future__ import annotations

import hashlib
import math
import random
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from crucible.knowledge.concepts import LISTS
from crucible.knowledge.evidence import SIGNS, evidence
from crucible.knowledge.model import Category, FailureReport
from crucible.knowledge.weights import TABLE, UNIT, shares

__all__ = ["PRACTICE", "Example", "fit", "fitted_to", "load", "scored"]

KNOWLEDGE = Path(__file__).parent.parent / "tests" / "knowledge"
PRACTICE: Mapping[str, Path] = {
    "open": KNOWLEDGE / "reports" / "open.jsonl",
    "held_out": KNOWLEDGE / "reports" / "held_out.jsonl",
    "own": KNOWLEDGE / "own_reports.jsonl",
    "made_up": KNOWLEDGE / "reports" / "made_up.jsonl",
}
"""What may be learnt from.  `held_out_2` never is."""

_LEAST = 4
"""Reports that have to have a feature."""
_ROUNDS = 40
_STEP = 0.3
_DRAWN = 0.003
_LEFT_OUT = 0.4

Weights = dict[str, list[float]]


class Example(NamedTuple):
    """A labelled report: its features, its label's place in `Category`, the part of its file that it belongs to."""

    features: frozenset[str]
    label: int
    part: str
    report: FailureReport


def load(name: str) -> list[Example]:
    """A practice file's reports."""
    rows = [orjson.loads(line) for line in PRACTICE[name].read_bytes().split(b"\n") if line]
    labels = list(Category)
    return [
        Example(
            frozenset(evidence(report := FailureReport(**row["report"]))[1]),
            labels.index(Category(row["category"])),
            f"{name} {row['batch']}" if "batch" in row else name,
            report,
        )
        for row in rows
    ]


def fit(examples: Sequence[Example]) -> Weights:
    """Weights by feature, in the order of `Category`."""
    counts = Counter(feature for one in examples for feature in one.features)
    kept = {feature for feature, count in counts.items() if count >= _LEAST}
    weights: Weights = {feature: [0.0] * len(Category) for feature in sorted(kept)}
    rows = [(shares(sorted(one.features & kept)), one.label) for one in examples]
    chance = random.Random(1)
    for turn in range(_ROUNDS):
        chance.shuffle(rows)
        step = _STEP / (1 + turn * 0.2)
        for counted, label in rows:
            some = [(one, share / (1 - _LEFT_OUT)) for one, share in counted if chance.random() > _LEFT_OUT]
            _learn(weights, some, label, step)
    return weights


def _learn(weights: Weights, counted: list[tuple[str, float]], label: int, step: float) -> None:
    """One step towards a report's label."""
    said = scored(weights, counted)
    most = max(said)
    chances = [math.exp(one - most) for one in said]
    whole = sum(chances)
    missed = [step * ((place == label) - one / whole) for place, one in enumerate(chances)]
    for feature, share in counted:
        row = weights[feature]
        for place, miss in enumerate(missed):
            row[place] += miss * share - step * _DRAWN * row[place]


def scored(weights: Mapping[str, Sequence[float]], counted: list[tuple[str, float]]) -> list[float]:
    """What counted features say, in the order of `Category`."""
    rows = [(weights[feature], share) for feature, share in counted]
    return [sum(row[place] * share for row, share in rows) for place in range(len(Category))]


def fitted_to() -> str:
    """A digest of what the table depends on: the reports, the signs, the words; another one means that it has to be fitted anew."""
    seen = hashlib.sha256()
    for path in PRACTICE.values():
        seen.update(path.read_bytes())
    for sign in SIGNS:
        seen.update(f"{sign.view} {sign.pattern.pattern} {sorted(sign.weights.items())}\n".encode())
    seen.update(repr(sorted(LISTS.items())).encode())
    return seen.hexdigest()[:16]


def main() -> None:
    weights = fit([one for name in PRACTICE for one in load(name)])
    whole = {feature: [round(one / UNIT) for one in row] for feature, row in sorted(weights.items())}
    lines = ["\t".join([feature, *map(str, row)]) + "\n" for feature, row in whole.items() if any(row)]
    TABLE.write_text(f"# fitted to {fitted_to()}\n{''.join(lines)}", "utf-8")
    print(f"{len(lines)} features in {TABLE.name}")


if __name__ == "__main__":
    main()
