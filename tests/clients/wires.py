"""The three protocols between coding agents and models: reading requests, and writing answers for each client.

It has all names of Anthropic Messages, OpenAI Responses and OpenAI Chat Completions, and each client's names of
actions. `model` decides what to answer.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from tests.clients.scenario import Action

Event = tuple[str, Any]
"""The name of a server-sent event ("" for none) and its data."""


@dataclass(frozen=True)
class Result:
    """What the client says came of a call.  `failed` is None where the protocol cannot say it."""

    call: str
    text: str
    failed: bool | None = None


@dataclass(frozen=True)
class Message:
    role: str
    texts: tuple[str, ...] = ()
    results: tuple[Result, ...] = ()


@dataclass(frozen=True)
class Usage:
    """Tokens: sent afresh (of them `written` to the cache), read from the cache, and said."""

    fresh: int
    written: int
    cached: int
    said: int


@dataclass(frozen=True)
class Called:
    id: str
    name: str
    given: Mapping[str, Any]
    action: Action


@dataclass(frozen=True)
class Answer:
    id: str
    text: str
    usage: Usage
    thinking: str = ""
    calls: tuple[Called, ...] = ()


class Wire:
    """One protocol."""

    path: str
    title_without_tools = True

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        raise NotImplementedError

    def action(self, action: Action, spawned: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
        """The tool and its input; None when this client needs no such call.  `spawned` are the subagents' ids."""
        raise NotImplementedError

    def events(self, answer: Answer, model: str) -> Iterator[Event]:
        raise NotImplementedError

    def error(self, status: int) -> dict[str, Any]:
        return {"error": {"message": "Overloaded", "type": "server_error", "code": status}}


def delegated(action: Action) -> tuple[str, str]:
    """Return a subagent's task, and its short description."""
    task = action.given["task"]
    return f"[agent:{action.given['agent']}] {task}", task[:40]


class Anthropic(Wire):
    """Anthropic Messages, as Claude Code speaks it."""

    path = "/messages"

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [self._message(m) for m in request.get("messages", [])]

    def _message(self, found: Mapping[str, Any]) -> Message:
        content = found["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        texts = tuple(b["text"] for b in blocks if b["type"] == "text")
        results = tuple(
            Result(b["tool_use_id"], _text(b.get("content", "")), bool(b.get("is_error")))
            for b in blocks
            if b["type"] == "tool_result"
        )
        return Message(found["role"], texts, results)

    def action(self, action: Action, spawned: Sequence[str]) -> tuple[str, dict[str, Any]] | None:  # noqa: ARG002
        given = action.given
        match action.kind:
            case "run":
                return "Bash", {"command": given, "description": "Run a command"}
            case "read":
                return "Read", {"file_path": given}
            case "write":
                return "Write", {"file_path": given["path"], "content": given["content"]}
            case "edit":
                return "Edit", {
                    "file_path": given["path"],
                    "old_string": given["old"],
                    "new_string": given["new"],
                }
            case "delegate":
                prompt, short = delegated(action)
                return "Agent", {"description": short, "prompt": prompt, "subagent_type": "general-purpose"}
            case "call":
                return given["name"], given["input"]
        return None  # it waits for its subagents by itself

    def events(self, answer: Answer, model: str) -> Iterator[Event]:
        usage = {
            "input_tokens": answer.usage.fresh - answer.usage.written,
            "cache_creation_input_tokens": answer.usage.written,
            "cache_read_input_tokens": answer.usage.cached,
            "output_tokens": 1,
        }
        stop = "tool_use" if answer.calls else "end_turn"
        message: dict[str, Any] = {
            "id": answer.id,
            "type": "message",
            "role": "assistant",
            "model": model,
            "content": [],
            "stop_reason": None,
            "stop_sequence": None,
            "usage": usage,
        }
        yield "message_start", {"message": message}
        for index, (block, deltas) in enumerate(self._blocks(answer)):
            yield "content_block_start", {"index": index, "content_block": block}
            for delta in deltas:
                yield "content_block_delta", {"index": index, "delta": delta}
            yield "content_block_stop", {"index": index}
        delta = {"stop_reason": stop, "stop_sequence": None}
        yield "message_delta", {"delta": delta, "usage": {"output_tokens": answer.usage.said}}
        yield "message_stop", {}

    def _blocks(self, answer: Answer) -> Iterator[tuple[dict[str, Any], list[dict[str, Any]]]]:
        if answer.thinking:
            deltas = [
                {"type": "thinking_delta", "thinking": answer.thinking},
                {"type": "signature_delta", "signature": "c2ln"},
            ]
            yield {"type": "thinking", "thinking": "", "signature": ""}, deltas
        yield {"type": "text", "text": ""}, [{"type": "text_delta", "text": answer.text}]
        for call in answer.calls:
            block = {"type": "tool_use", "id": call.id, "name": call.name, "input": {}}
            yield block, [{"type": "input_json_delta", "partial_json": json.dumps(call.given)}]

    def error(self, status: int) -> dict[str, Any]:  # noqa: ARG002
        return {"type": "error", "error": {"type": "overloaded_error", "message": "Overloaded"}}


class Responses(Wire):
    """OpenAI Responses, as Codex speaks it."""

    path = "/responses"
    title_without_tools = False
    agent_tools = ("spawn_agent", "wait_agent")

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [m for item in request["input"] if (m := self._message(item))]

    def _message(self, item: Mapping[str, Any]) -> Message | None:
        if item["type"] == "message":
            return Message(item["role"], tuple(part["text"] for part in item["content"] if "text" in part))
        if item["type"] in ("function_call_output", "custom_tool_call_output"):
            text = _text(item["output"])
            told = "Process exited with code " in text
            failed = "Process exited with code 0\n" not in text if told else None
            return Message("tool", results=(Result(item["call_id"], text, failed),))
        return None

    def action(self, action: Action, spawned: Sequence[str]) -> tuple[str, dict[str, Any]] | None:
        given = action.given
        match action.kind:
            case "delegate":
                return "spawn_agent", {"message": delegated(action)[0]}
            case "wait":
                return "wait_agent", {"targets": list(spawned), "timeout_ms": 30000}
            case "call":
                return given["name"], given["input"]
        return "exec_command", {"cmd": self._command(action)}

    @staticmethod
    def _command(action: Action) -> str:
        """It has no tools for files: a shell does it all."""
        given = action.given
        match action.kind:
            case "read":
                return f"cat {given}"
            case "write":
                return f"cat > {given['path']} <<'END'\n{given['content']}END"
            case "edit":
                return f"python3 -c \"p='{given['path']}'; t=open(p).read(); open(p,'w').write(t.replace('{given['old']}','{given['new']}'))\""
        return str(given)

    def events(self, answer: Answer, model: str) -> Iterator[Event]:
        items = list(self._items(answer))
        head = {"id": f"resp_{answer.id}", "object": "response", "created_at": 0, "model": model}
        yield "response.created", {"response": {**head, "status": "in_progress", "output": [], "usage": None}}
        for index, item in enumerate(items):
            yield "response.output_item.added", {"output_index": index, "item": item}
            if item["type"] == "message":
                at = {"item_id": item["id"], "output_index": index, "content_index": 0}
                yield "response.output_text.delta", {**at, "delta": answer.text}
            yield "response.output_item.done", {"output_index": index, "item": item}
        usage = answer.usage
        sent = usage.fresh + usage.cached
        told = {
            "input_tokens": sent,
            "input_tokens_details": {"cached_tokens": usage.cached},
            "output_tokens": usage.said,
            "output_tokens_details": {"reasoning_tokens": 7},
            "total_tokens": sent + usage.said,
        }
        done = {**head, "status": "completed", "output": items, "usage": told}
        yield "response.completed", {"response": done}

    def _items(self, answer: Answer) -> Iterator[dict[str, Any]]:
        part = {"type": "output_text", "text": answer.text, "annotations": []}
        yield {
            "type": "message",
            "id": answer.id,
            "role": "assistant",
            "status": "completed",
            "content": [part],
        }
        for call in answer.calls:
            # What OpenAI's own models call with a text, not with JSON.
            freeform = call.action.kind == "freeform"
            yield {
                "type": "custom_tool_call" if freeform else "function_call",
                "id": f"fc_{call.id}",
                "call_id": call.id,
                "input" if freeform else "arguments": call.action.given if freeform else json.dumps(call.given),
                "status": "completed",
                **self._name(call.name),
            }

    def _name(self, name: str) -> dict[str, str]:
        """A server's tool is called in its namespace, as a subagent's are."""
        space, _, own = name.rpartition("__")
        if space.startswith("mcp__"):
            return {"name": own, "namespace": space}
        return {"name": name} | ({"namespace": "multi_agent_v1"} if name in self.agent_tools else {})


class Chat(Wire):
    """OpenAI Chat Completions, as OpenCode and most others speak it."""

    path = "/chat/completions"

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [self._message(m) for m in request["messages"]]

    def _message(self, found: Mapping[str, Any]) -> Message:
        content = found.get("content") or ""
        if found["role"] == "tool":
            return Message("tool", results=(Result(found["tool_call_id"], _text(content)),))
        texts = (content,) if isinstance(content, str) else tuple(part.get("text", "") for part in content)
        return Message(found["role"], texts)

    def action(self, action: Action, spawned: Sequence[str]) -> tuple[str, dict[str, Any]] | None:  # noqa: ARG002
        given = action.given
        match action.kind:
            case "run":
                return "bash", {"command": given, "description": "Run a command"}
            case "read":
                return "read", {"filePath": given}
            case "write":
                return "write", {"filePath": given["path"], "content": given["content"]}
            case "edit":
                return "edit", {
                    "filePath": given["path"],
                    "oldString": given["old"],
                    "newString": given["new"],
                }
            case "delegate":
                prompt, short = delegated(action)
                return "task", {"description": short, "prompt": prompt, "subagent_type": "general"}
            case "call":
                return given["name"], given["input"]
        return None  # it waits for its subagents by itself

    def events(self, answer: Answer, model: str) -> Iterator[Event]:
        head = {"id": answer.id, "object": "chat.completion.chunk", "created": 0, "model": model}
        calls = [
            {
                "index": index,
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": json.dumps(call.given)},
            }
            for index, call in enumerate(answer.calls)
        ]
        deltas: list[dict[str, Any]] = [{"role": "assistant", "content": answer.text}]
        for delta in deltas + ([{"tool_calls": calls}] if calls else []):
            yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
        usage = answer.usage
        sent = usage.fresh + usage.cached
        told = {
            "prompt_tokens": sent,
            "prompt_tokens_details": {"cached_tokens": usage.cached},
            "completion_tokens": usage.said,
            "total_tokens": sent + usage.said,
        }
        last = {"index": 0, "delta": {}, "finish_reason": "tool_calls" if calls else "stop"}
        yield "", {**head, "choices": [last], "usage": told}
        yield "", "[DONE]"

    def whole(self, answer: Answer, model: str) -> dict[str, Any]:
        """An answer that is not streamed; only summaries are asked for like this."""
        message = {"role": "assistant", "content": answer.text}
        choice = {"index": 0, "message": message, "finish_reason": "stop"}
        head = {"id": answer.id, "object": "chat.completion", "created": 0, "model": model}
        usage = answer.usage
        sent = usage.fresh + usage.cached
        told = {"prompt_tokens": sent, "completion_tokens": usage.said, "total_tokens": sent + usage.said}
        return {**head, "choices": [choice], "usage": told}


def _text(content: Any) -> str:
    """A text, or the texts of a list of parts."""
    if isinstance(content, str):
        return content
    return "\n".join(part.get("text", "") for part in content if isinstance(part, dict))


WIRES: tuple[Wire, ...] = (Anthropic(), Responses(), Chat())
