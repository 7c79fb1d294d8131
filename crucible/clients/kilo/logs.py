"""Find Kilo CLI's sessions; OpenCode's reader reads them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

from crucible.clients.kilo.client import CLIENT
from crucible.clients.log_files import ALL_SESSIONS, Transcript, Wanted
from crucible.clients.opencode import logs as opencode
from crucible.clients.opencode.logs import beside, reach, read

__all__ = ["beside", "find", "find_some", "reach", "read", "sniff"]

NAME = CLIENT.name
_DATABASES = ("kilo.db", "kilo-*.db")


def sniff(path: Path) -> bool:
    """Return whether a file is a database with OpenCode's tables and Kilo's file name."""
    return any(path.match(pattern) for pattern in _DATABASES) and opencode.has_sessions_in(path)


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a database, or in those below a folder."""
    return find_some(path, ALL_SESSIONS)


def find_some(path: Path, wanted: Wanted) -> Iterator[Transcript]:
    """Yield the wanted sessions."""
    for transcript in opencode.find_in(path, _DATABASES, wanted):
        yield replace(transcript, client=NAME)
