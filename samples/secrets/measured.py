"""How well secrets are found, as figures: what of each half is caught, and what ordinary lines are touched.

Owns the counting.  Nothing here tells a text.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable
from typing import NamedTuple

from samples.secrets.building import Case, is_caught, worst_kinds

Redact = Callable[[str], str]
"""A text in, the text without its secrets out."""


class Measured(NamedTuple):
    """Counts of one half; `worst` are lines of `kind: missed of tried`."""

    caught: int
    cases: int
    touched: int
    lines: int
    worst: tuple[str, ...]

    @property
    def caught_share(self) -> float:
        """Per cent."""
        return 100 * self.caught / self.cases

    @property
    def touched_share(self) -> float:
        """Per cent."""
        return 100 * self.touched / self.lines


def measured(redact: Redact, cases: Iterable[Case], lines: Iterable[str]) -> Measured:
    """Each case and each line by itself."""
    tried, missed = Counter[str](), Counter[str]()
    for case in cases:
        tried[case.kind] += 1
        missed[case.kind] += not is_caught(case, redact(case.text))
    same = Counter(redact(line) == line for line in lines)
    total, lost = tried.total(), missed.total()
    return Measured(total - lost, total, same[False], same.total(), tuple(worst_kinds(missed, tried)))
