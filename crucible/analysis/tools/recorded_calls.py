"""The whole arguments and results of a session's calls from the event log, where the note has only a line.

A call of the note is matched with its record by that line, in order, those with the same outcome first.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.markdown.containment import normal_line
from crucible.documents.recording.call_lines import call_line, one_line
from crucible.documents.session.markup import CALL_LIMIT
from crucible.documents.session.session import Outcome, ToolCall
from crucible.vault.events.event_files import may_have_records
from crucible.vault.events.event_reader import EventRecord, read_records


@dataclass(slots=True)
class _RecordedCall:
    """One call as it was recorded."""

    name: str
    arguments: Mapping[str, object]
    folder: str = ""
    result: str | None = None
    outcome: Outcome = Outcome.PENDING
    row: str = ""


class RecordedPrompt(NamedTuple):
    """A recorded prompt: its row, and the text that a slash command expands to."""

    row: str = ""
    expansion: str = ""


class RecordedCalls:
    """Ask for a session's calls in the order of its note: of several with one line each gets its own record.

    `whole` says whether every call that was recorded had its whole arguments kept and there were any.
    `roots` are the folders that the session ran in, the first first.
    """

    def __init__(
        self,
        told: Iterable[tuple[str, _RecordedCall]] = (),
        roots: Iterable[str] = (),
        said: Iterable[tuple[str, RecordedPrompt]] = (),
        *,
        whole: bool = False,
    ) -> None:
        self._said = list(said)
        self._waiting: defaultdict[tuple[str, Outcome | None], list[_RecordedCall]] = defaultdict(list)
        self._given: dict[object, tuple[ToolCall, _RecordedCall | None]] = {}
        self._taken: set[int] = set()
        self.roots = tuple(dict.fromkeys(roots))
        self.whole = whole
        for line, one in told:
            self._waiting[line, one.outcome].append(one)
            self._waiting[line, None].append(one)
        for waiting in self._waiting.values():
            waiting.reverse()

    def arguments(self, call: ToolCall) -> Mapping[str, object] | None:
        """The whole arguments of a call; None when it was not recorded."""
        told = self._told(call)
        return told.arguments if told else None

    def name(self, call: ToolCall) -> str:
        """The tool's name as its client has it."""
        told = self._told(call)
        return told.name if told else call.tool

    def result(self, call: ToolCall) -> str | None:
        """The whole text that came back; None when it was not recorded."""
        told = self._told(call)
        return told.result if told else None

    def row(self, call: ToolCall) -> str:
        """The id of the transcript's row with the result; "" if it was not recorded."""
        told = self._told(call)
        return told.row if told else ""

    def said(self, words: str) -> RecordedPrompt:
        """The next prompt with these words; earlier prompts are not looked at again."""
        begun = _begun(words)
        at = next((at for at, (text, _) in enumerate(self._said) if text == begun), None)
        if at is None:
            return RecordedPrompt()
        found = self._said[at][1]
        del self._said[: at + 1]
        return found

    def folder(self, call: ToolCall) -> str:
        """Where the session ran when the call was made; "" when that is not known."""
        told = self._told(call)
        return told.folder if told else ""

    def _told(self, call: ToolCall) -> _RecordedCall | None:
        if not self._waiting:  # nothing was recorded
            return None
        key: object = (call.lines, call.call) if call.lines.first >= 0 else id(call)
        if key not in self._given:
            line = normal_line(call.call)
            self._given[key] = (call, self._take(line, call.outcome) or self._take(line, None))
        return self._given[key][1]

    def _take(self, line: str, outcome: Outcome | None) -> _RecordedCall | None:
        waiting = self._waiting.get((line, outcome), [])
        while waiting:
            told = waiting.pop()
            if id(told) not in self._taken:
                self._taken.add(id(told))
                return told
        return None


def load_recorded_calls(vault_root: Path, session_id: str) -> RecordedCalls:
    """The evidence of a session's flight recorder, from the folder, the archive or both.  Never raises: what cannot be read is not there."""
    records: list[EventRecord] = []
    if not may_have_records(vault_root, session_id):
        return RecordedCalls()
    try:
        records.extend(read_records(vault_root, session_id))
    except (CrucibleError, OSError):
        return recorded_calls_of(records, complete=False)
    return recorded_calls_of(records)


def recorded_calls_of(records: Iterable[EventRecord], *, complete: bool = True) -> RecordedCalls:
    """The evidence of records in the order of events."""
    told: list[tuple[str, _RecordedCall]] = []
    used: dict[tuple[str, str], _RecordedCall] = {}
    roots: list[str] = []
    said: list[tuple[str, RecordedPrompt]] = []
    cwd, uncut, is_command = "", True, False
    for record in records:
        values = record.values
        if record.type == "ContextSeen":
            cwd = _text(values, "cwd") or cwd
            roots.append(cwd)
        elif record.type == "ToolUsed":
            one = _RecordedCall(_text(values, "name"), _mapping(values.get("arguments")), cwd)
            told.append((normal_line(call_line(one.name, one.arguments, cwd)), one))
            used[record.agent, _text(values, "call")] = one
            uncut = uncut and not record.cut
        elif record.type == "ToolReturned":
            if found := used.get((record.agent, _text(values, "call"))):
                found.result, found.outcome = _text(values, "text"), _outcome(_text(values, "end"))
                found.row = record.row
        elif record.type == "Prompted":
            said.append((_begun(_text(values, "text")), RecordedPrompt(record.row)))
            is_command = values.get("kind") == "command"
        elif record.type == "Injected" and values.get("kind") == "skill" and is_command:
            said[-1] = (said[-1][0], said[-1][1]._replace(expansion=_text(values, "text")))
        elif record.type == "tool":
            told.append(_recorded(values))
    return RecordedCalls(told, filter(None, roots), said, whole=complete and bool(told) and uncut)


def _recorded(values: Mapping[str, object]) -> tuple[str, _RecordedCall]:
    """A call that an agent told of itself."""
    name, command = _text(values, "tool") or "tool", _text(values, "command")
    path = _text(values, "path")
    arguments = _mapping(values.get("args")) or ({"path": path} if path else {"command": command})
    line = one_line(f"{name} {command}", CALL_LIMIT) if command else call_line(name, arguments)
    result = values.get("result")
    return normal_line(line), _RecordedCall(
        name,
        arguments,
        "",
        result if isinstance(result, str) else None,
        _outcome(_text(values, "outcome") or "ok"),
    )


def _begun(words: str) -> str:
    """The beginning of a prompt, as a search key."""
    return "".join(filter(str.isalnum, words[:400]))[:80]


def _outcome(end: str) -> Outcome:
    return Outcome(end) if end in set(Outcome) else Outcome.OK


def _text(values: Mapping[str, object], name: str) -> str:
    value = values.get(name)
    return value if isinstance(value, str) else ""


def _mapping(value: object) -> Mapping[str, object]:
    return value if isinstance(value, Mapping) else {}
