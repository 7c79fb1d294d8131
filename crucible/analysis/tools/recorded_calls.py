"""Find the full arguments and results of a note's tool calls in the event log.

A note has one line per call.  Records are matched by that line, in order, preferring those with the same outcome.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.containment import normal_line
from crucible.documents.recording.call_lines import call_line, one_line
from crucible.documents.session.markup import CALL_LIMIT
from crucible.documents.session.session import Outcome, ToolCall
from crucible.vault.events.event_files import may_have_records
from crucible.vault.events.event_reader import EventRecord, read_records


@dataclass(slots=True)
class RecordedCall:
    """A tool call in the event log.  `folder` is where the session ran, `line` is the call in one line; "" if unknown."""

    name: str
    arguments: Mapping[str, object]
    folder: str = ""
    line: str = ""
    result: str | None = None
    outcome: Outcome = Outcome.PENDING
    row: str = ""


class RecordedPrompt(NamedTuple):
    """A recorded prompt: its row, and the text to which a slash command expands."""

    row: str = ""
    expansion: str = ""


class RecordedCalls:
    """The recorded calls of a session, queried in the order of its note.  Equal lines get one record each, in order.

    `whole` is True if there are recorded calls and none has truncated arguments.  `roots` are the folders in which the
    session ran, in order.
    """

    def __init__(
        self,
        calls: Iterable[tuple[str, RecordedCall]] = (),
        roots: Iterable[str] = (),
        prompts: Iterable[tuple[str, RecordedPrompt]] = (),
        *,
        whole: bool = False,
    ) -> None:
        self._prompts: list[RecordedPrompt] = []
        self._next = 0
        self._places: defaultdict[str, list[int]] = defaultdict(list)
        for key, prompt in prompts:
            self._places[key].append(len(self._prompts))
            self._prompts.append(prompt)
        self._waiting: defaultdict[tuple[str, Outcome | None], list[RecordedCall]] = defaultdict(list)
        self._given: dict[object, tuple[ToolCall, RecordedCall | None]] = {}
        self._taken: set[int] = set()
        self.roots = tuple(dict.fromkeys(roots))
        self.whole = whole
        for line, one in calls:
            self._waiting[line, one.outcome].append(one)
            self._waiting[line, None].append(one)
        for waiting in self._waiting.values():
            waiting.reverse()

    def arguments(self, call: ToolCall) -> Mapping[str, object] | None:
        """Return the full arguments of a call; None if it was not recorded."""
        record = self.record_of(call)
        return record.arguments if record else None

    def name(self, call: ToolCall) -> str:
        """Return the tool's name as its client writes it."""
        record = self.record_of(call)
        return record.name if record else call.tool

    def result(self, call: ToolCall) -> str | None:
        """Return the full result of a call; None if it was not recorded."""
        record = self.record_of(call)
        return record.result if record else None

    def row(self, call: ToolCall) -> str:
        """Return the id of the transcript row that has the result; "" if the call was not recorded."""
        record = self.record_of(call)
        return record.row if record else ""

    def prompt(self, words: str) -> RecordedPrompt:
        """Take the next prompt with these words, and drop the prompts before it."""
        places = self._places.get(_prompt_key(words), [])
        nth = bisect_left(places, self._next)
        if nth == len(places):
            return RecordedPrompt()
        self._next = places[nth] + 1
        return self._prompts[places[nth]]

    def folder(self, call: ToolCall) -> str:
        """Return the folder in which the session ran when the call was made; "" if unknown."""
        record = self.record_of(call)
        return record.folder if record else ""

    def record_of(self, call: ToolCall) -> RecordedCall | None:
        """Return the record of a call; None if it was not recorded."""
        if not self._waiting:  # nothing was recorded
            return None
        key: object = (call.lines, call.call) if call.lines.first >= 0 else id(call)
        if key not in self._given:
            line = normal_line(call.call)
            self._given[key] = (call, self._take(line, call.outcome) or self._take(line, None))
        return self._given[key][1]

    def _take(self, line: str, outcome: Outcome | None) -> RecordedCall | None:
        waiting = self._waiting.get((line, outcome), [])
        while waiting:
            record = waiting.pop()
            if id(record) not in self._taken:
                self._taken.add(id(record))
                return record
        return None


def load_recorded_calls(vault_root: Path, session_id: str) -> RecordedCalls:
    """Read a session's recorded calls from its event log.  Never raises: unreadable records are omitted."""
    records: list[EventRecord] = []
    if not may_have_records(vault_root, session_id):
        return RecordedCalls()
    try:
        records.extend(read_records(vault_root, session_id, types=_USED))
    except (CrucibleError, OSError):
        return recorded_calls_of(records, complete=False)
    return recorded_calls_of(records)


_USED = frozenset(("ContextSeen", "ToolUsed", "ToolReturned", "Prompted", "Injected", "tool"))
"""The types of records that are used below."""


def recorded_calls_of(records: Iterable[EventRecord], *, complete: bool = True) -> RecordedCalls:
    """Return the recorded calls in event records, given in the order of events."""
    calls: list[tuple[str, RecordedCall]] = []
    used: dict[tuple[str, str], RecordedCall] = {}
    roots: list[str] = []
    prompts: list[tuple[str, RecordedPrompt]] = []
    cwd, uncut, is_command = "", True, False
    for record in records:
        values = record.values
        if record.type == "ContextSeen":
            cwd = _text(values, "cwd") or cwd
            roots.append(cwd)
        elif record.type == "ToolUsed":
            name, arguments = _text(values, "name"), _mapping(values.get("arguments"))
            one = RecordedCall(name, arguments, cwd, call_line(name, arguments, cwd))
            calls.append((normal_line(one.line), one))
            used[record.agent, _text(values, "call")] = one
            uncut = uncut and not record.cut
        elif record.type == "ToolReturned":
            if found := used.get((record.agent, _text(values, "call"))):
                found.result, found.outcome = _text(values, "text"), _outcome(_text(values, "end"))
                found.row = record.row
        elif record.type == "Prompted":
            prompts.append((_prompt_key(_text(values, "text")), RecordedPrompt(record.row)))
            is_command = values.get("kind") == "command"
        elif record.type == "Injected" and values.get("kind") == "skill" and is_command:
            prompts[-1] = (prompts[-1][0], prompts[-1][1]._replace(expansion=_text(values, "text")))
        elif record.type == "tool":
            calls.append(_self_reported(values))
    return RecordedCalls(calls, filter(None, roots), prompts, whole=complete and bool(calls) and uncut)


def _self_reported(values: Mapping[str, object]) -> tuple[str, RecordedCall]:
    """Return a call that an agent recorded with `cru record` because its client keeps no transcript."""
    name, command = _text(values, "tool") or "tool", _text(values, "command")
    path = _text(values, "path")
    arguments = _mapping(values.get("args")) or ({"path": path} if path else {"command": command})
    line = one_line(f"{name} {command}", CALL_LIMIT) if command else call_line(name, arguments)
    result = values.get("result")
    return normal_line(line), RecordedCall(
        name,
        arguments,
        "",
        call_line(name, arguments),
        result if isinstance(result, str) else None,
        _outcome(_text(values, "outcome") or "ok"),
    )


def _prompt_key(words: str) -> str:
    """Return the beginning of a prompt as a search key."""
    return "".join(filter(str.isalnum, words[:400]))[:80]


def _outcome(end: str) -> Outcome:
    return Outcome(end) if end in set(Outcome) else Outcome.OK


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
