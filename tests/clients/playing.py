"""Claude Code on a stage: with hooks installed, typed prompts, and notes edited in between."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterable
from pathlib import Path

from samples.waiting import wait_until
from tests.clients.clients import ClaudeCode
from tests.clients.model import ScriptedModel
from tests.clients.scenario import Step
from tests.clients.stage import Stage


def start_claude(program: Path, stage: Stage, model: ScriptedModel, resume: str = "") -> ClaudeCode:
    """A process of the client on this stage, that is steered where the scenario says so."""
    client = ClaudeCode(program, stage.project, stage.env(model.url), resume)

    def steer(step: Step) -> None:
        if step.steer:
            threading.Thread(target=_steer, args=(client, stage, step.steer), daemon=True).start()

    model.on_step = steer
    return client


def _steer(client: ClaudeCode, stage: Stage, words: str) -> None:
    client.say(words)
    rows = '"operation":"enqueue"'
    found = stage.home.glob
    wait_until(
        lambda: any(words in p.read_text() and rows in p.read_text() for p in found(".claude/projects/*/*.jsonl")),
        lambda: "the client has heard the human",
    )
    (stage.project / "steered").touch()


def play_claude(
    program: Path, stage: Stage, model: ScriptedModel, prompts: Iterable[str] | None = None, resume: str = ""
) -> str:
    """Type all prompts of the scenario, or these; end; wait until the note is written.  The session's native id."""
    with start_claude(program, stage, model, resume) as client:
        for prompt in model.scenario.says if prompts is None else prompts:
            client.ask(prompt)
        client.end()
    stage.settle()
    return client.session


def transcript_of(stage: Stage, session: str) -> Path:
    """The client's own log of a session."""
    return next(stage.home.glob(f".claude/projects/*/{session}.jsonl"))


class Rows:
    """Return a transcript's texts, and its calls with their ends, read with only `json`."""

    def __init__(self, path: Path) -> None:
        self.prompts: list[str] = []
        self.said: list[str] = []
        self.commands: dict[str, str] = {}
        self.plain_calls: list[str] = []
        self.ended: dict[str, bool] = {}
        for line in path.read_bytes().split(b"\n"):
            try:
                row = json.loads(line)
            except ValueError:
                continue
            if row["type"] in {"user", "assistant"}:
                self._take(row["message"]["content"], row["type"])

    def _take(self, content: str | list, kind: str) -> None:
        if isinstance(content, str):
            self.prompts.append(content)
            return
        for block in content:
            match block["type"]:
                case "text" if kind == "assistant":
                    self.said.append(block["text"])
                case "tool_use":
                    self.commands[block["id"]] = block["input"].get("command", "")
                    self.plain_calls += [block["id"]] if block["name"] != "Agent" else []
                case "tool_result":
                    self.ended[block["tool_use_id"]] = not block.get("is_error")


def rows_of(stage: Stage, session: str) -> Rows:
    return Rows(transcript_of(stage, session))
