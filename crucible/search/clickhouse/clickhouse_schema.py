"""The tables of a team's ClickHouse server, and who may see and write which rows.

Rows are only added: rows with a greater version replace a note, and a row marked `gone` removes it.  A row
policy lets users read, and a constraint lets them write, the projects that the table `members` grants them.
"""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

from crucible.core.errors import ServerFailed
from crucible.search.clickhouse.http_server import NONE_SUCH, ClickHouse
from crucible.search.team.team_address import HERE, NOT_GRANTED, NOT_SET_UP
from crucible.search.team.terms import UNDATED

VERSION = 1
"""The version of the tables that this version of Crucible reads and writes."""
_OLDEST = (26, 2)
"""The first version with text indexes that need no setting."""

_MINE = "role = currentUser() OR has(currentRoles(), role)"
WRITABLE = f"(SELECT project FROM members WHERE writes AND ({_MINE}))"  # noqa: S608  our own pieces
"""The projects that a user may write to; `*` is all."""


def _granted(database: str, condition: str) -> str:
    """Return the condition that a row's project is granted."""
    projects = f"(SELECT project FROM {database}.members WHERE {condition}({_MINE}))"  # noqa: S608  our own pieces
    return f"(project IN {projects} OR '*' IN {projects})"


EVENT_FIELDS = ("mark", "line", "micros", "event_type", "agent", "channel", "phase", "phase_name", "title", "text")
"""The fields of the column `event`, each with a NUL after it; its terms follow."""
HEAD = 2**32 - 1
"""The number of the row in `events` that has the terms of a session's head: its title and what else is not in its events."""
_FIELDS = ", ".join(f"{name} String ALIAS splitByChar('\\0', event)[{at}]" for at, name in enumerate(EVENT_FIELDS, 1))
_TABLES = (
    """CREATE TABLE IF NOT EXISTS {database}.members (role String, project String, writes Bool)
    ENGINE = MergeTree ORDER BY (role, project)""",
    # A note of a vault; `no` is a hash of its vault and path.  `version` is greater for a later state.  A row that is
    # `gone` removes the note.  `terms` are its facts and names; the rest is as in PostgreSQL.
    """CREATE TABLE IF NOT EXISTS {database}.sessions (
        no UInt64, project LowCardinality(String), version UInt64, gone Bool, month Date,
        vault LowCardinality(String), clone LowCardinality(String), key String, digest String CODEC(ZSTD(3)),
        session_id String CODEC(ZSTD(3)), path String CODEC(ZSTD(3)), title String CODEC(ZSTD(3)), branch LowCardinality(String),
        tags Array(LowCardinality(String)), parent String CODEC(ZSTD(3)), started Nullable(Int64) CODEC(ZSTD(3)),
        first Int64 CODEC(ZSTD(3)), last Int64 CODEC(ZSTD(3)), events UInt32 CODEC(ZSTD(3)), event_words UInt64 CODEC(ZSTD(3)),
        event_names UInt64 CODEC(ZSTD(3)), words UInt64 CODEC(ZSTD(3)), names UInt64 CODEC(ZSTD(3)), whole Bool,
        item_type LowCardinality(Nullable(String)), item_scope LowCardinality(Nullable(String)),
        item_domain LowCardinality(Nullable(String)), item_verified Nullable(Bool), item_used Nullable(UInt32),
        item_useful Nullable(UInt32), item_last_used Nullable(Int64), item_changed Nullable(Int64),
        terms Array(String) CODEC(ZSTD(9)),
        pushed DateTime('UTC') DEFAULT now() CODEC(ZSTD(3)), pushed_by LowCardinality(String) DEFAULT currentUser(),
        INDEX by_term terms TYPE text(tokenizer = 'array', posting_list_codec = 'bitpacking'),
        CONSTRAINT writable CHECK {writable},
        CONSTRAINT own CHECK pushed_by = currentUser()
    ) ENGINE = ReplacingMergeTree(version) PARTITION BY toYYYYMM(month) ORDER BY (no, project)
    SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 512""",
    # An event of a note.  `seconds` are since 1970.  `event` has the fields of `EVENT_FIELDS`: the stems of a text next to
    # it take a quarter of what they take in a column of their own.  `mark` is its id, without the session's if it begins
    # with it, and `micros` are its time after `seconds`.  There are no `terms` if it is not searched.  See also `HEAD`.
    """CREATE TABLE IF NOT EXISTS {database}.events (
        no UInt64 CODEC(ZSTD(3)), project LowCardinality(String), version UInt64 CODEC(ZSTD(3)), sequence UInt32 CODEC(Delta, ZSTD(3)), month Date CODEC(ZSTD(3)),
        seconds Int64 CODEC(Delta, ZSTD(3)), reply UInt32 CODEC(ZSTD(3)), kind Int8 CODEC(ZSTD(3)), words UInt32 CODEC(ZSTD(3)), names UInt32 CODEC(ZSTD(3)),
        event String CODEC(ZSTD(9)), pushed DateTime('UTC') DEFAULT now() CODEC(ZSTD(3)),
        {fields}, terms Array(String) ALIAS splitByChar(' ', splitByChar('\\0', event)[-1]),
        INDEX by_term terms TYPE text(tokenizer = 'array', posting_list_codec = 'bitpacking'),
        CONSTRAINT writable CHECK {writable}
    ) ENGINE = ReplacingMergeTree(version) PARTITION BY toYYYYMM(month) ORDER BY (no, project, sequence)
    SETTINGS non_replicated_deduplication_window = 1000, index_granularity = 512""",
    "CREATE TABLE IF NOT EXISTS {database}.kept (since Date) ENGINE = MergeTree ORDER BY since",
    "CREATE TABLE IF NOT EXISTS {database}.migrations (version UInt32, done DateTime('UTC') DEFAULT now()) ENGINE = MergeTree ORDER BY version",
)

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def stored_time(value: Any) -> Any:
    """Return a value as it is stored: a time as microseconds since 1970, a day as text, and any other as it is."""
    if isinstance(value, datetime):
        return (value - _EPOCH) // timedelta(microseconds=1)
    return value.isoformat() if isinstance(value, date) else value


def check_clickhouse(server: ClickHouse) -> None:
    """Raise `ServerFailed` unless the tables exist in this version."""
    try:
        (version, engine), *_ = server.run("SELECT max(version), version() FROM migrations")
        version, release = int(version), tuple(map(int, engine.split(".")[:2]))
    except (ValueError, TypeError, AttributeError):
        raise ServerFailed(f"{server.place} {NONE_SUCH}", HERE) from None
    if release < _OLDEST:
        raise ServerFailed(f"{server.place} is older than ClickHouse 26.2", "recall needs 26.2 or newer")
    if version == 0:
        raise ServerFailed(f"{server.place} {NOT_SET_UP[0]}", NOT_SET_UP[1])
    if version > VERSION:
        raise ServerFailed(f"{server.place} has tables from a newer Crucible", "update Crucible on this machine")


def kept_since(server: ClickHouse) -> tuple[date, date]:
    """Return the server's date and the first month that is kept."""
    today, since = server.run("SELECT toString(today()), toString(max(since)) FROM kept")[0]
    return date.fromisoformat(today), date.fromisoformat(since)


def set_up_clickhouse(server: ClickHouse) -> bool:
    """Create the tables, the row policies and the role of members; return False if that was done before."""
    database = server.place.database
    server.run(f"CREATE DATABASE IF NOT EXISTS {database}", within=False)
    for statement in setup_statements(database):
        server.run(statement)
    if server.run("SELECT 1 FROM migrations WHERE version = {version:UInt32}", {"version": VERSION}):
        check_clickhouse(server)
        return False
    server.run("INSERT INTO members SELECT currentUser(), '*', true")
    server.run(f"INSERT INTO migrations (version) SELECT {VERSION}")
    return True


def setup_statements(database: str) -> list[str]:
    """Return the statements that create what does not exist."""
    readable, writable = _granted(database, ""), _granted(database, "writes AND ")
    tables = [statement.format(database=database, writable=writable, fields=_FIELDS) for statement in _TABLES]
    policies = [
        f"CREATE ROW POLICY IF NOT EXISTS readable ON {database}.{table} FOR SELECT USING {condition} TO ALL"
        for table, condition in (("sessions", readable), ("events", readable), ("members", _MINE))
    ]
    return [*tables, *policies, *(statement.format(database=database) for statement in _RIGHTS)]


def prune_clickhouse(server: ClickHouse, before: datetime | None) -> tuple[int, int]:
    """Remove the months before a time, and rows of replaced and removed notes; return the number of rows and of notes."""
    check_clickhouse(server)
    if not server.run(_IS_OWNER):
        # Rows of projects that they cannot see would look like rows of removed notes.
        raise ServerFailed(f"{server.place} {NOT_GRANTED[0]}", "only a user who may write to all projects can prune")
    removed = _drop_months(server, before.date().replace(day=1)) if before else 0
    (many,) = server.run(_ROWS)[0]
    for table, statement in (("events", _FORGET_EVENTS), ("sessions", _FORGET_SESSIONS)):
        server.run(statement)
        server.run(f"OPTIMIZE TABLE {table} FINAL SETTINGS optimize_skip_merged_partitions = 1")
    return int(many) - int(server.run(_ROWS)[0][0]), removed


def _drop_months(server: ClickHouse, since: date) -> int:
    given = {"since": since.isoformat(), "undated": UNDATED.isoformat()}
    (notes,) = server.run(_OLD_NOTES, given)[0]
    server.run("INSERT INTO kept SELECT {since:Date}", given)
    for table in ("sessions", "events"):
        for (month,) in server.run(f"SELECT DISTINCT toYYYYMM(month) FROM {table} WHERE {_OLD}", given):  # noqa: S608  our own pieces
            server.run(f"ALTER TABLE {table} DROP PARTITION {int(month)}")
    return int(notes)


_RIGHTS = (
    "CREATE ROLE IF NOT EXISTS {database}_member",
    "GRANT SELECT ON {database}.* TO {database}_member",
    "GRANT INSERT ON {database}.sessions TO {database}_member",
    "GRANT INSERT ON {database}.events TO {database}_member",
)
_IS_OWNER = f"SELECT 1 FROM members WHERE project = '*' AND writes AND ({_MINE}) LIMIT 1"  # noqa: S608  our own pieces
_ROWS = "SELECT (SELECT count() FROM sessions) + (SELECT count() FROM events)"
_OLD = "month < {since:Date} AND month > {undated:Date}"
_OLD_NOTES = f"""
    SELECT countIf(NOT gone) FROM (SELECT gone FROM sessions WHERE {_OLD} ORDER BY version DESC LIMIT 1 BY no, project)
"""  # noqa: S608  our own pieces
_FORGET_EVENTS = """
    ALTER TABLE events DELETE WHERE (no, project, version) IN (
        SELECT e.no, e.project, e.version FROM (SELECT no, project, version, max(pushed) AS at FROM events GROUP BY no, project, version) AS e
        LEFT JOIN (
            SELECT no, project, max(version) AS newest, argMax(gone, version) AS removed FROM sessions GROUP BY no, project
        ) AS s ON e.no = s.no AND e.project = s.project
        WHERE e.version < s.newest OR (s.removed AND e.version = s.newest) OR (e.version > s.newest AND e.at < now() - INTERVAL 1 DAY)
    ) SETTINGS mutations_sync = 1
"""
"""Rows of a newer version belong to a running push, unless they are old."""
_FORGET_SESSIONS = """
    ALTER TABLE sessions DELETE WHERE (no, project, version) NOT IN (SELECT no, project, max(version) FROM sessions GROUP BY no, project)
    SETTINGS mutations_sync = 1
"""
