"""What the subagents of a session found out and logged for the others.

Owns which records are such: those with the tag `parallel-discovery`.  Writing them is the flight recorder's, showing them the doors'.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from typing import NamedTuple

from crucible.flight.reading import Record
from crucible.note.contain import cut, normal_line

__all__ = ["LONGEST", "MOST", "TAG", "Discovery", "discoveries_for"]

TAG = "parallel-discovery"
LONGEST = 500
"""Characters that are shown of one."""
MOST = 20
"""Discoveries that are shown at once, the newest."""


class Discovery(NamedTuple):
    """A discovery on one line; `task_id` is "" where the agent did not say, `seq` its record's number."""

    text: str
    task_id: str
    applies_to: tuple[str, ...]
    time: datetime | None
    seq: int


def discoveries_for(records: Iterable[Record], task_id: str = "", most: int = MOST) -> tuple[Discovery, ...]:
    """What others found, oldest first; what the task `task_id` itself logged is left out, and of two the same the later too."""
    found: dict[str, Discovery] = {}
    for record in records:
        if not _is_tagged(record):
            continue
        one = _discovery(record)
        if one.text and (not task_id or one.task_id != task_id):
            found.setdefault(one.text, one)
    return tuple(found.values())[-most:] if most > 0 else ()


def _is_tagged(record: Record) -> bool:
    return TAG in _words(record.values.get("tag")) or TAG in _words(record.values.get("tags"))


def _discovery(record: Record) -> Discovery:
    text = record.values.get("content")
    ids = _words(record.values.get("task_id"))
    return Discovery(
        cut(normal_line(text if isinstance(text, str) else ""), LONGEST),
        ids[0] if ids else "",
        _words(record.values.get("applies_to")),
        record.time,
        record.seq,
    )


def _words(value: object) -> tuple[str, ...]:
    """A word or a list of them, as agents write either; an id may be a number."""
    items = value if isinstance(value, list) else [value]
    words = [str(one) if isinstance(one, int) else one for one in items if isinstance(one, (str, int))]
    return tuple(filter(None, (normal_line(word) for word in words)))
