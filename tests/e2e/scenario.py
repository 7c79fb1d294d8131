"""What the scripted model says, read from JSON: a title, the project's files, prompts with their steps, subagents.

    {"title": "Fix the retry bug",
     "files": {"app.py": "print('ok')\\n"},
     "prompts": [{"say": "Fix the retry bug", "steps": [STEP, …]}, {"say": "/compact", "command": true, "steps": []}],
     "agents": {"researcher": [STEP, …]}}

    STEP = {"text": "what it says",           # required; no two steps of a prompt or an agent say the same
            "thinking": "…",                  # Anthropic's protocol only
            "status": 529,                    # answer this HTTP error first, once
            "steer": "…",                     # the human says this while the step's command runs; it waits for a file `steered`
            "only": "claude-code",            # this client plays the step, the others leave it out
            ACTION | "parallel": [ACTION, …]}

    ACTION = {"run": "command"} | {"read": "path"} | {"write": {"path": …, "content": …}} | {"wait": true}
           | {"edit": {"path": …, "old": …, "new": …}} | {"delegate": {"agent": "researcher", "task": "…"}}
           | {"call": {"name": "AnyTool", "input": {…}, "shown": "what its line says behind the name"}}
             and with any of them "fails": true, "shows": "a part of its result"

`{{name}}` stands for a value that is made when the test runs: a secret must not lie in this repository.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

__all__ = ["Action", "Prompt", "Scenario", "Step", "load_scenario"]

SCENARIOS = Path(__file__).with_name("scenarios")
KINDS = ("run", "read", "write", "edit", "delegate", "call", "wait")


@dataclass(frozen=True)
class Action:
    """`given` is what stands behind the kind: a command, a path, or a mapping."""

    kind: str
    given: Any
    fails: bool = False
    shows: str = ""


@dataclass(frozen=True)
class Step:
    text: str
    actions: tuple[Action, ...] = ()
    thinking: str = ""
    status: int = 0
    steer: str = ""


@dataclass(frozen=True)
class Prompt:
    """`command` is one of the client's own (`/compact`): the model is not told of it."""

    say: str
    steps: tuple[Step, ...] = ()
    command: bool = False


@dataclass(frozen=True)
class Scenario:
    title: str
    files: Mapping[str, str]
    prompts: tuple[Prompt, ...]
    agents: Mapping[str, tuple[Step, ...]]

    @cached_property
    def steers(self) -> tuple[str, ...]:
        return tuple(step.steer for prompt in self.prompts for step in prompt.steps if step.steer)

    @property
    def says(self) -> tuple[str, ...]:
        return tuple(prompt.say for prompt in self.prompts)


def load_scenario(name: str, client: str, values: Mapping[str, str] | None = None) -> Scenario:
    """The scenario as this client plays it."""
    text = (SCENARIOS / f"{name}.json").read_text(encoding="utf-8")
    for key, value in (values or {}).items():
        text = text.replace("{{" + key + "}}", json.dumps(value)[1:-1])
    assert "{{" not in text, f"{name}: a value is missing"
    found = json.loads(text)
    prompts = tuple(
        Prompt(p["say"], _steps(p["steps"], client), p.get("command", False))
        for p in found["prompts"]
        if p.get("only", client) == client
    )
    agents = {agent: _steps(steps, client) for agent, steps in found.get("agents", {}).items()}
    return Scenario(found["title"], found.get("files", {}), prompts, agents)


def _steps(found: list[Any], client: str) -> tuple[Step, ...]:
    return tuple(_step(step) for step in found if step.get("only", client) == client)


def _step(found: Mapping[str, Any]) -> Step:
    actions = tuple(filter(None, map(_action, found.get("parallel", [found]))))
    return Step(
        found["text"], actions, found.get("thinking", ""), found.get("status", 0), found.get("steer", "")
    )


def _action(found: Mapping[str, Any]) -> Action | None:
    kind = next((k for k in KINDS if k in found), "")
    return Action(kind, found[kind], found.get("fails", False), found.get("shows", "")) if kind else None
