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
from crucible.search.team.conditions import Filters, Scored, filters_of, scored_terms
from crucible.search.team.terms import event_of, word_term


def best_events(server: Server, terms: SearchTerms, most: int) -> list[Match]:
    """Return the best events, best first; the newest if there are no words.  All words of a phrase must occur."""
    scored, question = scored_terms(terms), terms.question
    where, within, given = _where(filters_of(terms, "events", partial(_session_ids, server)), "events", _near(scored))
    at = "coalesce(s.times[k.sequence + 1], 0)"
    within += [f"s.last >= %(since)s AND {at} >= %(since)s"] * bool(question.since)
    within += [f"{at} <= %(until)s"] * bool(question.until)
    rows = server.run(_query("events", scored, where, within, given), given | _given(terms, most))
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
    where, within, given = _where(
        filters_of(terms, "sessions", partial(_session_ids, server)), "sessions", _near(scored)
    )
    within += ["s.whole"] + ["s.last >= %(since)s"] * bool(question.since)
    within += ["s.first <= %(until)s"] * bool(question.until)
    rows = server.run(_query("sessions", scored, where, within, given), given | _given(terms, most))
    return [Match(str(no), 0, score, first) for no, score, first in rows]


def _query(
    side: str, scored: Sequence[Scored], where: Sequence[str], within: Sequence[str], given: Mapping[str, Any]
) -> str:
    """Return the query of a side: `where` are conditions on the rows `k`, `within` those for the best of them only."""
    query = (_BY_WORDS if scored else _BY_TIME)[side]
    several = len({one.word for one in scored}) < len(scored)
    conditions = {"where": " AND ".join(where) or "true", "within": " AND ".join(within) or "true"}
    return query.format(**conditions, held=_held(given), **(_BEST_OF_WORD if several else _ONE_OF_WORD))


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


def _near(scored: Sequence[Scored]) -> str:
    """Return the condition on rows `p` that they are in a block of the rows that are to be filtered."""
    return "AND p.block IN (SELECT block FROM newest)" if scored else "AND p.block IN (SELECT block FROM s)"


def _where(filters: Filters, side: str, near: str) -> tuple[list[str], list[str], dict[str, Any]]:
    """Return SQL conditions on the rows `k`: those that must hold, those that exclude few rows, and their parameters."""
    required: list[str] = []
    excluded: list[str] = []
    given: dict[str, Any] = {}
    for found, negated, conditions in ((required, "", filters.required), (excluded, "NOT ", filters.excluded)):
        for has in conditions:
            parts = [_rows_with(side, some, given, near) for some in (has.some,) if some]
            parts += [_rows_with(side, every, given, near, len(every)) for every in has.every]
            parts += [_rows_with("sessions", has.whole, given, near)] if has.whole else []
            found.append(f"{negated}({' OR '.join(parts) or 'false'})")
            if not negated and not has.every:
                given[f"in_block{len(given)}"] = [*has.some, *has.whole]
    return required, excluded, given


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


def _rows_with(side: str, terms: Sequence[str], given: dict[str, Any], near: str, of: int = 0) -> str:
    """Return a condition: the event or session has any of the terms, or `of` of them.  Extends `given`."""
    name = f"terms{len(given)}"
    given |= {name: list(terms), f"{name}_of": of}
    return (_ROWS_WITH[side] + (_ALL_OF[side] if of else "") + ")").format(name=name, near=near)


# --- queries --------------------------------------------------------------------------------------------------------

_NEWEST = 6_000
"""Maximum number of hits of a term that are scored, those of the newest sessions: a common word says little."""
_WORDS_QUERY = """
    WITH size AS MATERIALIZED (
        SELECT sum({side})::float8 AS n, (sum({hits}[1]) / greatest(sum({side}), 1))::float8 AS words,
            (sum({hits}[2]) / greatest(sum({side}), 1))::float8 AS names
        FROM crucible.postings WHERE term = ''
    ), held AS MATERIALIZED (
        SELECT term, project, month, block, sum({side}) AS c FROM crucible.postings
        WHERE term = ANY (%(terms)s::text[]) AND {side} > 0 GROUP BY 1, 2, 3, 4
    ), asked AS MATERIALIZED (
        SELECT term, word, 2.2::float8 * weight * ln(1 + (greatest(n, c) - c + 0.5) / (c + 0.5)) AS best,
            0.9::float8 / greatest(CASE WHEN starts_with(term, 'w') THEN words ELSE names END, 1e-9) AS by_length
        FROM size, (SELECT term, sum(c)::float8 AS c FROM held GROUP BY term) AS counted
            JOIN unnest(%(terms)s::text[], %(words)s::int[], %(weights)s::float8[]) AS a (term, word, weight) USING (term)
    ), newest AS MATERIALIZED (
        SELECT * FROM (
            SELECT *, sum(c::int) OVER (PARTITION BY term ORDER BY month DESC, block DESC, project) - c AS newer FROM held WHERE {{held}}
        ) AS ordered WHERE newer < {most}
    ), found AS MATERIALIZED (
        SELECT term, project, block::bigint, p.{hits} AS hits FROM newest JOIN crucible.postings AS p USING (term, project, month, block)
    ), k AS (
        SELECT key, project, {columns}, {{total}} AS score FROM (
            SELECT {key} AS key, project, {{one}}(best * {times} / ({times} + 0.3 + by_length * ((({size}) & 4095) << ((({size}) >> 12) & 15)::int))) AS score
            FROM (SELECT *, unnest(hits) AS h FROM found JOIN asked USING (term)) AS hits GROUP BY 1, 2{{by_word}}
        ) AS scored{{by_key}}
    )
    SELECT * FROM (
        SELECT k.no, {shown} FROM (SELECT * FROM k WHERE {{where}} ORDER BY score DESC, key DESC OFFSET 0) AS k CROSS JOIN LATERAL (
            SELECT * FROM crucible.sessions AS s WHERE s.no = k.no AND s.project = k.project AND {{within}} OFFSET 0
        ) AS s ORDER BY k.score DESC, k.key DESC LIMIT %(most)s
    ) AS best ORDER BY score DESC, first DESC, no{last}
"""
"""Score the rows of the question's terms by BM25 with k1 = 1.2 and b = 0.75, the values that worked best in our measurements.

`key` identifies an event or a session in one number.  Sessions are looked up one after another, until there are enough.
"""
_BY_WORDS = {
    "events": _WORDS_QUERY.format(
        side="events",
        hits="hits",
        most=_NEWEST,
        key="(block << 33) | (h >> 30)",
        columns="key >> 23 AS no, key & 8388607 AS sequence",
        times="((h >> 16) & 16383)",
        size="h & 65535",
        shown="""k.sequence::int, k.score, coalesce(s.times[k.sequence + 1], 0) AS first,
            least(greatest(coalesce(s.replies[k.sequence + 1], 0), 0), 8388607) AS reply, s.kinds[k.sequence + 1] AS kind""",
        last=", sequence",
    ),
    "sessions": _WORDS_QUERY.format(
        side="sessions",
        hits="whole_hits",
        most=_NEWEST,
        key="(block << 10) | (h >> 53)",
        columns="key AS no",
        times="((h >> 32) & 2097151)",
        size="CASE WHEN starts_with(term, 'w') THEN (h >> 16) & 65535 ELSE h & 65535 END",
        shown="k.score, s.first",
        last="",
    ),
}
_ONE_OF_WORD = {"one": "sum", "total": "score", "by_word": "", "by_key": ""}
_BEST_OF_WORD = {"one": "max", "total": "sum(score)", "by_word": ", word", "by_key": " GROUP BY key, project"}
"""If a word has several terms, the best of them in each event counts."""
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
    WHERE {where} AND {within} ORDER BY 4 DESC, k.no, k.sequence LIMIT %(most)s
"""
)
_SESSIONS_BY_TIME = (
    "WITH "  # noqa: S608  our own pieces
    + _SESSIONS.format(held="{held} AND whole", newest=_MOST_NEWEST)
    + """, k AS (SELECT no, project FROM s)
    SELECT k.no, 0.0::float8, s.first FROM k JOIN s USING (no, project)
    WHERE {where} AND {within} ORDER BY s.first DESC, k.no LIMIT %(most)s
"""
)
_BY_TIME = {"events": _EVENTS_BY_TIME, "sessions": _SESSIONS_BY_TIME}
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
