"""Where the clients of this machine write logs: the folders to watch, and which files in them are logs."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from glob import escape, has_magic, iglob
from pathlib import Path
from typing import NamedTuple

from crucible.clients.registry import DIALECTS, Dialect

_WAL = "-wal"
"""The ending of a database's write-ahead log."""


class LogFolder(NamedTuple):
    """A client's folder of logs.  `patterns` are those of its log files, relative to `root`, which may not exist."""

    client: str
    root: str
    patterns: tuple[str, ...]

    def watched(self) -> dict[str, bool]:
        """Return the existing folders to watch, with true for those whose subfolders are watched too."""
        found: dict[str, bool] = {}
        for pattern in self.patterns:
            folders = pattern.split("/")[:-1]
            fixed = [*_before_magic(folders)]
            path = os.path.join(self.root, *fixed)
            found[path] = found.get(path, False) or len(fixed) < len(folders)
        return {path: is_deep for path, is_deep in found.items() if os.path.isdir(path)}

    def is_log(self, path: str) -> bool:
        """Return whether a path belongs to a log."""
        parts = os.path.relpath(path, self.root).split(os.sep)
        return any(_matches(parts, pattern.split("/")) for pattern in self.patterns)

    def logs(self) -> Iterator[str]:
        """Yield the paths of all logs."""
        for pattern in self.patterns:
            yield from iglob(os.path.join(escape(self.root), *pattern.split("/")), include_hidden=True)


def log_folders(env: Mapping[str, str], home: Path) -> list[LogFolder]:
    """Return the folders of all clients whose logs are files that grow."""
    return [log_folder(each, env, home) for each in DIALECTS.values() if each.client.log_files]


def log_folder(dialect: Dialect, env: Mapping[str, str], home: Path) -> LogFolder:
    """Return the folder of a client's logs."""
    return LogFolder(dialect.name, str(dialect.default_folder(env, home)), dialect.client.log_files)


def session_logs(folder: LogFolder, session: str, path: str) -> list[Path]:
    """Return the existing logs that may have a session: the one at `path`, or those that are named after it.

    A database has many sessions.  `path` comes from another program, so it counts only if it belongs to a log.
    """
    path = path and os.path.normpath(path)  # a link before a `..` leads elsewhere
    if path and folder.is_log(path) and os.path.isfile(path):
        return [Path(path)]
    named = (log for log in folder.logs() if is_database(log) or _is_named(Path(log), session))
    return [Path(log) for log in named if os.path.isfile(log)]


def _is_named(log: Path, session: str) -> bool:
    """Return whether a log or its folder is named after a session, possibly with a time before it."""
    return log.parent.name == session or f"-{log.name.partition('.')[0]}".endswith(f"-{session}")


def log_of(path: str) -> str:
    """Return the file to import when a file has changed: a database for its write-ahead log, else the file itself."""
    return path.removesuffix(_WAL)


def is_database(path: str) -> bool:
    """Return whether a log is a database with many sessions, by its name."""
    return path.endswith(".db")


def _before_magic(folders: list[str]) -> Iterator[str]:
    for folder in folders:
        if has_magic(folder):
            return
        yield folder


def _matches(parts: list[str], wanted: list[str]) -> bool:
    return len(parts) == len(wanted) and all(map(fnmatchcase, parts, wanted))
