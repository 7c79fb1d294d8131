"""The record of deleted sessions: imports skip these sources until the deletion is undone.

Lines are only added, so git merges them: an undone deletion gets a second line.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.vault.logs.jsonl_store import (
    InvalidRecord,
    append_line,
    number_of,
    read_lines,
    text_of,
    time_of,
    time_text,
)

DELETED = "deleted.jsonl"
_BLOCK = 1 << 20


class LogHash(NamedTuple):
    """A transcript's size in bytes and SHA-256, which identify a copy with another native id."""

    size: int
    sha256: str


@dataclass(frozen=True, slots=True)
class Tombstone:
    """A deletion: the name of its entry in the trash, the session's id, and the sources and logs to skip."""

    entry: str
    session: str
    at: datetime
    sources: tuple[str, ...] = ()
    logs: tuple[LogHash, ...] = ()


class DeletedSessions(NamedTuple):
    """The sources, transcripts and ids of all deleted sessions.

    A subagent's source is also there as that of a session: it is one to imports once its parent's log is gone.
    """

    sources: frozenset[str] = frozenset()
    logs: frozenset[LogHash] = frozenset()
    ids: frozenset[str] = frozenset()

    def has(self, source: str, log: Path) -> bool:
        """Return whether a session was deleted. The log is read only if a deleted one had the same size."""
        if source in self.sources:
            return True
        if not self.logs:
            return False
        try:
            size = log.stat().st_size
        except OSError:
            return False
        return any(one.size == size for one in self.logs) and hash_log(log) in self.logs


def hash_log(path: Path) -> LogHash | None:
    """Return a transcript's hash; None if it is not a regular file or cannot be read."""
    digest, size = hashlib.sha256(), 0
    try:
        if not path.is_file():
            return None
        with path.open("rb") as file:
            while block := file.read(_BLOCK):
                digest.update(block)
                size += len(block)
    except OSError:
        return None
    return LogHash(size, digest.hexdigest())


def append_tombstone(root: Path, one: Tombstone, *, fsync: bool = True) -> None:
    """Record a deletion. Does nothing if its entry is recorded already."""
    if one.entry not in {each.entry for each in load_tombstones(root)}:
        logs = [log._asdict() for log in one.logs]
        append_line(root, DELETED, _fields(one, {"sources": list(one.sources), "logs": logs}), fsync=fsync)


def append_restored(root: Path, one: Tombstone, at: datetime, *, fsync: bool = True) -> None:
    """Record that a deletion was undone."""
    append_line(root, DELETED, {"entry": one.entry, "session": one.session, "restored": time_text(at)}, fsync=fsync)


def load_tombstones(root: Path) -> list[Tombstone]:
    """Return the deletions that were not undone, oldest first. Raises `VaultError` if the file cannot be read."""
    if not os.path.lexists(root / ".crucible" / "memory" / DELETED):
        return []
    found: dict[str, Tombstone] = {}
    restored: set[str] = set()
    for one in read_lines(root, DELETED, _read)[0]:
        if isinstance(one, str):
            restored.add(one)
        else:
            found[one.entry] = one
    return sorted((one for entry, one in found.items() if entry not in restored), key=lambda one: (one.at, one.entry))


def load_deleted(root: Path) -> DeletedSessions:
    """Return what imports skip."""
    found = load_tombstones(root)
    return DeletedSessions(
        frozenset(name for one in found for source in one.sources for name in _names(source)),
        frozenset(log for one in found for log in one.logs),
        frozenset(one.session for one in found),
    )


def _names(source: str) -> tuple[str, ...]:
    client, _, native = source.partition(":")
    agent = native.partition("/")[2]
    return (source, f"{client}:{agent}") if agent else (source,)


def _fields(one: Tombstone, more: Mapping[str, object]) -> dict[str, object]:
    return {"entry": one.entry, "session": one.session, "at": time_text(one.at), **more}


def _read(fields: Mapping[str, object]) -> Tombstone | str:
    """Parse a line: a deletion, or the entry of one that was undone."""
    entry = text_of(fields, "entry")
    if not entry:
        raise InvalidRecord("`entry` is missing")
    if "restored" in fields:
        return entry
    logs = tuple(LogHash(number_of(one, "size"), text_of(one, "sha256")) for one in _maps(fields.get("logs")))
    sources = tuple(one for one in _list(fields.get("sources")) if isinstance(one, str))
    return Tombstone(entry, text_of(fields, "session"), time_of(fields, "at"), sources, logs)


def _list(value: object) -> list[object]:
    return value if isinstance(value, list) else []


def _maps(value: object) -> Iterable[Mapping[str, object]]:
    return (one for one in _list(value) if isinstance(one, dict))
