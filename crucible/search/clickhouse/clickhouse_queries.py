"""Search a team's ClickHouse server: convert a question to queries.

Scores are BM25 over the rows that this user may see, as in PostgreSQL; how often a term occurs is estimated from `LEVELS`.
Sessions are scored by their events that were found, so one query finds both: a query takes some milliseconds to plan, and
each expression adds to it.  Conditions on terms are answered by the text index alone.  Queries contain only fixed text and
numbers; all values are parameters.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from heapq import nlargest
from typing import Any, NamedTuple

from crucible.search.clickhouse.found_rows import (
    Row,
    Scoring,
    SessionScores,
    Sizes,
    StoredNote,
    note_of,
    path_of,
)
from crucible.search.clickhouse.http_server import ClickHouse
from crucible.search.clickhouse.stored_terms import LEVELS, level_term, stored_term
from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.tantivy_search import MOST_SESSIONS, OFTEN, Match, SearchTerms
from crucible.search.recall import EventKind, seconds_of
from crucible.search.team.conditions import OF_SESSION, Filters, Has, filters_of, scored_terms
from crucible.search.team.terms import word_term

_NEWEST = 10_000
"""Maximum number of matches of common words that are scored, the newest ones: a common word says little."""
_ROWS = 1_000
"""Minimum number of the best rows that are read: sessions are scored by them."""
_AT_ONCE = 40
"""Maximum number of terms that are counted one by one."""
_SPARE = 50
"""How many more rows than wanted are read, since some are of replaced notes."""


class _Side(NamedTuple):
    """A table that is searched, and its expressions: the order of its rows, and what is searched without words."""

    table: str
    time: str
    shown: str
    searched: str


_EVENTS = _Side("events", "seconds", "no, project, version, sequence, seconds, reply, kind", "kind >= 0")
_SESSIONS = _Side("sessions", "first", "no, project, version, 0, first, 0, -1", "whole")


class ClickHouseQueries:
    """The searches of one question.  Counts, rows and notes are remembered until `forget`."""

    def __init__(self, server: ClickHouse) -> None:
        """Search on `server`."""
        self._server = server
        self.forget()

    def forget(self) -> None:
        """See `TeamTables`."""
        self._counts: dict[str, int] = {}
        self._sizes: dict[str, Sizes] = {}
        self._notes: dict[tuple[int, str], StoredNote] = {}
        self._asked: set[int] = set()
        self._found: tuple[SearchTerms | None, list[Row]] = (None, [])

    def best_events(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        return self._best(_EVENTS, terms, most)

    def best_sessions(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        scored = scored_terms(terms)
        if not scored:
            return self._best(_SESSIONS, terms, most)
        rows = self._rows_of_sessions(terms)
        counts = [self._counts[one.term] for one in scored]
        scores = SessionScores(terms, scored, rows, counts, self._sizes["sessions"])
        likely = nlargest(2 * most, scores.times, key=scores.likely)
        notes = self.notes_of(no for no, *_ in likely)
        found = [
            Match(path_of(*version[:2]), 0, scores.score(version, note), note.first)
            for version in likely
            if (note := note_of(notes, version)) and note.whole
        ]
        return sorted(found, key=lambda one: (-one.score, -one.first, one.path))[:most]

    def count_stems(self, stems: Sequence[str]) -> dict[str, int]:
        """See `TeamTables`.  Events are counted, which are more than sessions."""
        terms = list(map(word_term, stems))
        if len(terms) <= _AT_ONCE:
            self._count(terms)
            return {term[1:]: min(self._counts[term], OFTEN) for term in terms if self._counts[term]}
        rows = self._server.run(_COUNTS_OF_MANY, {"terms": list(map(stored_term, terms))})
        return {term: min(int(sessions), OFTEN) for term, sessions in rows}

    def session_ids(self, values: Sequence[str]) -> list[str]:
        """Return the session ids that equal a value or, if there are none, those that begin with it."""
        return [identity for (identity,) in self._server.run(_IDS, {"values": list(values), "most": MOST_SESSIONS})]

    def notes_of(self, nos: Iterable[int]) -> dict[tuple[int, str], StoredNote]:
        """Return the notes with these numbers that are not removed, by number and project.  They are remembered."""
        new = sorted({*nos} - self._asked)
        self._asked.update(new)
        rows = self._server.run(_NOTES, {"nos": new}) if new else []
        for no, project, version, gone, *shown in sorted(rows, key=lambda row: int(row[2])):
            title, session, started, first, words, names, whole = shown
            begun = None if started is None else int(started)
            note = StoredNote(int(version), title, session, begun, int(first), int(words), int(names), whole)
            self._notes[int(no), project] = note._replace(version=-1) if gone else note
        self._notes = {place: note for place, note in self._notes.items() if note.version >= 0}
        return self._notes

    def _best(self, side: _Side, terms: SearchTerms, most: int) -> list[Match]:
        limit = max(most + _SPARE, _ROWS if scored_terms(terms) else 0)
        while True:
            rows = self._rows(side, terms, limit)
            found = self._current([row for row in rows if row.match.kind or side is _SESSIONS], most)
            self._found = (terms, rows)
            if len(found) >= most or len(rows) < limit:
                return found
            limit *= 4

    def _current(self, rows: Sequence[Row], most: int) -> list[Match]:
        """Return the first matches whose notes were not replaced or removed."""
        found: list[Match] = []
        for at in range(0, len(rows), most + _SPARE):
            some = rows[at : at + most + _SPARE]
            notes = self.notes_of(row.version[0] for row in some)
            found += [row.match for row in some if note_of(notes, row.version)]
            if len(found) >= most:
                break
        return found[:most]

    def _rows_of_sessions(self, terms: SearchTerms) -> list[Row]:
        """Return rows for the scores of sessions, whatever the conditions on the events."""
        # A session has all words of a phrase, but not in one event.
        bare = terms._replace(stems=(*terms.stems, *(word for some in terms.phrases for word in some)), phrases=())
        if _narrows(bare):
            return self._rows(_SESSIONS, bare, _ROWS)
        return self._found[1] if self._found[0] == bare else self._rows(_EVENTS, bare, _ROWS)

    def _rows(self, side: _Side, terms: SearchTerms, limit: int) -> list[Row]:
        """Return rows, best or newest first."""
        scored, question = scored_terms(terms), terms.question
        given: dict[str, Any] = {
            "most": limit,
            "newest": _NEWEST,
            "kinds": [KINDS.index(kind) for kind in question.kinds],
        }
        where, scoring = self._where(side, terms, given), None
        if scored:
            self._count([one.term for one in scored])
            if side is _SESSIONS:
                where = [f"(no, project, version) IN (SELECT no, project, version FROM sessions WHERE {' AND '.join(where)})"]  # fmt: skip  # noqa: S608  our own pieces
            scoring = Scoring.of(scored, [self._counts[one.term] for one in scored], self._sizes["events"])
            query = self._by_words(scoring, where, given)
        else:
            where += ["has({kinds:Array(Int8)}, kind)"] * (side is _EVENTS)
            query = _by_time(side, where)
        found = (Row.of(row, scoring) for row in self._server.run(query, given))
        rows = {(row.version, row.match.number): row for row in found}
        return sorted(rows.values(), key=lambda row: (-row.match.score, -row.match.first, row.match.path))

    def _where(self, side: _Side, terms: SearchTerms, given: dict[str, Any]) -> list[str]:
        return [*_where(filters_of(terms, side.table, self.session_ids), given), *_within(side, terms, given)]

    def _by_words(self, scoring: Scoring, where: Sequence[str], given: dict[str, Any]) -> str:
        """Return the query that finds matches: all of rare words, and the newest of common ones."""
        counts = [self._counts[one.term] for one in scoring.scored]
        flags = [_flags(at, one.term, given) for at, one in enumerate(scoring.scored)]
        names = "names" if any(one.term.startswith("n") for one in scoring.scored) else "0"
        shown = ", ".join([_EVENTS.shown, "words", names, *(flag for some in flags for flag in some.values())])
        # The index answers what is in the condition: without this, levels would be looked up in the column.
        every = " OR ".join(name for some in flags for name in some)
        score = " + ".join(f"{weight:f} * f{at}" for at, weight in enumerate(scoring.weights))
        best = f"ORDER BY {score} DESC, seconds DESC, no, sequence LIMIT {{most:UInt32}}"
        parts = []
        for common in (False, True):
            some = [at for at, count in enumerate(counts) if (count > _NEWEST) == common]
            wanted = " AND ".join([f"({' OR '.join(f'f{at}' for at in some)})", f"({every})", *where])
            query = f"SELECT {shown} FROM events WHERE {wanted}"  # noqa: S608  our own pieces
            if common:
                query = f"SELECT * FROM ({query} ORDER BY seconds DESC LIMIT {{newest:UInt32}})"  # noqa: S608  our own pieces
            is_cut = sum(counts[at] for at in some) > given["most"]
            parts += [f"({query} {best})" if is_cut else query] * bool(some)
        return " UNION ALL ".join(parts)

    def _count(self, terms: Sequence[str]) -> None:
        """Count the events that have each term, and all rows."""
        new = [term for term in dict.fromkeys(terms) if term not in self._counts]
        given = {f"t{at}": stored_term(term) for at, term in enumerate(new)}
        flags = [f"(hasAnyTokens(terms, [{{t{at}:String}}]) AS f{at})" for at in range(len(new))]
        any_of = " OR ".join(f"f{at}" for at in range(len(new)))
        counted = f"SELECT true, [{', '.join(f'countIf{flag}' for flag in flags)}] FROM events WHERE {any_of}"  # noqa: S608  our own pieces
        parts = [counted] * bool(new) + [_SIZES] * (not self._sizes)
        for is_counted, numbers in self._server.run(" UNION ALL ".join(parts), given) if parts else ():
            if is_counted:
                self._counts.update(zip(new, map(int, numbers), strict=True))
            else:
                sizes = list(map(float, numbers))
                self._sizes = {"events": Sizes.of(*sizes[:3]), "sessions": Sizes.of(*sizes[3:])}


def _flags(at: int, term: str, given: dict[str, Any]) -> dict[str, str]:
    """Return expressions of whether a term and its levels occur, by name: `f0` and `f0x2` …  Extends `given`."""
    found = {f"f{at}": stored_term(term), **{f"f{at}x{level}": level_term(level, term) for level in LEVELS}}
    given |= {f"t{name}": one for name, one in found.items()}
    return {name: f"hasAnyTokens(terms, [{{t{name}:String}}]) AS {name}" for name in found}


def _narrows(terms: SearchTerms) -> bool:
    """Return whether a question has conditions on events that a session of other events meets too."""
    question, parsed = terms.question, terms.parsed
    fields = {field for field, _ in (*parsed.facts, *parsed.not_facts)} - OF_SESSION
    by_event = question.agent or question.channel or question.since or question.until
    return bool(by_event or fields or question.project or question.kinds != frozenset(EventKind))


def _by_time(side: _Side, where: Sequence[str]) -> str:
    wanted = " AND ".join([side.searched, *where])
    order = f"ORDER BY {side.time} DESC, no, version DESC LIMIT {{most:UInt32}}"
    return f"SELECT {side.shown}, 0, 0 FROM {side.table} WHERE {wanted} {order}"  # noqa: S608  our own pieces


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
        given[name] = list(map(stored_term, terms))
        return f"{{{name}:Array(String)}}"

    parts = [f"hasAnyTokens(terms, {named(has.some)})"] if has.some else []
    parts += [f"hasAllTokens(terms, {named(every)})" for every in has.every]
    parts += [f"hasAnyTokens(terms, {named(has.whole)})"] if has.whole else []
    return parts


_SIZES = """
    SELECT false, [sum(events), sum(event_words), sum(event_names), countIf(whole), sum(words), sum(names)] FROM sessions
"""
"""Rows that remove a note have none of these."""
_COUNTS_OF_MANY = """
    SELECT arrayJoin(arrayIntersect(terms, {terms:Array(String)})) AS term, uniqExact(no) FROM (
        SELECT no, terms FROM events WHERE hasAnyTokens(terms, {terms:Array(String)}) ORDER BY seconds DESC LIMIT 1000
    ) GROUP BY term
"""
_IDS = """
    WITH ids AS (SELECT DISTINCT lowerUTF8(session_id) AS id FROM sessions WHERE NOT gone)
    SELECT id FROM ids WHERE has({values:Array(String)}, id)
        OR arrayExists(v -> startsWith(id, v) AND v NOT IN (SELECT id FROM ids), {values:Array(String)})
    ORDER BY id LIMIT {most:UInt32}
"""
_NOTES = """
    SELECT no, project, version, gone, title, session_id, started, first, words, names, whole
    FROM sessions WHERE no IN {nos:Array(UInt64)}
"""
