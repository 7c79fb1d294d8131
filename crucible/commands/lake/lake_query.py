"""Query a lake in SQL with DuckDB, which sees the lake's tables and nothing else: no file, no network, no variable."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from importlib import resources
from typing import Any, NamedTuple

import duckdb
import pyarrow as pa
from pyarrow import dataset

from crucible.commands.lake.lake_manifest import LakeFile, all_manifests, lake_files
from crucible.commands.lake.lake_store import LakeStore
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
        lake = Lake(store)
        try:
            return lake.ask(sql, limit)
        except _FilesGone as gone:
            # An export has replaced files since the manifest was read.
            if attempt == _ATTEMPTS - 1:
                raise CrucibleError(
                    f"{store.place}: {gone}", "export again, or try again if an export is running"
                ) from gone
        finally:
            lake.close()
    raise AssertionError


class _FilesGone(Exception):
    """A file that a manifest names does not exist."""


class Lake:
    """An open lake: its tables in a DuckDB without access to anything else."""

    def __init__(self, store: LakeStore) -> None:
        self._connection = duckdb.connect(":memory:", config=_CONFIG)
        for table, files in lake_files(all_manifests(store)).items():
            self._connection.register(table, _dataset(store, table, files))
        self._connection.execute(
            "SET TimeZone = 'UTC'; SET enable_external_access = false; SET lock_configuration = true"
        )

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
            if "No such file" in str(error) or "Failed to open" in str(error):
                raise _FilesGone("a file is missing") from error
            raise UsageError(" ".join(str(error).split())[:500], "see docs/lake.md for tables and columns") from error
        return Answer(columns, [dict(zip(columns, map(_plain, row), strict=True)) for row in rows])


def _single_query(connection: duckdb.DuckDBPyConnection, sql: str) -> duckdb.Statement:
    statements = connection.extract_statements(sql)
    kinds = (duckdb.StatementType.SELECT, duckdb.StatementType.EXPLAIN)
    if len(statements) != 1 or statements[0].type not in kinds:
        raise UsageError("not a single query", "write one SELECT, or DESCRIBE TABLE; a lake is read-only")
    return statements[0]


def _dataset(store: LakeStore, table: str, files: Sequence[tuple[tuple[str, str], LakeFile]]) -> dataset.Dataset:
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
