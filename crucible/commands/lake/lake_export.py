"""Export a vault to a lake: rewrite the partitions whose inputs changed, then the manifest, then remove old files.

A partition is one month of one project.  A killed export leaves the last manifest and its files; the next export
continues from there and removes files that no manifest names.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from itertools import groupby
from pathlib import Path
from typing import Any, NamedTuple, Self

import pyarrow as pa
from pyarrow import parquet

from crucible.commands.lake.event_columns import LogRequest, LogRows, LogSession, files_of, read_logs, reading_logs
from crucible.commands.lake.lake_inputs import ExportOptions, PartInputs, States, VaultSource, inputs_of, load_states
from crucible.commands.lake.lake_manifest import (
    LakeFile,
    Partition,
    begin_lake,
    file_name,
    load_deletions,
    load_manifest,
    remember_deletions,
    save_manifest,
    sweep,
)
from crucible.commands.lake.lake_store import FolderStore, LakeStore
from crucible.commands.lake.lake_tables import LOG_TABLES, TABLES, Kind, file_schema
from crucible.core.errors import UsageError
from crucible.core.files import write_errors
from crucible.core.processes import Workers, cores, spread
from crucible.core.vault_copies import spread_on_copy
from crucible.vault.index.schema import View

Ask = Callable[[Callable[[View], Any]], Any]
"""Queries the tables of the vault's current index."""

Progress = Callable[[int, int], None]

_CHUNK = 1 << 20
"""Least bytes of event logs that a worker process reads at a time; archives are compressed about eightfold."""
_WORTH_PROCESSES = 4
"""Least number of such chunks for which several processes are faster than one."""
_GROUP = 200_000
"""Least rows of a row group.  Larger groups compress better and need more memory."""
_SAVED = 2_000_000
"""Least rows after which an unfinished export saves its manifest."""
_LEVEL = 6
"""The level of Zstandard."""
_LOCK_SECONDS = 60.0


class ExportReport(NamedTuple):
    """The result of an export.

    `written` and `unchanged` count partitions, `removed` files, and `events` the records that were read.  `size` is that
    of all files of this vault in bytes.
    """

    place: str
    sessions: int
    written: int
    unchanged: int
    removed: int
    events: int
    rows: Mapping[str, int]
    size: int
    problems: Sequence[str] = ()


def export_lake(
    source: VaultSource,
    ask: Ask,
    store: LakeStore,
    options: ExportOptions,
    *,
    delete: Sequence[str] = (),
    progress: Progress | None = None,
    workers: Workers | None = None,
    lock_seconds: float = _LOCK_SECONDS,
) -> ExportReport:
    """Export a vault.  `delete` lists ids of sessions that no file of the lake may contain, now and later.

    `workers` read the event logs; without them, all cores read many.  The files are the same.  Raises `LockTimeout` if another export is running, and `VaultError` if the lake cannot be written.
    """
    _check_place(source.root, store)
    vault = source.vault[:12]
    with store.hold(Path(source.root), f"lake-{vault}", lock_seconds):
        begin_lake(store)
        remember_deletions(store, delete)
        states, deleted = load_states(source), load_deletions(store)
        known = source._replace(vault=vault)
        parts: list[PartInputs] = ask(lambda view: inputs_of(view, known, states, deleted, options))
        with tempfile.TemporaryDirectory(prefix="crucible-lake-") as scratch:
            export = _Export(known, store, options, Path(scratch))
            return export.run(parts, states, progress, workers)


def _check_place(root: str, store: LakeStore) -> None:
    """Refuse a lake inside the vault, where git would commit it and Obsidian would list it."""
    if isinstance(store, FolderStore) and (store.root == Path(root) or Path(root) in store.root.parents):
        raise UsageError(f"{store.place}: inside the vault", "choose a folder outside it")


class _Export:
    """One export, while the lock is held."""

    def __init__(self, source: VaultSource, store: LakeStore, options: ExportOptions, scratch: Path) -> None:
        self._source = source
        self._store = store
        self._options = options
        self._scratch = scratch
        self._manifest, self._known = load_manifest(store, source.vault)
        self._events = 0
        self._unsaved = 0
        self._problems: list[str] = []

    def run(
        self, parts: Sequence[PartInputs], states: States, progress: Progress | None, workers: Workers | None
    ) -> ExportReport:
        """Write what changed, the manifest, and remove the rest."""
        old = self._manifest.partitions
        wanted = {part.key for part in parts}
        changed = [part for part in parts if not _is_same(old.get(part.key), part)]
        self._keep({key: one for key, one in old.items() if key in wanted})
        requests = [one for at, part in enumerate(changed) for one in self._requests(at, part, states)]
        usual = Workers(min(cores(), len(requests)) if len(requests) >= _WORTH_PROCESSES else 1)
        logs = self._read(requests, workers or usual)
        for done, (at, batches) in enumerate(groupby(logs, key=lambda rows: rows.partition), 1):
            self._write(changed[at], batches)
            if progress:
                progress(done, len(changed))
        self._save()
        removed = sweep(self._store, self._manifest)
        return self._report(parts, len(changed), removed)

    def _read(self, requests: Sequence[LogRequest], workers: Workers) -> Iterator[LogRows]:
        if not workers.copy:
            return spread(read_logs, requests, workers)
        return spread_on_copy(reading_logs, Path(self._source.root), requests, files_of, workers)

    def _requests(self, at: int, part: PartInputs, states: States) -> Iterator[LogRequest]:
        """Yield the event logs of a partition in chunks; at least one chunk."""
        chunk: list[LogSession] = []
        size = 0
        for session in part.sessions:
            chunk.append(session)
            size += _size_of(states.logs[session.id])
            if size >= _CHUNK:
                yield self._request(at, chunk)
                chunk, size = [], 0
        if chunk or not part.sessions:
            yield self._request(at, chunk)

    def _request(self, at: int, sessions: Sequence[LogSession]) -> LogRequest:
        secrets = self._source.settings.secrets
        return LogRequest(at, self._source.root, tuple(sessions), secrets, self._options.contents)

    def _write(self, part: PartInputs, batches: Iterator[LogRows]) -> None:
        """Write the files of a partition, and add them to the manifest."""
        events: dict[str, int] = {}
        problems = 0
        with _PartFiles(self._store, self._scratch, self._source.vault, part) as files:
            for rows in batches:
                for table, batch in rows.tables.items():
                    files.add(table, batch)
                events |= rows.events
                problems += len(rows.problems)
                self._problems += rows.problems
            small = part.rows()
            for session, row in zip(part.ids, small["sessions"], strict=True):
                row["events"] = events.get(session)
            for table, some in small.items():
                files.add(table, pa.RecordBatch.from_pylist(some, file_schema(table)))
            written = files.finish()
        self._events += sum(events.values())
        self._unsaved += sum(file.rows for file in written.values())
        self._keep({**self._manifest.partitions, part.key: Partition(part.digest, written, problems)})
        if self._unsaved >= _SAVED:
            self._save()

    def _keep(self, partitions: Mapping[str, Partition]) -> None:
        self._manifest = self._manifest._replace(partitions=partitions)

    def _save(self) -> None:
        self._known = save_manifest(self._store, self._manifest, self._known)
        self._unsaved = 0

    def _report(self, parts: Sequence[PartInputs], changed: int, removed: int) -> ExportReport:
        files = [(table, file) for one in self._manifest.partitions.values() for table, file in one.files.items()]
        rows = {table: sum(file.rows for name, file in files if name == table) for table in TABLES}
        return ExportReport(
            self._store.place,
            sum(len(part.ids) for part in parts),
            changed,
            len(parts) - changed,
            removed,
            self._events,
            rows,
            sum(file.size for _, file in files),
            tuple(self._problems),
        )


def _is_same(partition: Partition | None, part: PartInputs) -> bool:
    return partition is not None and partition.inputs == part.digest and not partition.problems


def _size_of(state: str) -> int:
    """Return about how many bytes a log has, by its state; an archive counts eightfold."""
    sizes = (one for one in state.split(";") if one)
    return sum(int(one.lstrip("a").partition("-")[0]) * (8 if one.startswith("a") else 1) for one in sizes)


class _PartFiles:
    """The new files of a partition.  They get their names in `finish`; else they are removed."""

    def __init__(self, store: LakeStore, scratch: Path, vault: str, part: PartInputs) -> None:
        self._store = store
        self._scratch = scratch
        self._vault = vault
        self._part = part
        self._writers: dict[str, tuple[parquet.ParquetWriter, Path]] = {}
        self._waiting: dict[str, list[pa.RecordBatch]] = {table: [] for table in TABLES}
        self._rows = dict.fromkeys(TABLES, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        for writer, path in self._writers.values():
            with suppress(OSError, pa.ArrowException):
                writer.close()
            writer.is_open = False  # after a failed close it would try again when it is collected
            path.unlink(missing_ok=True)

    def add(self, table: str, batch: pa.RecordBatch) -> None:
        """Add rows to a table's file."""
        if batch.num_rows:
            self._waiting[table].append(batch)
            self._rows[table] += batch.num_rows
        if sum(one.num_rows for one in self._waiting[table]) >= _GROUP:
            self._flush(table)

    def finish(self) -> dict[str, LakeFile]:
        """Complete the files, give them their names, and return those that have rows."""
        for table in TABLES:
            self._flush(table)
        found: dict[str, LakeFile] = {}
        for table, (writer, path) in self._writers.items():
            with write_errors(path):
                writer.close()
            name, size = self._name(table), os.path.getsize(path)
            self._store.put(path, name)
            found[table] = LakeFile(name, self._rows[table], size)
        return found

    def _name(self, table: str) -> str:
        return file_name(table, self._part.key, self._vault, self._part.digest)

    def _flush(self, table: str) -> None:
        """Write the waiting rows as a row group."""
        batches = self._waiting[table]
        if not batches:
            return
        with write_errors(Path(self._store.place)):
            if table not in self._writers:
                path = self._store.temporary(self._name(table), self._scratch)
                self._writers[table] = (_writer(table, path), path)
            rows = pa.Table.from_batches(batches, batches[0].schema)
            self._writers[table][0].write_table(rows, row_group_size=rows.num_rows)
        batches.clear()


def _writer(table: str, path: Path) -> parquet.ParquetWriter:
    """Open a new Parquet file.  Numbers that grow are stored as differences, words in dictionaries."""
    kinds = TABLES[table]
    growing = [name for name, kind in kinds.items() if kind is Kind.TIME or name in ("seq", "line")]
    is_log = table in LOG_TABLES
    return parquet.ParquetWriter(
        path,
        file_schema(table),
        compression="zstd",
        compression_level=_LEVEL,
        use_dictionary=[name for name in kinds if name not in growing],
        column_encoding=dict.fromkeys(growing, "DELTA_BINARY_PACKED") if is_log else None,
        version="2.6",
        store_schema=True,
    )
