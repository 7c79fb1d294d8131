"""The real clients play while only `cru watch --clients` runs, and the notes agree with what was played."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from samples.waiting import wait_until
from tests.clients.agreeing import agree
from tests.clients.conftest import Programs
from tests.clients.killed_watcher import Watcher
from tests.clients.model import ScriptedModel
from tests.clients.playing import start_claude
from tests.clients.scenario import load_scenario
from tests.clients.stage import Stage, make_stage
from tests.clients.test_other_clients import PLAY

pytestmark = pytest.mark.e2e


@pytest.fixture
def watched(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[tuple[Stage, Watcher]]:
    """A stage with the files of a client's scenario, and a watcher that has caught up."""
    stage = make_stage(tmp_path, load_scenario("work", request.node.callspec.params["client"]).files)
    watcher = Watcher(stage)
    watcher.wait_caught_up()
    yield stage, watcher
    watcher.kill(with_worker=True)


@pytest.mark.parametrize("client", ["claude-code", *PLAY])
def test_a_note_is_written_by_the_watcher_alone(
    client: str, programs: Programs, watched: tuple[Stage, Watcher]
) -> None:
    stage, watcher = watched
    scenario = load_scenario("work", client)
    with ScriptedModel(scenario) as model:
        if client == "claude-code":
            with start_claude(programs(client), stage, model) as program:
                for prompt in scenario.says[:2]:
                    program.ask(prompt)
                program.end()
        else:
            PLAY[client](programs(client), stage.project, stage.env(model.url), scenario.says[:2])
        wait_until(lambda: _agrees(stage, model), watcher.said, 30)
    watcher.end()
    before = {session.id: stage.note_text(session.id) for session in stage.sessions()}
    stage.cru("import")
    assert {session.id: stage.note_text(session.id) for session in stage.sessions()} == before


def _agrees(stage: Stage, model: ScriptedModel) -> bool:
    """Whether the one session of the vault agrees with what was played."""
    mains = stage.mains()
    if len(mains) != 1:
        return False
    try:
        agree(stage, model, mains[0])
    except (AssertionError, LookupError):
        return False
    return True
