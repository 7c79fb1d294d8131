"""What the subagents of a session found out and logged for the others.

Owns which records are such: those with the tag `parallel-discovery`.  Writing them is the flight recorder's, showing them the doors'.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import NamedTuple

from crucible.documents.markdown.containment import cut, normal_line
from crucible.vault.events.event_reading import Record

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


def discoveries_for(
    records: Iterable[Record], task_id: str = "", beside: Iterable[Record] = ()
) -> tuple[Discovery, ...]:
    """What others found, each text once, oldest first, the newest `MOST`.

    What the task `task_id` itself logged among `records` is left out; `beside` are the records of other sessions, whose tasks have ids
    of their own.
    """
    own = (one for one in _tagged(records) if not task_id or one.task_id != task_id)
    found: dict[str, Discovery] = {}
    for one in sorted((*own, *_tagged(beside)), key=lambda one: one.time.timestamp() if one.time else 0.0):
        found.setdefault(one.text, one)
    return tuple(found.values())[-MOST:]


def _tagged(records: Iterable[Record]) -> Iterator[Discovery]:
    for record in records:
        tags = (*_words(record.values.get("tag")), *_words(record.values.get("tags")))
        if TAG in tags and (one := _discovery(record)).text:
            yield one


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
