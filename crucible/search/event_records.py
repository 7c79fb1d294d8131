"""Read the full texts of tool calls from a session's event log.

A search hit shows the full text of a call, which is not in the index. If its record cannot be read, the shorter text
of the note is shown. This module imports little, since many questions need it.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.vault.events.event_reader import EventRecord, read_records

USED = "ToolUsed"
_MOST = 200_000
"""Code points of a call that are searched; longer texts are mostly contents of files."""
_DEEPEST = 8


def read_call_texts(root: Path, session: str, keys: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The full texts of calls by the keys of their records, without calls whose records are missing."""
    needed = {key for some in keys for key in some}
    found: dict[str, EventRecord] = {}
    for record in records_of(root, session) if needed else ():
        if record.key in needed:
            found[record.key] = record
            if len(found) == len(needed):
                break
    texts = {}
    for some in keys:
        records = [found[key] for key in some if key in found]
        if some and len(records) == len(some):
            texts[some] = call_text(records[0], records[1] if len(records) > 1 else None)
    return texts


def records_of(root: Path, session: str) -> Iterator[EventRecord]:
    """The records of a session in order, up to the first that cannot be read."""
    try:
        yield from read_records(root, session)
    except (CrucibleError, OSError):
        return


def call_text(record: EventRecord, returned: EventRecord | None) -> str:
    """The full text of a call and its result."""
    values = record.values
    if record.type == USED:
        parts = [string_in(values, "name"), *_strings(values.get("arguments"))]
        parts.append(string_in(returned.values, "text") if returned else "")
    else:
        parts = [string_in(values, "tool"), string_in(values, "command"), *_strings(values.get("args"))]
        parts += _strings(values.get("result"))
    return "\n".join(part for part in parts if part)[:_MOST]


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    """All texts and numbers in a JSON value, as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth < _DEEPEST:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(inner, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def string_in(values: Mapping[str, object], name: str) -> str:
    """The value with this name if it is text, otherwise ""."""
    value = values.get(name)
    return value if isinstance(value, str) else ""
