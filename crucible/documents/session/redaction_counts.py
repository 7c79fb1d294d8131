"""The property `redacted`: how many secrets were taken out of a session by each rule, a text each (`jwt: 2`).

Owns how these texts are written, read and added to.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from crucible.core.patterns import late_pattern

_COUNT = late_pattern(r"\s*\d{1,15}\s*")


def redacted_lines(counts: Mapping[str, int]) -> tuple[str, ...]:
    """A text for each rule that took something out, in the order of their names."""
    return tuple(f"{rule}: {count}" for rule, count in sorted(counts.items()) if count > 0)


def counted_by_rule(lines: Iterable[str]) -> dict[str, int]:
    """The counts of all texts that tell one."""
    pairs = (line.rpartition(":") for line in lines)
    # Python refuses thousands of digits; a text with that many counts nothing.
    return {rule: int(count) for rule, _, count in pairs if rule and _COUNT.fullmatch(count)}


def redacted_more(lines: Sequence[str], more: Mapping[str, int]) -> list[str]:
    """The texts with `more` (or, where negative, fewer) by rule; a human's text that counts nothing stays, in front."""
    there = counted_by_rule(lines)
    others = [line for line in lines if not counted_by_rule((line,))]
    totals = {rule: there.get(rule, 0) + more.get(rule, 0) for rule in {**there, **more}}
    return [*others, *redacted_lines(totals)]
