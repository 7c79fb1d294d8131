"""Which words must stand in whatever a regular expression finds: what `crucible.capture.gates` is checked with, and made with.

python -m tests.capture.gating
"""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterable, Iterator, Sequence
from re import _parser  # type: ignore[attr-defined]  # the only one who knows what a pattern is made of
from typing import Any

from crucible.capture.marks import Mark

__all__ = ["MODULES", "gate_of", "is_gate", "marks_of"]

MODULES = ("deciding_words", "correcting_words", "pattern_words", "proved", "never", "unsettled", "causes")
_LONG = 150
"""Shorter patterns are tried as fast as their words are sought."""
_COMMON = frozenset("the for way not was are ich que had has his its but one all any and out ake ook let use get now tip say see".split())  # fmt: skip  # noqa: SIM905


def marks_of(module: str) -> Iterator[Mark]:
    """Every mark of a module of `crucible.capture`."""
    values = vars(importlib.import_module(f"crucible.capture.{module}")).values()
    yield from {id(each): each for each in values if isinstance(each, Mark)}.values()


def gate_of(pattern: str) -> tuple[str, ...]:
    """Words one of which stands in whatever the pattern finds; none where there are no such."""
    found: set[str] = set()
    for branch in _branches(pattern):
        best = max(_choices(branch), key=_quality, default=None)
        if best is None:
            return ()
        found |= best
    return tuple(
        sorted(word for word in found if not any(other != word and other in word for other in found))
    )


def is_gate(words: Sequence[str], pattern: str) -> bool:
    """Whether one of the words stands in whatever the pattern finds."""
    return all(
        any(all(_holds(one, words) for one in choice) for choice in _choices(branch))
        for branch in _branches(pattern)
    )


def _holds(text: str, words: Iterable[str]) -> bool:
    return any(word in text for word in words)


def _branches(pattern: str) -> list[list[Any]]:
    parsed = list(_parser.parse(pattern))
    if len(parsed) == 1 and str(parsed[0][0]) == "BRANCH":
        return [list(each) for each in parsed[0][1][1]]
    return [parsed]


def _choices(sequence: Iterable[Any]) -> list[set[str]]:
    """Sets of texts, of each of which one stands in what the sequence finds."""
    found: list[set[str]] = []
    run = ""
    for op, value in sequence:
        kind = str(op)
        if kind == "LITERAL" or (kind == "IN" and len(value) == 1 and str(value[0][0]) == "LITERAL"):
            run += chr(value if kind == "LITERAL" else value[0][1])
            continue
        found += [{run}] if run else []
        run = ""
        found += _inner(kind, value)
    return [*found, {run}] if run else found


def _inner(kind: str, value: Any) -> list[set[str]]:
    if kind == "SUBPATTERN":
        return _choices(value[3])
    if kind == "BRANCH":
        best = [max(_choices(each), key=_quality, default=None) for each in value[1]]
        return [set().union(*(each for each in best if each))] if all(best) else []
    if kind in ("MAX_REPEAT", "MIN_REPEAT") and value[0] >= 1:
        return _choices(value[2])
    return []


def _quality(words: set[str]) -> tuple[int, int, int]:
    least = min(len(word.strip()) if word.isascii() else 3 * len(word) for word in words)
    common = sum(word.strip() in _COMMON for word in words)
    return min(4, least), -common, -len(words)


def main() -> None:
    """Write the table of `crucible.capture.gates` to stdout."""
    for module in MODULES:
        for each in marks_of(module):
            rows = ["|".join(gate_of(turn)) if len(turn) >= _LONG else "" for turn in each.turns]
            lines = [f'    "{each.name} {len(rows)}": (', *(f'        "{row}",' for row in rows), "    ),"]
            sys.stdout.write("\n".join(lines) + "\n")


if __name__ == "__main__":
    main()
