"""The address of a team's server, and what the connections to all kinds of servers have in common."""

from __future__ import annotations

import os
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import NamedTuple
from urllib.parse import quote

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.search.background_update import BACKEND_VARIABLE, EMBEDDED

CLICKHOUSE_SCHEMES = ("clickhouse://", "clickhouses://")
_SCHEMES = ("postgresql://", "postgres://", *CLICKHOUSE_SCHEMES)
ADDRESS_HINT = (
    "write postgresql://user@host:5432/database or clickhouse://user@host:8443/database; in a password, @ is %40, "
    ": is %3A and / is %2F, or leave it out: see docs/teams.md"
)
HERE = 'meanwhile, "cru recall --here" searches the vault\'s own index'
NOT_SET_UP = ("is not set up for recall", 'its administrator runs "cru team setup" once: see docs/teams.md')
NOT_GRANTED = ("does not allow this user to do that", "ask its administrator to grant a project: see docs/teams.md")
_CLEAR = late_pattern(r"[\w.,:/\[\] -]*")


class ServerPlace(NamedTuple):
    """The parts of a server's address that may be shown; never the password."""

    engine: str
    user: str
    host: str
    database: str

    def __str__(self) -> str:
        where = f" at {self.host}" if self.host else ""
        return f"{self.engine}{where}"


def chosen_address(backend: str, env: Mapping[str, str]) -> str | None:
    """Return the server's address from the environment or the setting; None for the vault's own index.

    A ClickHouse server's address without a password gets that of `CLICKHOUSE_PASSWORD`.
    """
    chosen = env.get(BACKEND_VARIABLE) or backend
    if chosen in EMBEDDED:
        return None
    if not chosen.startswith(_SCHEMES):
        raise UsageError("recall.backend: not the address of a PostgreSQL or ClickHouse server", ADDRESS_HINT)
    password = env.get("CLICKHOUSE_PASSWORD")
    if password and chosen.startswith(CLICKHOUSE_SCHEMES):
        scheme, _, rest = chosen.partition("://")
        user, at, place = rest.partition("@")
        if at and ":" not in user:
            return f"{scheme}://{user}:{quote(password, safe='')}@{place}"
    return chosen


def is_clear(text: str) -> bool:
    """Return whether a part of an address may be shown: it cannot be a part of a password with `@` or `/`."""
    return bool(_CLEAR.fullmatch(text))


@contextmanager
def time_limit(fileno: int, seconds: float, silent: threading.Event) -> Iterator[None]:
    """Shut down a connection if the block takes longer: a hanging server does not enforce its own timeouts."""
    connection = socket.socket(fileno=os.dup(fileno))

    def end() -> None:
        silent.set()
        with suppress(OSError):
            connection.shutdown(socket.SHUT_RDWR)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        connection.close()
