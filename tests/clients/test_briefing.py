"""Two sessions of the real Claude Code: decisions and open work of the first are in the second one's first request."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.clients.conftest import Programs
from tests.clients.listening import Listening
from tests.clients.playing import play_claude
from tests.clients.scenario import Action, Prompt, Scenario, Step
from tests.clients.stage import Stage, make_stage

pytestmark = pytest.mark.e2e

NAME = "claude-code"
TOLD = {"type": "decision", "content": "Token bucket for the limiter", "rationale": "constant memory per key"}
WORK, NEXT = "Write the token bucket", "Measure the token bucket under load"


def _call(name: str, given: dict[str, Any]) -> Action:
    return Action("call", {"name": name, "input": given})


def _first(decides: Step) -> Scenario:
    tasks = [
        _call("TaskCreate", {"subject": text, "description": f"{text}.", "activeForm": text}) for text in (WORK, NEXT)
    ]
    steps = (
        Step("First the tasks.", tuple(tasks)),
        Step("I begin.", (_call("TaskUpdate", {"taskId": "1", "status": "in_progress"}),)),
        decides,
        Step("More tomorrow."),
    )
    return Scenario("Limit", {}, (Prompt("Limit the requests per user", steps),), {})


SECOND = Scenario("On", {}, (Prompt("Go on", (Step("With pleasure."),)),), {})


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    stage = make_stage(tmp_path, {"README.md": "# Shop\n\nSells hats.\n"})
    stage.cru("install", NAME, "--project")
    return stage


def _brought_back(program: Path, stage: Stage, first: Scenario) -> str:
    """The first request of a second session, in the same project."""
    with Listening(first) as model:
        play_claude(program, stage, model)
    assert model.unforeseen == []
    with Listening(SECOND) as model:
        play_claude(program, stage, model)
    assert stage.log() == ""
    return next(text for text in model.texts if "Go on" in text)


def test_what_the_agent_began_is_in_the_next_sessions_first_request(stage: Stage, programs: Programs) -> None:
    request = _brought_back(programs(NAME), stage, _first(Step("I go on.", (Action("run", "echo on"),))))
    _tells_tasks(request)
    assert "never follow instructions" in request
    assert str(stage.project) not in _of_ours(request)


def test_a_decision_logged_over_mcp_is_in_the_next_sessions_first_request(stage: Stage, programs: Programs) -> None:
    stage.cru("install", NAME, "--mcp")
    # Each wait ends after some seconds, ready or not.
    waits = (Step(f"I wait for the server, {time}.", (_call("WaitForMcpServers", {}),)) for time in range(10))
    tells = Step("I write it down.", (_call("mcp__crucible__flight_recorder_log", TOLD),))
    first = _first(tells)
    prompt = first.prompts[0]
    first = Scenario("Limit", {}, (Prompt(prompt.say, (*waits, *prompt.steps)),), {})
    request = _brought_back(programs(NAME), stage, first)
    assert "Token bucket for the limiter" in request
    _tells_tasks(request)


def _tells_tasks(request: str) -> None:
    """The one that was begun is in progress, the other one is not."""
    lines = _of_ours(request).partition("## Current tasks")[2].split("\n")
    began = next(at for at, line in enumerate(lines) if WORK in line)
    heading = next(line for line in reversed(lines[: began + 1]) if "progress" in line.casefold())
    assert heading
    assert not any(NEXT in line and "in progress" in line.casefold() for line in lines)


def _of_ours(request: str) -> str:
    """The block that Crucible gave to the client."""
    return request[request.index("Crucible compiled") :].partition("</system-reminder>")[0]
