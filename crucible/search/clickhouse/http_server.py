"""The address of a team's ClickHouse server, and the connection to its HTTP interface.

Texts from the server are never shown: they may contain other people's data.
"""

from __future__ import annotations

import base64
import gzip
import re
import threading
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl, unquote, urlencode, urlsplit

import orjson

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

if TYPE_CHECKING:
    from http.client import HTTPConnection, HTTPResponse

DATABASE = "crucible"
"""The database of an address that names none."""
_PORT, _SECURE_PORT = 8123, 8443
_NAME = late_pattern(r"[A-Za-z_][A-Za-z0-9_]{0,60}")
_HERE = late_pattern(r"localhost|::1|127(\.\d{1,3}){3}")
_SECURE = {"true": True, "1": True, "": True, "false": False, "0": False}


class _Address(NamedTuple):
    host: str
    port: int
    secure: bool
    user: str
    password: str
    database: str


def place_of_clickhouse(address: str) -> ServerPlace:
    """Return the parts of an address that may be shown.  Raises `UsageError` if the address is invalid."""
    parts = _parsed(address)
    host = f"[{parts.host}]" if ":" in parts.host else parts.host
    return ServerPlace("ClickHouse", parts.user if is_clear(parts.user) else "", f"{host}:{parts.port}", parts.database)


def _parsed(address: str) -> _Address:
    try:
        url = urlsplit(address)
        host, port, options = url.hostname or "", url.port, dict(parse_qsl(url.query, keep_blank_values=True))
    except ValueError:
        raise UsageError("recall.backend: the address cannot be parsed", ADDRESS_HINT) from None
    database = url.path.removeprefix("/") or DATABASE
    # If the password contains @, / or :, part of it would be shown as the host.
    if not host or not is_clear(host) or not _NAME.fullmatch(database) or url.fragment:
        raise UsageError("recall.backend: the host or the database cannot be parsed", ADDRESS_HINT)
    is_secure = url.scheme == "clickhouses" or not _HERE.fullmatch(host)
    secure = _SECURE.get(options.pop("secure", "true" if is_secure else "false"))
    if secure is None or options:
        raise UsageError("recall.backend: only the option secure=true or secure=false is known", ADDRESS_HINT)
    user, password = unquote(url.username or "default"), unquote(url.password or "")
    return _Address(host, port or (_SECURE_PORT if secure else _PORT), secure, user, password, database)


class ClickHouse:
    """One connection, opened on first use and reopened after it is lost.  Not thread-safe."""

    def __init__(self, address: str, seconds: float = 10.0, connecting: float | None = None) -> None:
        """Limit each statement to `seconds`, and connecting to `connecting` seconds (default: `seconds`)."""
        self._open: HTTPConnection | None = None
        self.place: ServerPlace = place_of_clickhouse(address)
        self.seconds = max(0.1, seconds)
        self._connecting = connecting or self.seconds
        self._address = _parsed(address)

    def run(self, query: str, given: Mapping[str, Any] | None = None, *, within: bool = True) -> list[list[Any]]:
        """Run one statement and return its rows.  Names are those of the address's database, unless not `within` it.

        Parameters are `{name:Type}`; `given` has their values: texts, numbers, and lists of them.
        """
        settings = {"max_execution_time": str(max(1, round(self.seconds))), "default_format": "JSONCompact"}
        settings |= {"database": self.place.database} if within else {}
        answer = self._post(
            settings | {f"param_{name}": literal(value) for name, value in (given or {}).items()}, query
        )
        rows = _rows(answer)
        if rows is None or (not answer and query.split(maxsplit=1)[0] in _READING):
            raise _refusal(self.place, None, answer)
        return rows

    def insert(self, table: str, columns: Sequence[str], rows: Iterable[Sequence[Any]], token: str) -> None:
        """Insert rows as one block.  The server ignores a block with the `token` of an earlier one."""
        settings = {"database": self.place.database, "async_insert": "0", "insert_deduplication_token": token}
        query = f"INSERT INTO {table} ({', '.join(columns)}) FORMAT JSONCompactEachRow"
        if answer := self._post({**settings, "query": query}, b"\n".join(map(orjson.dumps, rows))):
            raise _refusal(self.place, None, answer)

    def close(self) -> None:
        """Close the connection."""
        if self._open:
            self._open.close()
            self._open = None

    def __del__(self) -> None:
        # Commands ask one question and exit without closing the connection.
        self.close()

    def _post(self, settings: Mapping[str, str], body: str | bytes) -> bytes:
        # Late: only server users need it.
        from http.client import HTTPException  # noqa: PLC0415

        url = "/?" + urlencode({"wait_end_of_query": "1", **settings})
        silent, reused = threading.Event(), self._open is not None
        data = gzip.compress(body.encode() if isinstance(body, str) else body, 1)
        try:
            try:
                return self._answer(url, data, silent)
            except ConnectionError:
                # A server closes a connection that is not used for some seconds.
                if silent.is_set() or not reused:
                    raise
                self.close()
                return self._answer(url, data, silent)
        except (OSError, ValueError, HTTPException) as error:  # ValueError for a broken length of a part
            self.close()
            raise ServerFailed(f"{self.place} {_unreached(error, is_silent=silent.is_set())}", HERE) from None

    def _answer(self, url: str, data: bytes, silent: threading.Event) -> bytes:
        connection = self._connected()
        credentials = base64.b64encode(f"{self._address.user}:{self._address.password}".encode()).decode()
        headers = {"Authorization": f"Basic {credentials}", "Content-Encoding": "gzip", "User-Agent": "crucible"}
        with time_limit(connection.sock.fileno(), self.seconds + 1, silent):
            connection.request("POST", url, data, headers)
            answer = connection.getresponse()
            body = _body(answer)
        code = answer.getheader("X-ClickHouse-Exception-Code")
        if code or answer.status != 200:
            raise _refusal(self.place, code, body)
        return body

    def _connected(self) -> HTTPConnection:
        # Late: only server users need them.
        import ssl  # noqa: PLC0415
        from http.client import HTTPConnection, HTTPSConnection  # noqa: PLC0415

        if self._open is None or self._open.sock is None:
            host, port, secure, *_ = self._address
            if secure:
                context = ssl.create_default_context()
                self._open = HTTPSConnection(host, port, timeout=self._connecting, context=context)
            else:
                self._open = HTTPConnection(host, port, timeout=self._connecting)
            self._open.connect()
            self._open.sock.settimeout(self.seconds + 2)
        return self._open


LARGEST_ANSWER = 1 << 29
"""Maximum bytes of an answer."""
_PART = 1 << 20
_READING = frozenset(("SELECT", "WITH"))
"""The first words of queries that have rows, if only none."""


def _body(answer: HTTPResponse) -> bytes:
    """Read an answer in parts: a server may announce or send any length.  Raises `HTTPException`."""
    from http.client import HTTPException, IncompleteRead  # noqa: PLC0415  only server users need them

    body = bytearray()
    while part := answer.read(_PART):
        body += part
        if len(body) > LARGEST_ANSWER:
            raise HTTPException("too large")
    if answer.length:
        raise IncompleteRead(b"")
    return bytes(body)


def _rows(answer: bytes) -> list[list[Any]] | None:
    """Return the rows of an answer in JSON; None if it has none, or reports an error after them."""
    if not answer:
        return []
    try:
        found = orjson.loads(answer)
    except ValueError:
        try:
            # Users can write any bytes as text, which must not hide the rows of others.
            found = orjson.loads(answer.decode("utf-8", "replace"))
        except ValueError:
            return None
    rows = found.get("data") if isinstance(found, dict) and "exception" not in found else None
    return rows if isinstance(rows, list) else None


_LONGEST = 1_000
"""Maximum code points of a text in a question: no stored term is longer, and servers limit the length of a request."""
_ESCAPES = str.maketrans({"\\": "\\\\", "\t": "\\t", "\n": "\\n", "\r": "\\r", "\0": "\\0"})


def literal(value: Any) -> str:
    """Return a parameter's value in the form that the server reads."""
    if isinstance(value, str):
        return value[:_LONGEST].encode("utf-8", "replace").decode().translate(_ESCAPES)
    if isinstance(value, (list, tuple)):
        return f"[{','.join(map(_quoted, value))}]"
    return str(value)


def _quoted(value: Any) -> str:
    if isinstance(value, str):
        text = literal(value).replace("'", "\\'")
        return f"'{text}'"
    return literal(value)


NONE_SUCH = "is not a ClickHouse server"
_CODE = late_pattern(rb"(?:^|\"exception\": ?\")Code: (\d+)\.", re.MULTILINE)
_PASSWORD = ("refuses this user or the password", "check the user in recall.backend, and CLICKHOUSE_PASSWORD")
_BUSY = ("is busy", "try again")
_BY_CODE = {
    "60": NOT_SET_UP,
    "81": NOT_SET_UP,
    "159": ("is too slow", "shorten the query, or raise recall.timeout_seconds"),
    "160": ("is too slow", "shorten the query, or raise recall.timeout_seconds"),
    "164": (
        "does not let this user change settings",
        "its administrator sets readonly to 0 or 2 in the user's profile",
    ),
    "192": _PASSWORD,
    "193": _PASSWORD,
    "194": _PASSWORD,
    "201": ("has a quota that is used up", "try again later, or ask its administrator"),
    "202": _BUSY,
    "203": _BUSY,
    "241": ("has too little memory for this", "ask its administrator to raise max_memory_usage"),
    "242": ("is read-only", "ask its administrator"),
    "243": ("has no disk space left", "ask its administrator to free some"),
    "252": _BUSY,
    "469": NOT_GRANTED,
    "497": NOT_GRANTED,
    "516": _PASSWORD,
}
DENIED = frozenset({"469", "497"})
"""The codes of a project that a user may not write to."""


def _refusal(place: ServerPlace, header: str | None, body: bytes) -> ServerFailed:
    """Return the exception for an answer that is an error."""
    found = _CODE.search(body)
    code = header or (found[1].decode() if found else "")
    if not code:
        return ServerFailed(f"{place} {NONE_SUCH}", HERE)
    message, hint = _BY_CODE.get(code, (f"refused it (code {code})", HERE))
    return ServerFailed(f"{place} {message}", hint, code)


def _unreached(error: Exception, *, is_silent: bool) -> str:
    """Return the reason why a server does not answer."""
    import socket  # noqa: PLC0415  only server users need them
    import ssl  # noqa: PLC0415
    from http.client import IncompleteRead  # noqa: PLC0415

    kinds: Sequence[tuple[type[Exception], str]] = (
        (socket.gaierror, "is not found: no such host"),
        (ConnectionRefusedError, "is not running there"),
        (ssl.SSLCertVerificationError, "has a certificate that is not trusted"),
        (ssl.SSLError, "does not support the requested TLS mode"),
        (TimeoutError, "does not answer"),
        (OSError, "cannot be reached"),
    )
    if is_silent or isinstance(error, IncompleteRead):
        return "stopped answering"
    return next((message for kind, message in kinds if isinstance(error, kind)), NONE_SUCH)
