"""The address of a team's server and the connection to it.

Every message about a server is our own: a library's message may repeat a password.
"""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, Any, NamedTuple

from crucible.core.errors import ServerFailed, UsageError
from crucible.core.patterns import late_pattern

VARIABLE = "CRUCIBLE_RECALL_BACKEND"
"""The variable of the environment that counts before the setting."""

EMBEDDED = "embedded"
SCHEMES = ("postgresql://", "postgres://")

_ADDRESS_HINT = (
    "write postgresql://user@host:5432/database; in a password, @ is %40, : is %3A and / is %2F, "
    "or leave it out and keep it in ~/.pgpass"
)
_HERE = "`cru recall --here` asks the vault's own index meanwhile"
_CLEAR = late_pattern(r"[\w.,:/\[\] -]*")
_PORTS = late_pattern(r"[\d,]*")


class ServerPlace(NamedTuple):
    """A server as it may be shown: never with a password."""

    user: str
    host: str
    database: str

    def __str__(self) -> str:
        where = f" at {self.host}" if self.host else ""
        return f"PostgreSQL{where}"


def chosen_address(backend: str, env: Mapping[str, str]) -> str | None:
    """The server's address by the environment, else by the setting; None where the vault's own index is meant."""
    chosen = env.get(VARIABLE) or backend
    if chosen in ("", EMBEDDED):
        return None
    if not chosen.startswith(SCHEMES):
        raise UsageError("recall.backend: no address of a PostgreSQL server", _ADDRESS_HINT)
    return chosen


def library() -> Any:
    """The client library.  Raises `ServerFailed` where it is not installed."""
    # Only those who have a server need it, and it takes longer to load than most searches.
    try:
        import psycopg  # noqa: PLC0415
    except ImportError:
        hint = "in the folder that Crucible was installed from: pip install '.[postgres]'"
        raise ServerFailed("a PostgreSQL server is set, but its client library is not installed", hint) from None
    return psycopg


def place_of(address: str) -> ServerPlace:
    """What may be shown of an address.  Raises `UsageError` for what is none."""
    psycopg = library()
    try:
        told: dict[str, Any] = psycopg.conninfo.conninfo_to_dict(address)
    except psycopg.Error:
        raise UsageError("recall.backend: no address that can be read", _ADDRESS_HINT) from None
    host = str(told.get("host") or told.get("hostaddr") or "")
    named = host, str(told.get("dbname") or "")
    if not all(map(_CLEAR.fullmatch, named)) or not _PORTS.fullmatch(str(told.get("port") or "")):
        # A password with an @, a / or a : in it: what follows would be shown as the host.
        raise UsageError("recall.backend: no host that can be read", _ADDRESS_HINT)
    port = f":{told['port']}" if told.get("port") and not host.startswith("/") else ""
    return ServerPlace(_shown(told.get("user")), host + port, _shown(told.get("dbname")))


def _shown(value: object) -> str:
    text = str(value or "")
    return text if _CLEAR.fullmatch(text) else ""


_LOOK = {
    "user": "look at the name before the @ of recall.backend, or ask who runs it for a role",
    "database": "look at the name at the end of recall.backend, or ask who runs it to create the database",
}
_BY_STATE = {
    "28P01": ("refuses the password", "put the right one into ~/.pgpass (mode 600) or into PGPASSWORD"),
    "28000": ("refuses this user or this machine", "ask who runs it for a line in its pg_hba.conf"),
    "3D000": ("has no such database", _LOOK["database"]),
    "3F000": ("is not set up for recall", "who runs it does that once: see docs/teams.md"),
    "42P01": ("is not set up for recall", "who runs it does that once: see docs/teams.md"),
    "42501": ("lets this user do none of that", "ask who runs it to grant a project: see docs/teams.md"),
    "57014": ("is too slow", "ask less, or raise recall.timeout_seconds"),
    "55P03": ("is busy", "try again"),
    "40P01": ("is busy", "try again"),
    "57P01": ("was shut down", "try again when it runs"),
    "57P03": ("is starting or stopping", "try again in a moment"),
    "53300": ("has too many connections", "try again in a moment"),
    "53100": ("has no room left on its disk", "tell who runs it"),
    "25006": ("takes no writes: it is a standby", "push to the one that it follows"),
}
_BY_WORDS = (
    ("password", "28P01"),
    ("pg_hba", "28000"),
    ("starting up", "57P03"),
    ("shutting down", "57P03"),
    ("too many", "53300"),
    ("remaining connection slots", "53300"),
)
_NONE_SUCH = "is no PostgreSQL server"
_UNREACHED = (
    ("timeout expired", "does not answer"),
    ("translate host name", "is not found: no such host"),
    ("resolve host", "is not found: no such host"),
    ("name or service", "is not found: no such host"),
    ("name resolution", "is not found: the names of hosts cannot be looked up"),
    ("refused", "is not running there"),
    ("no such file", "is not running there"),
    ("invalid response", _NONE_SUCH),
    ("expected authentication request", _NONE_SUCH),
    ("certificate", "has a certificate that is not trusted"),
    ("ssl", "does not speak TLS as it is asked to"),
    # In the language of the server: what more it says nobody can know here.
    ("fatal", "does not let you in"),
)


def failure(error: Exception, place: ServerPlace) -> ServerFailed:
    """What is said of an error of the client library; raise it `from None`."""
    words = str(error).lower()
    state = getattr(error, "sqlstate", None) or next((s for part, s in _BY_WORDS if part in words), "")
    if state in _BY_STATE:
        said, hint = _BY_STATE[state]
    elif state.startswith("08") or (not state and isinstance(error, library().OperationalError)):
        if "does not exist" in words:
            what = "database" if 'database "' in words else "user"
            said, hint = f"has no such {what}", _LOOK[what]
        else:
            said = next((said for part, said in _UNREACHED if part in words), "cannot be reached")
            hint = _HERE
    else:
        said, hint = f"refused it ({type(error).__name__}{state and f', {state}'})", _HERE
    return ServerFailed(f"{place} {said}", hint, state)


if TYPE_CHECKING:
    import psycopg


_SOME = 3
"""Statements of a transaction."""
_OLDEST = 130000
"""PostgreSQL 13, as the server reports it."""


class Server:
    """One connection, opened when it is first needed and again after it was lost.  For one thread."""

    def __init__(self, address: str, seconds: float = 10.0, connecting: float | None = None) -> None:
        """`seconds` limits each statement, and connecting unless that has its own limit."""
        self._open: psycopg.Connection[tuple[Any, ...]] | None = None
        self.place: ServerPlace = place_of(address)
        self.seconds = max(0.1, seconds)
        self._connecting = connecting or self.seconds
        self._address = address

    @contextmanager
    def connection(self, statements: int = _SOME) -> Iterator[psycopg.Connection[tuple[Any, ...]]]:
        """The connection for a few statements; every failure, also a silent server, is a `ServerFailed`."""
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
"""Names are qualified, so a function of the same name in another schema is never called."""


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
