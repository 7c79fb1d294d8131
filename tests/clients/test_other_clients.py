"""Codex and OpenCode play a scenario, `cru import` imports their sessions, and the notes agree with it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from crucible.documents.session.session import Session
from tests.clients.accounts import compare, played, tokens_played, tokens_told, told
from tests.clients.agreeing import agree, holds_no_secret
from tests.clients.clients import (
    ClaudeCode,
    play_cline,
    play_codex,
    play_copilot,
    play_opencode,
    play_opencode_at_once,
    play_pi,
    play_qwen,
)
from tests.clients.conftest import Programs
from tests.clients.model import ScriptedModel
from tests.clients.scenario import load_scenario
from tests.clients.secrets_made import make_secrets
from tests.clients.stage import Stage, make_stage

pytestmark = pytest.mark.e2e

PLAY = {"codex": play_codex, "opencode": play_opencode, "copilot": play_copilot, "pi": play_pi, "qwen-code": play_qwen}


@pytest.mark.parametrize("client", PLAY)
def test_the_note_agrees_with_a_hostile_scenario(client: str, programs: Programs, tmp_path: Path) -> None:
    scenario = load_scenario("hostile", client)
    stage = make_stage(tmp_path, scenario.files)
    with ScriptedModel(scenario) as model:
        PLAY[client](programs(client), stage.project, stage.env(model.url), scenario.says)
    stage.cru("import", client)
    (main,) = stage.mains()
    agree(stage, model, main)
    before = {session.id: stage.note_text(session.id) for session in stage.sessions()}
    stage.cru("import", client)
    assert {session.id: stage.note_text(session.id) for session in stage.sessions()} == before


def test_the_note_of_cline_agrees_with_a_scenario_of_one_prompt(programs: Programs, tmp_path: Path) -> None:
    scenario = load_scenario("once", "cline")
    stage = make_stage(tmp_path, scenario.files)
    with ScriptedModel(scenario) as model:
        play_cline(programs("cline"), stage.project, stage.env(model.url), scenario.says)
    stage.cru("import", "cline")
    (main,) = stage.mains()
    agree(stage, model, main)


@pytest.mark.parametrize("client", PLAY)
def test_no_secret_reaches_the_vault(client: str, programs: Programs, tmp_path: Path) -> None:
    secrets = make_secrets()
    scenario = load_scenario("secrets", client, secrets)
    stage = make_stage(tmp_path, scenario.files)
    with ScriptedModel(scenario) as model:
        PLAY[client](programs(client), stage.project, stage.env(model.url), scenario.says)
    stage.cru("import", client)
    holds_no_secret(stage, model, secrets)


@pytest.mark.parametrize("client", PLAY)
def test_a_killed_session_is_complete_and_can_be_resumed(client: str, programs: Programs, tmp_path: Path) -> None:
    """An interrupted call is marked; tokens that a client did not log cannot be counted."""
    scenario = load_scenario("plain", client)
    stage = make_stage(tmp_path, scenario.files)
    program, play = programs(client), PLAY[client]
    with ScriptedModel(scenario) as model:
        env = stage.env(model.url)
        play(program, stage.project, env, scenario.says[:2], kill=lambda: _is_running(stage))
        stage.cru("import", client)
        cut = told(stage.mains()[0], {})
        compare(_with_cut(model, "pending"), cut, "killed")
        stage.write({"go-on": ""})
        play(program, stage.project, env, scenario.says[2:])
    stage.cru("import", client)
    (main,) = stage.mains()
    found = [line.replace("pending | ", "interrupted | ") for line in told(main, {})]
    compare(_with_cut(model, "interrupted"), found, "resumed")
    if client == "codex":
        assert tokens_told(main) == tokens_played(model)


def _with_cut(model: ScriptedModel, outcome: str) -> list[str]:
    """What was played, where the slow command had no end."""
    return [line.replace("ok | ", f"{outcome} | ") if "go-on" in line else line for line in played(model)]


def _is_running(stage: Stage) -> bool:
    """Whether the slow command runs and the client has written that down, in whatever file."""
    logs = [
        *stage.home.glob(".codex/sessions/**/*.jsonl"),
        *stage.home.glob(".local/share/opencode/opencode.db*"),
        *stage.home.glob(".copilot/session-state/*/events.jsonl"),
        *stage.home.glob(".pi/agent/sessions/*/*.jsonl"),
        *stage.home.glob(".qwen/projects/*/chats/*.jsonl"),
    ]
    return (stage.project / "running").exists() and any(b"go-on" in path.read_bytes() for path in logs)


def test_two_sessions_of_each_client_at_once_are_two_notes_and_one_import_finds_them_all(
    programs: Programs, tmp_path: Path
) -> None:
    stage = make_stage(tmp_path, load_scenario("plain", "claude-code").files)
    models = {}
    for client in ("claude-code", *PLAY):
        scenario = load_scenario("plain", client)
        with ScriptedModel(scenario) as models[client]:
            _play_at_once(client, programs(client), stage, models[client])
    assert not stage.sessions()
    stage.cru("import")
    mains = stage.mains()
    assert {main.sources[0].partition(":")[0] for main in mains} == set(models)
    for client, model in models.items():
        _are_two_sessions([main for main in mains if main.sources[0].partition(":")[0] == client], model)


def _play_at_once(client: str, program: Path, stage: Stage, model: ScriptedModel) -> None:
    env, says = stage.env(model.url), model.scenario.says[::2]
    if client == "opencode":
        play_opencode_at_once(program, stage.project, env, says)
        return
    play = PLAY.get(client, _play_claude)
    with ThreadPoolExecutor() as pool:
        for end in [pool.submit(play, program, stage.project, env, [say]) for say in says]:
            end.result()


def _play_claude(program: Path, project: Path, env: Mapping[str, str], prompts: Sequence[str]) -> None:
    with ClaudeCode(program, project, env) as client:
        for prompt in prompts:
            client.ask(prompt)
        client.end()


def _are_two_sessions(mains: Sequence[Session], model: ScriptedModel) -> None:
    assert not model.unforeseen, model.unforeseen
    lines = [told(main, {}) for main in mains]
    assert [sum(line.startswith("prompt | ") for line in each) for each in lines] == [1, 1]
    assert sorted(_calls(line for each in lines for line in each)) == sorted(_calls(played(model)))
    assert sum(tokens_told(main).used for main in mains) == tokens_played(model).used


def _calls(lines: Iterable[str]) -> list[str]:
    return [line for line in lines if line.startswith(("ok | ", "failed | "))]
