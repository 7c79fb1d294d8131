"""Search with SQL: convert a question to queries.

Scores are BM25 over the rows that this user may see, with the constants of the embedded index.  Queries contain only
fixed text; all values are parameters.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from functools import partial
from typing import Any

from crucible.search.embedded.index_format import KINDS
from crucible.search.embedded.tantivy_search import MOST_SESSIONS, OFTEN, Match, SearchTerms
from crucible.search.postgres.address import Server
from crucible.search.recall import EventKind, seconds_of
from crucible.search.team.conditions import Filters, filters_of, scored_terms
from crucible.search.team.terms import event_of, word_term


def best_events(server: Server, terms: SearchTerms, most: int) -> list[Match]:
    """Return the best events, best first; the newest if there are no words.  All words of a phrase must occur."""
    scored, question = scored_terms(terms), terms.question
    where, given = _where(filters_of(terms, "events", partial(_session_ids, server)), "events")
    at = "coalesce(s.times[k.sequence + 1], 0)"
    where += [f"s.last >= %(since)s AND {at} >= %(since)s"] * bool(question.since)
    where += [f"{at} <= %(until)s"] * bool(question.until)
    query = _EVENTS_BY_WORDS if scored else _EVENTS_BY_TIME
    rows = server.run(query.format(where=" AND ".join(where) or "true", held=_held(given)), given | _given(terms, most))
    return [Match(str(no), at, score, first, reply, _kind(kind)) for no, at, score, first, reply, kind in rows]


def _kind(at: int | None) -> EventKind | None:
    """Return the kind at a position in `KINDS`; None for any other value, since users can write any row."""
    return KINDS[at] if at is not None and 0 <= at < len(KINDS) else None


def count_stems(server: Server, stems: Sequence[str]) -> dict[str, int]:
    """Return the number of sessions and items with each stem, up to `OFTEN`; 1 for a stem that only tools and items have."""
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
    scored, question = scored_terms(terms), terms.question
    where, given = _where(filters_of(terms, "sessions", partial(_session_ids, server)), "sessions")
    where += ["s.last >= %(since)s"] * bool(question.since) + ["s.first <= %(until)s"] * bool(question.until)
    query = _SESSIONS_BY_WORDS if scored else _SESSIONS_BY_TIME
    rows = server.run(
        query.format(where=" AND ".join(["s.whole", *where]), held=_held(given)), given | _given(terms, most)
    )
    return [Match(str(no), 0, score, first) for no, score, first in rows]


# --- conditions -----------------------------------------------------------------------------------------------------


def _given(terms: SearchTerms, most: int) -> dict[str, Any]:
    """Return the parameters that all queries have."""
    scored, question = scored_terms(terms), terms.question
    return {
        "terms": [one.term for one in scored],
        "words": [one.word for one in scored],
        "weights": [one.weight for one in scored],
        "kinds": [KINDS.index(kind) for kind in question.kinds],
        "since": seconds_of(question.since),
        "until": seconds_of(question.until),
        "until_month": question.until or datetime.max.replace(tzinfo=UTC),
        "most": most,
    }


def _session_ids(server: Server, values: Sequence[str]) -> list[str]:
    """Return the session ids that equal a value or, if there are none, those that begin with it."""
    rows = server.run(_IDS, {"values": list(values), "most": MOST_SESSIONS})
    return [identity for (identity,) in rows]


_IDS = """
    WITH ids AS (SELECT DISTINCT lower(session_id) AS id FROM crucible.sessions)
    SELECT id FROM ids, unnest(%(values)s::text[]) AS v WHERE id = v
        OR (starts_with(id, v) AND NOT EXISTS (SELECT FROM ids AS same WHERE same.id = v))
    ORDER BY id LIMIT %(most)s
"""


def _where(filters: Filters, side: str) -> tuple[list[str], dict[str, Any]]:
    """Return SQL conditions on the rows `k`, and their parameters."""
    found: list[str] = []
    given: dict[str, Any] = {}
    for negated, conditions in (("", filters.required), ("NOT ", filters.excluded)):
        for has in conditions:
            parts = [_rows_with(side, some, given) for some in (has.some,) if some]
            parts += [_rows_with(side, every, given, len(every)) for every in has.every]
            parts += [_rows_with("sessions", has.whole, given)] if has.whole else []
            found.append(f"{negated}({' OR '.join(parts) or 'false'})")
            if not negated and not has.every:
                given[f"in_block{len(given)}"] = [*has.some, *has.whole]
    return found, given


def _held(given: Mapping[str, Any]) -> str:
    """Return conditions on the rows of a block: it has every required fact, so that no other row is read."""
    within = "(project, block) IN (SELECT x.project, x.block FROM crucible.postings AS x WHERE x.term = ANY (%({name})s::text[]))"
    return " AND ".join(
        ["month <= %(until_month)s", *(within.format(name=name) for name in given if name.startswith("in_block"))]
    )


_ROWS_WITH = {
    "events": """(k.no, k.project, k.sequence) IN (SELECT (p.block::bigint << 10) | (h >> 53), p.project, (h >> 30) & 8388607
        FROM crucible.postings AS p, unnest(p.hits) AS h WHERE p.term = ANY (%({name})s::text[]) {near}""",
    "sessions": """(k.no, k.project) IN (SELECT (p.block::bigint << 10) | (h >> 53), p.project
        FROM crucible.postings AS p, unnest(p.whole_hits) AS h WHERE p.term = ANY (%({name})s::text[]) {near}""",
}
_ALL_OF = {
    "events": " GROUP BY 1, 2, 3 HAVING count(DISTINCT p.term) = %({name}_of)s",
    "sessions": " GROUP BY 1, 2 HAVING count(DISTINCT p.term) = %({name}_of)s",
}
_NEAR_BY = "AND p.block IN (SELECT (no >> 10)::int FROM k)"
"""Look only into the blocks of the rows that are to be filtered."""


def _rows_with(side: str, terms: Sequence[str], given: dict[str, Any], of: int = 0) -> str:
    """Return a condition: the event or session has any of the terms, or `of` of them.  Extends `given`."""
    name = f"terms{len(given)}"
    given |= {name: list(terms), f"{name}_of": of}
    return (_ROWS_WITH[side] + (_ALL_OF[side] if of else "") + ")").format(name=name, near=_NEAR_BY)


# --- queries --------------------------------------------------------------------------------------------------------

_BM25 = "idf * 2.2 * {times} / ({times} + 1.2 * (0.25 + 0.75 * {length} / greatest({mean}, 1e-9)))"
"""BM25 with k1 = 1.2 and b = 0.75, the values that worked best in our measurements."""
_RARITY = "ln(1 + (greatest(n, c) - c + 0.5) / (c + 0.5)) AS idf"
_ASKED = """asked AS (
        SELECT * FROM unnest(%(terms)s::text[], %(words)s::int[], %(weights)s::float8[]) AS a (term, word, weight)
    )"""
_NEWEST = 10_000
"""Maximum number of hits of a term that are scored, those of the newest sessions: a common word says little."""

_FOUND = """size AS MATERIALIZED (
        SELECT sum({count})::float8 AS n, (sum({hits}[1]) / greatest(sum({count}), 1))::float8 AS words,
            (sum({hits}[2]) / greatest(sum({count}), 1))::float8 AS names
        FROM crucible.postings WHERE term = ''
    ), held AS MATERIALIZED (
        SELECT term, project, month, block, sum({count}) AS c FROM crucible.postings
        WHERE term = ANY (%(terms)s::text[]) AND {count} > 0 GROUP BY 1, 2, 3, 4
    ), rare AS MATERIALIZED (
        SELECT term, CASE WHEN starts_with(term, 'w') THEN words ELSE names END AS mean, {rarity}
        FROM (SELECT term, sum(c)::float8 AS c FROM held GROUP BY term) AS counted, size
    ), {asked}, newest AS MATERIALIZED (
        SELECT * FROM (
            SELECT held.*, sum(c) OVER (PARTITION BY term ORDER BY month DESC, block DESC, project) - c AS newer FROM held WHERE {{held}}
        ) AS ordered WHERE newer < {newest}
    ), found AS MATERIALIZED (
        SELECT f.term, f.project, f.block, p.{hits} AS hits FROM newest AS f JOIN crucible.postings AS p USING (term, project, month, block)
    )"""
"""The rows of the question's terms, newest first, and how rare each term is."""


def _found(count: str, hits: str) -> str:
    return _FOUND.format(count=count, hits=hits, rarity=_RARITY, asked=_ASKED, newest=_NEWEST)


_LENGTH = "((({packed}) & 4095) << ((({packed}) >> 12) & 15)::int)"
_EVENT_TIMES, _EVENT_LENGTH = "((h >> 16) & 16383)", _LENGTH.format(packed="h & 65535")
_WHOLE_TIMES = "((h >> 32) & 2097151)"
_WHOLE_LENGTH = _LENGTH.format(packed="CASE WHEN starts_with(f.term, 'w') THEN (h >> 16) & 65535 ELSE h & 65535 END")

_EVENTS_BY_WORDS = (
    "WITH "  # noqa: S608  our own pieces
    + _found("events", "hits")
    + """, scored AS (
        SELECT no, project, sequence, sum(score) AS score FROM (
            SELECT (f.block::bigint << 10) | (h >> 53) AS no, f.project, (h >> 30) & 8388607 AS sequence, max(weight * """
    + _BM25.format(times=_EVENT_TIMES, length=_EVENT_LENGTH, mean="mean")
    + """) AS score
            FROM found AS f JOIN rare USING (term) JOIN asked USING (term), unnest(f.hits) AS h GROUP BY 1, 2, 3, word
        ) AS by_word GROUP BY 1, 2, 3
    ), k AS MATERIALIZED (SELECT * FROM scored)
    SELECT best.no, best.sequence::int, best.score, coalesce(s.times[best.sequence + 1], 0),
        least(greatest(coalesce(s.replies[best.sequence + 1], 0), 0), 8388607), s.kinds[best.sequence + 1] FROM (
        SELECT k.* FROM k JOIN crucible.sessions AS s ON s.no = k.no AND s.project = k.project WHERE {where}
        ORDER BY k.score DESC, k.no DESC, k.sequence LIMIT %(most)s
    ) AS best JOIN crucible.sessions AS s ON s.no = best.no AND s.project = best.project ORDER BY best.score DESC, 4 DESC, best.no, best.sequence
"""
)
_MOST_NEWEST = 5_000
"""Maximum number of sessions whose events are listed by time."""
_SESSIONS = """s AS MATERIALIZED (
        SELECT s.* FROM (SELECT *, (no >> 10)::int AS block FROM crucible.sessions) AS s WHERE {held} ORDER BY last DESC, no LIMIT {newest}
    )"""
_EVENTS_BY_TIME = (
    "WITH "  # noqa: S608  our own pieces
    + _SESSIONS.format(held="{held}", newest=_MOST_NEWEST)
    + """, k AS MATERIALIZED (
        SELECT s.no, s.project, e.at - 1 AS sequence
        FROM s, unnest(s.kinds) WITH ORDINALITY AS e (kind, at) WHERE e.kind = ANY (%(kinds)s::smallint[])
    )
    SELECT k.no, k.sequence::int, 0.0::float8, coalesce(s.times[k.sequence + 1], 0), 0, NULL FROM k JOIN s USING (no, project)
    WHERE {where} ORDER BY 4 DESC, k.no, k.sequence LIMIT %(most)s
"""
)
_SESSIONS_BY_WORDS = (
    "WITH "  # noqa: S608  our own pieces
    + _found("sessions", "whole_hits")
    + """, k AS MATERIALIZED (
        SELECT no, project, sum(score) AS score FROM (
            SELECT (f.block::bigint << 10) | (h >> 53) AS no, f.project, max(weight * """
    + _BM25.format(times=_WHOLE_TIMES, length=_WHOLE_LENGTH, mean="mean")
    + """) AS score
            FROM found AS f JOIN rare USING (term) JOIN asked USING (term), unnest(f.hits) AS h GROUP BY 1, 2, word
        ) AS by_word GROUP BY 1, 2
    )
    SELECT k.no, k.score, s.first FROM k JOIN crucible.sessions AS s ON s.no = k.no AND s.project = k.project
    WHERE {where} ORDER BY k.score DESC, s.first DESC, k.no LIMIT %(most)s
"""
)
_SESSIONS_BY_TIME = (
    "WITH "  # noqa: S608  our own pieces
    + _SESSIONS.format(held="{held} AND whole", newest=_MOST_NEWEST)
    + """, k AS (SELECT no, project FROM s)
    SELECT k.no, 0.0::float8, s.first FROM k JOIN s USING (no, project) WHERE {where} ORDER BY s.first DESC, k.no LIMIT %(most)s
"""
)
_COUNTS = """
    SELECT term, greatest(least(sum(sessions), %(most)s), 1)::int FROM crucible.postings WHERE term = ANY (%(terms)s::text[]) GROUP BY term
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
