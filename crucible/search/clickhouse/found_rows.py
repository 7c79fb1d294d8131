"""Rows that a search on ClickHouse found, and the scores of their sessions.

A session is scored as one text: the rows of its events, apart from tool calls, and the row of its head.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, log
from typing import Any, NamedTuple

from crucible.search.clickhouse.stored_terms import LEVELED, times_of
from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.tantivy_search import Match, SearchTerms
from crucible.search.recall import EventKind
from crucible.search.team.conditions import Scored
from crucible.search.team.terms import word_term

Version = tuple[int, str, int]
"""A state of a note: its number, project and version."""


class Sizes(NamedTuple):
    """The number of rows of a table, and the mean lengths of their words and of their names."""

    rows: float
    words: float
    names: float

    @classmethod
    def of(cls, rows: float, words: float, names: float) -> Sizes:
        """Return the sizes of a table from the numbers of its rows, words and names."""
        return cls(rows, words / max(rows, 1), names / max(rows, 1))


class StoredNote(NamedTuple):
    """The newest version of a note on the server."""

    version: int
    title: str
    session: str
    started: int | None
    first: int
    words: float
    names: float
    whole: bool


class Scoring(NamedTuple):
    """The terms of a question, how much each counts, and the sizes of the table that they are in."""

    scored: Sequence[Scored]
    weights: Sequence[float]
    sizes: Sizes

    @classmethod
    def of(cls, scored: Sequence[Scored], counts: Iterable[float], sizes: Sizes) -> Scoring:
        """Weigh terms by how many rows have each: rare ones say more."""
        rarities = (log(1 + (max(sizes.rows - count, 0) + 0.5) / (count + 0.5)) for count in counts)
        return cls(scored, [2.2 * one.weight * rarity for one, rarity in zip(scored, rarities, strict=True)], sizes)

    def score(self, times: Sequence[float], words: float, names: float) -> float:
        """Return the BM25 score of a text.  Of the terms with one word, only the one that scores best counts."""
        best: dict[int, float] = {}
        for one, weight, count in zip(self.scored, self.weights, times, strict=True):
            is_name = one.term.startswith("n")
            share = names / max(self.sizes.names, 1e-9) if is_name else words / max(self.sizes.words, 1e-9)
            found = weight * count / (count + 1.2 * (0.25 + 0.75 * share))
            best[one.word] = max(best.get(one.word, 0.0), found)
        return sum(best.values())


class Row(NamedTuple):
    """An event, or the head of a session, with its score and about how often each scored term occurs."""

    version: Version
    match: Match
    times: Sequence[float]

    @classmethod
    def of(cls, row: Sequence[Any], scoring: Scoring | None) -> Row:
        """Convert a row from the server.  After nine columns are the levels of each scored term."""
        no, project, version, number, first, reply, kind, words, names, *levels = row
        times = [times_of(levels[at : at + LEVELED]) for at in range(0, len(levels), LEVELED)]
        score = scoring.score(times, words, names) if scoring else 0.0
        known = KINDS[kind] if 0 <= kind < len(KINDS) else None
        match = Match(path_of(no, project), number, score, int(first), reply, known)
        return cls((int(no), project, int(version)), match, times)


def path_of(no: Any, project: str) -> str:
    """Return the path of a note, see `TeamTables`."""
    return f"{no}/{project}"


def place_of_path(path: str) -> tuple[int, str]:
    """Return the number and the project in a path."""
    no, _, project = path.partition("/")
    return int(no), project


def note_of(notes: Mapping[tuple[int, str], StoredNote], version: Version) -> StoredNote | None:
    """Return the note of a row; None if it was replaced or removed."""
    note = notes.get(version[:2])
    return note if note and note.version == version[2] else None


class SessionScores:
    """The scores of the sessions of rows.  `counts` are the numbers of rows with each term, read or not."""

    def __init__(
        self, terms: SearchTerms, scored: Sequence[Scored], rows: Sequence[Row], counts: Sequence[int], sizes: Sizes
    ) -> None:
        """Add up how often each term occurs in each session."""
        times: dict[Version, list[float]] = {}
        for row in (one for one in rows if one.match.kind is not EventKind.TOOL):
            sums = times.setdefault(row.version, [0.0] * len(scored))
            sums[:] = map(sum, zip(sums, row.times, strict=True))
        having = []
        for at, count in enumerate(counts):
            is_read = sum(row.times[at] > 0 for row in rows) >= count
            # If not all rows with a term were read: as many sessions as if they were spread by chance.
            chance = sizes.rows * (1 - exp(-count / max(sizes.rows, 1)))
            having.append(sum(one[at] > 0 for one in times.values()) if is_read else chance)
        self._scoring = Scoring.of(scored, having, sizes)
        self.times = {version: sums for version, sums in times.items() if _has_phrases(terms, scored, sums)}

    def likely(self, version: Version) -> float:
        """Return the score of a session of mean length."""
        return self._scoring.score(self.times[version], self._scoring.sizes.words, self._scoring.sizes.names)

    def score(self, version: Version, note: StoredNote) -> float:
        """Return the score of a session."""
        return self._scoring.score(self.times[version], note.words, note.names)


def _has_phrases(terms: SearchTerms, scored: Sequence[Scored], times: Sequence[float]) -> bool:
    """Return whether a session has all words of the phrases and, if there are others, one of them."""
    words = {word_term(word) for some in terms.phrases for word in some}
    inside, others = (
        [many > 0 for one, many in zip(scored, times, strict=True) if (one.term in words) == which]
        for which in (True, False)
    )
    return not words or (all(inside) and (not others or any(others)))
