"""Find the sessions of a client that keeps them in the tables of one SQLite database."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Iterator, Mapping
from pathlib import Path
from typing import Any, NamedTuple

from crucible.clients.log_files import Reach, Transcript, check_reachable, files_below
from crucible.clients.log_values import as_time, count
from crucible.clients.opencode.database import Database, is_database, opened
from crucible.core.errors import TranscriptError


class SessionTables(NamedTuple):
    """Where a client's sessions are.

    `tables` has the columns that identify a database as the client's.  `query` returns the SQL for the id of each
    session, its last change, its size, and its first row; if its second argument is True, for the session `?1` only.
    """

    client: str
    tables: Mapping[str, Collection[str]]
    query: Callable[[Database, bool], str]

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
        check_reachable(path)
        below = path.is_dir()
        for file in [file for file in files_below(path) if file.suffix == ".db"] if below else [path]:
            if below and not self.sniff(file):
                continue
            try:
                rows = self._rows(file)
            except TranscriptError:
                yield Transcript(self.client, file.name, file)
                continue
            for ident, last, size, _ in rows:
                yield Transcript(self.client, ident, file, last=as_time(last), size=count(size))

    def _rows(self, path: Path, *one: str) -> list[tuple[Any, ...]]:
        with opened(path) as database:
            sql = self.query(database, bool(one))
            return [row for row in database.rows(sql, *one) if isinstance(row[0], str)]

    def reach(self, transcript: Transcript) -> Reach:
        """Return how far a session goes."""
        try:
            found = self._rows(transcript.path, transcript.native_id)
        except TranscriptError:
            found = []
        for _, last, size, first in found:
            return Reach(as_time(last), count(size), str(first))
        return Reach(None, transcript.path.stat().st_size)


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that reading a database uses."""
    path = Path(os.path.realpath(transcript.path))  # SQLite expects its log next to a symlink's target
    return [path.with_name(f"{path.name}-wal")]
