"""`cru launch` with the real clients: the first request has the briefing once, beside the user's own instructions."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest

from samples.waiting import wait_until
from tests.clients.clients import (
    cline_settings,
    gemini_settings,
    play_cline,
    play_codex,
    play_copilot,
    play_opencode,
    play_pi,
    play_qwen,
    stop_cline,
)
from tests.clients.conftest import Programs
from tests.clients.install import PROGRAMS
from tests.clients.model import ScriptedModel
from tests.clients.playing import play_claude
from tests.clients.scenario import Prompt, Scenario, Step
from tests.clients.stage import Stage, make_stage
from tests.clients.terminal import OnATerminal
from tests.clients.wires import Answer, Wire

pytestmark = pytest.mark.e2e

OURS = "Crucible compiled this briefing from notes"
DECIDED = "Token bucket for the limiter, 日本 \"quoted\" \\ and 'so'"
SAID = "Go on with the limiter"


class Requests(ScriptedModel):
    """Keeps every text of every request, the system's and the developer's too."""

    def __init__(self, client: str = "") -> None:
        super().__init__(Scenario("On", {}, (Prompt(SAID, (Step("With pleasure."),)),), {}, client=client))
        self.texts: list[str] = []
        self.tools: set[str] = set()
        self.models: set[str] = set()

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        if request.get("tools"):  # not the one that asks for a title
            self.texts.append("\n".join(_strings(request)))
            self.models.add(request.get("model", ""))
            self.tools |= {str(one.get("name") or one.get("function", {}).get("name")) for one in request["tools"]}
        return super().answer(wire, request)

    @property
    def first(self) -> str:
        return next(text for text in self.texts if SAID in text)


def _strings(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from _strings(one)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A project with a session of this morning; Claude Code's hooks are there, too."""
    stage = make_stage(tmp_path, {"README.md": "# Shop\n\nSells hats to people.\n"})
    stage.cru("install", "claude-code", "--project")
    began = datetime.now(UTC) - timedelta(hours=2)
    name = f"{began:%Y-%m-%d}-limiter"
    (stage.vault / "sessions").mkdir(exist_ok=True)
    (stage.vault / "sessions" / f"{name}.md").write_text(
        f"---\ntype: session\nsession_id: {name}\nstarted: {began:%Y-%m-%dT%H:%M:%SZ}\nstatus: completed\n"
        f"project: {stage.project.name}\n---\n\n# Limit\n\n## Work\n\n> [!decision]\n> {DECIDED}\n"
    )
    return stage


def through_cru(stage: Stage, client: str, program: Path, *more: str, persona: str = "") -> Path:
    """A program that starts the client with `cru launch`, as a user does, and passes on its arguments.

    What `cru` gave the client is in the file `argv`.
    """
    ours = stage.root / "bin" / program.name
    ours.parent.mkdir()
    ours.write_text(f'#!/bin/sh\necho "$@" > {stage.root}/argv\nexec {program} "$@"\n')
    ours.chmod(0o755)
    stage.more["PATH"] = f"{ours.parent}:{stage.env()['PATH']}"
    path = stage.root / "through-cru"
    chosen = f"--as {persona}" if persona else f"--with {PROGRAMS[client]}"
    path.write_text(f'#!/bin/sh\nexec cru launch {chosen} -- {shlex.join(more)} "$@"\n')
    path.chmod(0o755)
    return path


def _claude(program: Path, stage: Stage, model: ScriptedModel) -> None:
    play_claude(program, stage, model)


def _other(play: Callable[..., None]) -> Callable[[Path, Stage, ScriptedModel], None]:
    return lambda program, stage, model: play(program, stage.project, stage.env(model.url), [SAID])


PLAY = {
    "claude-code": _claude,
    "codex": _other(play_codex),
    "opencode": _other(play_opencode),
    "copilot": _other(play_copilot),
    "qwen-code": _other(play_qwen),
    "pi": _other(play_pi),
    "cline": _other(play_cline),
}


NOTE = """---
type: persona
client: {client}
model: {model}
tools: [{tool}]
skills: [review]
---
You review, and never edit.
"""
TOOLS = {"claude-code": "Read", "copilot": "view", "qwen-code": "read_file", "pi": "read"}
"""Each client's name for reading, if it has an option for tools."""
NAMED_BY_US = {"claude-code", "copilot", "qwen-code"}
"""The clients that take a new session's id from the command line."""
WRITING = {"Edit", "Write", "edit", "create", "write", "write_file", "Bash", "bash"}
MODELS = {"opencode": "scripted/persona-model", "pi": ""}
"""Pi's player names its own."""


@pytest.mark.parametrize("client", PLAY)
def test_a_persona_gets_its_model_tools_and_instructions_and_the_briefing_and_the_session_names_it(
    client: str, stage: Stage, programs: Programs
) -> None:
    program = through_cru(stage, client, programs(client), persona="reviewer")
    model_name = MODELS.get(client, "persona-model")
    note = NOTE.format(client=PROGRAMS[client], model=model_name or "null", tool=TOOLS.get(client, "look"))
    (stage.vault / "agents").mkdir()
    (stage.vault / "agents" / "reviewer.md").write_text(note)
    stage.cru("trust", "--yes")
    with Requests(client) as model:
        PLAY[client](program, stage, model)
    assert model.unforeseen == []
    assert model.first.count("You review, and never edit.") == model.first.count(OURS) == 1
    assert "Use these skills where they apply: review." in model.first
    assert DECIDED in model.first
    # The decision is the briefing's last section.
    assert str(stage.root) not in model.first[model.first.index(OURS) :].partition(DECIDED)[0]
    if client in TOOLS:
        assert TOOLS[client] in model.tools
        assert not model.tools & WRITING
    else:
        assert "Use only these tools: look." in model.first
    assert model_name.rpartition("/")[2] in {*model.models, ""}
    (main,) = [main for main in stage.mains() if main.sources]
    assert main.properties.get("persona") == "[[agents/reviewer|reviewer]]"
    assert client not in NAMED_BY_US or main.sources[0].partition(":")[2] in (stage.root / "argv").read_text()
    assert client != "codex" or any(
        "cru:started" in p.read_text() for p in stage.home.glob(".codex/sessions/**/*.jsonl")
    )
    assert stage.log() == ""
    assert not [*(stage.home / "tmp").glob("crucible-briefing-*")]


def test_cline_gets_the_briefing_in_its_terminal_beside_the_users_prompt(stage: Stage, programs: Programs) -> None:
    program = programs("cline")
    stage.more["PATH"] = f"{program.parent}:{stage.env()['PATH']}"
    with Requests("cline") as model:
        stage.more["ANTHROPIC_BASE_URL"] = model.url
        cline_settings(stage.env())
        command = ["cru", "launch", "--with", "cline", "--", "-P", "openai", "-m", "scripted", "-i", SAID]
        with OnATerminal(command, stage.project, stage.env()):
            wait_until(lambda: any(OURS in text for text in model.texts), lambda: "a request has the briefing")
        stop_cline(stage.env())
    assert (model.first.count(OURS), model.first.count(SAID)) == (1, 1)
    assert DECIDED in model.first


def test_gemini_gets_the_briefing_as_its_first_prompt_in_its_terminal(stage: Stage, programs: Programs) -> None:
    program = programs("gemini")
    stage.more["PATH"] = f"{program.parent}:{stage.env()['PATH']}"
    with Requests("gemini") as model:
        stage.more |= gemini_settings(stage.env(model.url))
        command = ["cru", "launch", "--with", "gemini", "--", "--skip-trust", "-m", "gemini-2.5-flash", "-i", SAID]
        with OnATerminal(command, stage.project, stage.env()) as terminal:
            wait_until(lambda: any(OURS in text for text in model.texts), lambda: terminal.shown[-2000:])
    first = model.texts[0]
    assert (first.count(OURS), first.count(SAID)) == (1, 1)
    assert DECIDED in first


MINE = "Always answer in rhymes, says the user."


def _claudes(_: Stage) -> list[str]:
    return ["--append-system-prompt", MINE]


def _codexs(_: Stage) -> list[str]:
    return ["-c", f"developer_instructions={json.dumps(MINE)}"]


def _opencodes(stage: Stage) -> list[str]:
    stage.write({"mine.md": MINE, "opencode.json": json.dumps({"instructions": ["mine.md"]})})
    return []


@pytest.mark.parametrize(("client", "tells"), [("claude-code", _claudes), ("codex", _codexs), ("opencode", _opencodes)])
def test_the_users_own_instructions_are_kept_beside_it(
    client: str, tells: Callable[[Stage], list[str]], stage: Stage, programs: Programs
) -> None:
    program = through_cru(stage, client, programs(client), *tells(stage))
    with Requests(client) as model:
        PLAY[client](program, stage, model)
    assert (model.first.count(OURS), model.first.count(MINE)) == (1, 1)
