"""The whole text of a session's calls, from the flight recorder: what stands cut in the note.

Owns how a call of the note finds its records, by its line and in order, as `acts.evidence` does, and how they are found again by
their keys when a hit is shown: the index holds no text.  What cannot be read is not there: then the note's words count.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Collection, Iterable, Iterator, Mapping
from pathlib import Path

from crucible.errors import CrucibleError
from crucible.flight.reading import Record, read_records
from crucible.note.contain import normal_line
from crucible.recall.events import Recorded, Whole
from crucible.session.calls import call_line, one_line
from crucible.session.markup import CALL_LIMIT
from crucible.session.model import ToolCall

__all__ = ["read_wholes", "recorded_calls", "wholes_of"]

_USED, _RETURNED, _TOLD = "ToolUsed", "ToolReturned", "tool"
_MOST = 200_000
"""Code points of a call that are searched: more is a file, and not what was said."""
_DEEPEST = 8


def read_wholes(root: Path, session: str, keys: Collection[tuple[str, ...]]) -> dict[tuple[str, ...], str]:
    """The texts of calls by the keys of their records."""
    wanted = {key for some in keys for key in some}
    found: dict[str, Record] = {}
    for record in _records(root, session) if wanted else ():
        if record.key in wanted:
            found[record.key] = record
            if len(found) == len(wanted):
                break
    texts = {}
    for some in keys:
        records = [found[key] for key in some if key in found]
        if some and len(records) == len(some):
            texts[some] = _text_of(records[0], records[1] if len(records) > 1 else None)
    return texts


def recorded_calls(root: Path, session: str) -> Recorded:
    """What the recorder has of each call of a session's note."""
    return wholes_of(_records(root, session))


def wholes_of(records: Iterable[Record]) -> Recorded:
    """The same, of records in the order of events."""
    told: dict[str, deque[tuple[Record, list[Record]]]] = defaultdict(deque)
    used: dict[tuple[str, str], list[Record]] = {}
    folder = ""
    for record in records:
        values = record.values
        if record.type == "ContextSeen":
            folder = _string(values, "cwd") or folder
        elif record.type in (_USED, _TOLD):
            returned: list[Record] = []
            told[normal_line(_line(record, folder))].append((record, returned))
            used[record.agent, _string(values, "call")] = returned
        elif (
            record.type == _RETURNED
            and (waiting := used.get((record.agent, _string(values, "call")))) is not None
        ):
            waiting.append(record)

    def recorded(call: ToolCall) -> Whole | None:
        waiting = told.get(normal_line(call.call))
        if not waiting:
            return None
        record, returned = waiting.popleft()
        result = returned[0] if returned else None
        keys = (record.key, result.key) if result else (record.key,)
        return Whole(_text_of(record, result), keys, record.time) if all(keys) else None

    return recorded


def _records(root: Path, session: str) -> Iterator[Record]:
    try:
        yield from read_records(root, session)
    except (CrucibleError, OSError):
        return


def _line(record: Record, folder: str) -> str:
    values = record.values
    if record.type == _USED:
        return call_line(_string(values, "name"), _mapping(values.get("arguments")), folder)
    name, command = _string(values, "tool") or "tool", _string(values, "command")
    return (
        one_line(f"{name} {command}", CALL_LIMIT)
        if command
        else call_line(name, _mapping(values.get("args")))
    )


def _text_of(record: Record, returned: Record | None) -> str:
    values = record.values
    if record.type == _USED:
        parts = [_string(values, "name"), *_strings(values.get("arguments"))]
        parts.append(_string(returned.values, "text") if returned else "")
    else:
        parts = [_string(values, "tool"), _string(values, "command"), *_strings(values.get("args"))]
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


def _string(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
