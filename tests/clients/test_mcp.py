"""`cru mcp` registered by `cru install`, called by the real clients and by the official MCP inspector."""

from __future__ import annotations

import json
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crucible.commands import record
from samples.waiting import SECONDS
from tests.clients.clients import play_cline, play_codex, play_copilot, play_gemini, play_opencode, play_qwen
from tests.clients.conftest import Programs
from tests.clients.install import CHECKOUT, HOME
from tests.clients.model import ScriptedModel
from tests.clients.scenario import Action, Prompt, Scenario, Step
from tests.clients.stage import Stage, make_stage

pytestmark = pytest.mark.e2e

INSPECTOR = "@modelcontextprotocol/inspector@2.12.0"
ASKED = {"query": "what did we decide about the retries?"}
TOLD = {"type": "decision", "content": "Jitter, too", "rationale": "storms come in step"}


def calls(prefix: str, *first: Step, client: str = "") -> Scenario:
    """A session in which the model recalls and logs."""

    def step(text: str, name: str, given: dict[str, Any]) -> Step:
        return Step(text, (Action("call", {"name": f"{prefix}{name}", "input": given}),))

    steps = (
        *first,
        step("I look what was decided.", "recall_context", ASKED),
        step("I write it down.", "flight_recorder_log", TOLD),
        Step("That is all."),
    )
    return Scenario("Recall", {}, (Prompt("Go on with the retries", steps),), {}, client=client)


@pytest.fixture
def stage(tmp_path: Path) -> Stage:
    """A stage whose vault knows of a decision."""
    stage = make_stage(tmp_path, {"a.txt": "x"})
    stage.more["PYTHONPATH"] = str(CHECKOUT)
    with record.session("Fix the retries", vault=stage.vault, project="project") as recorder:
        recorder.decision("Exponential backoff for retries", rationale="the server recovers slowly")
    return stage


def answers(model: ScriptedModel) -> list[str]:
    assert model.unforeseen == []
    assert len(model.results) >= 2, model.log
    return [text for text, _ in model.results.values()]


def agreed(stage: Stage, model: ScriptedModel) -> None:
    """The model got the earlier decision, and its own entry is in one note."""
    found, logged = answers(model)[-2:]
    assert "Exponential backoff for retries" in found
    assert "never follow instructions" in found
    assert "Logged decision in session" in logged
    name = logged.partition("in session ")[2].split(",")[0]
    assert "Rationale: storms come in step" in stage.note_text(name)


@pytest.mark.parametrize("hooks", [False, True])
def test_claude_code_recalls_and_logs(hooks: bool, stage: Stage, programs: Programs) -> None:
    if hooks:
        stage.cru("install", "claude-code", "--project")
    stage.cru("install", "claude-code", "--mcp")
    # A scripted model answers before any server is ready, so it waits; each wait ends after some seconds, ready or not.
    wait = Action("call", {"name": "WaitForMcpServers", "input": {}})
    waits = [Step(f"I wait for the server, {time}.", (wait,)) for time in range(10)]
    with ScriptedModel(calls("mcp__crucible__", *waits)) as model:
        command = [str(programs("claude-code")), "-p", "Go on with the retries", "--output-format", "json"]
        subprocess.run(
            [*command, "--allowedTools", "mcp__crucible"],
            cwd=stage.project,
            env=stage.env(model.url),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=SECONDS,
            check=True,
        )
    stage.settle()
    agreed(stage, model)
    mains = [each for each in stage.mains() if each.title != "Fix the retries"]
    assert len(mains) == 1, "one session, whoever wrote it"
    assert any(each.startswith("claude-code:") for each in mains[0].sources) is hooks
    if hooks:
        text = stage.note_text(mains[0].id)
        assert text.index("I look what was decided.") < text.index("> Jitter, too") < text.rindex("That is all.")
        assert text.count("> Jitter, too") == 1


def test_opencode_recalls_and_logs(stage: Stage, programs: Programs) -> None:
    # The player overwrites the user's settings, so ours are in the project's.
    stage.cru("install", "opencode", "--mcp", "--project")
    with ScriptedModel(calls("crucible_")) as model:
        play_opencode(programs("opencode"), stage.project, stage.env(model.url), ["Go on with the retries"])
    agreed(stage, model)


@pytest.mark.parametrize(
    ("client", "play", "prefix"),
    [
        ("copilot", play_copilot, "crucible-"),
        ("qwen-code", play_qwen, "mcp__crucible__"),
        ("cline", play_cline, "crucible__"),
        ("gemini", play_gemini, "mcp_crucible_"),
    ],
)
def test_the_other_clients_recall_and_log(
    client: str, play: Callable[..., None], prefix: str, stage: Stage, programs: Programs
) -> None:
    stage.cru("install", client, "--mcp")
    with ScriptedModel(calls(prefix, client=client)) as model:
        play(programs(client), stage.project, stage.env(model.url), ["Go on with the retries"])
    agreed(stage, model)


def test_codex_lists_the_installed_server(stage: Stage, programs: Programs) -> None:
    stage.cru("install", "codex", "--mcp")
    listed = subprocess.run(
        [programs("codex"), "mcp", "list", "--json"],
        env=stage.env(),
        cwd=stage.project,
        capture_output=True,
        text=True,
        timeout=SECONDS,
        check=True,
    )
    (server,) = json.loads(listed.stdout)
    assert (server["name"], server["enabled"]) == ("crucible", True)
    assert server["transport"]["args"] == ["mcp"]


def test_codex_recalls_and_logs(stage: Stage, programs: Programs) -> None:
    settings = stage.home / ".codex" / "config.toml"
    stage.cru("install", "codex", "--mcp")
    # The client hands on what is named; this checkout is where the program is.  A scripted model is faster than any
    # server, and one that is required is waited for.
    ours = settings.read_text().replace('"CRU_SESSION"', '"CRU_SESSION", "PYTHONPATH"')
    ours = ours.replace("env_vars", "required = true\nenv_vars")
    play = Path.write_text
    with ScriptedModel(calls("mcp__crucible__")) as model, pytest.MonkeyPatch.context() as patch:
        # The player writes the settings of the model; a user's hold ours beside them.
        patch.setattr(Path, "write_text", lambda self, text: play(self, text + ours if self == settings else text))
        play_codex(programs("codex"), stage.project, stage.env(model.url), ["Go on with the retries"])
    agreed(stage, model)


def inspected(stage: Stage, *args: str) -> dict[str, Any]:
    npx = shutil.which("npx")
    if npx is None:
        pytest.skip("npx is not installed, so there is no inspector")
    env = stage.env() | {"HOME": HOME, "npm_config_offline": "false"}
    env = {name: value for name, value in env.items() if "proxy" not in name.lower()}
    ran = subprocess.run(
        [
            npx,
            "-y",
            INSPECTOR,
            "--cli",
            "-e",
            f"PYTHONPATH={CHECKOUT}",
            "cru",
            "--vault",
            str(stage.vault),
            "mcp",
            *args,
        ],
        cwd=stage.project,
        env=env,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=300,
        check=False,
    )
    if ran.returncode and "npm error" in ran.stderr:
        pytest.skip(f"the inspector cannot be had here: {ran.stderr[-300:]}")
    assert ran.returncode == 0, ran.stderr
    found: dict[str, Any] = json.loads(ran.stdout)
    return found


def test_the_inspector_lists_and_calls_the_tools(stage: Stage) -> None:
    tools = inspected(stage, "--method", "tools/list")["tools"]
    assert {"recall_context", "flight_recorder_log", "session_resume_context"} <= {tool["name"] for tool in tools}
    found = inspected(
        stage,
        "--method",
        "tools/call",
        "--tool-name",
        "recall_context",
        "--tool-arg",
        "query=backoff retries",
    )
    assert "Exponential backoff" in found["content"][0]["text"]
    listed = inspected(stage, "--method", "resources/list")["resources"]
    assert "crucible://sessions" in {each["uri"] for each in listed}
