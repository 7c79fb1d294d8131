"""Open a team's server: PostgreSQL or ClickHouse, by its address."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from datetime import datetime

from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_rules import Audience
from crucible.search.clickhouse.clickhouse_push import ClickHousePush
from crucible.search.clickhouse.clickhouse_rows import ClickHouseTables
from crucible.search.clickhouse.clickhouse_schema import prune_clickhouse, set_up_clickhouse
from crucible.search.clickhouse.http_server import ClickHouse, place_of_clickhouse
from crucible.search.near_words import FindNear, no_near
from crucible.search.postgres.address import Server, place_of
from crucible.search.postgres.postgres_push import PostgresPush
from crucible.search.postgres.server_rows import PostgresTables
from crucible.search.postgres.server_tables import prune, set_up
from crucible.search.team.push import BATCH, Pusher, PushTables
from crucible.search.team.team_address import CLICKHOUSE_SCHEMES, ServerPlace
from crucible.search.team.team_recall import TeamRecall, TeamTables

_USUAL = KnowledgeSettings()


def open_team(
    address: str,
    *,
    seconds: float = 10.0,
    viewer: Audience | None = None,
    knowledge: KnowledgeSettings = _USUAL,
    near: FindNear = no_near,
) -> TeamRecall:
    """Search the server at `address` (`postgresql://…` or `clickhouse://…`), which is contacted on the first question.

    `seconds` limits each statement.  Only knowledge that `viewer` may see is found; by default, the viewer is the
    question's project.  `knowledge` has the settings for weights, `near` finds near words.  Raises `UsageError` if the address is invalid.  All
    methods raise `ServerFailed` if the server is down, slow, refuses access, or is not set up.
    """
    return TeamRecall(_tables(address, seconds), viewer, knowledge, near)


def open_pusher(
    address: str, vault: str, clone: str = "", *, seconds: float = 60.0, connecting: float = 10.0, batch: int = BATCH
) -> Pusher:
    """Return a `Pusher` for the server at `address`, of `batch` notes at once.  `connecting` is the maximum seconds to connect."""
    tables: PushTables
    if _is_clickhouse(address):
        tables = ClickHousePush(ClickHouse(address, seconds, connecting))
    else:
        tables = PostgresPush(Server(address, seconds, connecting))
    return Pusher(tables, vault, clone, batch)


def set_up_server(address: str, *, seconds: float = 60.0, connecting: float = 10.0) -> bool:
    """Create or migrate the tables; return False if they are up to date.  Requires the right to create a schema."""
    if _is_clickhouse(address):
        with closing(ClickHouse(address, seconds, connecting)) as clickhouse:
            return set_up_clickhouse(clickhouse)
    with closing(Server(address, seconds, connecting)) as server:
        return set_up(server)


def prune_server(
    address: str, before: datetime | None = None, *, seconds: float = 3600.0, connecting: float = 10.0
) -> tuple[int, int]:
    """Drop the months before a time, and merge the rows of many pushes.  Only the owner may.

    Return the number of merged rows and of removed notes.
    """
    if _is_clickhouse(address):
        with closing(ClickHouse(address, seconds, connecting)) as clickhouse:
            return prune_clickhouse(clickhouse, before)
    with closing(Server(address, seconds, connecting)) as server:
        return prune(server, before)


def server_place(address: str) -> ServerPlace:
    """Return the parts of an address that may be shown.  Raises `UsageError` if the address is invalid."""
    return place_of_clickhouse(address) if _is_clickhouse(address) else place_of(address)


def grant_example(address: str) -> Sequence[str]:
    """Return the SQL that lets anna read and push the project apollo."""
    if _is_clickhouse(address):
        database = server_place(address).database
        return (f"GRANT {database}_member TO anna;", f"INSERT INTO {database}.members VALUES ('anna', 'apollo', true);")  # noqa: S608  our own pieces
    return ("SELECT crucible.grant_project('anna', 'apollo', true);",)


def _tables(address: str, seconds: float) -> TeamTables:
    if _is_clickhouse(address):
        return ClickHouseTables(ClickHouse(address, seconds))
    return PostgresTables(Server(address, seconds))


def _is_clickhouse(address: str) -> bool:
    return address.startswith(CLICKHOUSE_SCHEMES)
