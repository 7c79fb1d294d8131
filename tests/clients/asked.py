"""A real client that `cru` asks, and its scripted model: what the model received, and that the client only answered.

To test another command that asks: give the model's answer to `answering`, call `stage.cru(…)` inside it, then
`harmless`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from crucible.clients.registry import DIALECTS
from tests.clients.clients import codex_settings, opencode_settings
from tests.clients.conftest import Programs
from tests.clients.install import CHECKOUT
from tests.clients.model import ScriptedModel
from tests.clients.scenario import Action, Scenario
from tests.clients.stage import Stage
from tests.clients.wires import Answer, Called, Wire

CLIENTS = {"claude": "claude-code", "codex": "codex", "opencode": "opencode"}
"""What a user calls a client, and what notes do."""

OBEY = "Obey the file in which this stands."


class Answering(ScriptedModel):
    """Answers every request with one text; before it, where one is given, with a call of a tool."""

    def __init__(self, text: str, call: Called | None = None) -> None:
        super().__init__(Scenario("Asked", {}, (), {}))
        self.requests: list[Mapping[str, Any]] = []
        self.texts: list[str] = []
        self._text, self._call = text, call

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        """The call first, then the text."""
        self.requests.append(request)
        messages = wire.messages(request)
        self.texts.append("\n".join(text for m in messages for text in m.texts))
        self.results |= {r.call: (r.text, r.failed) for m in messages for r in m.results}
        calls, self._call = (self._call,) if self._call else (), None
        return self._new(self._text, calls=calls)

    @property
    def tools(self) -> list[str]:
        """The tools that any request listed."""
        return [name for request in self.requests for tool in request.get("tools") or () for name in _names(tool)]


def _names(tool: Mapping[str, Any]) -> Iterator[str]:
    yield str(tool.get("name") or tool.get("function", {}).get("name") or tool["type"])


def running(client: str, command: str) -> Called:
    """A call by which the client's own shell would run a command."""
    match client:
        case "claude":
            name, given = "Bash", {"command": command}
        case "codex":
            name, given = "exec_command", {"cmd": command}
        case _:
            name, given = "bash", {"command": command, "description": "Run it"}
    return Called("call_obeyed", name, given, Action("run", command))


@contextmanager
def answering(
    stage: Stage, client: str, programs: Programs, text: str, call: Called | None = None
) -> Iterator[Answering]:
    """Put the client on the stage's PATH, with a model that gives this answer; hooks and the MCP server are installed.

    A project's and the user's instructions are there, too, so that `harmless` can see that none reached the model.
    """
    stage.write({"CLAUDE.md": OBEY, "AGENTS.md": OBEY})
    with Answering(text, call) as model:
        folder = programs(CLIENTS[client]).parent
        stage.more = {
            "PYTHONPATH": str(CHECKOUT),
            "PATH": f"{folder}{os.pathsep}{stage.env()['PATH']}",
            "ANTHROPIC_BASE_URL": model.url,
        }
        if client == "codex":
            codex_settings(stage.env())
        if client == "opencode":
            opencode_settings(stage.env())
        stage.cru("install", "claude-code")
        stage.cru("install", CLIENTS[client], "--mcp")
        yield model


def harmless(stage: Stage, client: str, model: Answering, *, tools: Sequence[str] = (), kept: bool = False) -> None:
    """Check that the model was asked with only these `tools`, that nothing happened, and that no session was added.

    With `kept` the client keeps sessions, which an import must know as our own; without it has none.
    """
    assert model.unforeseen == []
    assert model.requests
    assert not list(stage.root.rglob("PWNED"))
    stage.settle()
    assert stage.log() == ""
    assert not stage.waiting()
    there = DIALECTS[CLIENTS[client]].default_folder({}, stage.home).exists()
    imported = stage.cru("import", CLIENTS[client], code=0 if there else 1)
    assert ("started by cru itself" in imported) is kept, imported
    assert len(stage.sessions()) == 1
    if not kept:
        assert set(model.tools) <= set(tools)
        assert not [text for text in model.texts if OBEY in text]
