"""Read what is displayed from a team's PostgreSQL server: events, sessions and the state."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from crucible.search.embedded.tantivy_search import Match, SearchTerms
from crucible.search.postgres.address import Server
from crucible.search.postgres.server_queries import best_events, best_sessions, count_stems, texts_of
from crucible.search.postgres.server_tables import check_ready
from crucible.search.recall import Event
from crucible.search.team.team_recall import Place, ServerState, TeamSession
from crucible.search.team.terms import ITEM_COLUMNS, event_of, item_of


class PostgresTables:
    """Implements `TeamTables`.  A path is the number of a note.  Not thread-safe."""

    def __init__(self, server: Server) -> None:
        """Read from `server`, which is contacted on first use."""
        self._server = server

    def check_ready(self) -> None:
        """See `TeamTables`."""
        check_ready(self._server)

    def forget(self) -> None:
        """See `TeamTables`: nothing is remembered."""

    def best_events(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        return best_events(self._server, terms, most)

    def best_sessions(self, terms: SearchTerms, most: int) -> list[Match]:
        """See `TeamTables`."""
        return best_sessions(self._server, terms, most)

    def count_stems(self, stems: Sequence[str]) -> Mapping[str, int]:
        """See `TeamTables`."""
        return count_stems(self._server, stems)

    def texts_of(self, found: Sequence[Match]) -> list[str]:
        """See `TeamTables`."""
        return texts_of(self._server, found)

    def events_with(self, ids: Sequence[str]) -> list[tuple[Place, Event]]:
        """See `TeamTables`."""
        sessions = [one.rpartition("#")[0] or one for one in ids]
        rows = self._server.run(_BY_ID, {"sessions": sessions, "ids": list(ids)})
        return [((str(no), sequence), event_of(rest, project)) for no, sequence, *rest, project in rows]

    def events_of(self, spans: Sequence[tuple[str, int, int]]) -> dict[Place, Event]:
        """See `TeamTables`."""
        nos, firsts, lasts = map(list, zip(*spans, strict=True)) if spans else ([], [], [])
        rows = self._server.run(_SPANS, {"nos": list(map(int, nos)), "firsts": firsts, "lasts": lasts})
        return {(str(no), sequence): event_of(rest, project) for no, sequence, *rest, project in rows}

    def sessions_of(self, paths: Iterable[str]) -> dict[str, TeamSession]:
        """See `TeamTables`."""
        rows = self._server.run(_SESSION_ROWS, [[int(path) for path in paths]])
        return {
            str(no): TeamSession(title, session, project, started, None if whole else item_of(item, project))
            for no, title, session, project, started, whole, *item in rows
        }

    def state(self) -> ServerState:
        """See `TeamTables`."""
        role, readable, writable, *rest = self._server.run(_STATE)[0]
        return ServerState(role, tuple(readable), tuple(writable), *rest)

    def close(self) -> None:
        """See `TeamTables`."""
        self._server.close()


_ROW = "e.session_no, e.sequence, e.id, e.session_id, e.event_type, e.payload, e.more, e.created_at, p.name"
_OF_SESSION = """
    CROSS JOIN LATERAL (
        SELECT o.* FROM crucible.session_events AS o
        WHERE o.session_no = s.no AND o.project = s.project AND o.month = s.month {more} OFFSET 0
    ) AS e"""
"""With `OFFSET 0`, the server looks up each session only in its month's partition."""
_SPANS = f"""
    SELECT DISTINCT ON (e.session_no, e.sequence) {_ROW}
    FROM unnest(%(nos)s::bigint[], %(firsts)s::int[], %(lasts)s::int[]) AS w (no, first, last)
    JOIN crucible.sessions AS s ON s.no = w.no JOIN crucible.projects AS p ON p.no = s.project {_OF_SESSION.format(more="AND o.sequence BETWEEN w.first AND w.last")}
    ORDER BY e.session_no, e.sequence
"""  # noqa: S608  our own pieces
_BY_ID = f"""
    SELECT {_ROW} FROM crucible.sessions AS s JOIN crucible.projects AS p ON p.no = s.project {_OF_SESSION.format(more="AND o.id = ANY (%(ids)s::text[])")}
    WHERE s.session_id = ANY (%(sessions)s::text[]) ORDER BY e.session_no, e.sequence
"""  # noqa: S608  our own pieces
_SESSION_ROWS = f"""
    SELECT s.no, s.title, s.session_id, p.name, s.started, s.whole, {", ".join(f"s.{name}" for name in ITEM_COLUMNS)}
    FROM crucible.sessions AS s JOIN crucible.projects AS p ON p.no = s.project WHERE s.no = ANY (%s::bigint[])
"""  # noqa: S608  our own pieces
_STATE = """
    SELECT current_user::text,
        ARRAY(SELECT name FROM crucible.projects WHERE no = ANY (crucible.readable()) ORDER BY 1),
        ARRAY(SELECT name FROM crucible.projects WHERE no = ANY (crucible.writable()) ORDER BY 1),
        (SELECT count(*) FROM crucible.sessions WHERE whole), (SELECT coalesce(sum(events), 0)::bigint FROM crucible.sessions),
        (SELECT rolsuper OR rolbypassrls FROM pg_roles WHERE rolname = current_user)
"""
