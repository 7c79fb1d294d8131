"""Questions, plans, refusals and red-then-green runs give the same events for every client.

The sessions were recorded with the real clients: two questions (one answered with an option, one in the user's own
words), a plan that was rejected and then approved, an edit that was refused with feedback, a failed check, an edit, a
passed check.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from crucible.clients.codex import logs as codex
from crucible.clients.events import (
    CallEnd,
    Choice,
    Event,
    Injected,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Rewound,
    SubagentReturned,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
)
from crucible.clients.gemini import logs as gemini
from crucible.clients.opencode import logs as opencode
from tests.unit.clients.building import DATA, one, only

READ: dict[str, Callable[[Path], Iterator[Event]]] = {
    client.NAME: lambda path, client=client: client.read(next(client.find(path)))  # type: ignore[misc]
    for client in (codex, gemini, opencode)
}
EDITS = ("edit", "replace", "exec_command")
FIRST = "Refunds are a cent off. Ask me what you need, then plan the fix."
BACK = "No, the fixture is right. Leave it out of the plan."
WORDS = {
    "codex": [FIRST, BACK, "Implement the plan.", "I said leave the fixture alone: change invoice.py."],
    "gemini": [FIRST, "The fixture is right, change the code."],
    "opencode": [FIRST, BACK],
}


def read(client: str, name: str = "asked") -> list[Event]:
    return list(READ[client](DATA / client / name))


@pytest.fixture(params=READ)
def client(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def ends(events: list[Event]) -> dict[str, ToolReturned]:
    found = only(events, ToolReturned)
    assert len({each.call for each in found}) == len(found)
    return {each.call: each for each in found}


def test_questions_come_with_what_was_offered_picked_and_said(client: str) -> None:
    (asked,) = only(read(client), QuestionsAnswered)
    first, second = asked.choices
    assert first.question == "Where shall rounding happen?"
    assert [description for _, description in first.options] == [
        "One rounding, after the tax.",
        "As the old system did.",
    ]
    assert first.picked == (first.answer,) == (first.options[0][0],)
    assert (second.question, second.picked) == ("How many digits do we keep?", ())
    assert second.answer.lower() == "three, as the tax office has it"


def test_answers_stand_before_the_return_of_their_call(client: str) -> None:
    events = read(client)
    asked = one(events, QuestionsAnswered)
    place = events.index(asked)
    returned = next(event for event in events[place:] if isinstance(event, ToolReturned))
    assert (returned.call, returned.end) == (asked.call, CallEnd.OK)


def test_a_plan_that_was_sent_back_and_one_that_was_approved_come_whole(client: str) -> None:
    first, second = only(read(client), PlanSettled)
    assert first.text.strip() == "# Round once\n\n1. Drop the rounding in refund().\n2. Change fixture.txt."
    assert second.text.strip() == "# Round once\n\n1. Drop the rounding in refund()."
    assert (first.approved, second.approved) == (False, True)


def test_a_plan_is_settled_just_before_its_call_returns_or_before_the_words_that_settle_it(
    client: str,
) -> None:
    events = read(client)
    for plan in only(events, PlanSettled):
        following = events[events.index(plan) + 1]
        assert isinstance(following, ToolReturned | Prompted)
        assert not isinstance(following, ToolReturned) or following.call == plan.call
        assert not isinstance(following, Prompted) or plan.call == ""


def test_a_refused_edit_differs_from_a_failed_one(client: str) -> None:
    events = read(client)
    refused = [each for each in ends(events).values() if each.end is CallEnd.REJECTED]
    names = {each.call: each.name for each in only(events, ToolUsed)}
    expected = {
        "codex": ["exec_command"],
        "gemini": ["exit_plan_mode", "replace"],
        "opencode": ["plan_exit", "edit"],
    }
    assert [names[each.call] for each in refused] == expected[client]


def test_the_words_of_a_refusal_are_its_feedback_where_the_client_takes_them() -> None:
    told = {client: [e.feedback for e in only(read(client), ToolReturned) if e.feedback] for client in READ}
    assert told == {"codex": [], "gemini": [BACK], "opencode": ["The fixture is right, change the code."]}


def test_a_failed_check_an_edit_and_a_passed_check_can_be_read_from_the_events(
    client: str,
) -> None:
    events = read(client)
    returned = ends(events)
    checks = [e for e in only(events, ToolUsed) if "python3 check.py" in str(e.arguments)]
    red, green = (returned[check.call] for check in checks)
    assert (red.end, (red.details or {})["exit_code"]) == (CallEnd.FAILED, 1)
    assert (green.end, (green.details or {})["exit_code"]) == (CallEnd.OK, 0)
    assert "refund is 3.0, not 2.988" in red.text
    assert green.text.strip() == "1 passed"
    between = events[events.index(red) : events.index(green)]
    edits = [e.call for e in only(between, ToolUsed) if e.name in EDITS and "invoice.py" in str(e.arguments)]
    assert [returned[edit].end for edit in edits] == [CallEnd.OK]


def test_only_typed_texts_are_prompts(client: str) -> None:
    assert [event.text for event in only(read(client), Prompted)] == WORDS[client]


def test_no_row_is_unknown_unreadable_or_taken_back(client: str) -> None:
    assert not only(read(client), Unknown, Unreadable, Rewound)


@pytest.mark.parametrize(
    ("client", "said"),
    [
        ("codex", ["Run the slow check.", "Go on.", "And only the first ten cases."]),
        ("gemini", ["Does anything round twice, or thrice", "only in invoice.py please", "Then leave it."]),
    ],
)
def test_words_typed_while_the_agent_worked_steer(client: str, said: list[str]) -> None:
    prompts = only(read(client, "steered"), Prompted)
    assert [prompt.text for prompt in prompts] == said
    steering = said[2] if client == "codex" else said[1]
    assert [prompt.text for prompt in prompts if prompt.kind is PromptKind.STEERING] == [steering]


def test_a_question_that_was_dismissed_has_no_answer() -> None:
    events = read("gemini", "steered")
    assert one(events, QuestionsAnswered).choices == (Choice("Shall I write it down?"),)
    assert [e.end for e in only(events, ToolReturned)] == [CallEnd.OK, CallEnd.REJECTED]
    assert only(events, Interrupted)


def test_the_report_of_a_subagent_is_exact() -> None:
    (transcript,) = gemini.find(DATA / "gemini" / "steered")
    returned = one(gemini.read(transcript), SubagentReturned)
    assert (returned.text, returned.end) == (
        "Looked: nothing there.\n\nSecond paragraph of the report.",
        CallEnd.OK,
    )
    (child,) = transcript.subagents
    assert not only(gemini.read(transcript, child.agent), Titled)


def test_history_that_the_client_writes_down_again_is_no_news() -> None:
    for name in ("asked", "steered"):
        events = read("gemini", name)
        calls = [event.call for event in only(events, ToolUsed)]
        assert len(set(calls)) == len(calls)
        back = [event.call for event in events if isinstance(event, ToolReturned | SubagentReturned)]
        assert set(back) == set(calls)


def test_a_command_that_the_user_interrupted_is_not_refused() -> None:
    first, second = only(read("codex", "steered"), ToolReturned)
    assert (first.end, second.end) == (CallEnd.INTERRUPTED, CallEnd.OK)


def test_text_that_the_client_adds_to_a_prompt_is_injected() -> None:
    told = [event.text for event in only(read("gemini", "steered"), Injected)]
    assert any("User steering update" in text for text in told)
