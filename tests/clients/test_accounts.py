"""The end-to-end tests can see errors: the model plays its scenario, and differences are reported."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from crucible.documents.session.markup import render_session
from crucible.documents.session.session import Intervention, Outcome, Phase, Prose, Session, ToolCall, ToolCalls
from tests.clients.accounts import compare, played, tasks_played, tokens_played, told
from tests.clients.model import MAIN, ScriptedModel
from tests.clients.plain_notes import look_at
from tests.clients.scenario import load_scenario
from tests.clients.wires import Answer, Anthropic

CLIENT = "claude-code"


def _talk(model: ScriptedModel, prompts: tuple[str, ...]) -> None:
    """A client of few words: it sends what was said back, with the results that the scenario expects."""
    wire = Anthropic()
    messages: list[dict[str, Any]] = []
    for prompt in prompts:
        messages.append({"role": "user", "content": prompt})
        while True:
            answer = model.answer(wire, {"messages": messages, "tools": [{}], "stream": True})
            if isinstance(answer, int):
                continue
            messages.append({"role": "assistant", "content": _blocks(answer)})
            if not answer.calls:
                break
            results = [
                {"type": "tool_result", "tool_use_id": c.id, "content": "…", "is_error": c.action.fails}
                for c in answer.calls
            ]
            messages.append({"role": "user", "content": results})


def _blocks(answer: Answer) -> list[dict[str, Any]]:
    calls = [{"type": "tool_use", "id": c.id, "name": c.name, "input": c.given} for c in answer.calls]
    return [{"type": "text", "text": answer.text}, *calls]


@pytest.fixture
def model() -> ScriptedModel:
    scenario = load_scenario("plain", CLIENT)
    model = ScriptedModel(scenario)
    _talk(model, scenario.says[:2])
    return model


ANSWERED = [
    "phase",
    "prompt | First question",
    "says | The first look.",
    "ok | Bash echo one",
    "says | A second look.",
    "failed | Bash exit 4",
    "says | The first answer.",
    "phase",
    "prompt | Second question",
    "says | Another look.",
    "ok | Bash echo two",
    "says | Slow work begins.",
    "ok | Bash touch running; until [ -e go-on ]; do sleep 0.02; done; echo gone on",
    "says | The second answer.",
]


def test_the_model_plays_step_by_step_and_writes_it_down(model: ScriptedModel) -> None:
    assert played(model) == ANSWERED
    assert not model.unforeseen


def test_an_error_is_answered_once_and_counts_no_tokens() -> None:
    scenario = load_scenario("work", CLIENT)
    model = ScriptedModel(scenario)
    _talk(model, scenario.says[:1])
    (failing,) = (line for line in played(model) if line.startswith("failed"))
    assert failing == "failed | Bash python3 app.py --fail"
    said = [event for event in model.log if hasattr(event, "answer")]
    assert tokens_played(model, MAIN).used == sum(e.answer.usage.fresh + e.answer.usage.said for e in said)
    assert tasks_played(model)[0] == ("Write the token bucket", "in_progress")


def _session() -> Session:
    """A note of what was played, built by hand."""
    calls = (ToolCall("Bash echo one", "one"), ToolCall("Bash exit 4", "exit code 4", Outcome.FAILED))
    first = Phase(
        "First question",
        entries=(
            Intervention("First question"),
            Prose("The first look."),
            ToolCalls(calls[:1]),
            Prose("A second look."),
            ToolCalls(calls[1:]),
            Prose("The first answer."),
        ),
    )
    return Session("2026-11-21-first-question", title="First question", phases=(first,))


@pytest.mark.parametrize(
    "change",
    [
        lambda entries: entries[1:],
        lambda entries: entries[:2] + entries[3:],
        lambda entries: entries[:3] + entries[2:],
        lambda entries: (entries[0], entries[2], entries[1], *entries[3:]),
        lambda entries: (*entries[:4], ToolCalls((ToolCall("Bash exit 4", "exit code 4"),)), entries[5]),
        lambda entries: (*entries[:5], Prose("The first answr.")),
    ],
    ids=["no prompt", "a call missing", "a call doubled", "a call misplaced", "no failure", "another word"],
)
def test_every_difference_is_reported(change: Callable[[tuple], tuple]) -> None:
    session = _session()
    compare(ANSWERED[:7], told(session, {}), "as it was played")
    changed = replace(session.phases[0], entries=change(session.phases[0].entries))
    with pytest.raises(AssertionError, match=r"(?m)^[-+]"):
        compare(ANSWERED[:7], told(replace(session, phases=(changed,)), {}), "not as it was played")


def test_plain_parsing_sees_the_content_of_a_note() -> None:
    plain = look_at(render_session(_session()))
    assert plain.phases == ("First question",)
    assert plain.callouts == ("user",)
    assert plain.calls == (("Bash echo one", ""), ("Bash exit 4", "❌"))
    assert not any((plain.links, plain.embeds, plain.comments, plain.html, plain.fences))


def test_plain_parsing_sees_forged_content() -> None:
    text = (
        render_session(_session()) + "\n\n## Forged\n\n> [!decision] x\n\n[[a]] ![[b]] %% c %% <b>\n\n```mermaid\n```\n"
    )
    plain = look_at(text)
    assert plain.phases == ("First question", "Forged")
    assert "decision" in plain.callouts
    assert (set(plain.links), set(plain.embeds), plain.comments) == ({"a"}, {"b"}, 2)
    assert plain.html == ("<b>",)
    assert plain.fences == ("mermaid",)


def test_code_is_no_link() -> None:
    text = render_session(_session()) + "\n\n`[[a]] %%`\n\n```py\n[[b]] %%\n```\n\n``[[c]] ` ``\n"
    plain = look_at(text)
    assert not plain.links
    assert not plain.comments


def test_a_scenario_skips_steps_of_other_clients() -> None:
    names = {
        client: json.dumps([str(s) for p in load_scenario("work", client).prompts for s in p.steps])
        for client in (CLIENT, "codex", "opencode")
    }
    assert "TaskCreate" in names[CLIENT]
    assert "TaskCreate" not in names["codex"]
    assert "todowrite" in names["opencode"]
