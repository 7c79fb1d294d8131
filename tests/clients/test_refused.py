"""Clients whose calls need leave: a call is allowed, one is refused, one is cut off, and the conversation is compacted."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path

import pytest

from tests.clients.accounts import compare, played, tokens_played, tokens_told, told
from tests.clients.attended import attend_acp, attend_pi
from tests.clients.clients import copilot_settings, qwen_settings
from tests.clients.conftest import Programs
from tests.clients.model import ScriptedModel
from tests.clients.scenario import Scenario, load_scenario
from tests.clients.stage import make_stage

pytestmark = pytest.mark.e2e

Play = Callable[[Path, Path, Mapping[str, str], Scenario], None]


def _copilot(program: Path, project: Path, env: Mapping[str, str], scenario: Scenario) -> None:
    command = [str(program), "--acp"]
    attend_acp(command, project, copilot_settings(env), scenario.prompts, scenario.humans)


def _qwen(program: Path, project: Path, env: Mapping[str, str], scenario: Scenario) -> None:
    command = [str(program), "--acp", "--auth-type", "openai"]
    attend_acp(command, project, qwen_settings(env), scenario.prompts, scenario.humans)


def _pi(program: Path, project: Path, env: Mapping[str, str], scenario: Scenario) -> None:
    attend_pi(program, project, env, scenario.prompts, scenario.humans)


PLAY: dict[str, Play] = {"copilot": _copilot, "qwen-code": _qwen, "pi": _pi}


@pytest.mark.parametrize("client", PLAY)
def test_what_the_user_refused_or_stopped_is_told_as_such(client: str, programs: Programs, tmp_path: Path) -> None:
    scenario = load_scenario("refused", client)
    stage = make_stage(tmp_path, scenario.files)
    with ScriptedModel(scenario) as model:
        PLAY[client](programs(client), stage.project, stage.env(model.url), scenario)
    stage.cru("import", client)
    (main,) = stage.mains()
    assert not model.unforeseen, model.unforeseen
    compare(played(model), [line for line in told(main, {}) if line != "stopped"], main.id)
    assert tokens_told(main) == tokens_played(model)
