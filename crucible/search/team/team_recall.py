"""Search on a team's server: all vaults that the user may read, ranked as in the embedded index.

Text from a server is as untrusted as a note: anyone who may write to a project could have written it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import NamedTuple, Protocol

from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_rules import Audience, sees, weigh
from crucible.search.answers import fold_hits, is_uncertain, with_passages
from crucible.search.embedded.ranking import SESSIONS, Ranked, RankInput, find_events, rank
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import Match, SearchTerms
from crucible.search.near_words import FindNear, no_near
from crucible.search.question_words import indexable
from crucible.search.recall import LISTED, MOST_CONTEXT, Answer, Event, EventKind, Hit, Question, SessionHit
from crucible.search.snippets import event_snippet
from crucible.search.team.terms import ItemFacts, viewer_of


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


class TeamSession(NamedTuple):
    """The columns of `sessions` that are displayed."""

    title: str
    session: str
    project: str
    started: datetime | None
    item: ItemFacts | None


Place = tuple[str, int]
"""An event on a server: the path of its note, as in `Match`, and its number."""


class TeamTables(Protocol):
    """The tables of a server, as far as this user may read them.

    A `path` is the server's name of a note.  All methods raise `ServerFailed` if the server is down, slow or refuses.
    """

    def check_ready(self) -> None:
        """Raise `ServerFailed` unless the tables exist in this version."""
        ...

    def forget(self) -> None:
        """Forget what was read for the last question, since notes may have changed."""
        ...

    def best_events(self, terms: SearchTerms, most: int) -> list[Match]:
        """Return the best events, best first; the newest if there are no words.  All words of a phrase must occur."""
        ...

    def best_sessions(self, terms: SearchTerms, most: int) -> list[Match]:
        """Return the best sessions by their own words, best first; the newest if the question has no words."""
        ...

    def count_stems(self, stems: Sequence[str]) -> Mapping[str, int]:
        """Return the number of sessions and items with each stem, see `Count`."""
        ...

    def texts_of(self, found: Sequence[Match]) -> list[str]:
        """Return the text of each event, in order; "" for a deleted event."""
        ...

    def events_with(self, ids: Sequence[str]) -> Sequence[tuple[Place, Event]]:
        """Return all events with these ids."""
        ...

    def events_of(self, spans: Sequence[tuple[str, int, int]]) -> Mapping[Place, Event]:
        """Return events by place.  A span has a path, a first and a last number, both included."""
        ...

    def sessions_of(self, paths: Iterable[str]) -> Mapping[str, TeamSession]:
        """Return the sessions and items at these paths."""
        ...

    def state(self) -> ServerState:
        """Return the state of the server as seen by this user."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class TeamRecall:
    """Implements `Recall`.  Not thread-safe."""

    def __init__(
        self, tables: TeamTables, viewer: Audience | None, knowledge: KnowledgeSettings, near: FindNear = no_near
    ) -> None:
        """Search `tables`; see `open_team` for the rest."""
        self._tables = tables
        self._viewer = viewer
        self._knowledge = knowledge
        self._near = near
        self._is_ready = False

    def ask(self, question: Question, now: datetime) -> Answer:
        """Answer a question.  Any text is a valid question."""
        notes: list[str] = []
        tables = self._ready()
        found = find_events(question, notes, tables.best_events, tables.texts_of, tables.count_stems, near=self._near)
        return self._ranked_answer(found, now, notes) if found else Answer(notes=tuple(notes))

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """Return the events with these ids, in that order.  An id in several vaults yields several events."""
        found: dict[str, list[Event]] = {}
        for _, event in self._ready().events_with(list(dict.fromkeys(map(indexable, ids)))):
            found.setdefault(event.id, []).append(event)
        return tuple(event for one in ids for event in found.get(one, ())[:_SAME])

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """Return the event and its neighbors, from each vault that has it; empty if the id is unknown."""
        tables = self._ready()
        most = 2**30
        spans = [
            (path, max(number - max(before, 0), 0), number + min(max(after, 0), most))
            for (path, number), _ in tables.events_with([indexable(anchor)])[:_SAME]
        ]
        return tuple(tables.events_of(spans).values()) if spans else ()

    def state(self) -> ServerState:
        """Return the state of the server as seen by this user."""
        return self._ready().state()

    def close(self) -> None:
        """Close the connection."""
        self._tables.close()

    def _ready(self) -> TeamTables:
        if not self._is_ready:
            self._tables.check_ready()
            self._is_ready = True
        self._tables.forget()
        return self._tables

    def _ranked_answer(self, found: RankInput, now: datetime, notes: Sequence[str]) -> Answer:
        tables, question = self._tables, found.terms.question
        wants_sessions = question.kinds != {EventKind.KNOWLEDGE}
        own = tables.best_sessions(found.terms, SESSIONS) if wants_sessions else []
        sessions = tables.sessions_of({one.path for one in (*found.events, *own)})
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
        passages = list(ranked.passages.values())
        events = tables.events_of([*_spans(ranked.events, question.context), *_spans(passages, 0)])
        hits = fold_hits(_hits(events, ranked.events, found.terms, question.context), question.shown, analyze)
        of_others = {one.event.session: one for one in _hits(events, passages, found.terms, 0)}
        found_sessions = (_session_hit(sessions[one.found.path], one) for one in ranked.sessions)
        listed = with_passages(found_sessions, hits, of_others)
        return Answer(hits, listed, tuple(notes), is_uncertain(hits, found.terms.weights(), found.terms.asked()))


def _session_hit(row: TeamSession, one: Ranked) -> SessionHit:
    return SessionHit(row.session, row.title, one.score, one.parts, row.started, row.project)


def _spans(ranked: Iterable[Ranked], context: int) -> Iterator[tuple[str, int, int]]:
    context = min(max(context, 0), MOST_CONTEXT)
    return ((one.found.path, max(one.found.number - context, 0), one.found.number + context) for one in ranked)


def _hits(
    events: Mapping[Place, Event], ranked: Collection[Ranked], terms: SearchTerms, context: int
) -> tuple[Hit, ...]:
    context = min(max(context, 0), MOST_CONTEXT)
    places = [(one.found.path, one.found.number) for one in ranked]
    hits = []
    for one, (path, at) in zip(ranked, places, strict=True):
        if (path, at) in events:
            event = events[path, at]
            near = 0 if event.kind in LISTED else context
            before = [events[path, n] for n in range(max(at - near, 0), at) if (path, n) in events]
            after = [events[path, n] for n in range(at + 1, at + near + 1) if (path, n) in events]
            snippet = event_snippet(event, terms.marks(), analyze)
            hits.append(Hit(event, one.score, one.parts, snippet, tuple(before), tuple(after)))
    return tuple(hits)


_SAME = 5
"""Maximum number of events for one id: vaults may have sessions with the same name, and a writer may invent ids."""
