"""Find Pi's sessions, and read their events.

A session is a file of JSON lines with a head and a tree of entries (`docs/session-format.md` in the client's package).
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from crucible.clients.events import Event
from crucible.clients.log_files import Transcript, events_of, find_files, first_rows, reach_of_log, read_file
from crucible.clients.log_values import Row, as_dict, as_str, as_time
from crucible.clients.pi.client import CLIENT
from crucible.clients.pi.entries import EntryReader

NAME = CLIENT.name
reach = reach_of_log


def sniff(path: Path) -> bool:
    """Return whether a file begins like a session; False if it cannot be read."""
    if path.suffix != ".jsonl":
        return False
    rows = first_rows(path)
    if rows and rows[0].get("type") == "session" and isinstance(rows[0].get("id"), str):
        return True
    messages = (row for row in rows if row.get("type") == "message" and "parentId" in row)
    return any("role" in as_dict(row.get("message")) for row in messages)


def find(path: Path) -> Iterator[Transcript]:
    """Yield the sessions in a file, in a project's folder or in the client's entire folder."""
    return find_files(path, sniff, _transcript)


def _transcript(path: Path) -> Transcript:
    # A file's name ends with the session's id.
    return Transcript(NAME, as_str(_head(path).get("id")) or path.stem.rpartition("_")[2], path)


def _head(path: Path) -> Row:
    return next((row for row in first_rows(path) if row.get("type") == "session"), {})


def _parent_file(path: Path) -> Path | None:
    """Return the file of the session that was forked; None if this session is no fork."""
    parent = as_str(_head(path).get("parentSession")).replace("\\", "/").rpartition("/")[2]
    return path.with_name(parent) if parent else None


def _forked_at(path: Path) -> datetime | None:
    """Return when a session was forked; entries before are its parent's, which has a file of its own.

    None if the session is no fork, or if the parent's file is gone, so that only this one has its entries.
    """
    parent = _parent_file(path)
    return as_time(_head(path).get("timestamp")) if parent and parent.is_file() else None


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:
    """Yield the events of a session, with one entry in memory at a time; there are no subagents."""
    path = transcript.path_of(agent)
    yield from events_of(read_file(path), EntryReader(_forked_at(path)).read)


def beside(transcript: Transcript) -> list[Path]:
    """Return the other files that `read` uses."""
    parent = _parent_file(transcript.path)
    return [parent] if parent else []
