"""A session of the real Claude Code becomes a workflow, and real clients run workflows."""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest

from crucible.clients.launch.session_marks import OWN_MARK
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Status
from crucible.documents.workflow.graph import Graph, build_graph
from crucible.documents.workflow.workflow import Workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from tests.clients.clients import CLAUDE_TOOLS, play_codex, play_opencode
from tests.clients.conftest import Programs
from tests.clients.model import ScriptedModel
from tests.clients.playing import play_claude
from tests.clients.scenario import Action, Scenario, load_scenario
from tests.clients.stage import Stage, make_stage
from tests.clients.wires import Answer, Called, Message, Wire

pytestmark = pytest.mark.e2e

MORE = {
    "claude": ["--allowedTools", CLAUDE_TOOLS],
    "codex": ["--dangerously-bypass-approvals-and-sandbox", "--skip-git-repo-check"],
    "opencode": [],
}
PLAY = {"codex": play_codex, "opencode": play_opencode}

HAND_WRITTEN = """---
type: workflow
---

# Release

## Build @builder #ci
Compile it.
app.py → build_log::Report

## Publish !
Put it out.
build_log → receipt

## Tell
Write the mail.
receipt → mail
"""


class WorkingModel(ScriptedModel):
    """Plays a scenario and runs steps of workflows: a command, then an answer; the steps named in `fails` fail."""

    def __init__(self, scenario: Scenario) -> None:
        super().__init__(scenario)
        self.steps: list[str] = []
        self.prompts: dict[str, str] = {}
        self.fails: set[str] = set()
        self._steps_lock = threading.Lock()

    def answer(self, wire: Wire, request: Mapping[str, Any]) -> Answer | int:
        messages = wire.messages(request)
        texts = [text for message in messages if message.role == "user" for text in message.texts]
        prompt = next((text for text in texts if OWN_MARK in text), "")
        if not prompt or (wire.title_without_tools and not request.get("tools")):
            return super().answer(wire, request)
        with self._steps_lock:
            return self._step(wire, prompt, messages)

    def _step(self, wire: Wire, prompt: str, messages: Sequence[Message]) -> Answer:
        name = re.search(r"^# (.*)$", prompt, re.MULTILINE)
        assert name
        if not any(message.results for message in messages):
            self.steps.append(name[1])
            self.prompts[name[1]] = prompt
            action = Action("run", f"echo {len(self.steps)} >> carried-out")
            called = wire.action(action, [])
            assert called
            return self._new("At work.", calls=(Called(self._id("call"), *called, action),))
        if name[1] in self.fails:
            return self._new(f"{name[1]} went wrong.\nSTEP: failed: no luck with {name[1]}")
        return self._new(f"The result of {name[1]}.\n\nSTEP: done")


def read(path: Path) -> tuple[Workflow, Graph]:
    workflow = read_workflow(Source.from_bytes(path.read_bytes()), path.stem)
    return workflow, build_graph(workflow)


def in_order(graph: Graph) -> list[str]:
    """The steps that are carried out, by the graph alone."""
    return [graph.steps[at].name for at in graph.order if not graph.steps[at].children]


def statuses(path: Path, session: str) -> dict[str, list[str]]:
    steps = read(path)[0].walk()
    return {
        step.name: [marker.status for marker in step.markers if marker.values.get("session") == session]
        for step in steps
        if not step.children
    }


def on_path(stage: Stage, program: Path) -> None:
    stage.more["PATH"] = os.pathsep.join([str(program.parent), stage.env()["PATH"]])


def check_halts_and_finishes(stage: Stage, model: WorkingModel, path: Path, client: str, critical: str) -> None:
    """Every step runs in order, the critical one fails and halts, and `--continue` does the rest."""
    expected = in_order(read(path)[1])
    at = expected.index(critical)
    known = {session.id for session in stage.sessions()}
    model.fails = {critical}
    stage.cru("workflow", "run", path, "--with", client, "--", *MORE[client], code=1)
    assert model.steps == expected[: at + 1]
    (run,) = [session for session in stage.sessions() if session.id not in known]
    assert run.status is Status.PAUSED
    assert [phase.name for phase in run.phases] == expected[: at + 1]
    told = statuses(path, run.id)
    assert [told[name] for name in expected] == [["success"]] * at + [["failed"]] + [[]] * (len(expected) - at - 1)

    model.fails = set()
    stage.cru("workflow", "run", path, "--with", client, "--continue", "--", *MORE[client])
    assert model.steps == [*expected[: at + 1], *expected[at:]]
    stage.settle()
    (run,) = [session for session in stage.sessions() if session.id not in known]
    assert run.status is Status.COMPLETED
    told = statuses(path, run.id)
    assert all(told[name][-1:] == ["success"] for name in expected)
    assert len((stage.project / "carried-out").read_text().split()) == len(expected) + 1
    text = stage.note_text(run.id)
    for name in expected:
        assert text.count(f"The result of {name}.") >= 1
    assert "no luck with" in text
    assert OWN_MARK not in text
    # A client that `cru` started itself is not recorded.
    stage.cru("import")
    assert {session.id for session in stage.sessions()} == {*known, run.id}


@pytest.mark.parametrize("client", ["claude", "codex", "opencode"])
def test_a_real_client_carries_a_workflow_out(client: str, programs: Programs, tmp_path: Path) -> None:
    scenario = load_scenario("plain", "claude-code")
    stage = make_stage(tmp_path, scenario.files)
    program = programs("claude-code" if client == "claude" else client)
    path = stage.vault / "workflows" / "release.md"
    path.parent.mkdir()
    path.write_text(HAND_WRITTEN, encoding="utf-8")
    with WorkingModel(scenario) as model:
        stage.more["ANTHROPIC_BASE_URL"] = model.url
        if client != "claude":
            # Without prompts they only write down which model there is.
            PLAY[client](program, stage.project, stage.env(), [])
        on_path(stage, program)
        check_halts_and_finishes(stage, model, path, client, "Publish")
        assert not model.unforeseen, model.unforeseen
    assert "- `app.py`: the file `app.py`" in model.prompts["Build"]
    assert "  The result of Build." in model.prompts["Publish"]
    assert "  The result of Publish." in model.prompts["Tell"]
    (run,) = stage.sessions()
    source = "claude-code" if client == "claude" else client
    assert {phase.agent.name for phase in run.phases if phase.agent} == {source}
    rows = [marker.values for step in read(path)[0].walk() for marker in step.markers]
    assert all(isinstance(row["tokens_used"], int) for row in rows), "each client tells what it took"


def test_a_session_becomes_a_workflow_and_is_carried_out(programs: Programs, tmp_path: Path) -> None:
    program = programs("claude-code")
    scenario = load_scenario("plain", "claude-code")
    stage = make_stage(tmp_path, scenario.files)
    stage.write({"go-on": ""})
    with WorkingModel(scenario) as model:
        stage.more["ANTHROPIC_BASE_URL"] = model.url
        stage.cru("install", "claude-code", "--project")
        play_claude(program, stage, model)
        (main,) = stage.mains()
        path = tmp_path / "flow.md"
        stage.cru("session", "codify", main.id, "-o", path)
        critical = in_order(read(path)[1])[-1]
        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(rf"(?m)^(#+ {re.escape(critical)}\b[^\n]*?)( !)?$", r"\1 !", text), encoding="utf-8")
        on_path(stage, program)
        check_halts_and_finishes(stage, model, path, "claude", critical)
        assert not model.unforeseen, model.unforeseen
