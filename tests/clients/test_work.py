"""Each client plays one session while a watcher runs, and the tests look at what became of it.

Nothing but the watcher writes the first note; an import of the finished logs, into a vault of its own, the second.
"""

from __future__ import annotations

import json
import os
import re
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Session
from crucible.documents.workflow.workflow import Flow, Step
from crucible.documents.workflow.workflow_reader import read_workflow
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

WORKFLOW = Path(__file__).with_name("workflow_of_work.json")
"""What `cru session codify` makes of the session, but for agents and figures: `CRUCIBLE_GOLDEN=1` rewrites it."""


@dataclass(frozen=True)
class Work:
    """A session that was played: the stage has the client's home, and the vault of the watcher."""

    client: str
    stage: Stage
    model: ScriptedModel


@pytest.fixture(scope="module", params=["claude-code", *PLAY])
def work(request: pytest.FixtureRequest, programs: Programs, tmp_path_factory: pytest.TempPathFactory) -> Work:
    """The tests of a client share it, since starting one takes seconds of the processor."""
    client = request.param
    scenario = load_scenario("work", client)
    stage = make_stage(tmp_path_factory.mktemp(client), scenario.files)
    watcher = Watcher(stage)
    try:
        watcher.wait_caught_up()
        with ScriptedModel(scenario) as model:
            played = Work(client, stage, model)
            _play(played, programs(client))
            with suppress(AssertionError):  # the watcher's test fails, and says why
                wait_until(lambda: _agrees(played), watcher.said, 30)
        watcher.end()
    finally:
        watcher.kill(with_worker=True)
    return played


def _play(work: Work, program: Path) -> None:
    says = work.model.scenario.says
    if work.client != "claude-code":
        PLAY[work.client](program, work.stage.project, work.stage.env(work.model.url), says)
        return
    with start_claude(program, work.stage, work.model) as client:
        for prompt in says:
            client.ask(prompt)
        client.end()


def _agrees(work: Work) -> bool:
    """Whether the one session of the vault agrees with what was played."""
    mains = work.stage.mains()
    if len(mains) != 1:
        return False
    try:
        agree(work.stage, work.model, mains[0])
    except (AssertionError, LookupError):
        return False
    return True


@pytest.fixture
def imported(work: Work, tmp_path: Path) -> tuple[Stage, Session]:
    """The same home, imported into a new vault; its one session that is no subagent."""
    stage = make_stage(tmp_path)
    stage.home = work.stage.home
    stage.cru("--vault", stage.vault, "import", work.client)
    (main,) = stage.mains()
    return stage, main


def _notes(stage: Stage) -> dict[str, str]:
    return {session.id: stage.note_text(session.id) for session in stage.sessions()}


def test_a_note_is_written_by_the_watcher_alone(work: Work) -> None:
    (main,) = work.stage.mains()
    agree(work.stage, work.model, main)
    before = _notes(work.stage)
    work.stage.cru("import")
    assert _notes(work.stage) == before


def test_the_note_agrees_with_the_scenario(work: Work, imported: tuple[Stage, Session]) -> None:
    stage, main = imported
    agree(stage, work.model, main)
    before = _notes(stage)
    stage.cru("--vault", stage.vault, "import", work.client)
    assert _notes(stage) == before


def test_what_was_done_becomes_the_same_workflow_whichever_client_did_it(
    work: Work, imported: tuple[Stage, Session], tmp_path: Path
) -> None:
    """But for the names of agents, and what each of them took, and the title, which may be the client's own."""
    stage, main = imported
    path = tmp_path / "flow.md"
    stage.cru("--vault", stage.vault, "session", "codify", main.id, "-o", path)
    found = [*map(_bare, read_workflow(Source.from_bytes(path.read_bytes()), path.stem).walk())]
    if os.environ.get("CRUCIBLE_GOLDEN") and work.client == "claude-code":
        WORKFLOW.write_text(json.dumps(found, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    assert found == json.loads(WORKFLOW.read_text(encoding="utf-8"))


def _bare(step: Step) -> dict[str, Any]:
    # Ids of findings come from the client's rows, and Codex's edits by a program are no outcome.
    prose = re.sub(r"\b[a-z]+-\w+\)", "ID)", re.sub(r"(?m)^ *- (?:Did|Part): .*\n?", "", step.prose)).strip()
    return {
        "name": step.name,
        "channel": step.channel,
        "grade": step.grade,
        "prose": prose,
        "flows": [*map(_flow, step.flows)],
        "statuses": [marker.status for marker in step.markers],
        "children": len(step.children),
    }


def _flow(flow: Flow) -> list[Any]:
    stages = [[[datum.name, datum.type] for datum in stage] for stage in flow.stages]
    return [stages, flow.condition, flow.target]
