"""The property `usage`: the tokens of a session by day and model, a text each, enough to know later what it cost.

    2026-11-21 claude-opus-4-8: input 12, output 340, cache_write 5800, cache_write_1h 1200, cache_read 90211

Owns how these texts are written, read and added to.  The kinds do not overlap, and one that is 0 is left out.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from crucible.patterns import late_pattern

__all__ = ["KINDS", "Spent", "spent_in", "spent_lines", "spent_more"]

KINDS = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
"""Sent afresh and not kept, said, written to the cache for minutes and for an hour, read from it."""
_UNKNOWN_DAY, _UNKNOWN_MODEL = "?", "unknown"
_PART = rf"(?:{'|'.join(KINDS)}) \d{{1,15}}"
_LINE = late_pattern(rf"(\d{{4}}-\d\d-\d\d|\?) (.+): ({_PART}(?:, {_PART})*)")


class Spent(NamedTuple):
    """Tokens of one model on one day (`2026-11-21`, UTC); each "" where nobody knows.  A difference may be negative."""

    day: str
    model: str
    tokens: Mapping[str, int]


def spent_lines(spent: Iterable[Spent]) -> tuple[str, ...]:
    """A text for each day and model, in their order."""
    return tuple(
        f"{day or _UNKNOWN_DAY} {model or _UNKNOWN_MODEL}: {told}"
        for (day, model), tokens in sorted(_totals(spent).items())
        if (told := ", ".join(f"{kind} {tokens[kind]}" for kind in KINDS if tokens[kind] > 0))
    )


def spent_in(lines: Iterable[str]) -> list[Spent]:
    """What the texts tell; one that tells nothing is left out."""
    found = (_LINE.fullmatch(line) for line in lines)
    return [
        Spent(_known(each[1], _UNKNOWN_DAY), _known(each[2], _UNKNOWN_MODEL), _parts(each[3]))
        for each in found
        if each
    ]


def spent_more(lines: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """The texts with what `after` has beyond `before`; a human's text that tells nothing stays, in front."""
    others = [line for line in lines if not spent_in((line,))]
    less = (
        Spent(day, model, {kind: -count for kind, count in tokens.items()})
        for day, model, tokens in spent_in(before)
    )
    return [*others, *spent_lines([*spent_in(lines), *spent_in(after), *less])]


def _known(text: str, unknown: str) -> str:
    return "" if text == unknown else text


def _parts(text: str) -> dict[str, int]:
    pairs = (part.split(" ") for part in text.split(", "))
    return {kind: int(count) for kind, count in pairs}


def _totals(spent: Iterable[Spent]) -> dict[tuple[str, str], dict[str, int]]:
    totals: defaultdict[tuple[str, str], dict[str, int]] = defaultdict(lambda: dict.fromkeys(KINDS, 0))
    for day, model, tokens in spent:
        for kind, count in tokens.items():
            totals[day, model][kind] += count
    return totals
