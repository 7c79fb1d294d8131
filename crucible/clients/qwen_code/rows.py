"""Convert the rows of Qwen Code's sessions to events.

Qwen Code grew out of Gemini CLI: its messages and results have the same form, but its rows differ.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import ClassVar, TypeAlias

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Compacted,
    ContextSeen,
    Event,
    Faulted,
    Injected,
    PlanSettled,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from crucible.clients.gemini.call_results import result_of
from crucible.clients.gemini.texts import Speech, is_response, is_thought, parts_of, pictures, text_of, texts_of_user
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count, number, tasks_of

_AGENT_TOOLS = frozenset({"agent", "task"})
_TASK_TOOL = "todo_write"
_PLAN_TOOL = "exit_plan_mode"
_SAME_AS_GEMINI = {"edit": "replace"}
_AGENT_PARTS = 3
_OWN_COMMANDS = ("/compress", "/summary")
"""Commands that the client carries out itself, but logs like prompts when it has no terminal."""
_COMPRESSED = re.compile(r"Context compressed \((\d{1,12}) -> \d+\)")
_CANCELED = "was canceled by the user"
_HUMAN = {
    Speech.PROMPT: PromptKind.TYPED,
    Speech.COMMAND: PromptKind.COMMAND,
    Speech.SHELL: PromptKind.SHELL,
    Speech.STEERING: PromptKind.STEERING,
}
_BY_CLIENT = ("notification", "cron")
"""Rows of the user that the client wrote."""
SILENT = frozenset({"attribution_snapshot", "at_command"})
"""Rows of the client without anything that a user said, saw or decided."""
_Reader: TypeAlias = "Callable[[RowReader, At, Row], Iterator[Event]]"


def telemetry_of(row: Row) -> Row:
    """Return the content of a row of telemetry, {} for other rows."""
    return as_dict(as_dict(row.get("systemPayload")).get("uiEvent"))


def agent_of(told: Row) -> str:
    """Return the subagent that telemetry is about: `general-purpose-8hcyjm` in `<session>#general-purpose-8hcyjm#0`."""
    parts = as_str(told.get("prompt_id")).split("#")
    return parts[1] if len(parts) == _AGENT_PARTS else ""


def display_of(row: Row) -> Row:
    """Return the form in which the client displays a result; {} for other rows and for text."""
    return as_dict(as_dict(row.get("toolCallResult")).get("resultDisplay"))


def _at(line: int, row: Row, agent: str = "") -> At:
    return At(line, as_str(row.get("uuid")) or f"{line:08x}", as_time(row.get("timestamp")), agent)


class RowReader:
    """Reads the rows of a session in order."""

    def __init__(self) -> None:
        self._context: tuple[str, ...] = ()
        self._waiting: dict[str, ToolUsed] = {}
        self._agents: dict[str, str] = {}
        """The last text of each subagent whose call is not known yet."""

    def read(self, line: int, row: Row) -> Iterator[Event]:
        """Yield the events of one row."""
        at, kind = _at(line, row), as_str(row.get("type"))
        context = tuple(as_str(row.get(key)) for key in ("sessionId", "cwd", "gitBranch", "version"))
        if any(context) and context != self._context:
            self._context = context
            yield ContextSeen(at, *context)
        subtype = as_str(row.get("subtype"))
        if kind in self._kinds:
            yield from self._kinds[kind](self, at, row)
        elif kind == "system" and subtype in self._subtypes:
            yield from self._subtypes[subtype](self, at, as_dict(row.get("systemPayload")))
        elif kind != "system" or subtype not in SILENT:
            yield Unknown(at, f"{kind} {subtype}".strip())

    # --- messages ----------------------------------------------------------------------------------------------------

    def _user(self, at: At, row: Row) -> Iterator[Event]:
        parts = as_dict(row.get("message")).get("parts")
        if row.get("subtype") in _BY_CLIENT:
            yield Injected(at, text_of(parts), as_str(row.get("subtype")))
            return
        if text_of(parts).strip() in _OWN_COMMANDS:
            yield Injected(at, text_of(parts), "command")
            return
        images = pictures(parts)
        for each in texts_of_user({"content": parts}):
            if each.speech in _HUMAN:
                yield Prompted(at, each.text, _HUMAN[each.speech], images)
                images = 0
            else:
                yield Injected(at, each.text, each.kind)

    def _assistant(self, at: At, row: Row) -> Iterator[Event]:
        parts, model = parts_of(as_dict(row.get("message")).get("parts")), as_str(row.get("model"))
        for part in parts:
            if is_thought(part) and as_str(part.get("text")).strip():
                yield Reasoned(at, part["text"], at.row)
        text, calls = text_of(parts), [as_dict(part["functionCall"]) for part in parts if part.get("functionCall")]
        if text.strip():
            yield Replied(at, text, at.row, model, not calls)
        for call in calls:
            yield from self._use(at, call, model)
        yield from _usage(at, row, model)
        if text.strip() and not calls:
            yield Answered(at)

    def _use(self, at: At, call: Row, model: str) -> Iterator[Event]:
        name, given = as_str(call.get("name")), arguments_of(call.get("args"))
        used = ToolUsed(at, as_str(call.get("id")) or name, name, given, at.row, model)
        self._waiting[used.call] = used
        yield used
        if name in _AGENT_TOOLS:
            kind, task, title = (as_str(given.get(key)) for key in ("subagent_type", "prompt", "description"))
            yield SubagentStarted(at, used.call, kind, task, title)

    def _result(self, at: At, row: Row) -> Iterator[Event]:
        result, parts = as_dict(row.get("toolCallResult")), parts_of(as_dict(row.get("message")).get("parts"))
        responses = [as_dict(part["functionResponse"]) for part in parts if is_response(part)]
        call = as_str(result.get("callId")) or next((as_str(each.get("id")) for each in responses), "")
        used = self._waiting.pop(call, None)
        name = used.name if used else next((as_str(each.get("name")) for each in responses), "")
        told = {
            "id": call,
            "status": result.get("status"),
            "result": parts,
            "resultDisplay": result.get("resultDisplay"),
        }
        found = result_of(_SAME_AS_GEMINI.get(name, name), told)
        if found is None:
            yield Unknown(at, f"tool_result {as_str(result.get('status'))}".strip())
            return
        if name in _AGENT_TOOLS and used:
            yield from self._returned(at, used, found.text, found.end, display_of(row))
        if name == _PLAN_TOOL and found.end is not CallEnd.FAILED and used:
            yield PlanSettled(at, call, as_str(used.arguments.get("plan")), found.end is CallEnd.OK)
        if name not in _AGENT_TOOLS or not used or found.end is CallEnd.REJECTED:
            yield ToolReturned(at, call, found.text, found.end, found.feedback, found.details)
        if name == _TASK_TOOL and found.end is CallEnd.OK and used:
            yield TasksListed(at, tasks_of(used.arguments.get("todos")))

    def _returned(self, at: At, used: ToolUsed, text: str, end: CallEnd, display: Row) -> Iterator[Event]:
        """Yield a subagent's report.  Its call does not name it: its last words are those of the report."""
        agent = next((each for each, said in self._agents.items() if said and said == text), "")
        agent = agent or next(iter(self._agents), "")
        if agent:
            del self._agents[agent]
            kind, task, title = (as_str(used.arguments.get(key)) for key in ("subagent_type", "prompt", "description"))
            yield SubagentStarted(at, used.call, kind, task, title, agent)
        failed = as_str(display.get("status")) in ("failed", "cancelled")
        yield SubagentReturned(at, used.call, agent, text, CallEnd.FAILED if failed and end is CallEnd.OK else end)

    # --- the client --------------------------------------------------------------------------------------------------

    def _telemetry(self, at: At, payload: Row) -> Iterator[Event]:
        """Yield failures, and calls that the user refused, which have no result."""
        told = as_dict(payload.get("uiEvent"))
        agent, error = agent_of(told), as_str(told.get("error"))
        if agent:
            self._agents[agent] = as_str(told.get("response_text")) or self._agents.get(agent, "")
        elif as_str(told.get("event.name")).endswith(".api_error"):
            yield Faulted(at, as_str(told.get("error_message")))
        elif _CANCELED in error:
            name, given = told.get("function_name"), told.get("function_args")
            same = (used for used in self._waiting.values() if (used.name, used.arguments) == (name, given))
            if used := next(same, None):
                del self._waiting[used.call]
                yield ToolReturned(at, used.call, error, CallEnd.REJECTED)

    def _compression(self, at: At, payload: Row) -> Iterator[Event]:
        info, history = as_dict(payload.get("info")), as_list(payload.get("compressedHistory"))
        summary = text_of(as_dict(history[0]).get("parts")) if history else ""
        yield Compacted(at, as_str(payload.get("trigger")), number(info.get("originalTokenCount")), summary)

    def _command(self, at: At, payload: Row) -> Iterator[Event]:
        """Yield a command of the client's own.  Without a terminal, only its output shows a compaction."""
        items = (as_dict(item) for item in as_list(payload.get("outputHistoryItems")))
        compressed = next(filter(None, (_COMPRESSED.search(as_str(item.get("text"))) for item in items)), None)
        if compressed:
            yield Compacted(at, "manual", int(compressed[1]))
        elif payload.get("phase") != "result" and as_str(payload.get("rawCommand")).strip():
            yield Injected(at, payload["rawCommand"], "command")

    def _rewind(self, at: At, payload: Row) -> Iterator[Event]:
        messages = number(payload.get("truncatedCount"))
        yield Rewound(at, None, "" if messages is None else "1 message" if messages == 1 else f"{messages} messages")

    def _title(self, at: At, payload: Row) -> Iterator[Event]:
        if as_str(payload.get("customTitle")).strip():
            yield Titled(at, payload["customTitle"], payload.get("titleSource") == "manual")

    _kinds: ClassVar[Mapping[str, _Reader]] = {"user": _user, "assistant": _assistant, "tool_result": _result}
    _subtypes: ClassVar[Mapping[str, _Reader]] = {
        "ui_telemetry": _telemetry,
        "chat_compression": _compression,
        "slash_command": _command,
        "rewind": _rewind,
        "custom_title": _title,
    }


class AgentReader:
    """Reads one subagent's answers and calls from a session's telemetry, which has no outputs."""

    def __init__(self, agent: str, task: str) -> None:
        self._agent, self._task = agent, task
        self._began = False
        self._said = ""

    def read(self, line: int, row: Row) -> Iterator[Event]:
        """Yield the events of one row."""
        told, at = telemetry_of(row), _at(line, row, self._agent)
        if agent_of(told) != self._agent:
            if self._said and self._said == as_dict(as_dict(row.get("toolCallResult")).get("resultDisplay")).get(
                "result"
            ):
                self._said = ""
                yield Answered(at)
            return
        if not self._began:
            self._began = True
            yield ContextSeen(at, *(as_str(row.get(key)) for key in ("sessionId", "cwd", "gitBranch", "version")))
            if self._task.strip():
                yield Prompted(at, self._task, PromptKind.TASK)
        match as_str(told.get("event.name")).rpartition(".")[2]:
            case "api_response":
                yield from self._response(at, told)
            case "api_error":
                yield Faulted(at, as_str(told.get("error_message")))
            case "tool_call":
                yield from self._called(at, told)

    def _response(self, at: At, told: Row) -> Iterator[Event]:
        message, model = as_str(told.get("response_id")) or at.row, as_str(told.get("model"))
        self._said = as_str(told.get("response_text"))
        if self._said.strip():
            yield Replied(at, self._said, message, model)
        sent, cached, said = (count(told.get(f"{key}_token_count")) for key in ("input", "cached_content", "output"))
        yield UsageCounted(at, message, model, max(0, sent - cached), cached, said)

    def _called(self, at: At, told: Row) -> Iterator[Event]:
        error = as_str(told.get("error"))
        end = CallEnd.OK if told.get("success") is not False else CallEnd.FAILED
        given = arguments_of(told.get("function_args"))
        message = as_str(told.get("response_id"))
        yield ToolUsed(at, at.row, as_str(told.get("function_name")), given, message)
        yield ToolReturned(at, at.row, error, CallEnd.REJECTED if _CANCELED in error else end)


def _usage(at: At, row: Row, model: str) -> Iterator[Event]:
    """Yield a message's token counts; the prompt includes cached tokens, and the total shows whether it includes thoughts."""
    usage = row.get("usageMetadata")
    if isinstance(usage, dict):
        keys = ("promptTokenCount", "cachedContentTokenCount", "candidatesTokenCount", "thoughtsTokenCount")
        sent, cached, said, thoughts = (count(usage.get(key)) for key in keys)
        more = thoughts if count(usage.get("totalTokenCount")) >= sent + said + thoughts else 0
        yield UsageCounted(at, at.row, model, max(0, sent - cached), cached, said + more)
