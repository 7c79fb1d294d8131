"""Find the sessions of a client that keeps them in the tables of one SQLite database."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from datetime import UTC, timedelta
from pathlib import Path
from typing import Any, NamedTuple

from crucible.clients.log_files import ALL_SESSIONS, Reach, Transcript, Wanted, check_reachable, files_below
from crucible.clients.log_values import as_time, count
from crucible.clients.opencode.database import Database, is_database, opened
from crucible.core.errors import TranscriptError

_CHANGED = "updated_at"
"""The column with the time of a session's last change."""


class SessionTables(NamedTuple):
    """Where a client's sessions are.

    `tables` has the columns that identify a database as the client's, and begins with the table of sessions.
    `query` returns the SQL for the id of each session, its last change, its size, and its first row, if these meet the
    condition that is its second argument, or "".
    """

    client: str
    tables: Mapping[str, Collection[str]]
    query: Callable[[Database, str], str]

    def sniff(self, path: Path) -> bool:
        """Return whether a file is a database of this client; False if it cannot be read."""
        try:
            return is_database(path) and self._has_tables(path)
        except TranscriptError:
            return False

    def _has_tables(self, path: Path) -> bool:
        with opened(path) as database:
            return all({*database.columns(table)} >= {*names} for table, names in self.tables.items())

    def find(self, path: Path) -> Iterator[Transcript]:
        """Yield the sessions in a database, or in those below a folder."""
        return self.find_some(path, ALL_SESSIONS)

    def find_some(self, path: Path, wanted: Wanted) -> Iterator[Transcript]:
        """Yield the wanted sessions."""
        check_reachable(path)
        below = path.is_dir()
        for file in [file for file in files_below(path) if file.suffix == ".db"] if below else [path]:
            if below and not self.sniff(file):
                continue
            try:
                rows = self._rows(file, wanted)
            except TranscriptError:
                yield Transcript(self.client, file.name, file)
                continue
            for ident, last, size, _ in rows:
                yield Transcript(self.client, ident, file, last=as_time(last), size=count(size))

    def _rows(self, path: Path, wanted: Wanted) -> list[tuple[Any, ...]]:
        with opened(path) as database:
            condition, *values = self._condition(database, wanted)
            rows = database.rows(self.query(database, condition), *values)
            return [row for row in rows if isinstance(row[0], str)]

    def _condition(self, database: Database, wanted: Wanted) -> tuple[str, ...]:
        """Return a condition for the table of sessions, "" for all of them, and the value that it compares with."""
        if wanted.session:
            return "WHERE id = ?1", wanted.session
        if wanted.since is None or _CHANGED not in database.columns(next(iter(self.tables))):
            return ("",)
        # The day before, because times may be in any zone and format.
        day = (wanted.since - timedelta(days=1)).astimezone(UTC).date()
        return f"WHERE {_CHANGED} >= ?1 OR typeof({_CHANGED}) <> 'text'", day.isoformat()

    def reach(self, transcript: Transcript) -> Reach:
        """Return how far a session goes."""
        try:
            found = self._rows(transcript.path, Wanted(transcript.native_id))
        except TranscriptError:
            found = []
        for _, last, size, first in found:
            return Reach(as_time(last), count(size), str(first))
        return Reach(None, transcript.path.stat().st_size)


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that reading a database uses."""
    path = Path(os.path.realpath(transcript.path))  # SQLite expects its log next to a symlink's target
    return [path.with_name(f"{path.name}-wal")]
