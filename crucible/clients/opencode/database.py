"""Read a client's SQLite file while a client may be writing to it, without changing or creating any files."""

from __future__ import annotations

import os
import shutil
import sqlite3
import time
import weakref
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import lru_cache
from pathlib import Path
from tempfile import mkdtemp
from typing import Any, NamedTuple

from crucible.core.errors import TranscriptError

_MAGIC = b"SQLite format 3\x00"
_WAL_VERSION = 2
_PATIENCE, _IMPATIENCE = 5.0, 30.0
"""Seconds to wait for a writer if there is no write-ahead log, and seconds after a failed wait without another one."""
_LOCKED: dict[Path, float] = {}
"""When waiting for a database last failed, in monotonic seconds."""
_FETCH = 32
_TRIES = 3


class Database:
    """An open database.  All reads see the same state, even if a client keeps writing."""

    def __init__(self, connection: sqlite3.Connection, check: Callable[[], None]) -> None:
        self._connection = connection
        self._check = check
        self._columns: dict[str, tuple[str, ...]] = {}

    def rows(self, sql: str, *values: object) -> Iterator[tuple[Any, ...]]:
        """Yield the rows of a query, with a few in memory at a time."""
        with closing(self._connection.execute(sql, values)) as cursor:
            while found := cursor.fetchmany(_FETCH):
                self._check()
                yield from found
        self._check()

    def columns(self, table: str) -> tuple[str, ...]:
        """Return a table's column names; empty if the table does not exist."""
        if table not in self._columns:
            names = self.rows("SELECT name FROM pragma_table_info(?)", table)
            self._columns[table] = tuple(row[0] for row in names if isinstance(row[0], str))
        return self._columns[table]


def is_database(path: Path) -> bool:
    """Return whether a file begins like an SQLite database; False if the file cannot be read."""
    try:
        return _head(path).startswith(_MAGIC)
    except OSError:
        return False


@contextmanager
def opened(path: Path) -> Iterator[Database]:
    """Open a database for reading.  All SQLite errors are raised as `TranscriptError`, with a hint."""
    path = Path(os.path.realpath(path))  # SQLite expects the log next to a symlink's target
    try:
        with _connected(path) as (connection, check), closing(connection):
            connection.text_factory = _text
            connection.execute("BEGIN")
            yield Database(connection, check)
    except sqlite3.Error as error:
        if _is_locked(str(error)) and _patience(path):
            _LOCKED[path] = time.monotonic()
        raise TranscriptError(f"{path}: {error}", _advice(str(error))) from error
    except OSError as error:
        raise TranscriptError(f"{path}: {error.strerror or error}") from error


def _text(raw: bytes) -> str:
    return raw.decode("utf-8", "replace")


def _is_locked(message: str) -> bool:
    return "locked" in message or "busy" in message


def _patience(path: Path) -> float:
    """Return the seconds to wait for a writer: one command opens a database several times, but waits only once."""
    return 0.0 if time.monotonic() - _LOCKED.get(path, -_IMPATIENCE) < _IMPATIENCE else _PATIENCE


def _advice(message: str) -> str:
    if _is_locked(message):
        return "wait until the client has finished or close it, then import again"
    if "malformed" in message or "corrupt" in message:
        return 'recover it with "sqlite3 FILE .recover" or restore a backup, then import that file'
    if "not a database" in message:
        return "it is encrypted or of another kind; give the path of the client's database"
    return "copy it to another folder and import the copy"


# --- opening ---------------------------------------------------------------------------------------------------------


class _FileState(NamedTuple):
    """The state of a database's files.  `has_log` is True if the write-ahead log is not empty."""

    is_wal: bool
    has_log: bool
    has_shared: bool
    log_exists: bool


def _head(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(100)


def _file_state(path: Path) -> _FileState:
    head = _head(path)
    if not head:
        raise TranscriptError(f"{path}: empty", "restore a backup, or skip this file")
    if not head.startswith(_MAGIC):
        raise TranscriptError(f"{path}: not an SQLite database, or an encrypted one", _advice("not a database"))
    log = _beside(path, "-wal")
    size = log.stat().st_size if log.exists() else 0
    return _FileState(_WAL_VERSION in head[18:20], size > 0, _beside(path, "-shm").exists(), log.exists())


def _beside(path: Path, ending: str) -> Path:
    return path.with_name(path.name + ending)


@contextmanager
def _connected(path: Path) -> Iterator[tuple[sqlite3.Connection, Callable[[], None]]]:
    """Yield a connection for reading, and a check to call after each read.

    - With a `-wal` and a `-shm` file, a client is running or has crashed.  The database is opened read-only, which
      creates no files.
    - Without a `-wal` file, or with an empty one and no `-shm` file, no process has the database open.  SQLite would
      create both files, so the database is opened as immutable, and the check detects changes.
    - Otherwise (a copied folder, or files that we may not write to), a temporary copy is read.
    """
    state = _file_state(path)
    if state.is_wal and not state.has_log and not (state.has_shared and state.log_exists):
        yield _connect(path, "mode=ro&immutable=1"), _unchanged(path)
        return
    connection = None if state.is_wal and not state.has_shared else _reader(path)
    if connection:
        yield connection, _nothing
    else:
        copy = _copy(path, _signature(path))  # this reference keeps the copy until the end of the read
        yield _connect(copy.path, "mode=rw"), _nothing


def _reader(path: Path) -> sqlite3.Connection | None:
    """Return a connection that tolerates a writer; None if SQLite would need to write to read-only files."""
    connection = _connect(path, "mode=ro")
    try:
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except sqlite3.Error as error:
        connection.close()
        if not any(word in str(error) for word in ("unable to open", "readonly", "disk I/O")):
            raise
        return None
    return connection


def _connect(path: Path, how: str) -> sqlite3.Connection:
    return sqlite3.connect(
        f"{path.absolute().as_uri()}?{how}",
        uri=True,
        timeout=_patience(path),
        isolation_level=None,
        check_same_thread=False,
    )


def _nothing() -> None:
    """Do nothing: the connection sees a single state of the database."""


def _unchanged(path: Path) -> Callable[[], None]:
    before = _signature(path)

    def check() -> None:
        if _signature(path) != before:
            raise TranscriptError(f"{path}: the client changed it during the import", "import it again")

    return check


def _signature(path: Path) -> tuple[tuple[int, int, int], ...]:
    """Return a value that changes when the database or its log is written."""
    stats = [each.stat() for ending in ("", "-wal", "-journal") if (each := _beside(path, ending)).exists()]
    # Ignore an empty log: another reader may have left it.
    return tuple((stat.st_ino, stat.st_size, stat.st_mtime_ns) for stat in stats if stat.st_size)


class _Copy:
    """A copy of a database.  Its folder is removed with the last reference or when the process ends."""

    def __init__(self, path: Path) -> None:
        self.path = path
        weakref.finalize(self, shutil.rmtree, path.parent, ignore_errors=True)


@lru_cache(maxsize=1)
def _copy(path: Path, signature: tuple[tuple[int, int, int], ...]) -> _Copy:
    """Copy the database and its log.  Cached, so that the next session in the same database uses the same copy."""
    for _ in range(_TRIES):
        copy = _Copy(Path(mkdtemp(prefix="crucible-")) / path.name)
        for ending in ("", "-wal", "-journal"):
            if _beside(path, ending).exists():
                shutil.copyfile(_beside(path, ending), _beside(copy.path, ending))
        if _signature(path) == signature:
            return copy
        signature = _signature(path)
    raise TranscriptError(f"{path}: the client keeps writing to it", "close it, then import again")
