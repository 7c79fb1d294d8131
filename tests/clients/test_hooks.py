"""The real clients play with their hooks installed: alone at first, then beside a watcher.

The notes agree with what was played, and sessions have ended as soon as their clients have.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from crucible.documents.session.session import Session, Status
from tests.clients.agreeing import agree
from tests.clients.clients import play_gemini
from tests.clients.conftest import Programs
from tests.clients.killed_watcher import Watcher
from tests.clients.model import ScriptedModel
from tests.clients.scenario import load_scenario
from tests.clients.stage import Stage, make_stage
from tests.clients.test_other_clients import PLAY
from tests.unit.clients.test_opencode_growing import story

pytestmark = pytest.mark.e2e

PLAYED = {client: PLAY[client] for client in ("codex", "opencode", "copilot", "qwen-code")} | {"gemini": play_gemini}


@pytest.mark.parametrize("client", PLAYED)
def test_hooks_write_what_an_import_writes_and_end_the_session(client: str, programs: Programs, tmp_path: Path) -> None:
    # Gemini's scripted model knows no tool but the shell.
    scenario = load_scenario("plain" if client == "gemini" else "work", client)
    first, *_, second = scenario.says[: 3 if client == "gemini" else 2]
    ended = "paused" if client == "opencode" else "completed"  # with OpenCode, tasks are left
    stage = make_stage(tmp_path, scenario.files)
    stage.cru("install", client, "--hooks")
    with ScriptedModel(scenario) as model:
        PLAYED[client](programs(client), stage.project, stage.env(model.url), [first])
        stage.settle()
        assert [session.status for session in stage.mains()] == [ended], stage.log()
        assert _stories(stage) == _imported(stage, "alone")
        watcher = Watcher(stage)
        watcher.wait_caught_up()
        PLAYED[client](programs(client), stage.project, stage.env(model.url), [second])
        watcher.end()
    stage.settle()
    (main,) = stage.mains()
    agree(stage, model, main)
    assert main.status == ended
    assert _stories(stage) == _imported(stage, "both")
    before = {session.id: stage.note_text(session.id) for session in stage.sessions()}
    stage.cru("import")
    assert {session.id: stage.note_text(session.id) for session in stage.sessions()} == before
    assert not stage.log()


def _imported(stage: Stage, name: str) -> dict[str, object]:
    """What a plain import of the client's logs tells, in a vault of its own."""
    plain = make_stage(stage.root / name)
    plain.home = stage.home
    plain.cru("--vault", plain.vault, "import")
    return _stories(plain)


def _stories(stage: Stage) -> dict[str, object]:
    """What the notes tell, by their sources; only hooks know whether a client runs."""
    return {source: story(_without_end(session)) for session in stage.sessions() for source in session.sources}


def _without_end(session: Session) -> Session:
    return replace(session, status=Status.ACTIVE, ended=None)
