"""Read a team's ClickHouse server: searches, events, sessions and the state."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, datetime, timedelta
from typing import Any

from crucible.search.clickhouse.clickhouse_queries import ClickHouseQueries
from crucible.search.clickhouse.clickhouse_schema import EVENT_FIELDS, HEAD, check_clickhouse
from crucible.search.clickhouse.found_rows import path_of, place_of_path
from crucible.search.clickhouse.stored_terms import stored_term
from crucible.search.embedded.tantivy_search import Match
from crucible.search.question_words import field_value
from crucible.search.recall import Event, EventKind
from crucible.search.team.team_recall import Place, ServerState, TeamSession
from crucible.search.team.terms import ITEM_COLUMNS, ItemFacts, fact_term, item_of


class ClickHouseTables(ClickHouseQueries):
    """Implements `TeamTables`.  A path is the number of a note and its project.  Not thread-safe."""

    def check_ready(self) -> None:
        """See `TeamTables`."""
        check_clickhouse(self._server)

    def texts_of(self, found: Sequence[Match]) -> list[str]:
        """See `TeamTables`."""
        events = self.events_of([(one.path, one.number, one.number) for one in found])
        return [events[one.path, one.number].text if (one.path, one.number) in events else "" for one in found]

    def events_with(self, ids: Sequence[str]) -> list[tuple[Place, Event]]:
        """See `TeamTables`."""
        sessions = [one.rpartition("#")[0] or one for one in ids]
        facts = [stored_term(fact_term("session", field_value(one))) for one in sessions]
        rows = self._server.run(_BY_ID, {"facts": facts, "sessions": sessions})
        notes = {(int(no), project): session for no, project, session in rows}
        marks = [one.removeprefix(session) for one, session in zip(ids, sessions, strict=True)]
        where = "no IN {nos:Array(UInt64)} AND mark IN {marks:Array(String)}"
        found = self._events(where, {"nos": [no for no, _ in notes], "marks": [*marks, *ids]})
        return [(place, event) for place, event in found.items() if event.id in ids]

    def events_of(self, spans: Sequence[tuple[str, int, int]]) -> dict[Place, Event]:
        """See `TeamTables`."""
        wanted = {
            (path, number) for path, first, last in spans for number in range(first, min(last, first + _MOST) + 1)
        }
        nos = [place_of_path(path)[0] for path, *_ in spans]
        given = {"nos": nos, "firsts": [first for _, first, _ in spans], "lasts": [last for *_, last in spans]}
        return (
            {place: event for place, event in self._events(_IN_SPANS, given).items() if place in wanted}
            if spans
            else {}
        )

    def _events(self, where: str, given: dict[str, Any]) -> dict[Place, Event]:
        """Return the events of current notes, in order."""
        notes = self.notes_of(given["nos"])
        found = {}
        for no, project, version, number, seconds, event in self._server.run(_EVENTS.format(where=where), given):
            note = notes.get((int(no), project))
            if note and note.version == int(version):
                found[path_of(no, project), number] = _event(note.session, project, int(seconds), event)
        return dict(sorted(found.items()))

    def sessions_of(self, paths: Iterable[str]) -> dict[str, TeamSession]:
        """See `TeamTables`."""
        places = {path: place_of_path(path) for path in paths}
        known = self.notes_of(no for no, _ in places.values())
        notes = {path: known[place] for path, place in places.items() if place in known}
        items = self._items([places[path][0] for path, note in notes.items() if not note.whole])
        return {
            path: TeamSession(
                note.title, note.session, places[path][1], _time(note.started), items.get((*places[path], note.version))
            )
            for path, note in notes.items()
        }

    def _items(self, nos: Sequence[int]) -> dict[tuple[int, str, int], ItemFacts]:
        """Return the facts of items by number, project and version."""
        rows = self._server.run(_ITEMS, {"nos": nos}) if nos else ()
        return {
            (int(no), project, int(version)): item_of([*facts, _time(used), _time(changed)], project)
            for no, project, version, *facts, used, changed in rows
        }

    def state(self) -> ServerState:
        """See `TeamTables`."""
        role, granted, writes, seen, sessions, events = self._server.run(_STATE)[0]
        readable = sorted({*seen, *granted} - {"*"})
        writable = readable if "*" in writes else sorted(writes)
        unbound = "*" not in granted and not {*seen} <= {*granted}
        return ServerState(role, tuple(readable), tuple(writable), int(sessions), int(events), unbound)

    def close(self) -> None:
        """See `TeamTables`."""
        self._server.close()


_MOST = 10_000
"""Maximum number of events of a span."""
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def _time(microseconds: Any) -> datetime | None:
    """Return a stored time; None for an impossible one, since users can write any row."""
    try:
        return None if microseconds is None else _EPOCH + timedelta(microseconds=int(microseconds))
    except OverflowError:
        return None


def _event(session: str, project: str, seconds: int, packed: str) -> Event:
    """Return an event from the column `event`: users can write any text there."""
    values = packed.split("\0")
    of = dict(zip(EVENT_FIELDS, [*values, *[""] * len(EVENT_FIELDS)], strict=False))
    mark, kind, micros = of["mark"], of["event_type"], _number(of["micros"])
    return Event(
        session + mark if not mark or mark.startswith("#") else mark,
        session,
        EventKind(kind) if kind in _KINDS else EventKind.OBSERVATION,
        of["text"],
        of["phase"],
        of["phase_name"],
        _number(of["line"]) or 0,
        None if micros is None else _time(seconds * 1_000_000 + micros),
        of["agent"],
        of["channel"],
        project,
        of["title"],
    )


def _number(text: str) -> int | None:
    """Return a number of at most 18 digits; None for any other text."""
    return int(text) if len(text) < 20 and text.removeprefix("-").isdecimal() else None


_KINDS = frozenset(kind.value for kind in EventKind)
_IN_SPANS = """
    no IN {nos:Array(UInt64)} AND arrayExists((n, first, last) -> no = n AND sequence BETWEEN first AND last,
        {nos:Array(UInt64)}, {firsts:Array(UInt32)}, {lasts:Array(UInt32)})
"""
_EVENTS = f"SELECT no, project, version, sequence, seconds, event FROM events WHERE {{where}} AND sequence < {HEAD}"  # noqa: S608  our own pieces
_ITEMS = f"""
    SELECT no, project, version, {", ".join(ITEM_COLUMNS)} FROM sessions WHERE no IN {{nos:Array(UInt64)}} AND NOT whole
"""  # noqa: S608  our own pieces
_BY_ID = """
    SELECT DISTINCT no, project, session_id FROM sessions
    WHERE hasAnyTokens(terms, {facts:Array(String)}) AND session_id IN {sessions:Array(String)}
"""
_STATE = """
    WITH own AS (SELECT project, writes FROM members WHERE role = currentUser() OR has(currentRoles(), role))
    SELECT currentUser(), (SELECT groupUniqArray(project) FROM own), (SELECT groupUniqArray(project) FROM own WHERE writes),
        groupUniqArray(toString(project)), countIf(whole), sum(events)
    FROM (SELECT project, gone, whole, events FROM sessions ORDER BY version DESC LIMIT 1 BY no, project) WHERE NOT gone
"""
