"""Codex and OpenCode with a user: questions, plans and refusals become events, and the note has all calls."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.clients.events import CallEnd, Event, PlanSettled, QuestionsAnswered, ToolReturned, ToolUsed
from crucible.clients.registry import DIALECTS
from tests.clients.accounts import played, told
from tests.clients.attended import ATTEND
from tests.clients.conftest import Programs
from tests.clients.model import ScriptedModel
from tests.clients.scenario import load_scenario
from tests.clients.stage import Stage, make_stage

pytestmark = pytest.mark.e2e

PLAN = ".opencode/plans/round.md"
"""OpenCode lets its plan agent write plans alone."""
KINDS = ("prompt", "ok", "failed", "rejected", "interrupted")
CHECK = "python3 check.py"


@pytest.mark.parametrize("client", ATTEND)
def test_the_users_decisions_are_emitted_and_the_note_has_every_call_with_its_end(
    client: str, programs: Programs, tmp_path: Path
) -> None:
    scenario = load_scenario("asked", client, {"plan": PLAN})
    stage = make_stage(tmp_path, scenario.files)
    with ScriptedModel(scenario) as model:
        env = stage.env(model.url)
        ATTEND[client](programs(client), stage.project, env, scenario.prompts, scenario.humans)
    assert not model.unforeseen, model.unforeseen
    _decided(_events(stage, client))
    stage.cru("import", client)
    (main,) = stage.mains()
    refusals = {f"prompt | {human.words}" for human in scenario.humans if human.words}
    found = _heads(told(main, {}))
    assert refusals <= set(found)
    assert [line for line in found if line not in refusals] == _heads(played(model))
    before = stage.note_text(main.id)
    stage.cru("import", client)
    assert stage.note_text(main.id) == before


def _decided(events: list[Event]) -> None:
    """The answers, the plans and the check are what the scenario has."""
    (asked,) = (event for event in events if isinstance(event, QuestionsAnswered))
    where, digits = asked.choices
    assert (where.picked, digits.picked) == (("At the end (Recommended)",), ())
    assert digits.answer.lower() == "three, as the tax office has it"
    plans = [event for event in events if isinstance(event, PlanSettled)]
    assert [plan.approved for plan in plans] == [False, True]
    assert ["fixture" in plan.text for plan in plans] == [True, False]
    checks = {e.call for e in events if isinstance(e, ToolUsed) and CHECK in str(e.arguments)}
    returned = [e for e in events if isinstance(e, ToolReturned) and e.call in checks]
    codes = [(e.end, (e.details or {})["exit_code"]) for e in returned]
    assert codes == [(CallEnd.FAILED, 1), (CallEnd.OK, 0)]


def _events(stage: Stage, client: str) -> list[Event]:
    dialect = DIALECTS[client]
    folder = dialect.default_folder({}, stage.home)
    (transcript,) = dialect.find(folder)
    return list(dialect.read(transcript))


def _heads(lines: list[str]) -> list[str]:
    """Prompts whole; of a call how it ended, and the tool."""
    kept = [line.partition(" | ") for line in lines if line.partition(" | ")[0] in KINDS]
    return [f"{kind} | {text if kind == 'prompt' else text.split()[0]}" for kind, _, text in kept]
