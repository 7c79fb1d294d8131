"""Search with SQL: convert a question to queries.

Scores are BM25 over the rows that this user may see, with the constants of the embedded index.  Queries contain only
fixed text; all values are parameters.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import MOST_SESSIONS, NEAR, OFTEN, WHOLE, Match, SearchTerms
from crucible.search.postgres.address import Server
from crucible.search.postgres.terms import event_of, fact_term, name_term, word_term
from crucible.search.question_words import field_value, indexable, names_in, words_in
from crucible.search.recall import EventKind, seconds_of


class _Has(NamedTuple):
    """A condition: any of the terms in `some` occurs, or all terms of one group in `every`."""

    some: tuple[str, ...] = ()
    every: tuple[tuple[str, ...], ...] = ()


class _Filters(NamedTuple):
    """Conditions that must hold, and conditions that must not."""

    required: tuple[_Has, ...]
    excluded: tuple[_Has, ...]


def best_events(server: Server, terms: SearchTerms, most: int) -> list[Match]:
    """Return the best events, best first; the newest if there are no words.  All words of a phrase must occur."""
    query, given = _event_query(terms, _filters(server, terms, "events"))
    rows = server.run(query, {**given, "most": most})
    return [Match(str(no), at, score, first, reply, _kind(kind)) for no, at, score, first, reply, kind in rows]


def _kind(at: int | None) -> EventKind | None:
    """Return the kind at a position in `KINDS`; None for any other value, since users can write any row."""
    return KINDS[at] if at is not None and 0 <= at < len(KINDS) else None


def count_stems(server: Server, stems: Sequence[str]) -> dict[str, int]:
    """Return the number of sessions and items with each stem, up to `OFTEN`; stems in no visible row are omitted."""
    rows = server.run(_COUNTS, {"terms": list(map(word_term, stems)), "most": OFTEN})
    return {term[1:]: count for term, count in rows}


def texts_of(server: Server, found: Sequence[Match]) -> list[str]:
    """Return the text of each event, in order; "" for a deleted event."""
    given = {"nos": [int(one.path) for one in found], "sequences": [one.number for one in found]}
    rows = server.run(_TEXTS, given)
    texts = {(str(no), sequence): event_of(row).text for no, sequence, *row in rows}
    return [texts.get((one.path, one.number), "") for one in found]


def best_sessions(server: Server, terms: SearchTerms, most: int) -> list[Match]:
    """Return the best sessions by their own words, best first; the newest if the question has no words."""
    filters = _filters(server, terms, "sessions")
    where, given = _where(filters, "sessions", "x.no = s.no AND x.project = s.project")
    scored, question = _scored_terms(terms), terms.question
    given |= {
        **_scoring(scored),
        "most": most,
        "since": seconds_of(question.since),
        "until": seconds_of(question.until),
    }
    if question.since:
        where.append("s.last >= %(since)s")
    if question.until:
        where.append("s.first <= %(until)s")
    query = (_SESSIONS_BY_WORDS if scored else _SESSIONS_BY_TIME).format(where=" AND ".join(["s.whole", *where]))
    return [Match(str(no), 0, score, first) for no, score, first in server.run(query, given)]


# --- conditions -----------------------------------------------------------------------------------------------------


class _Scored(NamedTuple):
    """A term that affects the score.  Of the terms with one `word`, only the one that scores best counts."""

    term: str
    word: int
    weight: float


def _scored_terms(terms: SearchTerms) -> list[_Scored]:
    """Return the terms that affect the score: words, their near words, corrections and names."""
    words = dict.fromkeys((*terms.stems, *(word for phrase in terms.phrases for word in phrase)))
    groups: list[list[tuple[str, float]]] = [
        [(word_term(one), share) for one, share in {word: 1.0, **terms.related.get(word, {})}.items()] for word in words
    ]
    groups += [[(word_term(stem), NEAR)] for stem in terms.near if stem not in words]
    groups += [[(name_term(name), WHOLE)] for name in terms.names]
    return [_Scored(term, at, weight) for at, group in enumerate(groups) for term, weight in group]


def _scoring(scored: Sequence[_Scored]) -> dict[str, Any]:
    """Return the parameters of `_ASKED`."""
    return {
        "terms": [one.term for one in scored],
        "words": [one.word for one in scored],
        "weights": [one.weight for one in scored],
    }


def _filters(server: Server, terms: SearchTerms, side: str) -> _Filters:
    question, parsed = terms.question, terms.parsed
    required = [_every(phrase) for phrase in terms.phrases]
    related = (one for some in terms.related.values() for one in some)
    any_of = (*map(word_term, (*terms.stems, *terms.near, *related)), *map(name_term, terms.names))
    if required and any_of:
        required.append(_Has(any_of))
    by_field: dict[str, list[str]] = {}
    for field, value in parsed.facts:
        by_field.setdefault(field, []).append(value)
    required += [_fact(server, field, values) for field, values in by_field.items()]
    given = {field: getattr(question, field) for field in ("session", "agent", "channel", "project")}
    required += [_fact(server, field, [value]) for field, value in given.items() if value]
    if question.project and side == "events":
        # Keep knowledge items: a project also sees its domain's items and global ones; their weights select among them.
        required.append(_Has((*required.pop().some, fact_term("kind", EventKind.KNOWLEDGE.value))))
    if side == "events" and question.kinds != frozenset(EventKind) and _scored_terms(terms):
        required.append(_fact(server, "kind", sorted(kind.value for kind in question.kinds)))
    excluded = [_every(words) for words in terms.nots if len(words) == 1]
    excluded += [_fact(server, field, [value]) for field, value in parsed.not_facts]
    return _Filters(tuple(required), tuple(excluded))


def _every(words: Sequence[str]) -> _Has:
    return _Has(every=(tuple(dict.fromkeys(map(word_term, words))),))


def _fact(server: Server, field: str, values: Sequence[str]) -> _Has:
    """Match any of a field's values."""
    if field == "file":
        names = dict.fromkeys(name for value in values for name in (*names_in(value), indexable(value)))
        words = [analyze(" ".join(words_in(value))) for value in values]
        return _Has(tuple(map(name_term, names)), tuple(_every(one).every[0] for one in words if one))
    if field == "session":
        values = _session_ids(server, values)
    return _Has(tuple(fact_term(field, field_value(value)) for value in values))


def _session_ids(server: Server, values: Sequence[str]) -> list[str]:
    """Return the session ids that equal a value or, if there are none, those that begin with it."""
    rows = server.run(_IDS, {"values": [field_value(value) for value in values], "most": MOST_SESSIONS})
    return [identity for (identity,) in rows]


_IDS = """
    WITH ids AS (SELECT DISTINCT lower(session_id) AS id FROM crucible.sessions)
    SELECT id FROM ids, unnest(%(values)s::text[]) AS v WHERE id = v
        OR (starts_with(id, v) AND NOT EXISTS (SELECT FROM ids AS same WHERE same.id = v))
    ORDER BY id LIMIT %(most)s
"""


def _where(filters: _Filters, side: str, key: str) -> tuple[list[str], dict[str, Any]]:
    """Return SQL conditions that join on `key`, and their parameters."""
    found: list[str] = []
    given: dict[str, Any] = {}
    named = _COLUMNS[side]
    for negated, conditions in (("", filters.required), ("NOT ", filters.excluded)):
        for has in conditions:
            parts = [_rows_with(side, has.some, given)] + [
                _rows_with(side, every, given, len(every)) for every in has.every
            ]
            found.append(f"{negated}EXISTS (SELECT FROM ({' UNION ALL '.join(parts)}) AS x ({named}) WHERE {key})")
    return found, given


_COLUMNS = {"events": "no, project, sequence", "sessions": "no, project"}
_ROWS_WITH = {
    "events": """SELECT p.session_no, p.project, h >> 40 FROM crucible.postings AS p, unnest(p.hits) AS h
        WHERE p.term = ANY (%({name})s::text[])""",
    "sessions": """SELECT p.session_no, p.project FROM crucible.postings AS p
        WHERE p.times > 0 AND p.term = ANY (%({name})s::text[])""",
}
_ALL_OF = {
    "events": " GROUP BY 1, 2, 3 HAVING count(DISTINCT p.term) = %({name}_of)s",
    "sessions": " GROUP BY 1, 2 HAVING count(DISTINCT p.term) = %({name}_of)s",
}


def _rows_with(side: str, terms: Sequence[str], given: dict[str, Any], of: int = 0) -> str:
    """Return SQL for the events or sessions with any of the terms, or with `of` of them.  Extends `given`."""
    name = f"terms{len(given)}"
    given |= {name: list(terms), f"{name}_of": of}
    return (_ROWS_WITH[side] + (_ALL_OF[side] if of else "")).format(name=name)


# --- queries --------------------------------------------------------------------------------------------------------

_BM25 = "idf * 2.2 * {times} / ({times} + 1.2 * (0.25 + 0.75 * {length} / greatest({mean}, 1e-9)))"
"""BM25 with k1 = 1.2 and b = 0.75, the values that worked best in our measurements."""
_RARITY = "ln(1 + (greatest(n, c) - c + 0.5) / (c + 0.5)) AS idf"
_ASKED = """asked AS (
        SELECT * FROM unnest(%(terms)s::text[], %(words)s::int[], %(weights)s::float8[]) AS a (term, word, weight)
    )"""

_EVENTS_BY_WORDS = (
    "WITH"  # noqa: S608  our own pieces
    """ size AS MATERIALIZED (
        SELECT sum(events)::float8 AS n, (sum(event_words) / greatest(sum(events), 1))::float8 AS words,
            (sum(event_names) / greatest(sum(events), 1))::float8 AS names
        FROM crucible.sessions
    ), found AS MATERIALIZED (
        SELECT term, session_no, project, hits FROM crucible.postings WHERE term = ANY (%(terms)s::text[])
    ), rare AS MATERIALIZED (
        SELECT term, CASE WHEN starts_with(term, 'w') THEN words ELSE names END AS mean, """
    + _RARITY
    + """
        FROM (SELECT term, sum(cardinality(hits))::float8 AS c FROM found GROUP BY term) AS counted, size
    ), """
    + _ASKED
    + """, scored AS (
        SELECT no, project, sequence, sum(score) AS score FROM (
            SELECT f.session_no AS no, f.project, h >> 40 AS sequence, max(weight * """
    + _BM25.format(times="((h >> 24) & 65535)", length="(h & 16777215)", mean="mean")
    + """) AS score
            FROM found AS f JOIN rare USING (term) JOIN asked USING (term), unnest(f.hits) AS h GROUP BY 1, 2, 3, word
        ) AS by_word GROUP BY 1, 2, 3
    )
    SELECT best.no, best.sequence::int, best.score, coalesce(s.times[best.sequence + 1], 0),
        least(greatest(coalesce(s.replies[best.sequence + 1], 0), 0), 8388607), s.kinds[best.sequence + 1] FROM (
        SELECT k.* FROM scored AS k {join} WHERE {where} ORDER BY k.score DESC, k.no DESC, k.sequence LIMIT %(most)s
    ) AS best JOIN crucible.sessions AS s ON s.no = best.no AND s.project = best.project ORDER BY best.score DESC, 4 DESC, best.no, best.sequence
"""
)
_EVENTS_BY_TIME = """
    SELECT k.no, k.sequence::int, 0.0::float8, coalesce(s.times[k.sequence + 1], 0), 0, NULL FROM (
        SELECT p.session_no AS no, p.project, h >> 40 AS sequence FROM crucible.postings AS p, unnest(p.hits) AS h WHERE p.term = ANY (%(kinds)s::text[])
    ) AS k JOIN crucible.sessions AS s ON s.no = k.no AND s.project = k.project WHERE {where} ORDER BY 4 DESC, k.no, k.sequence LIMIT %(most)s
"""
_SESSIONS_BY_WORDS = (
    "WITH"  # noqa: S608  our own pieces
    """ size AS MATERIALIZED (
        SELECT count(*)::float8 AS n, (sum(words) / greatest(count(*), 1))::float8 AS words,
            (sum(names) / greatest(count(*), 1))::float8 AS names
        FROM crucible.sessions
    ), found AS MATERIALIZED (
        SELECT term, session_no, project, times FROM crucible.postings WHERE times > 0 AND term = ANY (%(terms)s::text[])
    ), rare AS MATERIALIZED (
        SELECT term, CASE WHEN starts_with(term, 'w') THEN words ELSE names END AS mean, """
    + _RARITY
    + """
        FROM (SELECT term, count(*)::float8 AS c FROM found GROUP BY term) AS counted, size
    ), """
    + _ASKED
    + """
    SELECT no, sum(score) AS score, first FROM (
        SELECT s.no, max(weight * """
    + _BM25.format(
        times="f.times",
        length="(CASE WHEN starts_with(f.term, 'w') THEN s.words ELSE s.names END)",
        mean="mean",
    )
    + """) AS score, s.first
        FROM found AS f JOIN rare USING (term) JOIN asked USING (term)
            JOIN crucible.sessions AS s ON s.no = f.session_no AND s.project = f.project WHERE {where} GROUP BY s.no, s.first, word
    ) AS by_word GROUP BY no, first ORDER BY score DESC, first DESC, no LIMIT %(most)s
"""
)
_SESSIONS_BY_TIME = """
    SELECT s.no, 0.0::float8, s.first FROM crucible.sessions AS s WHERE {where} ORDER BY s.first DESC, s.no LIMIT %(most)s
"""


def _event_query(terms: SearchTerms, filters: _Filters) -> tuple[str, dict[str, Any]]:
    scored, question = _scored_terms(terms), terms.question
    where, given = _where(filters, "events", "x.no = k.no AND x.project = k.project AND x.sequence = k.sequence")
    given |= {
        **_scoring(scored),
        "since": seconds_of(question.since),
        "until": seconds_of(question.until),
    }
    given["kinds"] = [fact_term("kind", kind.value) for kind in question.kinds]
    at = "coalesce(s.times[k.sequence + 1], 0)"
    if question.since:
        where.append(f"s.last >= %(since)s AND {at} >= %(since)s")
    if question.until:
        where.append(f"{at} <= %(until)s")
    timed = question.since or question.until
    join = "JOIN crucible.sessions AS s ON s.no = k.no AND s.project = k.project" if timed else ""
    query = _EVENTS_BY_WORDS if scored else _EVENTS_BY_TIME
    return query.format(where=" AND ".join(where) or "true", join=join), given


_COUNTS = """
    SELECT * FROM (
        SELECT term, (SELECT count(*) FROM (SELECT FROM crucible.postings AS p WHERE p.term = asked.term LIMIT %(most)s) AS held) AS times
        FROM unnest(%(terms)s::text[]) AS asked (term)
    ) AS counted WHERE times > 0
"""
_TEXTS = """
    SELECT e.session_no, e.sequence, e.id, e.session_id, e.event_type, e.payload, e.more, e.created_at
    FROM unnest(%(nos)s::bigint[], %(sequences)s::int[]) AS w (no, sequence)
    JOIN crucible.sessions AS s ON s.no = w.no
    CROSS JOIN LATERAL (
        SELECT o.* FROM crucible.session_events AS o
        WHERE o.session_no = s.no AND o.project = s.project AND o.month = s.month AND o.sequence = w.sequence OFFSET 0
    ) AS e
"""
