"""Write the notes of a vault to a team's ClickHouse server.

A batch is a block of events and then a block of sessions, which makes them visible.  Numbers and versions follow from
the notes, so an interrupted push sends the same blocks again, and the server stores them once.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from hashlib import blake2b
from typing import Any, NamedTuple

from crucible.core.errors import ServerFailed
from crucible.search.clickhouse.clickhouse_schema import (
    EVENT_FIELDS,
    HEAD,
    WRITABLE,
    check_clickhouse,
    kept_since,
    stored_time,
)
from crucible.search.clickhouse.http_server import DENIED, ClickHouse
from crucible.search.clickhouse.stored_terms import leveled, stored_term
from crucible.search.recall import Event
from crucible.search.team.conditions import OF_SESSION
from crucible.search.team.push import Known, NewNote, Stored, settle
from crucible.search.team.terms import ITEM_COLUMNS, TermCounts, fact_term, storable, terms_of_events, terms_of_head

_KEY_BITS, _DIGEST_BITS = 44, 32
_GREATEST = 2**64 - 1


class _Held(NamedTuple):
    """The newest row of a note on the server."""

    no: int
    project: str
    version: int
    gone: bool
    month: str
    note: Stored


class ClickHousePush:
    """Implements `PushTables`.  A project is written as its name."""

    def __init__(self, server: ClickHouse) -> None:
        """Write to `server`, which is contacted on first use."""
        self._server = server

    def start(self) -> tuple[date, date]:
        """See `PushTables`."""
        check_clickhouse(self._server)
        return kept_since(self._server)

    def stored(self, vault: str) -> dict[str, Stored]:
        """See `PushTables`."""
        first = _hash(vault, 64 - _KEY_BITS) << _KEY_BITS
        given = {"vault": vault, "first": first, "last": first + (1 << _KEY_BITS) - 1}
        held = _held(self._server.run(_STORED_OF_VAULT, given))
        return {key: one.note for key, one in held.items() if not one.gone}

    def project(self, name: str) -> str | None:
        """See `PushTables`."""
        return name if self._server.run(_MAY_WRITE, {"project": name}) else None

    def write(self, vault: str, rows: Sequence[NewNote], known: Known) -> list[str]:
        """See `PushTables`."""
        renamed = (key for some in known.renamed.values() for key in some)
        held = self._held(vault, [*(one.head["key"] for one in rows), *renamed])
        settled = settle(rows, {key: one.note for key, one in held.items() if not one.gone}, known)
        sent = {one.head["key"]: _Numbered.of(vault, one, held) for one in settled.sent}
        replaced = ((key, held[key]) for key in settled.keys)
        gone = [(key, old) for key, old in replaced if key not in sent or sent[key].new.head["project"] != old.project]
        try:
            self._insert(
                "events", _EVENT_COLUMNS, (row for one in sent.values() for row in one.events()), sent.values()
            )
            rows_of_sessions = [*(one.session() for one in sent.values()), *(_gone(vault, *one) for one in gone)]
            self._insert_sessions(rows_of_sessions)
        except ServerFailed as error:
            if error.state in DENIED:
                return ["refused"] * len(rows)
            raise
        return settled.outcomes

    def remove(self, vault: str, keys: Sequence[str]) -> int:
        """See `PushTables`."""
        gone = [_gone(vault, key, one) for key, one in self._held(vault, keys).items() if not one.gone]
        self._insert_sessions(gone)
        return len(gone)

    def close(self) -> None:
        """See `PushTables`."""
        self._server.close()

    def _held(self, vault: str, keys: Sequence[str]) -> dict[str, _Held]:
        return _held(self._server.run(_STORED, {"vault": vault, "nos": sorted(_number(vault, key) for key in keys)}))

    def _insert(
        self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], sent: Iterable[_Numbered]
    ) -> None:
        token = _token(table, [(one.no, one.version) for one in sent])
        found = list(rows)
        if found:
            self._server.insert(table, columns, found, token)

    def _insert_sessions(self, rows: Sequence[Mapping[str, Any]]) -> None:
        if rows:
            token = _token("sessions", [(row["no"], row["version"]) for row in rows])
            self._server.insert(
                "sessions", _SESSION_COLUMNS, ([row.get(name) for name in _SESSION_COLUMNS] for row in rows), token
            )


class _Numbered(NamedTuple):
    """A note to send with its number and its version."""

    new: NewNote
    no: int
    version: int

    @classmethod
    def of(cls, vault: str, new: NewNote, held: Mapping[str, _Held]) -> _Numbered:
        """Number a note; `held` are the notes on the server by key."""
        key = new.head["key"]
        return cls(new, _number(vault, key), _version_after(held[key].version if key in held else 0, new.note.digest))

    def session(self) -> dict[str, Any]:
        """Return the row of `sessions`, by column."""
        terms = [stored_term(term) for term in self.new.rows.counts if not term.startswith("w")]
        head = {name: stored_time(value) for name, value in self.new.head.items()}
        return {**head, "no": self.no, "version": self.version, "gone": False, "terms": terms}

    def events(self) -> Iterator[Sequence[Any]]:
        """Yield the rows of `events`."""
        rows, head = self.new.rows, self.new.head
        terms = terms_of_events(rows)
        # Facts of the session, so that a condition on them reads no other table.
        common = [stored_term(term) for term in rows.counts if term.startswith(_OF_SESSION)]
        place = (self.no, head["project"], self.version, head["month"].isoformat())
        for at, event in enumerate(self.new.note.document.events):
            found = terms.get(at, _NO_TERMS)
            stored = [*(common if found.terms else ()), *leveled(found, event.text)]
            packed = _packed(event, head["session_id"], rows.times[at], stored)
            yield (*place, at, rows.times[at], rows.replies[at], rows.kinds[at], found.words, found.names, packed)
        if rows.whole:
            packed = "\0" * len(EVENT_FIELDS) + " ".join([*common, *leveled(terms_of_head(rows))])
            yield (*place, HEAD, rows.first, 0, -2, 0, 0, packed)


def _packed(event: Event, session: str, seconds: int, terms: Sequence[str]) -> str:
    """Return the column `event`, see `EVENT_FIELDS`."""
    micros = "" if event.at is None else str(stored_time(event.at) - seconds * 1_000_000)
    facts = (event.id.removeprefix(session), str(event.line), micros, event.kind.value, event.agent, event.channel)
    return "\0".join(map(storable, (*facts, event.phase, event.phase_name, event.title, event.text, " ".join(terms))))


_OF_SESSION = tuple(fact_term(field, "") for field in OF_SESSION)
_NO_TERMS = TermCounts([], [])


def _held(rows: Iterable[Sequence[Any]]) -> dict[str, _Held]:
    """Return notes by key from rows, oldest version first.  A note may have been removed from one project only."""
    found: dict[str, _Held] = {}
    for key, no, project, version, gone, month, *note in rows:
        old = found.get(key)
        one = _Held(int(no), project, int(version), gone, month, Stored(*note))
        found[key] = old._replace(version=one.version) if old and gone and not old.gone else one
    return found


def _gone(vault: str, key: str, one: _Held) -> dict[str, Any]:
    """Return the row of `sessions` that removes a note."""
    version = _version_after(one.version, "")
    return {
        "no": one.no,
        "project": one.project,
        "version": version,
        "gone": True,
        "month": one.month,
        "vault": vault,
        "key": key,
    }


def _number(vault: str, key: str) -> int:
    """Return the number of a note; the numbers of a vault are near each other."""
    return _hash(vault, 64 - _KEY_BITS) << _KEY_BITS | _hash(f"{vault}/{key}", _KEY_BITS)


def _version_after(version: int, digest: str) -> int:
    """Return the version of a note's next state; different states pushed at the same time get different versions.

    If another writer stored the greatest version, it stays, so that the rest of the batch can be stored.
    """
    return min((version >> _DIGEST_BITS) + 1 << _DIGEST_BITS | _hash(digest, _DIGEST_BITS), _GREATEST)


def _hash(text: str, bits: int) -> int:
    return int.from_bytes(blake2b(text.encode(), digest_size=8).digest(), "big") >> 64 - bits


def _token(table: str, states: Sequence[tuple[int, int]]) -> str:
    return blake2b(repr((table, states)).encode(), digest_size=16).hexdigest()


_SESSION_COLUMNS = (
    *(
        "no",
        "project",
        "version",
        "gone",
        "month",
        "vault",
        "clone",
        "key",
        "digest",
        "session_id",
        "path",
        "title",
        "branch",
    ),
    *("tags", "parent", "started", "first", "last", "events", "event_words", "event_names", "words", "names", "whole"),
    *(*ITEM_COLUMNS, "terms"),
)
_EVENT_COLUMNS = (
    *(
        "no",
        "project",
        "version",
        "month",
        "sequence",
    ),
    *("seconds", "reply", "kind", "words", "names", "event"),
)
_NEWEST = """
    SELECT key, no, project, version, gone, toString(month), digest, clone, last, session_id FROM sessions
    WHERE vault = {{vault:String}} AND {where} ORDER BY version DESC LIMIT 1 BY no, project
"""
_STORED = f"SELECT * FROM ({_NEWEST.format(where='no IN {nos:Array(UInt64)}')}) ORDER BY version"  # noqa: S608  our own pieces
_OF_VAULT = "no BETWEEN {first:UInt64} AND {last:UInt64}"
_STORED_OF_VAULT = f"SELECT * FROM ({_NEWEST.format(where=_OF_VAULT)}) ORDER BY version"  # noqa: S608  our own pieces
_MAY_WRITE = f"SELECT 1 WHERE {{project:String}} IN {WRITABLE} OR '*' IN {WRITABLE}"
