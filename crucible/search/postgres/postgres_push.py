"""Write the notes of a vault to a team's PostgreSQL server: each batch in one transaction."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date
from itertools import chain
from typing import TYPE_CHECKING, Any, TypeAlias

from crucible.core.errors import ServerFailed
from crucible.search.postgres.address import Server
from crucible.search.postgres.batch_rows import insert_batch
from crucible.search.postgres.server_tables import check_ready
from crucible.search.team.push import Known, NewNote, Stored, settle

if TYPE_CHECKING:
    import psycopg

_Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"

_ATTEMPTS = 3


class PostgresPush:
    """Implements `PushTables`.  A project is written as its number."""

    def __init__(self, server: Server) -> None:
        """Write to `server`, which is contacted on first use."""
        self._server = server
        self._months: set[date] = set()

    def start(self) -> tuple[date, date]:
        """See `PushTables`."""
        check_ready(self._server)
        today, since = self._server.run("SELECT current_date, since FROM crucible.kept")[0]
        return today, since

    def stored(self, vault: str) -> dict[str, Stored]:
        """See `PushTables`."""
        return _stored(self._server.run(_STORED.decode(), [vault]))

    def project(self, name: str) -> int | None:
        """See `PushTables`."""
        try:
            found = self._server.run(_PROJECT, [name]) or self._server.run(_NEW_PROJECT, [name])
            found = found and self._server.run(_PROJECT, [name])
        except ServerFailed as error:
            if error.state != _DENIED:
                raise
            found = []
        return found[0][0] if found else None

    def write(self, vault: str, rows: Sequence[NewNote], known: Known) -> list[str]:
        """See `PushTables`."""
        for month in {one.head["month"] for one in rows}:
            self._make_month(month)
        for attempt in range(_ATTEMPTS):
            try:
                with self._server.connection(_STATEMENTS) as connection, connection.transaction():
                    return _write(connection, vault, rows, known)
            except ServerFailed as error:
                # The transaction was rolled back, so it can be retried.
                if error.state in _AGAIN and attempt < _ATTEMPTS - 1:
                    continue
                outcome = _rejected(error)
                # One note of the batch was rejected: find it.
                single = ([one] for one in rows)
                return (
                    [outcome]
                    if len(rows) == 1
                    else [*chain.from_iterable(self.write(vault, one, known) for one in single)]
                )
        return []

    def remove(self, vault: str, keys: Sequence[str]) -> int:
        """See `PushTables`."""
        with self._server.connection() as connection, connection.transaction():
            connection.execute(_LOCK, [vault])
            return connection.execute(_DELETE, [vault, list(keys)]).rowcount

    def close(self) -> None:
        """See `PushTables`."""
        self._server.close()

    def _make_month(self, month: date) -> None:
        """Create a month's partition outside any transaction: this waits for writers, so they must not wait for it."""
        if month not in self._months:
            self._server.run("SELECT crucible.make_month(%s)", [month])
            self._months.add(month)


def _write(connection: _Connection, vault: str, rows: Sequence[NewNote], known: Known) -> list[str]:
    """Write a batch in a transaction; return the outcome of each note."""
    # A second writer of this vault waits here, then finds which notes are up to date.
    connection.execute(_LOCK, [vault])
    there = connection.execute(_STORED + b" AND key = ANY (%s)", [vault, [one.head["key"] for one in rows]])
    settled = settle(rows, _stored(there.fetchall()), known)
    if settled.keys:
        connection.execute(_DELETE, [vault, settled.keys])
    insert_batch(connection, [one[:2] for one in settled.sent])
    return settled.outcomes


def _stored(rows: Sequence[Sequence[Any]]) -> dict[str, Stored]:
    return {key: Stored(*rest) for key, *rest in rows}


_DENIED, _DUPLICATE = "42501", "23505"
_AGAIN = frozenset({"40P01", "40001", "55P03"})


def _rejected(error: ServerFailed) -> str:
    """Return the outcome for a rejected note.  Re-raises the error if the server itself is down or full."""
    if error.state in (_DENIED, _DUPLICATE):
        # The duplicate is in a project that this user may not see.
        return "refused"
    if error.state[:2] in ("22", "23", "54"):
        return "failed"
    raise error


_STATEMENTS = 12
_PROJECT = "SELECT no FROM crucible.projects WHERE name = %s AND no = ANY (crucible.writable())"
_NEW_PROJECT = "INSERT INTO crucible.projects (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING no"
_LOCK = b"SELECT pg_advisory_xact_lock(hashtextextended(%s, 0))"
_STORED = b"SELECT key, digest, clone, last, session_id FROM crucible.sessions WHERE vault = %s"
_DELETE = b"DELETE FROM crucible.sessions WHERE vault = %s AND key = ANY (%s)"
