"""Read new sessions in worker processes: all of the work that needs neither ids nor notes.

A worker reads, redacts and folds a session and makes its event records. The import picks the ids, in the same order as
without workers, and writes. Large sessions' records go through a file in the vault's cache, in blocks.
"""

from __future__ import annotations

import os
import pickle
from collections.abc import Generator, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import BinaryIO, NamedTuple

from crucible.clients.events import Event
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import SESSION_ERRORS, ImportOptions, ReportDraft, reason_at
from crucible.commands.imports.import_result import UnreadableRow
from crucible.commands.imports.kept_folds import KeptFolds, Snapshot, keeps_folds
from crucible.commands.imports.known_logs import Files, stamps_of
from crucible.commands.imports.note_sources import NoNotes
from crucible.commands.imports.session_ids import Opening, SessionSkippedError
from crucible.commands.imports.session_logs import SessionLogs
from crucible.commands.imports.strands import EventSink, Strand
from crucible.core.files import append_errors, make_folders
from crucible.core.processes import Workers, cores, remove_leftovers, spread
from crucible.core.secrets.redaction import PRIVATE
from crucible.core.settings.settings import VaultSettings
from crucible.vault.events.event_recorder import Record, record_of
from crucible.vault.notes.vault import Vault

_WORTH_IT = 4 << 20
"""Minimum bytes of new logs for which processes are faster."""
_BLOCK = 1 << 20
"""Approximate bytes of records in a block."""


class Task(NamedTuple):
    """A session to read, and whether the import needs its files' stamps."""

    transcript: Transcript
    stamped: bool


@dataclass(slots=True)
class Reading:
    """What a worker read; `records` yields the events' records, each with the number of the log that opened it.

    `skipped` is the reason why the session is left out. `is_usable` is False if the import has to read it itself.
    """

    report: ReportDraft = field(default_factory=ReportDraft)
    files: Files | None = None
    strands: dict[str, Strand] = field(default_factory=dict)
    openings: list[Opening] = field(default_factory=list)
    events: int = 0
    met_mark: bool = False
    snapshot: Snapshot | None = None
    skipped: str = ""
    is_unreadable: bool = False
    is_usable: bool = True
    path: str = ""
    """A file with blocks of records that come before `block`."""
    block: list[tuple[int, Record]] = field(default_factory=list)

    def fill(self, logs: SessionLogs) -> None:
        """Make this the logs' content, with ids, and store the events. Raises like `SessionLogs.read`."""
        logs.events, logs.tickets.met_any, logs.snapshot = self.events, self.met_mark, self.snapshot
        logs.adopt(self.strands, self.openings, self.records())
        if self.skipped:
            raise SessionSkippedError(self.skipped)

    def records(self) -> Iterator[tuple[int, Record]]:
        """Yield the records in order."""
        if self.path:
            with open(self.path, "rb") as file:
                while block := _next_block(file):
                    yield from block
        yield from self.block

    def drop(self) -> None:
        """Delete the file."""
        if self.path:
            with suppress(OSError):
                os.unlink(self.path)


def _next_block(file: BinaryIO) -> list[tuple[int, Record]]:
    try:
        found: list[tuple[int, Record]] = pickle.load(file)  # noqa: S301  our own file
    except EOFError:
        return []
    return found


class ReadingAhead:
    """Reads sessions in workers. Ask for each of them in the order in which they were given, and `close` at the end."""

    def __init__(self, vault: Vault, options: ImportOptions, tasks: Sequence[Task]) -> None:
        self._tasks = iter(tasks)
        self._next = next(self._tasks, None)
        self._folder = vault.root / ".crucible" / "cache" / "importing"
        remove_leftovers(self._folder)
        # The names of projects, which the import learns one after another, are not needed for reading.
        begin = partial(_begin, vault.root, vault.settings, replace(options, projects={}), self._folder)
        self._readings: Generator[Reading, None, None] = spread(_read, tasks, Workers(cores()), begin)
        # The workers must start before the import takes a lock: they would inherit it and never let it go.
        self._first: Reading | None = next(self._readings)

    def take(self, transcript: Transcript) -> Reading | None:
        """Return what was read; None if the session is not among the tasks."""
        if self._next is None or self._next.transcript is not transcript:
            return None
        self._next = next(self._tasks, None)
        first, self._first = self._first, None
        return first or next(self._readings)

    def close(self) -> None:
        """End the workers and delete their files."""
        self._readings.close()
        remove_leftovers(self._folder)


def is_worth_it(transcripts: Iterable[Transcript]) -> bool:
    """True if reading these sessions takes so long that processes are faster."""
    if cores() == 1:
        return False
    found = [transcript.path for transcript in transcripts]
    size = 0
    for path in found if len(found) > 1 else ():
        with suppress(OSError):
            size += path.stat().st_size
    return size >= _WORTH_IT


# --- in a worker -----------------------------------------------------------------------------------------------------


class _Setup(NamedTuple):
    vault: Vault
    options: ImportOptions
    folder: Path


_setup: list[_Setup] = []


def _begin(root: Path, settings: VaultSettings, options: ImportOptions, folder: Path) -> None:
    _setup[:] = [_Setup(Vault(root, settings), options, folder)]


def _read(task: Task) -> Reading:
    (setup,) = _setup
    transcript, reading = task.transcript, Reading()
    reading.files = stamps_of(DIALECTS[transcript.client], transcript) if task.stamped else None
    records = _Records(setup, reading)
    logs = _WorkerLogs(setup, task, reading, records)
    try:
        logs.read()
    except SessionSkippedError as skipped:
        reading.skipped = skipped.reason
    except (*SESSION_ERRORS, OSError) as error:
        reading.report.unreadable.append(UnreadableRow(transcript.path, 0, reason_at(error, transcript.path)))
        reading.is_unreadable = True
    records.close()
    reading.strands = logs.by_agent
    reading.snapshot = logs.snapshot
    reading.events, reading.met_mark, reading.is_usable = logs.events, logs.tickets.met_any, not logs.has_private
    return reading


class _WorkerLogs(SessionLogs):
    """Reads a session that has no note, and numbers its logs instead of naming them."""

    def __init__(self, setup: _Setup, task: Task, reading: Reading, records: _Records) -> None:
        vault, dialect = setup.vault, DIALECTS[task.transcript.client]
        table, report = NoNotes(vault), reading.report
        folds = KeptFolds(vault) if keeps_folds(vault.settings, setup.options) else None
        super().__init__(
            vault, dialect, task.transcript, options=setup.options, table=table, report=report, folds=folds
        )
        self.has_private = False
        self._openings = reading.openings
        self._records = records
        self._redact_session, self._redact = self._redact, self._redact_and_watch

    def _redact_and_watch(self, event: Event) -> tuple[Event, Mapping[str, int]]:
        clean, counts = self._redact_session(event)
        self.has_private = self.has_private or PRIVATE in counts
        return clean, counts

    def _join(self) -> None:
        """Tickets were looked up before."""

    def _pick_id(self, strand: Strand) -> str:
        self._openings.append(Opening.of(strand))
        return str(len(self._openings) - 1)

    def _writer_of(self, home: str) -> EventSink:
        return _NumberedSink(self._records, int(home), self._vault.settings.events.max_value_bytes)


class _Records:
    """Collects records; blocks that do not fit in memory go to a file."""

    def __init__(self, setup: _Setup, reading: Reading) -> None:
        self._root, self._folder = setup.vault.root, setup.folder
        self._reading = reading
        self._size = 0
        self._file: BinaryIO | None = None

    def add(self, home: int, record: Record) -> None:
        self._reading.block.append((home, record))
        self._size += len(record.line)
        if self._size >= _BLOCK:
            with append_errors(self._folder):
                self._flush()

    def _flush(self) -> None:
        if self._file is None:
            folder = make_folders(self._root, self._folder)
            self._reading.path = str(folder / f"{os.getpid()}-{os.urandom(6).hex()}")
            self._file = open(self._reading.path, "xb")  # noqa: SIM115  closed below
        pickle.dump(self._reading.block, self._file, pickle.HIGHEST_PROTOCOL)
        self._reading.block.clear()
        self._size = 0

    def close(self) -> None:
        if self._file:
            with append_errors(self._folder):
                self._file.close()


class _NumberedSink(NamedTuple):
    """Writes the events of the logs that one note holds."""

    records: _Records
    home: int
    limit: int

    def write(self, event: Event, phase: str = "", source: str = "") -> bool:
        self.records.add(self.home, record_of(event, phase, source, self.limit))
        return True
