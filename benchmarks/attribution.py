"""How far the rules agree with labelled failure reports: a confusion matrix, and how often they are right by how sure they are.

`python -m benchmarks.attribution` takes the open half; `--held-out` adds the half that nobody who works on the rules has read, in numbers alone.
"""

from __future__ import annotations

import argparse
from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

import orjson

from crucible.knowledge.classifying import classify
from crucible.knowledge.model import Attribution, Category, FailureReport

__all__ = ["AGREEMENT", "Labelled", "agreement", "load_reports", "matrix", "sureness"]

AGREEMENT = 0.85
"""The bar: the share of reports whose label the rules say too."""

REPORTS = Path(__file__).parent.parent / "tests" / "knowledge" / "reports"
_BANDS = ((0.85, "0.85 and more"), (0.6, "0.60 to 0.84"), (0.0, "less: not sure"))


class Labelled(NamedTuple):
    """What a report is labelled as, and what the rules say of it."""

    label: Category
    said: Attribution


def load_reports(path: Path) -> list[Labelled]:
    """A file's reports, classified."""
    rows = [orjson.loads(line) for line in path.read_bytes().split(b"\n") if line]
    return [Labelled(Category(row["category"]), classify(FailureReport(**row["report"]))) for row in rows]


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


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--held-out", action="store_true", help="the unseen half too: once, when the rules are done"
    )
    halves = ["open", *(["held_out"] if parser.parse_args().held_out else [])]
    for half in halves:
        reports = load_reports(REPORTS / f"{half}.jsonl")
        share = f"{agreement(reports):.3f} agree (the bar: {AGREEMENT})"
        print(f"## {half}: {len(reports)} reports, {share}\n\n{matrix(reports)}\n\n{sureness(reports)}\n")


if __name__ == "__main__":
    main()
