"""Search a team's ClickHouse server: convert a question to queries.

Scores are BM25 over the rows that this user may see, as in PostgreSQL; how often a term occurs is estimated from `LEVELS`.
Conditions on terms are answered by the text index alone.  Queries contain only fixed text; all values are parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import log
from typing import Any, NamedTuple

from crucible.search.clickhouse.http_server import ClickHouse
from crucible.search.clickhouse.levels import LEVELS, level_term
from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.tantivy_search import MOST_SESSIONS, OFTEN, Match, SearchTerms
from crucible.search.recall import seconds_of
from crucible.search.team.conditions import Filters, Has, Scored, filters_of, scored_terms
from crucible.search.team.terms import ITEM_COLUMNS, word_term

_NEWEST = 10_000
"""Maximum number of matches of common words to score, the newest ones: a common word says little."""
_AT_ONCE = 40
"""Maximum number of terms that are counted one by one."""
_SPARE = 50
"""Number of rows to read beyond those wanted, since some belong to replaced notes."""


class _Side(NamedTuple):
    """A table that is searched, and its expressions: the order of its rows, and what identifies one."""

    table: str
    time: str
    key: str
    shown: str
    searched: str


_EVENTS = _Side(
    "events", "seconds", "no, project, sequence", "no, project, version, sequence, seconds, reply, kind", "kind >= 0"
)
_SESSIONS = _Side("sessions", "first", "no, project", "no, project, version, 0, first, 0, -1", "whole")


class _Sizes(NamedTuple):
    """The number of rows of a table, and the mean lengths of their words and of their names."""

    rows: float
    words: float
    names: float

    @classmethod
    def of(cls, rows: float, words: float, names: float) -> _Sizes:
        """Return the sizes of a table from the numbers of its rows, words and names."""
        return cls(rows, words / max(rows, 1), names / max(rows, 1))


class StoredNote(NamedTuple):
    """The version of a note on the server, and its columns that are shown."""

    version: int
    shown: Sequence[Any]


class ClickHouseQueries:
    """The searches of one question.  Counts and notes are remembered until `forget`."""

    def __init__(self, server: ClickHouse) -> None:
        """Search on `server`."""
        self._server = server
        self._counts: dict[str, Mapping[str, int]] = {}
        self._sizes: dict[str, _Sizes] = {}
        self._notes: dict[tuple[int, str], StoredNote] = {}
        self._asked: set[int] = set()

    def forget(self) -> None:
        """See `TeamTables`."""
        self._counts, self._sizes, self._notes, self._asked = {}, {}, {}, set()

    def best_events(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        return self._best(_EVENTS, terms, most)

    def best_sessions(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        return self._best(_SESSIONS, terms, most)

    def count_stems(self, stems: Sequence[str]) -> dict[str, int]:
        """See `TeamTables`."""
        terms = list(map(word_term, stems))
        if len(terms) <= _AT_ONCE:
            self._count(terms)
            found = {term: self._counts[term] for term in terms}
            return {
                term[1:]: min(one["sessions"], OFTEN) or min(one["events"], 1)
                for term, one in found.items()
                if any(one.values())
            }
        rows = self._server.run(_COUNTS_OF_MANY, {"terms": terms})
        return {term[1:]: min(int(sessions), OFTEN) or 1 for term, sessions in rows}

    def session_ids(self, values: Sequence[str]) -> list[str]:
        """Return the session ids that equal a value or, if there are none, those that begin with it."""
        return [identity for (identity,) in self._server.run(_IDS, {"values": list(values), "most": MOST_SESSIONS})]

    def notes_of(self, nos: Iterable[int]) -> dict[tuple[int, str], StoredNote]:
        """Return the notes with these numbers that are not removed, by number and project.  They are remembered."""
        new = sorted({*nos} - self._asked)
        self._asked.update(new)
        for no, project, version, gone, *shown in self._server.run(_NOTES, {"nos": new}) if new else ():
            if not gone:
                self._notes[int(no), project] = StoredNote(int(version), shown)
        return self._notes

    def _best(self, side: _Side, terms: SearchTerms, most: int) -> list[Match]:
        limit = most + _SPARE
        while True:
            rows = self._rows(side, terms, limit)
            notes = self.notes_of(int(row[0]) for row in rows)
            found = [_match(row) for row in rows if _is_current(notes, int(row[0]), row[1], int(row[2]))]
            if len(found) >= most or len(rows) < limit:
                return found[:most]
            limit *= 4

    def _rows(self, side: _Side, terms: SearchTerms, limit: int) -> list[list[Any]]:
        """Return rows, best or newest first: a note's number, project and version, and the columns of a match."""
        scored, question = scored_terms(terms), terms.question
        given: dict[str, Any] = {
            "most": limit,
            "newest": _NEWEST,
            "kinds": [KINDS.index(kind) for kind in question.kinds],
        }
        where = _where(filters_of(terms, side.table, self.session_ids), given)
        where += _within(side, terms, given)
        if not scored:
            where += ["has({kinds:Array(Int8)}, kind)"] * (side is _EVENTS)
            return self._server.run(_by_time(side, where), given)
        self._count([one.term for one in scored])
        return self._server.run(self._by_words(side, scored, where, given), given)

    def _by_words(self, side: _Side, scored: Sequence[Scored], where: Sequence[str], given: dict[str, Any]) -> str:
        """Return the query that scores matches: all of rare words, and the newest of common ones."""
        score = _score(scored, given, self._weights(side, scored), self._sizes[side.table])
        is_common = [self._counts[one.term][side.table] > _NEWEST for one in scored]
        # The index answers what is in the condition: without this, levels would be looked up in the column.
        every = [f"f{at}{level}" for at in range(len(scored)) for level in ("", *(f"x{level}" for level in LEVELS))]
        parts = []
        for common in sorted(set(is_common)):
            flags = [f"f{at}" for at, one in enumerate(is_common) if one == common]
            newest = f"ORDER BY {side.time} DESC LIMIT {{newest:UInt32}}" * common
            wanted = " AND ".join([f"({' OR '.join(flags)})", f"({' OR '.join(every)})", *where])
            parts.append(f"(SELECT {side.shown}, {score} AS score FROM {side.table} WHERE {wanted} {newest})")  # noqa: S608  our own pieces
        inner = " UNION ALL ".join(parts)
        order = f"ORDER BY score DESC, {side.time} DESC, no, version DESC LIMIT 1 BY {side.key} LIMIT {{most:UInt32}}"
        return f"SELECT * FROM ({inner}) {order}"  # noqa: S608  our own pieces

    def _weights(self, side: _Side, scored: Sequence[Scored]) -> list[float]:
        """Return how much each term counts: rare ones say more."""
        rows = self._sizes[side.table].rows
        counts = [self._counts[one.term][side.table] for one in scored]
        return [
            one.weight * log(1 + (max(rows, count) - count + 0.5) / (count + 0.5)) * 2.2
            for one, count in zip(scored, counts, strict=True)
        ]

    def _count(self, terms: Sequence[str]) -> None:
        """Count the rows that have each term, and all rows."""
        new = [term for term in dict.fromkeys(terms) if term not in self._counts]
        counts = {term: {"events": 0, "sessions": 0} for term in new}
        given = {f"t{at}": term for at, term in enumerate(new)}
        flags = [f"(hasAnyTokens(terms, [{{t{at}:String}}]) AS f{at})" for at in range(len(new))]
        counted = ", ".join(f"countIf{flag}" for flag in flags)
        any_of = " OR ".join(f"f{at}" for at in range(len(new)))
        tables = (_EVENTS.table, _SESSIONS.table) if new else ()
        parts = [f"SELECT '{table}', [{counted}] FROM {table} WHERE {any_of}" for table in tables]  # noqa: S608  our own pieces
        parts += [] if self._sizes else [_SIZES]
        for table, numbers in self._server.run(" UNION ALL ".join(parts), given) if parts else ():
            if table:
                for term, count in zip(new, numbers, strict=True):
                    counts[term][table] = int(count)
            else:
                events, sessions = list(map(float, numbers[:3])), list(map(float, numbers[3:]))
                self._sizes = {"events": _Sizes.of(*events), "sessions": _Sizes.of(*sessions)}
        self._counts.update(counts)


def _match(row: Sequence[Any]) -> Match:
    no, project, _, number, first, reply, kind, score = row
    known = KINDS[kind] if 0 <= kind < len(KINDS) else None
    return Match(path_of(no, project), number, float(score), int(first), reply, known)


def _is_current(notes: Mapping[tuple[int, str], StoredNote], no: int, project: str, version: int) -> bool:
    note = notes.get((no, project))
    return note is not None and note.version == version


def path_of(no: Any, project: str) -> str:
    """Return the path of a note, see `TeamTables`."""
    return f"{no}/{project}"


def place_of_path(path: str) -> tuple[int, str]:
    """Return the number and the project in a path."""
    no, _, project = path.partition("/")
    return int(no), project


def _score(scored: Sequence[Scored], given: dict[str, Any], weights: Sequence[float], sizes: _Sizes) -> str:
    """Return an expression with the flags `f0`, `f1` … of all terms.  Extends `given`."""
    groups: dict[int, list[str]] = {}
    for at, (one, weight) in enumerate(zip(scored, weights, strict=True)):
        length, mean = ("names", sizes.names) if one.term.startswith("n") else ("words", sizes.words)
        given |= {f"t{at}": one.term, f"w{at}": weight, f"m{at}": max(mean, 1e-9)}
        given |= {f"t{at}x{level}": level_term(level, one.term) for level in LEVELS}
        levels = "".join(
            f" + {more} * (hasAnyTokens(terms, [{{t{at}x{level}:String}}]) AS f{at}x{level})"
            for level, more in LEVELS.items()
        )
        norm = f"1.2 * (0.25 + 0.75 * {length} / {{m{at}:Float64}})"
        flag = f"(hasAnyTokens(terms, [{{t{at}:String}}]) AS f{at})"
        groups.setdefault(one.word, []).append(
            f"{flag} * {{w{at}:Float64}} * ((1{levels}) AS c{at}) / (c{at} + {norm})"
        )
    return " + ".join(f"greatest({', '.join([*some, '0.'])})" for some in groups.values())


def _by_time(side: _Side, where: Sequence[str]) -> str:
    wanted = " AND ".join([side.searched, *where])
    order = f"ORDER BY {side.time} DESC, no, version DESC LIMIT 1 BY {side.key} LIMIT {{most:UInt32}}"
    return f"SELECT {side.shown}, 0. FROM {side.table} WHERE {wanted} {order}"  # noqa: S608  our own pieces


def _within(side: _Side, terms: SearchTerms, given: dict[str, Any]) -> list[str]:
    """Return conditions on the time.  Extends `given`."""
    question = terms.question
    given |= {"since": seconds_of(question.since) or 0, "until": seconds_of(question.until) or 0}
    first, last = ("seconds", "seconds") if side is _EVENTS else ("first", "last")
    found = [f"{last} >= {{since:Int64}}"] * bool(question.since) + [f"{first} <= {{until:Int64}}"] * bool(
        question.until
    )
    return [*found, *(["whole"] if side is _SESSIONS else [])]


def _where(filters: Filters, given: dict[str, Any]) -> list[str]:
    """Return conditions on rows of events or sessions.  Extends `given`."""
    return [
        f"{negated}({' OR '.join(_parts(has, given)) or 'false'})"
        for negated, conditions in (("", filters.required), ("NOT ", filters.excluded))
        for has in conditions
    ]


def _parts(has: Has, given: dict[str, Any]) -> list[str]:
    def named(terms: Sequence[str]) -> str:
        name = f"a{len(given)}"
        given[name] = list(terms)
        return f"{{{name}:Array(String)}}"

    parts = [f"hasAnyTokens(terms, {named(has.some)})"] if has.some else []
    parts += [f"hasAllTokens(terms, {named(every)})" for every in has.every]
    parts += [f"hasAnyTokens(terms, {named(has.whole)})"] if has.whole else []
    return parts


_SIZES = """
    SELECT '', [sum(events), sum(event_words), sum(event_names), countIf(whole), sum(words), sum(names)]
    FROM sessions WHERE NOT gone
"""
_COUNTS_OF_MANY = """
    SELECT arrayJoin(arrayIntersect(terms, {terms:Array(String)})) AS term, sum(whole) FROM (
        SELECT terms, true AS whole FROM sessions WHERE hasAnyTokens(terms, {terms:Array(String)})
        UNION ALL SELECT terms, false FROM events WHERE hasAnyTokens(terms, {terms:Array(String)}) ORDER BY seconds DESC LIMIT 1000
    ) GROUP BY term
"""
_IDS = """
    WITH ids AS (SELECT DISTINCT lowerUTF8(session_id) AS id FROM sessions WHERE NOT gone)
    SELECT id FROM ids WHERE has({values:Array(String)}, id)
        OR arrayExists(v -> startsWith(id, v) AND v NOT IN (SELECT id FROM ids), {values:Array(String)})
    ORDER BY id LIMIT {most:UInt32}
"""
_NOTES = f"""
    SELECT no, project, version, gone, title, session_id, started, whole, {", ".join(ITEM_COLUMNS)}
    FROM sessions WHERE no IN {{nos:Array(UInt64)}} ORDER BY version DESC LIMIT 1 BY no, project
"""  # noqa: S608  our own pieces
