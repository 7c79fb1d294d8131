"""The whole text of a session's calls, from the flight recorder: what stands cut in the note.

Owns how a call of the note finds its records, by its line and in order, as `acts.evidence` does.  What cannot be read is not there: then the
note's words count.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Mapping
from pathlib import Path

from crucible.documents.markdown.containment import normal_line
from crucible.documents.recording.call_lines import call_line, one_line
from crucible.documents.session.markup import CALL_LIMIT
from crucible.documents.session.session import ToolCall
from crucible.search.event_records import USED, records_of, string_in, text_of
from crucible.search.session_events import Recorded, Whole
from crucible.vault.events.event_reading import Record

_RETURNED, _TOLD = "ToolReturned", "tool"


def recorded_calls(root: Path, session: str) -> Recorded:
    """What the recorder has of each call of a session's note."""
    return wholes_of(records_of(root, session))


def wholes_of(records: Iterable[Record]) -> Recorded:
    """The same, of records in the order of events."""
    told: dict[str, deque[tuple[Record, list[Record]]]] = defaultdict(deque)
    used: dict[tuple[str, str], list[Record]] = {}
    folder = ""
    for record in records:
        values = record.values
        if record.type == "ContextSeen":
            folder = string_in(values, "cwd") or folder
        elif record.type in (USED, _TOLD):
            returned: list[Record] = []
            told[normal_line(_line(record, folder))].append((record, returned))
            used[record.agent, string_in(values, "call")] = returned
        elif record.type == _RETURNED and (waiting := used.get((record.agent, string_in(values, "call")))) is not None:
            waiting.append(record)

    def recorded(call: ToolCall) -> Whole | None:
        waiting = told.get(normal_line(call.call))
        if not waiting:
            return None
        record, returned = waiting.popleft()
        result = returned[0] if returned else None
        keys = (record.key, result.key) if result else (record.key,)
        return Whole(text_of(record, result), keys, record.time) if all(keys) else None

    return recorded


def _line(record: Record, folder: str) -> str:
    values = record.values
    if record.type == USED:
        return call_line(string_in(values, "name"), _mapping(values.get("arguments")), folder)
    name, command = string_in(values, "tool") or "tool", string_in(values, "command")
    return one_line(f"{name} {command}", CALL_LIMIT) if command else call_line(name, _mapping(values.get("args")))


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
