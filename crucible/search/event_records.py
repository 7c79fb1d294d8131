"""The recorded events of tool calls, with their full texts.

A search hit shows the full text of a call, which the index does not hold. A call whose record cannot be read keeps
the text of the note. This module imports little, since most questions need it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.vault.events.event_reader import EventRecord, read_records

USED = "ToolUsed"
_MOST = 200_000
"""Code points of a call that are searched: more is a file, and not what was said."""
_DEEPEST = 8


def read_call_texts(root: Path, session: str, keys: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The texts of calls by the keys of their records."""
    wanted = {key for some in keys for key in some}
    found: dict[str, EventRecord] = {}
    for record in records_of(root, session) if wanted else ():
        if record.key in wanted:
            found[record.key] = record
            if len(found) == len(wanted):
                break
    texts = {}
    for some in keys:
        records = [found[key] for key in some if key in found]
        if some and len(records) == len(some):
            texts[some] = call_text(records[0], records[1] if len(records) > 1 else None)
    return texts


def records_of(root: Path, session: str) -> Iterator[EventRecord]:
    """Those that can be read, in the order of events."""
    try:
        yield from read_records(root, session)
    except (CrucibleError, OSError):
        return


def call_text(record: EventRecord, returned: EventRecord | None) -> str:
    """The whole text of a call and its result."""
    values = record.values
    if record.type == USED:
        parts = [string_in(values, "name"), *_strings(values.get("arguments"))]
        parts.append(string_in(returned.values, "text") if returned else "")
    else:
        parts = [string_in(values, "tool"), string_in(values, "command"), *_strings(values.get("args"))]
        parts += _strings(values.get("result"))
    return "\n".join(part for part in parts if part)[:_MOST]


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    """Every text in a JSON value, and its numbers."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth < _DEEPEST:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(inner, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def string_in(values: Mapping[str, object], name: str) -> str:
    """A value that is a text; "" for any other."""
    value = values.get(name)
    return value if isinstance(value, str) else ""
