"""Codex's questions to the user and their decisions: rows made by hand after those of the real client."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.clients.events import (
    CallEnd,
    Choice,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    SubagentReturned,
    ToolReturned,
    UsageCounted,
)
from tests.unit.clients.codex_building import (
    Row,
    completed,
    event,
    events_of,
    item,
    meta,
    only,
    output,
    response,
    row,
    said,
)

QUESTION = {
    "id": "q",
    "question": "Which store?",
    "options": [
        {"label": "SQLite", "description": "one file"},
        {"label": "Redis", "description": "a server"},
    ],
}
OPTIONS = (("SQLite", "one file"), ("Redis", "a server"))
PLAN = "# One file\n\n1. Open it."


def asked(text: str) -> list[Row]:
    arguments = json.dumps({"questions": [QUESTION]})
    call = response("function_call", name="request_user_input", arguments=arguments, call_id="call-1")
    return [meta(), call, output(text)]


def answers(*given: str) -> str:
    return json.dumps({"answers": {"q": {"answers": list(given)}}})


def turn(mode: str, text: str) -> list[Row]:
    return [event("task_started", collaboration_mode_kind=mode), said("user", text)]


def proposed(*rows: Row) -> list[Row]:
    return [meta(), *turn("plan", "Plan it"), *rows, completed()]


@pytest.mark.parametrize(
    ("given", "answer", "picked"),
    [
        (["SQLite"], "SQLite", ("SQLite",)),
        (["SQLite", "user_note: beside the notes"], "SQLite, beside the notes", ("SQLite",)),
        (["None of the above", "user_note: a text file"], "a text file", ()),
        (["None of the above"], "None of the above", ()),
        ([], "", ()),
    ],
)
def test_an_answer_is_exact_without_the_clients_tags(
    given: list[str], answer: str, picked: tuple[str, ...], tmp_path: Path
) -> None:
    (told,) = only(events_of(tmp_path, *asked(answers(*given))), QuestionsAnswered)
    assert (told.call, told.choices) == ("call-1", (Choice("Which store?", answer, OPTIONS, picked),))


@pytest.mark.parametrize(
    "text",
    [
        "Wall time: 3.0 seconds\naborted by user",
        "request_user_input was cancelled before receiving a response",
    ],
)
def test_questions_that_the_user_left_have_no_answers(text: str, tmp_path: Path) -> None:
    told = events_of(tmp_path, *asked(text))
    assert only(told, QuestionsAnswered)[0].choices == (Choice("Which store?", "", OPTIONS),)
    assert only(told, ToolReturned)[0].end is CallEnd.INTERRUPTED


def test_questions_that_never_came_before_the_user_are_none(tmp_path: Path) -> None:
    told = events_of(tmp_path, *asked("request_user_input is unavailable in Default mode"))
    assert not only(told, QuestionsAnswered)
    assert only(told, ToolReturned)[0].end is CallEnd.FAILED


def test_an_answer_to_a_scripts_question_is_read_from_the_clients_record(tmp_path: Path) -> None:
    told = {"question": "Which store?\nSQLite: one file", "answer": "SQLite\nuser_note: beside the notes"}
    kept = {"type": "verified_answer", "call_id": "inner-1", "questions": [told]}
    (found,) = only(events_of(tmp_path, meta(), row("retained_context", kept)), QuestionsAnswered)
    assert found.choices == (
        Choice("Which store?", "SQLite, beside the notes", (("SQLite", "one file"),), ("SQLite",)),
    )


@pytest.mark.parametrize(
    "plan",
    [
        [item("Plan", text=PLAN)],
        [said("assistant", f"Here.\n<proposed_plan>\n{PLAN}\n</proposed_plan>")],
        [event("agent_message", message=f"Here.\n<proposed_plan>\n{PLAN}\n</proposed_plan>")],
    ],
)
def test_a_plan_is_approved_by_the_prompt_of_the_clients_button(plan: list[Row], tmp_path: Path) -> None:
    told = events_of(tmp_path, *proposed(*plan), *turn("default", "Implement the plan."))
    assert [(e.text, e.approved) for e in only(told, PlanSettled)] == [(PLAN, True)]


@pytest.mark.parametrize(("mode", "approved"), [("plan", False), ("default", None)])
def test_other_words_send_a_plan_back_or_leave_it(mode: str, approved: bool | None, tmp_path: Path) -> None:
    told = events_of(tmp_path, *proposed(item("Plan", text=PLAN)), *turn(mode, "Use Redis"))
    (settled,) = only(told, PlanSettled)
    assert (settled.approved, settled.call) == (approved, "")
    assert [e.kind for e in only(told, Prompted)] == [PromptKind.TYPED, PromptKind.TYPED]


def test_a_plan_is_settled_once_and_only_where_there_is_one(tmp_path: Path) -> None:
    again = [*turn("default", "Implement the plan."), completed(), *turn("default", "Implement the plan.")]
    assert len(only(events_of(tmp_path, *proposed(item("Plan", text=PLAN)), *again), PlanSettled)) == 1
    told = events_of(tmp_path, meta(), *again)
    assert not only(told, PlanSettled)


def test_a_plan_that_is_carried_out_with_a_fresh_context_is_the_prompt_of_its_own_session(
    tmp_path: Path,
) -> None:
    text = f"A previous agent produced the plan below to accomplish the user's task. Implement it.\n\n{PLAN}"
    (prompt,) = only(events_of(tmp_path, meta(), *turn("default", text)), Prompted)
    assert (prompt.kind, prompt.text) == (PromptKind.PLAN, text)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("exec command rejected by user", CallEnd.REJECTED),
        (
            'exec_command failed: CreateProcess { message: "Rejected(\\"rejected by user\\")" }',
            CallEnd.REJECTED,
        ),
        ("user rejected MCP tool call", CallEnd.REJECTED),
        ("patch rejected: writing outside of the project; rejected by user approval settings", CallEnd.OK),
        ('exec_command failed: CreateProcess { message: "No such file" }', CallEnd.FAILED),
    ],
)
def test_only_what_the_user_refused_is_rejected(text: str, end: CallEnd, tmp_path: Path) -> None:
    call = response("function_call", name="exec_command", arguments='{"cmd": "x"}', call_id="call-1")
    (returned,) = only(events_of(tmp_path, meta(), call, output(text)), ToolReturned)
    assert returned.end is end


def test_tokens_written_to_the_cache_are_counted_separately(tmp_path: Path) -> None:
    usage = {
        "input_tokens": 600,
        "cached_input_tokens": 500,
        "cache_write_input_tokens": 80,
        "output_tokens": 42,
        "total_tokens": 642,
    }
    (counted,) = only(
        events_of(tmp_path, meta(), row("token_usage_record", {"response_id": "r", "usage": usage})),
        UsageCounted,
    )
    assert (counted.fresh, counted.written, counted.cached, counted.said) == (100, 80, 500, 42)


@pytest.mark.parametrize(
    ("text", "end"),
    [
        ("collab spawn failed: agent thread limit reached", CallEnd.FAILED),
        ("Wall time: 0.1 seconds\naborted by user", CallEnd.INTERRUPTED),
    ],
)
def test_a_subagent_that_never_began_came_back_with_the_reason(text: str, end: CallEnd, tmp_path: Path) -> None:
    call = response("function_call", name="spawn_agent", arguments='{"message": "Look"}', call_id="call-1")
    told = events_of(tmp_path, meta(), call, output(text))
    (back,) = only(told, SubagentReturned)
    assert (back.call, back.agent, back.end) == ("call-1", "", end)
    assert back.text in text
    assert not only(told, ToolReturned)
