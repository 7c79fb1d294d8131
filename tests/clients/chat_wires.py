"""The clients that speak OpenAI Chat Completions, each with its tools and what it wraps around the user's words; Gemini."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from tests.clients.scenario import Action
from tests.clients.wires import Answer, Chat, Event, Message, Result, Wire, delegated

Named = tuple[str, dict[str, Any]]


_FOLDER = re.compile(r"currently working in the directory: (\S+)")


class OtherChat(Chat):
    """A client with other tools than OpenCode's; `wrapped` matches what it adds to the user's words."""

    tools: ClassVar[Mapping[str, Callable[[Any], Named]]] = {}
    wrapped = re.compile(r"(?!)")

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [Message(m.role, tuple(map(self._bare, m.texts)), m.results) for m in super().messages(request)]

    def _bare(self, text: str) -> str:
        return self.wrapped.sub("", text).strip()

    def action(self, action: Action, spawned: Sequence[str]) -> Named | None:  # noqa: ARG002
        if action.kind == "call":
            return action.given["name"], action.given["input"]
        if action.kind == "delegate":
            return self.delegate(*delegated(action))
        return self.tools[action.kind](action.given) if action.kind in self.tools else None

    def delegate(self, prompt: str, short: str) -> Named | None:  # noqa: ARG002
        return None


class Copilot(OtherChat):
    tools: ClassVar = {
        "run": lambda given: ("bash", {"command": given, "description": "Run a command"}),
        "read": lambda given: ("view", {"path": given}),
        "write": lambda given: ("create", {"path": given["path"], "file_text": given["content"]}),
        "edit": lambda given: ("edit", {"path": given["path"], "old_str": given["old"], "new_str": given["new"]}),
    }
    wrapped = re.compile(r"<(current_datetime|reminder|system_reminder)>.*?</\1>", re.DOTALL)

    def delegate(self, prompt: str, short: str) -> Named:
        name = re.sub(r"\W+", "-", short.lower())[:20].strip("-")
        given = {"name": name, "prompt": prompt, "agent_type": "general-purpose", "description": short, "mode": "sync"}
        return "task", given


class Qwen(OtherChat):
    """Its tools want absolute paths."""

    wrapped = re.compile(r"<system-reminder>.*?</system-reminder>", re.DOTALL)
    folder = ""

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        found = super().messages(request)
        places = (_FOLDER.search(text) for message in found[:3] for text in message.texts)
        self.folder = next((place[1] for place in places if place), self.folder)
        return found

    def action(self, action: Action, spawned: Sequence[str]) -> Named | None:
        given = action.given
        match action.kind:
            case "run":
                return "run_shell_command", {"command": given, "is_background": False}
            case "read":
                return "read_file", {"file_path": f"{self.folder}/{given}"}
            case "write":
                return "write_file", {"file_path": f"{self.folder}/{given['path']}", "content": given["content"]}
            case "edit":
                path = f"{self.folder}/{given['path']}"
                return "edit", {"file_path": path, "old_string": given["old"], "new_string": given["new"]}
        return super().action(action, spawned)

    def delegate(self, prompt: str, short: str) -> Named:
        return "agent", {"description": short, "prompt": prompt, "subagent_type": "general-purpose"}


class Pi(OtherChat):
    """It has no subagents."""

    tools: ClassVar = {
        "run": lambda given: ("bash", {"command": given}),
        "read": lambda given: ("read", {"path": given}),
        "write": lambda given: ("write", {"path": given["path"], "content": given["content"]}),
        "edit": lambda given: (
            "edit",
            {"path": given["path"], "edits": [{"oldText": given["old"], "newText": given["new"]}]},
        ),
    }


class Cline(OtherChat):
    tools: ClassVar = {
        "run": lambda given: ("run_commands", {"commands": [given]}),
        "read": lambda given: ("read_files", {"files": [{"path": given}]}),
        "write": lambda given: ("editor", {"path": given["path"], "new_text": given["content"]}),
        "edit": lambda given: (
            "editor",
            {"path": given["path"], "old_text": given["old"], "new_text": given["new"]},
        ),
    }
    wrapped = re.compile(r"</?user_input[^>]*>|<mode_notice>.*?</mode_notice>", re.DOTALL)

    def delegate(self, prompt: str, short: str) -> Named:  # noqa: ARG002
        return "spawn_agent", {"systemPrompt": "You help.", "task": prompt}


class Gemini(Wire):
    """Google's own protocol, as Gemini CLI speaks it."""

    path = ":streamGenerateContent"

    def messages(self, request: Mapping[str, Any]) -> list[Message]:
        return [self._message(found["role"], found["parts"]) for found in request["contents"]]

    def _message(self, role: str, parts: Sequence[Mapping[str, Any]]) -> Message:
        answers = [part["functionResponse"] for part in parts if "functionResponse" in part]
        results = tuple(Result(answer["id"], str(answer["response"])) for answer in answers)
        texts = tuple(part["text"] for part in parts if "text" in part)
        return Message("assistant" if role == "model" else role, texts, results)

    def action(self, action: Action, spawned: Sequence[str]) -> Named | None:  # noqa: ARG002
        if action.kind == "call":
            return action.given["name"], action.given["input"]
        return "run_shell_command", {"command": action.given, "description": "Run a command"}

    def events(self, answer: Answer, model: str) -> Iterator[Event]:
        calls = [{"functionCall": {"id": call.id, "name": call.name, "args": call.given}} for call in answer.calls]
        content = {"role": "model", "parts": [{"text": answer.text}, *calls]}
        sent = answer.usage.fresh + answer.usage.cached
        told = {
            "promptTokenCount": sent,
            "cachedContentTokenCount": answer.usage.cached,
            "candidatesTokenCount": answer.usage.said,
            "totalTokenCount": sent + answer.usage.said,
        }
        candidate = {"content": content, "finishReason": "STOP", "index": 0}
        yield "", {"candidates": [candidate], "usageMetadata": told, "modelVersion": model}


OTHER_WIRES: Mapping[str, Wire] = {
    "gemini": Gemini(),
    "copilot": Copilot(),
    "qwen-code": Qwen(),
    "pi": Pi(),
    "cline": Cline(),
}
"""By the client's name; all others speak as OpenCode does."""
