"""Details of a tool call from the event log, which its line in the note omits: diff, arguments and output."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

from crucible.documents.markdown.containment import normal
from crucible.documents.recording.command_output import printed
from crucible.documents.recording.pending_calls import changed_lines
from crucible.documents.session.session import ToolCall
from crucible.search.event_records import USED, string_in
from crucible.search.session_events import call_records, matched_records
from crucible.vault.events.event_lines import cut_mark
from crucible.vault.events.event_reader import EventRecord

_SHORT = 80
"""Arguments in one line of at most this length are in the call's line already."""
_LONGEST = 100_000
"""Maximum characters to show of an argument or an output."""
ROOM_OF_PAGE = 8_000_000
"""Characters on a page for the arguments and outputs of its calls; browsers are slow with larger pages."""


class CallDetail(NamedTuple):
    """A call's details as text; "" for none.  `mark` says what was cut in the event log."""

    diff: str = ""
    arguments: str = ""
    output: str = ""
    mark: str = ""

    def __bool__(self) -> bool:
        return any(self)


LEFT_OUT = CallDetail(mark="Not on this page, which would be too large.")


def read_call_details(
    root: Path, session_id: str, calls: Iterable[tuple[str, ToolCall]], room: int = sys.maxsize
) -> dict[str, CallDetail]:
    """Return the details of calls by their ids on the page.  Pass all calls of a session, in the order of the note.

    `room` is the number of characters for all of them.  Details that do not fit are replaced by a mark.
    """
    details: dict[str, CallDetail] = {}
    for name, records in _recorded(root, session_id, calls):
        if detail := detail_of(*records):
            size = sum(map(len, detail))
            details[name] = detail if size <= room else LEFT_OUT
            room -= size if size <= room else 0
    return details


def read_call_detail(root: Path, session_id: str, calls: Iterable[tuple[str, ToolCall]], wanted: str) -> CallDetail:
    """Return the details of the call with the id `wanted`.  Pass all calls of a session, in the order of the note."""
    recorded = _recorded(root, session_id, calls)
    return next((detail_of(*records) for name, records in recorded if name == wanted), CallDetail())


def _recorded(
    root: Path, session_id: str, calls: Iterable[tuple[str, ToolCall]]
) -> Iterator[tuple[str, tuple[EventRecord, EventRecord | None]]]:
    matched = matched_records(call_records(root, session_id))
    return ((name, records) for name, call in calls if (records := matched(call)))


def detail_of(used: EventRecord, returned: EventRecord | None) -> CallDetail:
    """Return the details in a call's records."""
    if used.type == USED:
        given, output = used.values.get("arguments"), string_in(returned.values, "text") if returned else ""
    else:
        given, output = used.values.get("args"), _text_of(used.values.get("result"))
    arguments = given if isinstance(given, Mapping) else {}
    diff = "\n".join(changed_lines(arguments))
    marks = " ".join(filter(None, (cut_mark(used), cut_mark(returned) if returned else "")))
    return CallDetail(
        normal(diff[:_LONGEST]),
        "" if diff else _arguments_text(arguments),
        normal(printed(output).text[:_LONGEST]),
        marks,
    )


def _arguments_text(arguments: Mapping[str, object]) -> str:
    """Return the arguments, one per line.  A short single argument is in the call's line."""
    texts = {name: _text_of(value) for name, value in arguments.items()}
    if len(texts) == 1 and all(len(text) <= _SHORT and "\n" not in text for text in texts.values()):
        return ""
    whole = "\n".join(f"{name}:{_apart(text)}" for name, text in texts.items())
    return normal(whole[:_LONGEST])


def _apart(text: str) -> str:
    return f"\n{text}" if "\n" in text else f" {text}"


def _text_of(value: object) -> str:
    if isinstance(value, str):
        return value
    return "" if value is None else json.dumps(value, ensure_ascii=False, default=str)
