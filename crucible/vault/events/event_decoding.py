"""Turn records of whole events back into the events of clients.

Apart from `event_reader` because most readers, and every `cru log`, do without the clients' events.
"""

from __future__ import annotations

import dataclasses
import types
import typing
from collections.abc import Iterable, Iterator, Mapping
from enum import Enum
from functools import cache
from typing import Any, get_args, get_origin

from crucible.clients import events
from crucible.clients.events import At, Event
from crucible.vault.events.event_reader import EventRecord

RENAMED = {"agent": "subagent", "type": "row_type"}
"""Fields of events that a record stores under another name, since it has such a field of its own."""

_EVENTS: Mapping[str, Any] = {kind.__name__: kind for kind in get_args(Event)}


def events_of(records: Iterable[EventRecord]) -> Iterator[tuple[Event, EventRecord]]:
    """The events with their records; records that are not events, or whose values have the wrong type, are skipped."""
    for record in records:
        event = event_of(record)
        if event is not None:
            yield event, record


def event_of(record: EventRecord) -> Event | None:
    """The event of a record; None if the record is not an event."""
    kind = _EVENTS.get(record.type)
    if kind is None:
        return None
    at = At(record.line, record.row, record.time, record.agent)
    values = {
        name: record.values[told] for name, _ in _fields(kind) if (told := RENAMED.get(name, name)) in record.values
    }
    try:
        event: Event = kind(
            at=at, **{name: _typed(hint, values[name]) for name, hint in _fields(kind) if name in values}
        )
    except (TypeError, ValueError):
        return None
    return event


@cache
def _fields(kind: Any) -> tuple[tuple[str, Any], ...]:
    """The names and types of an event class's fields, without `at`."""
    hints = typing.get_type_hints(kind, vars(events))
    return tuple((each.name, hints[each.name]) for each in dataclasses.fields(kind) if each.name != "at")


def _typed(hint: Any, value: object) -> Any:
    """Convert a JSON value to a type.  Raises `TypeError` or `ValueError` if it does not fit."""
    kind = get_origin(hint) or hint
    if kind is types.UnionType or kind is typing.Union:
        return None if value is None else _typed(get_args(hint)[0], value)
    if kind is tuple:
        parts = get_args(hint)
        if not isinstance(value, list):
            raise TypeError
        inner = [parts[0]] * len(value) if parts[1:] == (...,) else parts
        return tuple(_typed(one, each) for one, each in zip(inner, value, strict=True))
    if isinstance(value, dict) and isinstance(kind, type) and dataclasses.is_dataclass(kind):
        return kind(**{name: _typed(one, value[name]) for name, one in _fields(kind) if name in value})
    if isinstance(kind, type) and issubclass(kind, Enum):
        return kind(value)
    wanted = dict if kind is Mapping else kind
    if not isinstance(value, wanted) or (wanted is int and isinstance(value, bool)):
        raise TypeError
    return value
