"""Search on a team's PostgreSQL server: all vaults that the user may read, ranked as in the embedded index.

Text from a server is as untrusted as a note: anyone who may write to a project could have written it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_rules import Audience, sees, weigh
from crucible.search.answers import fold_hits, is_uncertain, with_passages
from crucible.search.embedded.ranking import (
    SESSIONS,
    Ranked,
    RankInput,
    find_events,
    rank,
)
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Match, SearchTerms
from crucible.search.near_words import FindNear, no_near
from crucible.search.postgres.address import Server
from crucible.search.postgres.push import BATCH, Pusher
from crucible.search.postgres.server_queries import best_events, best_sessions, count_stems, texts_of
from crucible.search.postgres.server_tables import check_ready, set_up
from crucible.search.postgres.terms import ITEM_COLUMNS, ItemFacts, event_of, item_of, viewer_of
from crucible.search.question_words import indexable
from crucible.search.recall import LISTED, MOST_CONTEXT, Answer, Event, EventKind, Hit, Question, SessionHit
from crucible.search.snippets import snippet_of

_USUAL = KnowledgeSettings()


class ServerState(NamedTuple):
    """A server as seen by this user: projects they may read and write, and the number of sessions and events there.

    `unbound` is True for a role that bypasses row-level security, such as a superuser.
    """

    role: str
    readable: tuple[str, ...]
    writable: tuple[str, ...]
    sessions: int
    events: int
    unbound: bool


class _Session(NamedTuple):
    """The columns of `sessions` that are displayed."""

    title: str
    session: str
    project: str
    started: datetime | None
    item: ItemFacts | None


def open_postgres(
    address: str,
    *,
    seconds: float = 10.0,
    viewer: Audience | None = None,
    knowledge: KnowledgeSettings = _USUAL,
    near: FindNear = no_near,
) -> TeamRecall:
    """Search the server at `address` (`postgresql://…`), which is contacted on the first question.

    `seconds` limits each statement.  Only knowledge that `viewer` may see is found; by default, the viewer is the
    question's project.  `knowledge` has the settings for weights, `near` finds near words.  Raises `UsageError` if the address is invalid.  All
    methods raise `ServerFailed` if the server is down, slow, refuses access, or is not set up.
    """
    return TeamRecall(Server(address, seconds), viewer, knowledge, near)


def open_pusher(
    address: str, vault: str, clone: str = "", *, seconds: float = 60.0, connecting: float = 10.0, batch: int = BATCH
) -> Pusher:
    """Return a `Pusher` for the server at `address`, of `batch` notes at once.  `connecting` is the maximum seconds to connect."""
    return Pusher(Server(address, seconds, connecting), vault, clone, batch)


def set_up_server(address: str, *, seconds: float = 60.0, connecting: float = 10.0) -> bool:
    """Create or migrate the tables; return False if they are up to date.  Requires the right to create a schema."""
    server = Server(address, seconds, connecting)
    try:
        return set_up(server)
    finally:
        server.close()


def prune_server(
    address: str, before: datetime | None = None, *, seconds: float = 3600.0, connecting: float = 10.0
) -> tuple[int, int]:
    """Drop the months before a time, and merge the rows of many pushes.  Only the owner may.

    Return the number of merged rows and of removed notes.
    """
    server = Server(address, seconds, connecting)
    try:
        check_ready(server)
        removed = server.run("SELECT crucible.prune(%s)", [before.date()])[0][0] if before else 0
        return server.run("SELECT crucible.merge()")[0][0], removed
    finally:
        server.close()


class TeamRecall:
    """Implements `Recall`.  Not thread-safe."""

    def __init__(
        self, server: Server, viewer: Audience | None, knowledge: KnowledgeSettings, near: FindNear = no_near
    ) -> None:
        """Do not call this; use `open_postgres`."""
        self._server = server
        self._viewer = viewer
        self._knowledge = knowledge
        self._near = near
        self._is_ready = False

    def ask(self, question: Question, now: datetime) -> Answer:
        """Answer a question.  Any text is a valid question."""
        notes: list[str] = []
        found = find_events(question, notes, self._best, self._texts, self._count, near=self._near)
        return self._ranked_answer(self._ready(), found, now, notes) if found else Answer(notes=tuple(notes))

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """Return the events with these ids, in that order.  An id in several vaults yields several events."""
        sent = list(dict.fromkeys(map(indexable, ids)))
        sessions = [one.rpartition("#")[0] or one for one in sent]
        rows = self._ready().run(_BY_ID, {"sessions": sessions, "ids": sent})
        found: dict[str, list[Event]] = {}
        for _, _, *rest, project in rows:
            found.setdefault(rest[0], []).append(event_of(rest, project))
        return tuple(event for one in ids for event in found.get(one, ())[:_SAME])

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """Return the event and its neighbors, from each vault that has it; empty if the id is unknown."""
        anchor = indexable(anchor)
        given = {"sessions": [anchor.rpartition("#")[0] or anchor], "ids": [anchor]}
        server = self._ready()
        most = 2**30
        spans = [
            (no, max(sequence - max(before, 0), 0), sequence + min(max(after, 0), most))
            for no, sequence, *_ in server.run(_BY_ID, given)[:_SAME]
        ]
        return tuple(_events(server, spans).values()) if spans else ()

    def state(self) -> ServerState:
        """Return the state of the server as seen by this user."""
        role, readable, writable, *rest = self._ready().run(_STATE)[0]
        return ServerState(role, tuple(readable), tuple(writable), *rest)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def _ready(self) -> Server:
        if not self._is_ready:
            check_ready(self._server)
            self._is_ready = True
        return self._server

    def _best(self, terms: SearchTerms, most: int) -> list[Match]:
        return best_events(self._ready(), terms, most)

    def _texts(self, found: Sequence[Match]) -> list[str]:
        return texts_of(self._ready(), found)

    def _count(self, stems: Sequence[str]) -> dict[str, int]:
        return count_stems(self._ready(), stems)

    def _ranked_answer(self, server: Server, found: RankInput, now: datetime, notes: Sequence[str]) -> Answer:
        question = found.terms.question
        wants_sessions = question.kinds != {EventKind.KNOWLEDGE}
        own = best_sessions(server, found.terms, SESSIONS) if wants_sessions else []
        sessions = _sessions(server, {one.path for one in (*found.events, *own)})
        known = found._replace(events=[one for one in found.events if one.path in sessions])
        viewer = viewer_of(question) if self._viewer is None else self._viewer

        def weigh_item(path: str) -> tuple[float, Mapping[str, float]] | None:
            item = sessions[path].item
            if item is None:
                return None
            place, facts = item
            weight = weigh(facts, now, self._knowledge)
            return (weight.total, weight.parts) if sees(viewer, place) else (0.0, {})

        own = [one for one in own if one.path in sessions]
        ranked = rank(known, own, lambda path: sessions[path].item is not None, weigh_item, now)
        hits = fold_hits(_hits(server, ranked.events, found.terms, question.context), question.shown, analyze)
        passages = {one.event.session: one for one in _hits(server, ranked.passages.values(), found.terms, 0)}
        found_sessions = (_session_hit(sessions[one.found.path], one) for one in ranked.sessions)
        listed = with_passages(found_sessions, hits, passages)
        return Answer(hits, listed, tuple(notes), is_uncertain(hits, found.terms.weights(), found.terms.asked()))


def _session_hit(row: _Session, one: Ranked) -> SessionHit:
    return SessionHit(row.session, row.title, one.score, one.parts, row.started, row.project)


def _hits(server: Server, ranked: Collection[Ranked], terms: SearchTerms, context: int) -> tuple[Hit, ...]:
    context = min(max(context, 0), MOST_CONTEXT)
    places = [(int(one.found.path), one.found.number) for one in ranked]
    events = _events(server, [(no, max(at - context, 0), at + context) for no, at in places])
    hits = []
    for one, (no, at) in zip(ranked, places, strict=True):
        if (no, at) in events:
            event = events[no, at]
            near = 0 if event.kind in LISTED else context
            before = [events[no, n] for n in range(max(at - near, 0), at) if (no, n) in events]
            after = [events[no, n] for n in range(at + 1, at + near + 1) if (no, n) in events]
            snippet = snippet_of(event.text, terms.marks(), analyze)
            hits.append(Hit(event, one.score, one.parts, snippet, tuple(before), tuple(after)))
    return tuple(hits)


def _events(server: Server, spans: Iterable[tuple[int, int, int]]) -> dict[tuple[int, int], Event]:
    """Return events by session and number.  A span has a session, a first and a last number, both included."""
    nos, firsts, lasts = map(list, zip(*spans, strict=True)) if (spans := list(spans)) else ([], [], [])
    rows = server.run(_SPANS, {"nos": nos, "firsts": firsts, "lasts": lasts})
    return {(no, sequence): event_of(rest, project) for no, sequence, *rest, project in rows}


def _sessions(server: Server, paths: Iterable[str]) -> dict[str, _Session]:
    rows = server.run(_SESSION_ROWS, [[int(path) for path in paths]])
    return {
        str(no): _Session(title, session, project, started, None if whole else item_of(item, project))
        for no, title, session, project, started, whole, *item in rows
    }


_SAME = 5
"""Maximum number of events for one id: vaults may have sessions with the same name, and a writer may invent ids."""
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
