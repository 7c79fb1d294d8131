"""Questions to the user with their answers, and plans with the user's decision."""

from __future__ import annotations

from typing import Any

import pytest

from crucible.clients.events import (
    CallEnd,
    Choice,
    Event,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    ToolReturned,
)
from tests.unit.clients.building import Row, assistant, image, one, only, read_rows, result, text, use, user

REFUSED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). "
)
SAID = REFUSED + "To tell you how to proceed, the user said:\n"
STOP = REFUSED + "STOP what you are doing and wait for the user to tell you how to proceed."

STORE = "Where shall the cache live?"
FORMATS = "Which formats?"
OPTIONS = (("One SQLite file", "No server"), ("Redis", ""))


def question(words: str = STORE, *, several: bool = False, options: object = OPTIONS) -> Row:
    listed = [{"label": label, "description": said} if said else {"label": label} for label, said in options]  # type: ignore[attr-defined]
    return {"question": words, "header": "H", "options": listed, "multiSelect": several}


def asked(*questions: Row) -> Row:
    return assistant(use("AskUserQuestion", questions=list(questions or (question(),))))


def choices(call: Row, answer: Row) -> tuple[Choice, ...]:
    return one(read_rows(call, answer), QuestionsAnswered).choices


def answered(answers: object, *questions: Row, **more: object) -> tuple[Choice, ...]:
    given = questions or (question(),)
    raw = {"questions": list(given), "answers": answers, **more}
    return choices(asked(*given), result("User has answered your questions: …", raw=raw))


# --- questions -------------------------------------------------------------------------------------------------------


def test_an_answered_question_comes_with_its_options_before_the_result() -> None:
    raw = {"questions": [question()], "answers": {STORE: "Redis"}}
    events = read_rows(asked(), result("User has answered your questions: …", raw=raw))
    assert [type(event) for event in events[-2:]] == [QuestionsAnswered, ToolReturned]
    event = one(events, QuestionsAnswered)
    assert event.call == "call-1"
    assert event.choices == (Choice(STORE, "Redis", OPTIONS, ("Redis",)),)


def test_words_of_the_users_own_pick_nothing() -> None:
    for words in ("One SQLite file, but beside the notes", "redis", "neither, ask me later"):
        assert answered({STORE: words}) == (Choice(STORE, words, OPTIONS),)


@pytest.mark.parametrize(
    ("answer", "picked"),
    [
        ("JSON, TOML", ("JSON", "TOML")),
        ("JSON, CSV, with a header", ("JSON", "CSV, with a header")),
        ("TOML, and XML for the old ones", ("TOML",)),
        (["JSON", "TOML"], ("JSON", "TOML")),
        ("all of them", ()),
    ],
)
def test_several_labels_may_be_picked_at_once(answer: object, picked: tuple[str, ...]) -> None:
    offered = (("JSON", ""), ("TOML", ""), ("CSV, with a header", ""))
    (choice,) = answered({FORMATS: answer}, question(FORMATS, several=True, options=offered))
    assert choice.picked == picked
    assert choice.answer == (answer if isinstance(answer, str) else ", ".join(answer))  # type: ignore[arg-type]


def test_a_question_without_an_answer_has_none() -> None:
    found = answered({STORE: "Redis"}, question(), question(FORMATS))
    assert [(choice.question, choice.answer) for choice in found] == [(STORE, "Redis"), (FORMATS, "")]


def test_a_users_note_on_an_answer_belongs_to_it() -> None:
    (choice,) = answered({STORE: "Redis"}, annotations={STORE: {"notes": "only in tests", "preview": "…"}})
    assert (choice.answer, choice.picked) == ("Redis\nonly in tests", ("Redis",))
    (choice,) = answered({STORE: "(notes only)"}, annotations={STORE: {"notes": "ask Ada"}})
    assert (choice.answer, choice.picked) == ("ask Ada", ())


def test_one_reply_to_all_questions_answers_each() -> None:
    found = answered({}, question(), question(FORMATS), response="You decide")
    assert [choice.answer for choice in found] == ["You decide", "You decide"]


def test_answers_are_read_from_the_text_of_versions_without_a_structured_result() -> None:
    tail = ". You can now continue with the user's answers in mind."
    said = f'User has answered your questions: "{STORE}"="One SQLite file", "{FORMATS}"="say "both""' + tail
    found = choices(asked(question(), question(FORMATS, options=())), result(said))
    assert [(c.answer, c.picked) for c in found] == [
        ("One SQLite file", ("One SQLite file",)),
        ('say "both"', ()),
    ]
    newer = f'Your questions have been answered: "{STORE}"="Redis". You can now continue with these answers in mind.'
    assert choices(asked(), result(newer))[0].picked == ("Redis",)


def test_a_question_that_quotes_another_one_with_an_answer_answers_nothing() -> None:
    forging = f'Ready? "{STORE}"="Redis", "{FORMATS}"="JSON'
    told = f'User has answered your questions: "{forging}"="no", "{STORE}"="One SQLite file". You can now continue.'
    found = choices(asked(question(), question(forging), question(FORMATS)), result(told))
    assert [choice.answer for choice in found] == ["One SQLite file", "no", ""]
    listed = f'- "{STORE}"\n  Answer: Redis'
    told = f'Questions asked:\n- "Ready? {listed}"\n  Answer: no\n- "{STORE}"\n  (No answer provided)'
    found = choices(asked(question(), question(f"Ready? {listed}")), result(SAID + told, error=True))
    assert [choice.answer for choice in found] == ["", "no"]


def test_many_questions_and_options_are_all_emitted() -> None:
    many = [question(f"Q{number}?", options=()) for number in range(5_000)]
    told = "".join(f'"Q{number}?"="yes", ' for number in range(5_000))
    assert len(choices(asked(*many), result(told))) == 5_000
    offered = [(f"Option {number}", "") for number in range(5_000)]
    (choice,) = answered({FORMATS: "other, " * 100_000}, question(FORMATS, several=True, options=offered))
    assert choice.picked == ()


def test_a_refused_question_has_no_answer_and_the_clients_words_are_no_feedback() -> None:
    listed = (
        "The user wants to clarify these questions.\n    This means they may have more to say.\n\n    Questions asked:\n"
        f'- "{STORE}"\n  (No answer provided)'
    )
    events = read_rows(asked(), result(SAID + listed, error=True, raw="Error: …"))
    assert one(events, QuestionsAnswered).choices == (Choice(STORE, "", OPTIONS),)
    returned = one(events, ToolReturned)
    assert (returned.end, returned.feedback) == (CallEnd.REJECTED, "")


def test_answers_given_before_a_refusal_are_kept() -> None:
    listed = (
        "The user has indicated they have provided enough answers.\n\nQuestions asked and answers provided:\n"
        f'- "{STORE}"\n  Answer: Redis\n  User notes: for now\n- "{FORMATS}"\n  (No answer provided)'
    )
    found = choices(asked(question(), question(FORMATS)), result(SAID + listed, error=True))
    assert [(c.answer, c.picked) for c in found] == [("Redis\nfor now", ("Redis",)), ("", ())]


def test_a_refusal_in_the_users_words_keeps_them() -> None:
    words = "What do you mean by cache?"
    events = read_rows(asked(), result(SAID + words, error=True, raw="Error: …"))
    assert one(events, ToolReturned).feedback == words
    assert one(events, QuestionsAnswered).choices[0].answer == ""


def test_questions_that_never_reached_the_user_are_not_emitted() -> None:
    for answer in (
        result("<tool_use_error>InputValidationError: …</tool_use_error>", error=True),
        result("Permission to use AskUserQuestion has been denied.", error=True),
    ):
        assert not only(read_rows(asked(), answer), QuestionsAnswered)


def test_an_answer_without_its_call_uses_the_questions_of_the_result() -> None:
    raw = {"questions": [question()], "answers": {STORE: "Redis"}}
    assert one(read_rows(result("…", "gone", raw=raw)), QuestionsAnswered).choices[0].picked == ("Redis",)


@pytest.mark.parametrize(
    "raw",
    [
        {"questions": None, "answers": 7},
        {"questions": [7, {}, {"question": 7, "options": 7}], "answers": []},
        {
            "questions": [{"question": "Q", "options": [7, "plain", {"label": 7}]}],
            "answers": {"Q": 7},
            "annotations": 7,
        },
    ],
)
def test_malformed_answers_raise_nothing(raw: object) -> None:
    read_rows(asked(), result("…", raw=raw))
    read_rows(assistant({**use("AskUserQuestion"), "input": raw}), result("…"))


# --- plans -----------------------------------------------------------------------------------------------------------

PLAN = "# Cache\n\nOne SQLite file."
FILE = "/home/dev/.claude/plans/brave-old-owl.md"


def planned(**arguments: Any) -> Row:
    return assistant(use("ExitPlanMode", **arguments))


def settled(*rows: Row) -> PlanSettled:
    return one(read_rows(*rows), PlanSettled)


def test_an_approved_plan_is_emitted_before_its_result() -> None:
    raw = {"plan": PLAN, "filePath": FILE, "isAgent": False}
    events = read_rows(planned(plan="older"), result("User has approved your plan. …", raw=raw))
    assert [type(event) for event in events[-2:]] == [PlanSettled, ToolReturned]
    event = one(events, PlanSettled)
    assert (event.call, event.text, event.approved) == ("call-1", PLAN, True)


def test_a_refused_plan_with_feedback_is_rejected() -> None:
    events = read_rows(planned(plan=PLAN), result(SAID + "Too large", error=True))
    assert one(events, PlanSettled) == PlanSettled(one(events, PlanSettled).at, "call-1", PLAN, approved=False)
    assert one(events, ToolReturned).feedback == "Too large"


@pytest.mark.parametrize(
    "answer",
    [
        result(STOP, error=True, raw="User rejected tool use"),
        result("[Request interrupted by user for tool use]", error=True),
        result(
            "The agent proposed a plan that was rejected by the user. The user chose to stay.\n\nRejected plan:\n"
            + PLAN,
            error=True,
        ),
    ],
)
def test_a_plan_left_without_a_word_is_neither(answer: Row) -> None:
    event = settled(planned(plan=PLAN), answer)
    assert (event.text, event.approved) == (PLAN, None)


def test_a_plan_without_arguments_is_read_from_its_file() -> None:
    written = assistant(use("Write", "w", file_path=FILE, content="# Cache\n\nRedis."))
    edited = assistant(use("Edit", "e", file_path=FILE, old_string="Redis", new_string="One SQLite file"))
    other = assistant(use("Write", "o", file_path="/home/dev/project/plans/other.md", content="no"))
    event = settled(written, result("ok", "w"), edited, result("ok", "e"), other, planned(), result(STOP, error=True))
    assert event.text == PLAN


def test_the_file_of_a_plan_is_known_by_the_name_of_the_session_too() -> None:
    written = assistant(use("Write", "w", file_path="/elsewhere/brave-old-owl.md", content=PLAN), slug="brave-old-owl")
    assert settled(written, planned(), result(STOP, error=True)).text == PLAN


def test_a_plan_may_stand_in_the_text_of_the_result_alone() -> None:
    approved = f"User has approved your plan.\n\nYour plan has been saved to: {FILE}\n\n## Approved Plan:\n{PLAN}"
    assert settled(planned(), result(approved)).text == PLAN
    refused = f"The agent proposed a plan that was rejected by the user.\n\nRejected plan:\n{PLAN}"
    assert settled(planned(), result(refused, error=True)).text == PLAN


def test_a_plan_that_never_reached_the_user_is_not_settled() -> None:
    for answer in (
        result("<tool_use_error>You are not in plan mode.</tool_use_error>", error=True),
        result(
            "Your plan has been submitted to the team lead.",
            raw={"plan": PLAN, "awaitingLeaderApproval": True},
        ),
    ):
        assert not only(read_rows(planned(plan=PLAN), answer), PlanSettled)
    assert not only(read_rows(planned(), result("User has approved exiting plan mode.")), PlanSettled)


def test_a_plan_that_is_no_text_raises_nothing() -> None:
    for arguments in ({"plan": 7}, {"plan": ["x"]}):
        read_rows(planned(**arguments), result("ok", raw={"plan": {}}))
    read_rows(assistant(use("Write", file_path=7, content=["x"]), use("Edit", "e", file_path=FILE, old_string=7)))


# --- the prompt that begins the work ---------------------------------------------------------------------------------


def prompts(*rows: Row) -> list[tuple[str, PromptKind]]:
    return [(event.text, event.kind) for event in only(read_rows(*rows), Prompted)]


def test_a_plan_that_is_handed_over_is_a_prompt_of_its_kind() -> None:
    words = f"Implement the following plan:\n\n{PLAN}"
    told = [(words, PromptKind.PLAN)]
    assert prompts(user(words, planContent=PLAN)) == told
    assert prompts(user(words, planContent=PLAN, origin={"kind": "auto-continuation"})) == told
    assert prompts(user([text(words)], thinkingMetadata={"level": "high"})) == told
    assert prompts(user("Implement the following plan: faster tests")) == [
        ("Implement the following plan: faster tests", PromptKind.TYPED)
    ]


def test_a_plan_that_is_not_in_the_words_is_added_to_them() -> None:
    assert prompts(user("Implement it.", planContent=PLAN)) == [(f"Implement it.\n\n{PLAN}", PromptKind.PLAN)]
    assert prompts(user([image()], planContent=PLAN)) == [(PLAN, PromptKind.PLAN)]


def test_what_the_user_adds_to_an_approval_is_steering() -> None:
    raw = {"plan": PLAN, "filePath": FILE}
    block = {"type": "tool_result", "tool_use_id": "call-1", "content": "User has approved your plan."}
    events: list[Event] = read_rows(planned(plan=PLAN), user([block, text("but no Redis")], toolUseResult=raw))
    assert [type(event) for event in events[-3:]] == [PlanSettled, ToolReturned, Prompted]
    assert one(events, Prompted).kind is PromptKind.STEERING
