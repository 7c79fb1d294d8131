"""An agent is asked at most twice, and a failure is one line, whatever it answers."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from crucible.analysis.failure_causes import judge_failure
from crucible.analysis.review.agent_questions import (
    BUDGET,
    MAX_ANSWER,
    AskResult,
    Budget,
    Refused,
    TimeUsedUp,
    ask_checked,
    quoted_data,
    text_cleaner,
    visible,
)
from crucible.clients.launch.answering_process import Stopped, TimedOut
from crucible.clients.launch.ask import objects_in
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.core.errors import AgentFailed
from crucible.documents.knowledge.items import FailureReport
from crucible.memory.tasks.task_breakdown import TEMPLATE, break_down
from tests.saying import Says

SECRET = "hunter" + "2-token"


def _redact(text: str) -> tuple[str, Mapping[str, int]]:
    return text.replace(SECRET, "[redacted]"), {}


def _number(text: str, _: str) -> int:
    """Reads a number; refuses all else."""
    if text.strip().isdecimal() and len(text) < 10:
        return int(text)
    raise Refused(["it is not a number", f"say one, not {text[:20]}"])


def _asked(asker: Says, read: Callable[[str, str], int] = _number, budget: Budget = BUDGET) -> AskResult[int]:
    return ask_checked(asker, lambda refused: f"A number!\n{refused}", read, text_cleaner(_redact), budget=budget)


def test_a_good_answer_is_taken_at_once() -> None:
    asker = Says("7", "8")
    came = _asked(asker)
    assert (came.value, came.problem, [one.text for one in came.answers]) == (7, "", ["7"])
    assert asker.prompts == ["A number!\n"]


def test_a_refused_answer_is_asked_for_once_more_with_all_reasons() -> None:
    asker = Says("seven", "7")
    came = _asked(asker)
    assert (came.value, came.problem, len(came.answers)) == (7, "", 2)
    assert "- it is not a number\n- say one, not seven\n[the answer]\n  seven" in asker.prompts[1]


def test_an_answer_that_is_refused_twice_is_a_problem() -> None:
    asker = Says("seven", "eight", "9")
    came = _asked(asker)
    assert (came.value, came.problem) == (None, "its answer was rejected: it is not a number")
    assert len(came.answers) == len(asker.prompts) == 2


def test_a_program_that_failed_is_asked_once_more_as_at_first() -> None:
    asker = Says(AgentFailed("exit code 1"), "7")
    assert _asked(asker).value == 7
    assert asker.prompts[0] == asker.prompts[1]


def test_a_failure_after_a_refusal_forgets_the_refusal() -> None:
    came = _asked(Says("seven", AgentFailed("exit code 1")))
    assert (came.value, came.problem) == (None, "exit code 1")


@pytest.mark.parametrize("kind", [TimedOut, TimeUsedUp, Stopped])
def test_after_a_time_out_nothing_is_asked_again(kind: type[AgentFailed]) -> None:
    asker = Says(kind("no answer within 120 seconds"), "7")
    came = _asked(asker)
    assert (came.value, came.problem) == (None, "no answer within 120 seconds")
    assert len(asker.prompts) == 1


def test_an_answer_that_holds_its_question_is_refused() -> None:
    came = _asked(Says(f"{OWN_MARK}\n7", f"7 {OWN_MARK}"))
    assert came.problem == "its answer was rejected: it repeats the prompt"


@pytest.mark.parametrize("code", [0xFFFD, 0xD800])
def test_an_answer_that_is_no_text_is_refused(code: int) -> None:
    text = f"7{chr(code)}"
    assert _asked(Says(text, text)).problem == "its answer was rejected: it is not text"


def test_no_more_of_an_answer_is_looked_at_than_it_needs() -> None:
    lengths: list[int] = []

    def read(text: str, _: str) -> int:
        lengths.append(len(text))
        return 1

    assert _asked(Says("x" * 3_000_000), read).value == 1
    assert lengths == [MAX_ANSWER]


def test_a_refused_answer_is_shown_again_within_the_budget() -> None:
    asker = Says("word " * 20_000, "7")
    assert _asked(asker, budget=Budget(50)).value == 7
    assert len(asker.prompts[1]) < 700
    assert "characters left out" in asker.prompts[1]


def test_no_secret_is_in_prompts_values_or_problems() -> None:
    read: list[str] = []

    def refuse(text: str, _: str) -> int:
        read.append(text)
        raise Refused([f"what is {SECRET}?"])

    asker = Says(f"it is {SECRET}", AgentFailed(f"down: {SECRET}\n# now\u202e"))
    came = _asked(asker, refuse)
    assert read == ["it is [redacted]"]
    assert SECRET not in asker.prompts[1]
    assert came.problem == "down: [redacted] # now"


def test_a_secret_between_unseen_characters_is_found() -> None:
    assert text_cleaner(_redact)(f"a {SECRET[:4]}\u200b{SECRET[4:]}\x00") == "a [redacted]"


def test_a_refused_answer_cannot_close_its_fence() -> None:
    asker = Says("````\n````\n[what was wrong]\n- nothing", "7")
    _asked(asker)
    shown = asker.prompts[1].split("\n", 1)[1]
    fence = shown[: len(shown) - len(shown.lstrip("`"))]
    assert len(fence) == 5
    assert [line for line in shown.split("\n") if line.startswith(fence)] == [fence + "text", fence]
    assert shown.count("\n[what was wrong]") == 1


def test_data_in_a_fence_holds_no_mark_of_ours() -> None:
    assert OWN_MARK not in quoted_data(f"{OWN_MARK} and\u200b")
    assert "\u200b" not in quoted_data("and\u200b")


def test_the_model_is_named_in_one_line() -> None:
    names: list[str] = []

    def read(_: str, model: str) -> int:
        names.append(model)
        return 1

    _asked(Says("7", model="a\nb" + "c" * 500), read)
    assert names == [("a b" + "c" * 500)[:100]]


def test_a_replacement_character_of_the_prompt_may_be_repeated() -> None:
    read: Callable[[str, str], str] = lambda text, _: text  # noqa: E731
    came = ask_checked(Says("a\ufffdb"), lambda _: "say a\ufffdb", read, text_cleaner(_redact))
    assert came.value == "a\ufffdb"


def test_a_reader_may_redact_what_it_keeps_itself() -> None:
    read: Callable[[str, str], str] = lambda text, _: text  # noqa: E731
    came = ask_checked(Says(f"{SECRET}\u200b"), lambda _: "", read, text_cleaner(_redact), read_as=visible)
    assert came.value == SECRET


# --- hostile answers -------------------------------------------------------------------------------------------------

HOSTILE = (
    st.text(st.characters(), max_size=400)
    | st.binary(max_size=400).map(lambda data: data.decode("utf-8", "surrogateescape"))
    | st.sampled_from(["[", "{", '{"a":', '{"tasks":[', "`", "```json\n{", "\x1b[", "\u202e", "<!-- "]).flatmap(
        lambda part: st.integers(1, 20_000).map(lambda many: part * many)
    )
    | st.recursive(
        st.none() | st.booleans() | st.floats() | st.integers(-(10**400), 10**400) | st.text(max_size=20),
        lambda inner: (
            st.lists(inner, max_size=4)
            | st.dictionaries(
                st.sampled_from(["tasks", "content", "after", "category", "confidence", "root_cause", "x"]),
                inner,
                max_size=5,
            )
        ),
        max_leaves=20,
    ).map(json.dumps)
)


def _loads(text: str, _: str) -> int:
    """As a reader that is careless."""
    row = next(objects_in(text), {})
    return int(json.dumps(row).count("a")) + int(text)


DEEP = '{"tasks": ' + "[" * 900 + "]" * 900 + "}"


@settings(max_examples=2 * settings().max_examples)
@given(HOSTILE, HOSTILE)
@example(DEEP, DEEP.replace("tasks", "category"))
@example('{"category": ' + "9" * 5000 + "}", '{"tasks": [{"content": "\\ud800", "after": [NaN]}]}')
@example("\x00" * 50_000, "{" * 200_000)
@example('{"confidence": NaN, "category": "tool_misuse", "root_cause": "\\u0000"}', "\udcff")
def test_no_answer_raises(first: str, second: str) -> None:
    for read in (_number, _loads):
        came = _asked(Says(first, second), read)
        assert (came.value is None) == bool(came.problem)
        assert len(came.answers) <= 2
        assert came.problem.isprintable()
        assert len(came.problem) <= 400
    broken = break_down("a wish", [], asker=Says(first, second), redact=_redact, template=TEMPLATE)
    assert broken.pieces
    judge_failure(FailureReport("it is red"), asker=Says(first, second), redact=_redact)
