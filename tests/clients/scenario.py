"""The script of the model, read from JSON: a title, the project's files, prompts with their steps, subagents.

    {"title": "Fix the retry bug",
     "files": {"app.py": "print('ok')\\n"},
     "prompts": [{"say": "Fix the retry bug", "steps": [STEP, …]}, {"say": "/compact", "command": true, "steps": []}],
     "agents": {"researcher": [STEP, …]},
     "humans": [{"answers": [["One file"]]}, {"allows": true}, {"words": "Not that one"}]}  # each time a client asks, in order

A prompt may have a "mode": {"codex": "plan"}, and prompts and humans an "only" as steps have.

    STEP = {"text": "what it says",           # required; no two steps of a prompt or an agent say the same
            "thinking": "…",                  # Anthropic's protocol only
            "status": 529,                    # answer this HTTP error first, once
            "steer": "…",                     # the human says this while the step's command runs; it waits for a file `steered`
            "only": "claude-code",            # this client plays the step (or a list of them), the others leave it out
            ACTION | "parallel": [ACTION, …]}

ACTION = {"run": "command"} | {"read": "path"} | {"write": {"path": …, "content": …}} | {"wait": true}
           | {"edit": {"path": …, "old": …, "new": …}} | {"delegate": {"agent": "researcher", "task": "…"}}
           | {"call": {"name": "AnyTool", "input": {…}, "shown": "what its line says behind the name"}}
             and with any of them "fails": true, "shows": "a part of its result", "ends": "rejected"

`{{name}}` stands for a value that is made when the test runs: a secret must not lie in this repository.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

SCENARIOS = Path(__file__).with_name("scenarios")
KINDS = ("run", "read", "write", "edit", "delegate", "call", "wait")


@dataclass(frozen=True)
class Action:
    """`given` is the value after the kind: a command, a path, or a mapping."""

    kind: str
    given: Any
    fails: bool = False
    shows: str = ""
    ends: str = ""
    """The note's word for an end that is neither: `rejected`, `interrupted`."""


@dataclass(frozen=True)
class Step:
    text: str
    actions: tuple[Action, ...] = ()
    thinking: str = ""
    status: int = 0
    steer: str = ""


@dataclass(frozen=True)
class Prompt:
    """`command` is one of the client's own (`/compact`), which the model does not see.

    `mode` is the client's word for how it works.
    """

    say: str
    steps: tuple[Step, ...] = ()
    command: bool = False
    mode: str = ""


@dataclass(frozen=True)
class Human:
    """What the human answers when the client asks: `answers` to its questions, or leave for a call, or a refusal.

    `words` go with a refusal; one that `stops` ends the turn.
    """

    answers: Sequence[Sequence[str]] = ()
    allows: bool = False
    words: str = ""
    stops: bool = False


@dataclass(frozen=True)
class Scenario:
    title: str
    files: Mapping[str, str]
    prompts: tuple[Prompt, ...]
    agents: Mapping[str, tuple[Step, ...]]
    humans: tuple[Human, ...] = ()
    client: str = ""

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
        Prompt(p["say"], _steps(p["steps"], client), p.get("command", False), p.get("mode", {}).get(client, ""))
        for p in found["prompts"]
        if _plays(p, client)
    )
    agents = {agent: _steps(steps, client) for agent, steps in found.get("agents", {}).items()}
    humans = tuple(
        Human(**{key: value for key, value in human.items() if key != "only"})
        for human in found.get("humans", [])
        if _plays(human, client)
    )
    return Scenario(found["title"], found.get("files", {}), prompts, agents, humans, client)


def _steps(found: list[Any], client: str) -> tuple[Step, ...]:
    return tuple(_step(step) for step in found if _plays(step, client))


def _plays(found: Mapping[str, Any], client: str) -> bool:
    only = found.get("only", client)
    return client in only if isinstance(only, list) else client == only


def _step(found: Mapping[str, Any]) -> Step:
    actions = tuple(filter(None, map(_action, found.get("parallel", [found]))))
    return Step(found["text"], actions, found.get("thinking", ""), found.get("status", 0), found.get("steer", ""))


def _action(found: Mapping[str, Any]) -> Action | None:
    kind = next((k for k in KINDS if k in found), "")
    return (
        Action(kind, found[kind], found.get("fails", False), found.get("shows", ""), found.get("ends", ""))
        if kind
        else None
    )
