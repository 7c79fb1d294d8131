"""The address of a team's PostgreSQL server, and the connection to it.

Messages from the client library are never shown: they may contain a password.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any

from crucible.core.command_lines import install_command
from crucible.core.errors import ServerFailed, UsageError
from crucible.core.patterns import late_pattern
from crucible.search.team.team_address import (
    ADDRESS_HINT,
    HERE,
    NOT_GRANTED,
    NOT_SET_UP,
    ServerPlace,
    is_clear,
    time_limit,
)

_PORTS = late_pattern(r"[\d,]*")


def postgres_client() -> Any:
    """Import the client library.  Raises `ServerFailed` if it is not installed."""
    # Late: only server users need it, and importing it takes longer than most searches.
    try:
        import psycopg  # noqa: PLC0415
    except ImportError:
        what = "recall.backend names a PostgreSQL server, but its client library is not installed"
        raise ServerFailed(what, f"Run: {install_command('postgres')}") from None
    return psycopg


def place_of(address: str) -> ServerPlace:
    """Return the parts of an address that may be shown.  Raises `UsageError` if the address is invalid."""
    psycopg = postgres_client()
    try:
        fields: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        raise UsageError("recall.backend: the address cannot be parsed", ADDRESS_HINT) from None
    host = str(fields.get("host") or fields.get("hostaddr") or "")
    shown = host, str(fields.get("dbname") or "")
    if not all(map(is_clear, shown)) or not _PORTS.fullmatch(str(fields.get("port") or "")):
        # If the password contains @, / or :, part of it would be shown as the host.
        raise UsageError("recall.backend: the host cannot be parsed", ADDRESS_HINT)
    port = f":{fields['port']}" if fields.get("port") and not host.startswith("/") else ""
    return ServerPlace("PostgreSQL", _shown(fields.get("user")), host + port, _shown(fields.get("dbname")))


def _shown(value: object) -> str:
    text = str(value or "")
    return text if is_clear(text) else ""


_LOOK = {
    "user": "check the name before the @ in recall.backend, or ask its administrator for a role",
    "database": "check the name at the end of recall.backend, or ask its administrator to create the database",
}
_BY_STATE = {
    "28P01": ("refuses the password", "set the right one in ~/.pgpass (mode 600) or in PGPASSWORD"),
    "28000": ("refuses this user or this machine", "ask its administrator for an entry in pg_hba.conf"),
    "3D000": ("does not have this database", _LOOK["database"]),
    "3F000": NOT_SET_UP,
    "42P01": NOT_SET_UP,
    "42501": NOT_GRANTED,
    "57014": ("is too slow", "shorten the query, or raise recall.timeout_seconds"),
    "55P03": ("is busy", "try again"),
    "40P01": ("is busy", "try again"),
    "57P01": ("was shut down", "try again when it runs"),
    "57P03": ("is starting or stopping", "try again in a moment"),
    "53300": ("has too many connections", "try again in a moment"),
    "53100": ("has no disk space left", "ask its administrator to free some"),
    "25006": ("is a read-only standby", "push to its primary"),
}
_BY_WORDS = (
    ("password", "28P01"),
    ("pg_hba", "28000"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
    ("too many", "53300"),
    ("remaining connection slots", "53300"),
)
_NONE_SUCH = "is not a PostgreSQL server"
_UNREACHED = (
    ("timeout expired", "does not answer"),
    ("translate host name", "is not found: no such host"),
    ("resolve host", "is not found: no such host"),
    ("name or service", "is not found: no such host"),
    ("name resolution", "is not found: host names cannot be resolved"),
    ("refused", "is not running there"),
    ("no such file", "is not running there"),
    ("invalid response", _NONE_SUCH),
    ("expected authentication request", _NONE_SUCH),
    ("certificate", "has a certificate that is not trusted"),
    ("ssl", "does not support the requested TLS mode"),
    # The rest of a fatal error is in the server's language and cannot be parsed here.
    ("fatal", "rejects the connection"),
)


def server_error(error: Exception, place: ServerPlace) -> ServerFailed:
    """Return the exception for an error of the client library; raise it `from None`."""
    words = str(error).lower()
    state = getattr(error, "sqlstate", None) or next((s for part, s in _BY_WORDS if part in words), "")
    if state in _BY_STATE:
        message, hint = _BY_STATE[state]
    elif state.startswith("08") or (not state and isinstance(error, postgres_client().OperationalError)):
        if "does not exist" in words:
            what = "database" if 'database "' in words else "user"
            message, hint = f"does not have this {what}", _LOOK[what]
        else:
            message = next((message for part, message in _UNREACHED if part in words), "cannot be reached")
            hint = HERE
    else:
        message, hint = f"refused it ({type(error).__name__}{state and f', {state}'})", HERE
    return ServerFailed(f"{place} {message}", hint, state)


if TYPE_CHECKING:
    import psycopg


_USUAL_STATEMENTS = 3
"""Number of statements in a typical transaction."""
_OLDEST = 130000
"""The version number that PostgreSQL 13 reports; older servers are not supported."""


class Server:
    """One connection, opened on first use and reopened after it is lost.  Not thread-safe."""

    def __init__(self, address: str, seconds: float = 10.0, connecting: float | None = None) -> None:
        """Limit each statement to `seconds`, and connecting to `connecting` seconds (default: `seconds`)."""
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self.place: ServerPlace = place_of(address)
        self.seconds = max(0.1, seconds)
        self._connecting = connecting or self.seconds
        self._address = address

    @contextmanager
    def connection(self, statements: int = _USUAL_STATEMENTS) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """Yield the connection, for a few statements.  All failures, even a hanging server, raise `ServerFailed`."""
        silent = threading.Event()
        try:
            connection = self._connected()
            with time_limit(connection.fileno(), statements * self.seconds + 1, silent):
                yield connection
        except postgres_client().Error as error:
            if self._open and self._open.broken:
                self.close()
            if silent.is_set():
                raise ServerFailed(f"{self.place} stopped answering", "try again when it answers") from None
            raise server_error(error, self.place) from None

    def run(self, query: str, given: Any = None) -> list[tuple[Any, ...]]:
        """Run one statement and return its rows.  It is its own transaction unless one is open."""
        with self.connection(1) as connection:
            cursor = connection.execute(query.encode(), given)
            return cursor.fetchall() if cursor.description else []

    def close(self) -> None:
        """Close the connection."""
        if self._open:
            with suppress(Exception):
                self._open.close()
            self._open = None

    def __del__(self) -> None:
        # Commands ask one question and exit without closing the connection.
        self.close()

    def _connected(self) -> psycopg.Connection[tuple[Any, ...]]:
        if self._open is None or self._open.closed:
            self._open = self._connect()
        return self._open

    def _connect(self) -> psycopg.Connection[tuple[Any, ...]]:
        opened: psycopg.Connection[tuple[Any, ...]] = postgres_client().connect(
            self._address,
            autocommit=True,
            connect_timeout=max(1, round(self._connecting)),
            application_name="crucible",
            client_encoding="UTF8",
        )
        if opened.info.server_version < _OLDEST:
            opened.close()
            raise ServerFailed(f"{self.place} is older than PostgreSQL 13", "recall needs 13 or newer")
        with time_limit(opened.fileno(), self._connecting + 1, threading.Event()):
            opened.execute(_BEGIN, [str(round(self.seconds * 1000)), str(round(self.seconds * 6000))])
        return opened


_BEGIN = b"""
    SELECT set_config('search_path', 'pg_catalog', false), set_config('statement_timeout', %s, false),
        set_config('idle_in_transaction_session_timeout', %s, false), set_config('client_min_messages', 'error', false),
        set_config('plan_cache_mode', 'force_custom_plan', false), set_config('jit', 'off', false),
        set_config('TimeZone', 'UTC', false)
"""
"""This search path prevents calls of functions with the same name in other schemas."""
