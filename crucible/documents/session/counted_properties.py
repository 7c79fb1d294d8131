"""The properties `usage` and `redacted`: counts as lines of text, and adding to them.

    2026-11-21 claude-opus-4-8: input 12, output 340, cache_write 5800, cache_write_1h 1200, cache_read 90211
    jwt: 2

The kinds of tokens do not overlap, so the cost can be computed later; a count of 0 is omitted.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

from crucible.core.patterns import late_pattern

KINDS = ("input", "output", "cache_write", "cache_write_1h", "cache_read")
"""Sent without caching, generated, written to the cache for minutes, for an hour, read from the cache."""
_UNKNOWN_DAY, _UNKNOWN_MODEL = "?", "unknown"
_PART = rf"(?:{'|'.join(KINDS)}) \d{{1,15}}"
_LINE = late_pattern(rf"(\d{{4}}-\d\d-\d\d|\?) (.+): ({_PART}(?:, {_PART})*)")


class Spent(NamedTuple):
    """Tokens of one model on one day (`2026-11-21`, UTC); either is "" if unknown.  Counts may be negative in a difference."""

    day: str
    model: str
    tokens: Mapping[str, int]


def spent_lines(spent: Iterable[Spent]) -> tuple[str, ...]:
    """A line for each day and model, sorted."""
    return tuple(
        f"{day or _UNKNOWN_DAY} {model or _UNKNOWN_MODEL}: {told}"
        for (day, model), tokens in sorted(_totals(spent).items())
        if (told := ", ".join(f"{kind} {tokens[kind]}" for kind in KINDS if tokens[kind] > 0))
    )


def spent_in(lines: Iterable[str]) -> list[Spent]:
    """Parse the lines; skip those that do not match."""
    found = (_LINE.fullmatch(line) for line in lines)
    return [
        Spent(_known(each[1], _UNKNOWN_DAY), _known(each[2], _UNKNOWN_MODEL), _parts(each[3])) for each in found if each
    ]


def spent_more(lines: Sequence[str], before: Sequence[str], after: Sequence[str]) -> list[str]:
    """Add to `lines` the difference between `after` and `before`; lines that cannot be parsed stay, at the top."""
    others = [line for line in lines if not spent_in((line,))]
    less = (
        Spent(day, model, {kind: -count for kind, count in tokens.items()}) for day, model, tokens in spent_in(before)
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


_REDACTED = late_pattern(r"\s*\d{1,15}\s*")


def redacted_lines(counts: Mapping[str, int]) -> tuple[str, ...]:
    """A text for each rule that took something out, in the order of their names."""
    return tuple(f"{rule}: {count}" for rule, count in sorted(counts.items()) if count > 0)


def counted_by_rule(lines: Iterable[str]) -> dict[str, int]:
    """The counts of all texts that tell one."""
    pairs = (line.rpartition(":") for line in lines)
    # Python refuses thousands of digits; a text with that many counts nothing.
    return {rule: int(count) for rule, _, count in pairs if rule and _REDACTED.fullmatch(count)}


def redacted_more(lines: Sequence[str], more: Mapping[str, int]) -> list[str]:
    """The texts with `more` (or, where negative, fewer) by rule; a human's text that counts nothing stays, in front."""
    there = counted_by_rule(lines)
    others = [line for line in lines if not counted_by_rule((line,))]
    totals = {rule: there.get(rule, 0) + more.get(rule, 0) for rule in {**there, **more}}
    return [*others, *redacted_lines(totals)]
