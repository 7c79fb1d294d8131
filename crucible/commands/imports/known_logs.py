"""The logs that an import need not open: nothing that decides their outcome has changed since the last import.

The table is a cache, `.crucible/cache/imports.json`: without it, every log is read. It holds for each session the stamps
of its logs and notes, and what reading them again would report.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import orjson

from crucible.clients.log_files import Transcript
from crucible.clients.registry import Dialect
from crucible.commands.imports.import_report import ReportDraft
from crucible.commands.imports.import_result import ImportReport
from crucible.core import files
from crucible.core.errors import CrucibleError
from crucible.core.file_stamps import Stamp, digest_of, settles_at, stamp_at
from crucible.core.files import inside, make_folders, write_atomic
from crucible.memory.bookmarks.resume_tickets import ticket_stamps
from crucible.vault.notes.vault import Vault

if TYPE_CHECKING:
    from crucible.commands.imports.note_sources import SourceTable
    from crucible.commands.imports.session_logs import SessionLogs

_FORMAT = 2
"""Increase when the meaning of an entry changes."""
_LONGEST_WAIT = 0.1
"""Maximum seconds to wait until a note that was just written can be told from a later version."""

_ALWAYS = 1e12
"""A time after all imports."""

Files = dict[str, "list[int] | None"]
"""Paths with their stamps; None if there is no file."""


class KnownLogs:
    """The table of one vault; `now` is the time of the import, `version` that of the program.

    `answered` are the sources whose entries are true in this import.
    """

    def __init__(self, vault: Vault, now: datetime, version: str) -> None:
        self.answered: dict[str, dict[str, Any]] = {}
        self.found: list[tuple[Sequence[Transcript], ReportDraft]] = []
        """What the import found for each client, and what finding it reported."""
        self.table: SourceTable | None = None
        """The table of notes of the import; None if it had nowhere to look."""
        self._vault = vault
        self._root = f"{vault.root}{os.sep}"
        self._now = now.timestamp()
        self._path = vault.root / ".crucible" / "cache" / "imports.json"
        self._made = digest_of(_FORMAT, version, vault.settings)
        self._entries: dict[str, dict[str, Any]] = {}
        self._new: set[str] = set()
        self._databases: dict[Path, Files] = {}
        with suppress(OSError, ValueError, KeyError, TypeError, AttributeError, CrucibleError):
            loaded = orjson.loads(inside(vault.root, self._path).read_bytes())
            self._entries = loaded["logs"] if loaded["made"] == self._made else {}

    def find(self, dialect: Dialect, transcript: Transcript) -> dict[str, Any] | None:
        """Return a session's entry if it is true: nothing that decides the outcome has changed."""
        source, table = transcript.source, self.table
        entry = self._entries.get(source)
        if table is None or entry is None:
            return None
        if not entry["at"] <= self._now < entry["until"] or entry["log"] != _digest(transcript):
            return None
        if entry["tickets"] is not None and entry["tickets"] != self._tickets():
            return None
        if transcript.last:  # a part of its digest, so that another session of the database may change
            entry = {**entry, "files": self._database_files(dialect, transcript)}
        elif entry["files"] != stamps_of(dialect, transcript):
            return None
        if not self._has_notes(table, entry):
            return None
        self.answered[source] = entry
        return entry

    def _has_notes(self, table: SourceTable, entry: Mapping[str, Any]) -> bool:
        """True if the notes of an entry are what they were."""
        return all(known == self._place(table.place_of(source)) for source, known in entry["notes"].items())

    def _database_files(self, dialect: Dialect, transcript: Transcript) -> Files:
        """Return the stamps of a database, looked up once."""
        if transcript.path not in self._databases:
            stamps = stamps_of(dialect, transcript)
            self._databases[transcript.path] = stamps or {str(transcript.path): None}
        return self._databases[transcript.path]

    def confirm(self) -> list[ImportReport] | None:
        """Return the reports of an import that begins now, if it need not open a log."""
        if self.table is None:
            return []
        table, reports = self.table, []
        table.read_all()
        for transcripts, report in self.found:
            for transcript in transcripts:
                source = transcript.source
                entry = self.answered.get(source)
                if entry and self._has_notes(table, entry):
                    report.add_entry(entry["report"])
                elif table.find(source) is None and table.deleted.has(source, transcript.path):
                    report.left_out["deleted"] += 1
                else:
                    return None
            reports.append(report.report())
        return reports

    def files(self) -> Files:
        """Return the stamps of all files that the answers depend on."""
        return {path: stamp for entry in self.answered.values() for path, stamp in entry["files"].items()}

    def until(self) -> float:
        """Return the time until which the answers are true."""
        return min((entry["until"] for entry in self.answered.values()), default=_ALWAYS)

    def keep(self, logs: SessionLogs, files: Files | None, report: ReportDraft, *, is_written: bool = False) -> None:
        """Add a session's entry, with the files' stamps before they were read.

        `report` is what reading them again reports; `is_written` if the session's notes were written.
        """
        notes = _note_places(logs, is_written=is_written)
        files = {} if files is None and logs.transcript.last else files
        if files is None or notes is None or logs.is_cut:
            return
        places = {
            source: place and [self._relative(str(place[0])), *_numbers(place[1])] for source, place in notes.items()
        }
        entry = {
            "log": _digest(logs.transcript),
            "at": self._now,
            "until": min((self._until(strand.recorder.draft().last) for strand in logs.strands), default=_ALWAYS),
            "files": files,
            "notes": places,
            "tickets": self._tickets() if logs.tickets.met_any else None,
            "report": report.as_entry(),
            "moves": logs.moves,
        }
        with suppress(TypeError):  # a path that is not UTF-8
            self._entries[logs.trunk.source] = self.answered[logs.trunk.source] = orjson.loads(orjson.dumps(entry))
            self._new.add(logs.trunk.source)

    def save(self) -> None:
        """Write the table if it has changed; a failure is ignored."""
        if not self._new:
            return
        self._drop_unsettled()
        with suppress(OSError, CrucibleError):
            make_folders(self._vault.root, self._path.parent)
            data = orjson.dumps({"made": self._made, "logs": self._entries})
            write_atomic(inside(self._vault.root, self._path), data, fsync=False)

    def _drop_unsettled(self) -> None:
        """Drop new entries of notes that a later write might leave with the same stamp, unless a short wait helps."""
        ends = {source: _settle_time(self._entries[source]["notes"].values()) for source in self._new}
        wait = (max(ends.values(), default=0) - time.time_ns()) / 1e9
        if 0 < wait <= _LONGEST_WAIT:
            time.sleep(wait)
        for source, end in ends.items():
            places = self._entries[source]["notes"].values()
            if end >= time.time_ns() or any(place != self._place(self._full(place)) for place in places if place):
                del self._entries[source], self.answered[source]

    def _until(self, last: datetime | None) -> float:
        """Return the time at which the status of a session that was written last at `last` may change."""
        idle = last.timestamp() + self._vault.settings.idle_minutes * 60 if last else 0
        return idle if idle > self._now else _ALWAYS

    def _tickets(self) -> list[list[int] | None]:
        return [_listed(stamp) for stamp in ticket_stamps(self._vault.root)]

    def _relative(self, path: str) -> str:
        return path[len(self._root) :] if path.startswith(self._root) else os.path.relpath(path, self._root)

    def _full(self, place: Sequence[Any]) -> str:
        return os.path.join(self._root, place[0])

    def _place(self, path: str | None) -> list[Any] | None:
        """Return a note's path and stamp, as in an entry."""
        stamp = stamp_at(path) if path else None
        return [self._relative(path), *stamp] if path and stamp else None


def stamps_of(dialect: Dialect, transcript: Transcript) -> Files | None:
    """Return the stamps of all files that reading a session opens.

    None if they cannot be told, or if a later write might leave the same stamps.
    """
    beside = dialect.beside(transcript)
    if beside is None:
        return None
    now = time.time_ns()
    logs = (transcript.path, *(file.path for file in transcript.subagents))
    stamps = {str(path): stamp_at(path) for path in (*logs, *beside)}
    if any(settles_at(max(stamp[1:3])) >= now for stamp in stamps.values() if stamp):
        return None
    return {path: _listed(stamp) for path, stamp in stamps.items()}


def _note_places(logs: SessionLogs, *, is_written: bool) -> dict[str, tuple[Path, files.Stamp] | None] | None:
    """Return the note of each log by source, with its stamp as it was read or written; None for no note.

    None if another import may decide otherwise, even though nothing changes.
    """
    if is_written and (logs.lost_mark or logs.trunk.recorder.joins):
        return None
    places: dict[str, tuple[Path, files.Stamp] | None] = {}
    for strand in logs.by_agent.values():
        path, note = logs.table.find(strand.source), strand.note
        stamp = logs.table.written.get(path) if path and is_written else None
        stamp = stamp or (note.stamp if note and note.path == path else None)
        if path and not stamp:
            return None
        places[strand.source] = (path, stamp) if path and stamp else None
    return places


def _digest(transcript: Transcript) -> str:
    return digest_of(transcript)


def _listed(stamp: Stamp | None) -> list[int] | None:
    return list(stamp) if stamp else None


def _numbers(stamp: files.Stamp) -> Stamp:
    return stamp.size, stamp.mtime_ns, stamp.ctime_ns, stamp.ino


def _settle_time(places: Iterable[list[Any] | None]) -> int:
    return max((settles_at(max(place[2:4])) for place in places if place), default=0)
