"""A connection to a team's server.

Owns how it is opened, how long anything may take, and that every error of the library becomes one line of ours.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from crucible.core.errors import ServerFailed
from crucible.search.postgres.address import Place, failure, library, place_of

if TYPE_CHECKING:
    import psycopg


_SOME = 3
"""Statements of a transaction."""
_OLDEST = 130000
"""PostgreSQL 13, as the server tells its version."""


class Server:
    """One connection, opened when it is first needed and again after it was lost.  For one thread."""

    def __init__(self, address: str, seconds: float = 10.0, connecting: float | None = None) -> None:
        """`seconds` is the longest that any statement may take, and connecting unless that is told."""
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self.place: Place = place_of(address)
        self.seconds = max(0.1, seconds)
        self._connecting = connecting or self.seconds
        self._address = address

    @contextmanager
    def connection(self, statements: int = _SOME) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """The connection for so many statements; what goes wrong among them is a `ServerFailed`, and so is a server that goes silent."""
        silent = threading.Event()
        try:
            connection = self._connected()
            with _impatience(connection.fileno(), statements * self.seconds + 1, silent):
                yield connection
        except library().Error as error:
            if self._open and self._open.broken:
                self.close()
            if silent.is_set():
                raise ServerFailed(f"{self.place} went silent", "try again when it answers") from None
            raise failure(error, self.place) from None

    def run(self, query: str, given: Any = None) -> list[tuple[Any, ...]]:
        """The rows of one statement, which is a transaction by itself unless one is open."""
        with self.connection(1) as connection:
            cursor = connection.execute(query.encode(), given)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Let go of the connection."""
        if self._open:
            with suppress(Exception):
                self._open.close()
            self._open = None

    def __del__(self) -> None:
        # A command asks once and ends: nobody need close what nobody holds.
        self.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._open is None or self._open.closed:
            self._open = self._connect()
        return self._open

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        opened: psycopg.Connection[tuple[Any, ...]] = library().connect(
            self._address,
            autocommit=True,
            connect_timeout=max(1, round(self._connecting)),
            application_name="crucible",
            client_encoding="UTF8",
        )
        if opened.info.server_version < _OLDEST:
            opened.close()
            raise ServerFailed(f"{self.place} is older than PostgreSQL 13", "recall needs 13 or newer")
        with _impatience(opened.fileno(), self._connecting + 1, threading.Event()):
            opened.execute(_BEGIN, [str(round(self.seconds * 1000)), str(round(self.seconds * 6000))])
        return opened


_BEGIN = b"""
    SELECT set_config('search_path', 'pg_catalog', false), set_config('statement_timeout', %s, false),
        set_config('idle_in_transaction_session_timeout', %s, false), set_config('client_min_messages', 'error', false),
        set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false),
        set_config('TimeZone', 'UTC', false)
"""
"""Names are written with their schema, so nobody's function of the same name in another schema is ever called."""


@contextmanager
def _impatience(fileno: int, seconds: float, silent: threading.Event) -> Iterator[None]:
    """End the connection when the block takes longer: a server that hangs keeps no timeout of its own."""
    line = socket.socket(fileno=os.dup(fileno))

    def end() -> None:
        silent.set()
        with suppress(OSError):
            line.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        line.close()
