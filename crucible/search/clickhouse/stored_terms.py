"""Terms as the text index has them, and how often a term occurs, as more terms.

A query reads the text index only, and no other column.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.search.team.terms import TermCounts

LEVELS = {2: 1.3, 4: 3.7}
"""A term that occurs at least this often is also stored with the number before it.

The values are what each level adds to 1 to estimate how often the term occurs.
"""
LEVELED = 1 + len(LEVELS)
"""The number of stored terms of a term that occurs often."""
_PREFIXES = {"w": "", "n": "=", "f": ":"}


def stored_term(term: str) -> str:
    """Return a term without spaces.  A word is its stem, which repeats the text and so takes few bytes."""
    return (_PREFIXES[term[0]] + term[1:]).replace(" ", "\x01")


def level_term(level: int, term: str) -> str:
    """Return the stored term that says that a term occurs at least `level` times."""
    return f"^{level}{stored_term(term)}"


def leveled(counts: TermCounts, text: str = "") -> list[str]:
    """Return the terms to store of an event or a session, in the order of `text`: the same words compress well."""
    text = text.lower()
    terms = sorted(map(stored_term, counts.terms), key=text.find)
    more = [
        level_term(level, term)
        for term, times in zip(counts.terms, counts.times, strict=True)
        for level in LEVELS
        if times >= level
    ]
    return [*terms, *more]


def times_of(found: Sequence[int]) -> float:
    """Return about how often a term occurs, from whether it and its levels were found: each 0 or 1."""
    return found[0] + sum(is_more * more for is_more, more in zip(found[1:], LEVELS.values(), strict=True))
