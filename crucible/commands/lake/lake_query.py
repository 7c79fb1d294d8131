"""Query a lake in SQL with DuckDB, which sees the lake's tables and nothing else: no file, no network, no variable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from contextlib import closing
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from importlib import resources
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from pyarrow import dataset

from crucible.commands.lake.lake_manifest import LakeFile, all_manifests, lake_files
from crucible.commands.lake.lake_store import FolderStore, LakeStore
from crucible.commands.lake.lake_tables import PARTITION, file_schema
from crucible.core.errors import CrucibleError, UsageError

_QUESTIONS = resources.files("crucible.commands.lake") / "questions"
_ATTEMPTS = 3
_CONFIG: dict[str, str | bool | int | float | list[str]] = {
    "temp_directory": "",
    "python_enable_replacements": "false",
    "autoinstall_known_extensions": "false",
    "autoload_known_extensions": "false",
}

_SETTINGS = ("TimeZone = 'UTC'",)
_LOCKS = ("enable_external_access = false", "lock_configuration = true")

_Files = Sequence[tuple[tuple[str, str], LakeFile]]
"""Files, each with its month and project."""


class Answer(NamedTuple):
    """The columns and rows of an answer; cells are JSON values."""

    columns: Sequence[str]
    rows: Sequence[Mapping[str, object]]


def question_names() -> list[str]:
    """Return the names of the documented questions."""
    return sorted(one.name.removesuffix(".sql") for one in _QUESTIONS.iterdir() if one.name.endswith(".sql"))


def question_sql(name: str) -> str:
    """Return the SQL of a documented question; its first line is a comment that says what it answers."""
    return (_QUESTIONS / f"{name}.sql").read_text(encoding="utf-8")


def query_lake(store: LakeStore, sql: str, limit: int | None = None) -> Answer:
    """Answer a question in SQL.  Raises `UsageError` if it is not a single query, or not valid."""
    for attempt in range(_ATTEMPTS):
        try:
            with closing(Lake(store)) as lake:
                return lake.ask(sql, limit)
        except _FilesGone as gone:
            # An export has replaced files since the manifest was read.
            if attempt == _ATTEMPTS - 1:
                hint = "export again, or try again if an export is running"
                raise CrucibleError(f"{store.place}: {gone}", hint) from gone
    raise AssertionError


class _FilesGone(Exception):
    """A file that a manifest names does not exist."""


class Lake:
    """An open lake: its tables in a DuckDB without access to anything else."""

    def __init__(self, store: LakeStore) -> None:
        self._connection = duckdb.connect(":memory:", config=_CONFIG)
        known: list[str] = []
        try:
            for table, files in lake_files(all_manifests(store)).items():
                known += self._add(store, table, files)
        except duckdb.IOException as error:
            self.close()
            raise _FilesGone("a file is missing") from error
        for setting in (*_SETTINGS, f"allowed_paths = {_list(known)}", *_LOCKS):
            self._connection.execute(f"SET {setting}")

    def _add(self, store: LakeStore, table: str, files: _Files) -> list[str]:
        """Add a table, and return the files that DuckDB itself must read."""
        paths = _own_paths(store, files)
        if paths:
            self._connection.execute(f"CREATE VIEW {table} AS SELECT * FROM read_parquet({_list(paths)}, {_HIVE})")  # noqa: S608  our own pieces
        else:
            self._connection.register(table, _dataset(store, table, files))
        return paths

    def close(self) -> None:
        """Close the connection."""
        self._connection.close()

    def ask(self, sql: str, limit: int | None = None) -> Answer:
        """Answer a question in SQL, with at most `limit` rows."""
        try:
            result = self._connection.execute(_single_query(self._connection, sql))
            columns = _unique([str(column[0]) for column in result.description or ()])
            rows = result.fetchall() if limit is None else result.fetchmany(limit)
        except duckdb.Error as error:
            if isinstance(error, duckdb.IOException) or "No such file" in str(error):
                raise _FilesGone("a file is missing") from error
            raise UsageError(" ".join(str(error).split())[:500], "see docs/lake.md for tables and columns") from error
        return Answer(columns, [dict(zip(columns, map(_plain, row), strict=True)) for row in rows])


def _single_query(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = connection.extract_statements(sql)
    # `EXPLAIN ANALYZE COPY` writes.
    if len(statements) != 1 or statements[0].type != duckdb.StatementType.SELECT:
        raise UsageError("not a single query", "write one SELECT, or DESCRIBE TABLE; a lake is read-only")
    return statements[0]


_HIVE = "hive_partitioning = true, hive_types_autocast = false"


def _own_paths(store: LakeStore, files: _Files) -> list[str]:
    """Return the paths that DuckDB can read itself, three times as fast as through pyarrow; else none.

    DuckDB would take a path with some characters for a pattern.
    """
    paths = [store.path(file.name) for _, file in files] if isinstance(store, FolderStore) else []
    return [] if any(sign in path for path in paths for sign in "*?[") else paths


def _list(texts: Sequence[str]) -> str:
    quoted = (text.replace("'", "''") for text in texts)
    return "[" + ", ".join(f"'{text}'" for text in quoted) + "]"


def _dataset(store: LakeStore, table: str, files: _Files) -> dataset.Dataset:
    schema = file_schema(table)
    for name in PARTITION:
        schema = schema.append(pa.field(name, pa.string()))
    if not files:
        return dataset.dataset(pa.Table.from_batches([], schema))
    month, project = (dataset.field(name) for name in PARTITION)
    return dataset.FileSystemDataset.from_paths(
        [store.path(file.name) for _, file in files],
        schema=schema,
        format=dataset.ParquetFileFormat(),
        filesystem=store.filesystem,
        partitions=[(month == of[0]) & (project == of[1]) for of, _ in files],
    )


def _unique(names: Sequence[str]) -> list[str]:
    """Number repeated names: `a, a` becomes `a, a_2`."""
    found: list[str] = []
    for name in names:
        count, chosen = 1, name
        while chosen in found:
            count += 1
            chosen = f"{name}_{count}"
        found.append(chosen)
    return found


def _plain(value: Any) -> object:
    """Return a cell as a JSON value."""
    if isinstance(value, datetime):
        return (value.astimezone(UTC) if value.tzinfo else value).isoformat().replace("+00:00", "Z")
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Decimal):
        return float(value)
    if isinstance(value, bytes | bytearray):
        return value.hex()
    if isinstance(value, date | time | timedelta):
        return str(value)
    if isinstance(value, dict):
        return {str(name): _plain(one) for name, one in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(one) for one in value]
    return value if value is None or isinstance(value, str | int) else str(value)
