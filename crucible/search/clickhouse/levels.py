"""Store how often a term occurs as further terms, so that a query reads only the text index and no other column."""

from __future__ import annotations

from crucible.search.team.terms import TermCounts

LEVELS = {2: 1.0, 3: 1.4, 5: 2.6, 9: 5.0}
"""A term that occurs at least this often is also stored with the number before it.

The values are what each level adds to 1 to estimate how often the term occurs.
"""


def level_term(level: int, term: str) -> str:
    """Return the term that stands for at least `level` occurrences of a term."""
    return f"{level}{term}"


def leveled(counts: TermCounts) -> list[str]:
    """Return the terms to store for an event or a session."""
    more = [
        level_term(level, term)
        for term, times in zip(counts.terms, counts.times, strict=True)
        for level in LEVELS
        if times >= level
    ]
    return [*counts.terms, *more]
