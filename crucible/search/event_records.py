"""Read the full text of tool calls from a session's event log.

Hits show this text, which is not in the index, or else the shorter text in the note.  Many questions need this module,
so it imports little.
"""

from __future__ import annotations

from collections.abc import Collection, Container, Iterator, Mapping
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.vault.events.event_reader import EventRecord, read_records

USED, RETURNED, BY_HAND = "ToolUsed", "ToolReturned", "tool"
_CALLS = frozenset((USED, RETURNED, BY_HAND))
"""The types of records that belong to a call."""
_MOST = 200_000
"""Maximum code points of a call to search; longer text is mostly file contents."""
_DEEPEST = 8


def read_call_texts(root: Path, session: str, keys: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """Return the full text of calls by their records' keys; calls with missing records are skipped."""
    needed = {key for some in keys for key in some}
    found: dict[str, EventRecord] = {}
    for record in records_of(root, session, _CALLS, needed) if needed else ():
        found[record.key] = record
        if len(found) == len(needed):
            break
    texts = {}
    for some in keys:
        records = [found[key] for key in some if key in found]
        if some and len(records) == len(some):
            texts[some] = call_text(records[0], records[1] if len(records) > 1 else None)
    return texts


def records_of(
    root: Path, session: str, types: Container[str], keys: Collection[str] | None = None
) -> Iterator[EventRecord]:
    """Yield the records of these types, and with these keys, in order, up to the first one that cannot be read."""
    try:
        yield from read_records(root, session, types=types, keys=keys)
    except (CrucibleError, OSError):
        return


def call_text(record: EventRecord, returned: EventRecord | None) -> str:
    """Return the full text of a call and its result."""
    values = record.values
    if record.type == USED:
        parts = [string_in(values, "name"), *_strings(values.get("arguments"))]
        parts.append(string_in(returned.values, "text") if returned else "")
    else:
        parts = [string_in(values, "tool"), string_in(values, "command"), *_strings(values.get("args"))]
        parts += _strings(values.get("result"))
    return "\n".join(part for part in parts if part)[:_MOST]


def _strings(value: object, depth: int = 0) -> Iterator[str]:
    """Yield all strings and numbers in a JSON value, as text."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping | list) and depth < _DEEPEST:
        for inner in value.values() if isinstance(value, Mapping) else value:
            yield from _strings(inner, depth + 1)
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield str(value)


def string_in(values: Mapping[str, object], name: str) -> str:
    """Return the value with this name if it is a string, else ""."""
    value = values.get(name)
    return value if isinstance(value, str) else ""
