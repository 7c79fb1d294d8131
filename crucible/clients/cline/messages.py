"""Convert Cline CLI's messages to events."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime

import orjson

from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    Event,
    Injected,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    SubagentReturned,
    SubagentStarted,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from crucible.clients.gemini.texts import row_id
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, count, line_count, number

AGENT_TOOL = "spawn_agent"
_TYPED = re.compile(r"<user_input[^>]*>(.*?)</user_input>", re.DOTALL)
_EXITED = re.compile(r"\A\[Command exited with code (-?\d{1,9})\]\s*(?:\[stderr\]\n)?")
_CHANGED = re.compile(r"^([+-])\d+: ", re.MULTILINE)
_CREATED = "File created successfully"


def task_in(messages: list[object]) -> str:
    """Return the text of the first message."""
    first = as_dict(messages[0]) if messages else {}
    return "".join(as_str(as_dict(block).get("text")) for block in as_list(first.get("content")))


class MessageReader:
    """Reads the messages of one file in order.

    `agent` is the subagent's id if the file is a subagent's; `agents` are the subagents by their tasks.
    """

    def __init__(self, agent: str, agents: Mapping[str, list[str]]) -> None:
        self._agent = agent
        self._agents = {task: list(found) for task, found in agents.items()}
        self._spawned: dict[str, ToolUsed] = {}
        self._linked: dict[str, str] = {}

    def read(self, line: int, message: Row) -> Iterator[Event]:
        """Yield the events of one message."""
        ident = as_str(message.get("id"))
        at = At(line, row_id(ident or line), _time(message.get("ts")), self._agent)
        content = message.get("content")
        blocks = (
            [{"type": "text", "text": content}] if isinstance(content, str) else list(map(as_dict, as_list(content)))
        )
        match message.get("role"):
            case "user":
                yield from self._user(at, blocks)
            case "assistant":
                yield from self._assistant(at, message, blocks)
            case role:
                yield Unknown(at, f"message {as_str(role)}".strip())

    # --- the user ----------------------------------------------------------------------------------------------------

    def _user(self, at: At, blocks: list[Row]) -> Iterator[Event]:
        images = sum(block.get("type") == "image" for block in blocks)
        for block in blocks:
            match block.get("type"):
                case "text":
                    yield from self._said(at, as_str(block.get("text")), images)
                    images = 0
                case "tool_result":
                    yield from self._result(at, block)
                case "image":
                    pass
                case kind:
                    yield Unknown(at, f"block {as_str(kind)}".strip())

    def _said(self, at: At, text: str, images: int) -> Iterator[Event]:
        """Yield what the user typed, and the text that the client put around it."""
        typed = _TYPED.findall(text)
        kind = PromptKind.TASK if self._agent else PromptKind.TYPED
        around = _TYPED.sub("", text).strip()
        words = "\n\n".join(typed) if typed else text
        if words.strip() and (typed or not around.startswith("<")):
            yield Prompted(at, words, kind, images)
        if around and (typed or around.startswith("<")):
            yield Injected(at, around, "attached")

    # --- the model ---------------------------------------------------------------------------------------------------

    def _assistant(self, at: At, message: Row, blocks: list[Row]) -> Iterator[Event]:
        model = as_str(as_dict(message.get("modelInfo")).get("id"))
        calls = [block for block in blocks if block.get("type") == "tool_use"]
        said = False
        for block in blocks:
            text = as_str(block.get("text")) or as_str(block.get("thinking"))
            match block.get("type"):
                case "text" if text.strip():
                    said = not calls
                    yield Replied(at, text, at.row, model, said)
                case "thinking" | "reasoning" if text.strip():
                    yield Reasoned(at, text, at.row)
                case "text" | "thinking" | "reasoning" | "redacted_thinking":
                    pass
                case "tool_use":
                    yield from self._use(at, block, model)
                case kind:
                    yield Unknown(at, f"block {as_str(kind)}".strip())
        yield from _usage(at, message, model)
        if said:
            yield Answered(at)

    def _use(self, at: At, block: Row, model: str) -> Iterator[Event]:
        name, given = as_str(block.get("name")), arguments_of(block.get("input"))
        used = ToolUsed(at, as_str(block.get("id")), name, given, at.row, model)
        yield used
        if name == AGENT_TOOL:
            self._spawned[used.call] = used
            yield self._started(at, used)

    def _started(self, at: At, used: ToolUsed) -> SubagentStarted:
        task = as_str(used.arguments.get("task"))
        waiting = self._agents.get(task)
        if waiting and used.call not in self._linked:
            self._linked[used.call] = waiting.pop(0)
        title = task.strip().partition("\n")[0][:80]
        return SubagentStarted(at, used.call, "subagent", task, title, self._linked.get(used.call, ""))

    def _result(self, at: At, block: Row) -> Iterator[Event]:
        call, name = as_str(block.get("tool_use_id")), as_str(block.get("name"))
        results = _results(block.get("content"))
        failed = block.get("is_error") is True or any(each.get("success") is False for each in results)
        end = CallEnd.FAILED if failed else CallEnd.OK
        used = self._spawned.pop(call, None)
        if used:
            told = results[0] if results else {}
            if told.get("finishReason") not in (None, "completed"):
                end = CallEnd.FAILED
            yield self._started(at, used)
            yield SubagentReturned(at, call, self._linked.get(call, ""), _text_of(told), end)
            return
        text = "\n".join(map(_text_of, results))
        yield ToolReturned(at, call, *_told(name, text, end))


def _results(content: object) -> list[Row]:
    """Return the parts of a result, which may be JSON in a string, a text, or blocks of text."""
    if isinstance(content, str):
        try:
            parsed = orjson.loads(content) if content[:1] in "{[" else None
        except ValueError:
            parsed = None
        content = parsed if isinstance(parsed, dict | list) else [{"result": content}]
    items = content if isinstance(content, list) else [content]
    return [{"result": item} if isinstance(item, str) else as_dict(item) for item in items]


def _text_of(result: Row) -> str:
    """Return the text of one part of a result."""
    value = next(
        (result[key] for key in ("result", "text", "error") if isinstance(result.get(key), str | list | dict)), ""
    )
    return value if isinstance(value, str) else orjson.dumps(value).decode("utf-8", "replace")


def _told(name: str, text: str, end: CallEnd) -> tuple[str, CallEnd, str, Mapping[str, object] | None]:
    """Return a result's text, its end, no feedback, and a few facts."""
    exited = _EXITED.match(text)
    if exited:
        text = text[exited.end() :]
        return (
            f"Exit code {exited[1]}\n{text}",
            CallEnd.FAILED,
            "",
            {"exit_code": int(exited[1]), "lines": line_count(text)},
        )
    if name == "editor" and end is CallEnd.OK:
        signs = _CHANGED.findall(text)
        facts = (
            {"kind": "update", "added": signs.count("+"), "removed": signs.count("-")} if signs else {"kind": "update"}
        )
        return text, end, "", {"kind": "create"} if text.startswith(_CREATED) else facts
    return text, end, "", {"lines": line_count(text)} if name == "read_files" else None


def _usage(at: At, message: Row, model: str) -> Iterator[Event]:
    """Yield a message's token counts; the input includes what was cached."""
    metrics = message.get("metrics")
    if isinstance(metrics, dict):
        keys = ("input", "cacheRead", "output", "cacheWrite")
        sent, cached, said, written = (count(metrics.get(f"{key}Tokens")) for key in keys)
        yield UsageCounted(at, at.row, model, max(0, sent - cached), cached, said, written)


def _time(milliseconds: object) -> datetime | None:
    value = number(milliseconds)
    try:
        return datetime.fromtimestamp(value / 1000, UTC) if value else None
    except (ValueError, OverflowError, OSError):
        return None
