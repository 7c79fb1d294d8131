"""How far the rules agree with labelled failure reports: a confusion matrix, and how often they are right by how sure they are.

`python -m benchmarks.attribution` takes the reports that may be learnt from.  Each part of them is judged with weights that were fitted to the
other parts alone, since what was fitted to says nothing.  `--final` looks once at the set that nobody who works on the rules has read, with the table
that is shipped, and shows numbers alone.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import NamedTuple

import orjson

from benchmarks.attribution_fit import PRACTICE, Example, fit, load, scored
from crucible.knowledge.classifying import attributed, classify
from crucible.knowledge.model import Attribution, Category, FailureReport
from crucible.knowledge.weights import shares

__all__ = ["AGREEMENT", "Labelled", "agreement", "left_out", "load_reports", "matrix", "sureness"]

AGREEMENT = 0.85
"""The bar: the share of reports whose label the rules say too."""

UNSEEN = Path(__file__).parent.parent / "tests" / "knowledge" / "reports" / "held_out_2.jsonl"
_BANDS = ((0.85, "0.85 and more"), (0.6, "0.60 to 0.84"), (0.0, "less: not sure"))


class Labelled(NamedTuple):
    """What a report is labelled as, and what the rules say of it."""

    label: Category
    said: Attribution


def load_reports(path: Path) -> list[Labelled]:
    """A file's reports, classified with the table that is shipped."""
    rows = [orjson.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [Labelled(Category(row["category"]), classify(FailureReport(**row["report"]))) for row in rows]


def left_out(examples: Sequence[Example]) -> dict[str, list[Labelled]]:
    """Each part's reports, classified with weights that were fitted to all other parts."""
    parts = dict.fromkeys(one.part for one in examples)
    return {part: _without(part, examples) for part in parts}


def _without(part: str, examples: Sequence[Example]) -> list[Labelled]:
    weights = fit([one for one in examples if one.part != part])
    return [_judged(one, weights) for one in examples if one.part == part]


def _judged(one: Example, weights: dict[str, list[float]]) -> Labelled:
    labels = list(Category)
    said = scored(weights, shares(sorted(one.features & weights.keys())))
    found = attributed(one.report, (), dict(zip(labels, said, strict=True)))
    return Labelled(labels[one.label], found)


def agreement(reports: Iterable[Labelled]) -> float:
    """The share that agrees with its label."""
    hits = [one.label is one.said.category for one in reports]
    return sum(hits) / len(hits)


def matrix(reports: Iterable[Labelled]) -> str:
    """A Markdown table: a label a line, what was said a column."""
    counts = Counter((one.label, one.said.category) for one in reports)
    lines = [f"| label | {' | '.join(Category)} |", f"|---|{'---:|' * len(Category)}"]
    lines += [
        f"| {label} | {' | '.join(str(counts[label, said] or '·') for said in Category)} |"
        for label in Category
    ]
    return "\n".join(lines)


def sureness(reports: Iterable[Labelled]) -> str:
    """A Markdown table: how many were right in each band of confidence."""
    right: Counter[str] = Counter()
    told: Counter[str] = Counter()
    for one in reports:
        band = next(name for least, name in _BANDS if one.said.confidence >= least)
        told[band] += 1
        right[band] += one.label is one.said.category
    lines = ["| confidence | reports | right |", "|---|---:|---:|"]
    return "\n".join([*lines, *(f"| {name} | {told[name]} | {right[name]} |" for _, name in _BANDS)])


def _told(name: str, reports: Sequence[Labelled]) -> str:
    share = f"{agreement(reports):.3f} agree (the bar: {AGREEMENT})"
    return f"## {name}: {len(reports)} reports, {share}\n\n{matrix(reports)}\n\n{sureness(reports)}\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--final", action="store_true", help="only the unseen set: once, when all is done")
    if parser.parse_args().final:
        print(_told(UNSEEN.stem, load_reports(UNSEEN)))
        return
    found = left_out([one for name in PRACTICE for one in load(name)])
    for part, reports in found.items():
        print(_told(f"{part}, fitted to the other parts", reports))
    print(_told("all of them", [one for reports in found.values() for one in reports]))


if __name__ == "__main__":
    main()
