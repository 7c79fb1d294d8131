"""A step's prose: what was asked, decided, taken back and learned, in labelled lines of which none is structure."""

from __future__ import annotations

from hypothesis import given, settings

from crucible.session.model import Decision, Failure, Intervention, Prose
from crucible.workflow.model import Step
from tests.codify.sessions import (
    calls,
    codify_one,
    corrected,
    failed,
    inline,
    phase,
    read_back,
    session,
    step_called,
    written,
)
from tests.strategies_hostile import hostile_text


def first_step(*entries: object) -> Step:
    return codify_one(session(phase("Do it", *entries))).steps[0]  # type: ignore[arg-type]


def test_what_a_user_asked_stands_in_the_step_when_its_name_says_less() -> None:
    assert (
        first_step(Intervention("Do it. All of it."), calls("Write a.py")).prose
        == '- Asked: "Do it. All of it."'
    )
    assert first_step(Intervention("Do it."), calls("Write a.py")).prose == ""


def test_decisions_stand_with_their_reason() -> None:
    step = first_step(Decision("Use a bucket.", "Constant memory."), calls("Write a.py"))
    assert step.prose == "- Decided: Use a bucket (why: Constant memory)"


def test_a_correction_stands_in_the_step_that_it_corrects_and_in_the_one_that_it_opens() -> None:
    first = phase("Add a limiter", Intervention("Add a limiter"), calls("Write limiter.py"))
    words = "It must be per user, not global"
    second = phase("It must be per user", Intervention(words), calls("Write per_user.py"))
    found = codify_one(corrected(session(first, second), words))
    assert found.steps[0].prose == '- Do not: repeat what was corrected: "It must be per user, not global"'
    assert found.steps[1].prose == '- Asked: "It must be per user, not global"'


def test_a_correction_in_the_middle_of_a_phase_stands_in_its_step_once() -> None:
    told = session(phase("Do it", calls("Write a.py"), Intervention("No, use B"), calls("Edit a.py")))
    step = codify_one(corrected(told, "No, use B")).steps[0]
    assert step.prose == '- Do not: repeat what was corrected: "No, use B"'


def test_a_correction_is_said_of_the_phase_and_not_of_a_part_of_it() -> None:
    first = phase("Do", calls("Write a.py"), inline("Test it", calls("Bash pytest")), calls("Edit a.py"))
    told = session(first, phase("No", Intervention("Don't use threads."), calls("Edit a.py")))
    found = codify_one(corrected(told, "Don't use threads."))
    assert found.steps[0].prose == '- Do not: repeat what was corrected: "Don\'t use threads."'
    assert all("threads" not in step.prose for step in found.steps[0].children)


def test_a_prohibition_that_corrects_nothing_is_part_of_the_wish() -> None:
    first = phase("Write", calls("Write a.py"))
    wish = "Now write the docs and don't touch the code."
    found = codify_one(session(first, phase("Docs", Intervention(wish), calls("Write docs.md"))))
    assert found.steps[0].prose == ""
    assert found.steps[1].prose == f'- Asked: "{wish}"'


def test_a_correction_before_any_work_corrects_nothing() -> None:
    told = session(phase("Do it", Intervention("No, do it per user, not global"), calls("Write a.py")))
    step = codify_one(corrected(told, "No, do it per user, not global")).steps[0]
    assert step.prose == '- Asked: "No, do it per user, not global"'


def test_a_correction_that_led_to_nothing_stays_with_what_it_corrects() -> None:
    told = session(phase("Do", calls("Write a.py")), phase("No", Intervention("No, never zero")))
    found = codify_one(corrected(told, "No, never zero"))
    (step,) = found.steps
    assert step.prose == '- Do not: repeat what was corrected: "No, never zero"'


def test_what_was_learned_stands_with_how_it_was_mended() -> None:
    step = first_step(Failure("It was circular.", "Split the types."), calls("Write a.py"))
    assert step.prose == "- Learned: It was circular; fixed by: Split the types"


def test_a_check_is_told_once_and_what_its_failure_taught() -> None:
    step = first_step(failed("Bash pytest -q", "2 failed"), calls("Edit a.py", "Bash pytest -q"))
    assert step.prose == "- Learned: pytest -q failed: 2 failed\n- Run: `pytest -q`"


def test_a_check_with_an_absolute_path_is_none_to_repeat() -> None:
    step = first_step(calls("Bash cd src && pytest x"), calls("Bash pytest /elsewhere/y.py"))
    assert [line for line in step.prose.split("\n") if line.startswith("- Run")] == [
        "- Run: `cd src && pytest x`"
    ]


def test_chatter_is_not_told() -> None:
    step = first_step(
        Intervention("Do it"), Prose("Sure, I will do it now!"), calls("Write a.py"), Intervention("thanks!")
    )
    assert step.prose == ""


def test_what_a_stretch_of_noise_said_is_said_of_the_whole() -> None:
    one = phase("Do", Decision("Ask first"), inline("Ask", calls("Read a.py")), calls("Write b.py"))
    found = codify_one(session(one))
    assert found.steps[0].prose == "- Decided: Ask first"
    assert step_called(found, "Write b.py").prose == ""


@settings(max_examples=settings().max_examples // 3)
@given(hostile_text(), hostile_text())
def test_no_foreign_text_is_structure(words: str, more: str) -> None:
    entries = (
        Intervention(words),
        calls("Write a.py"),
        Decision(more, words),
        Failure(words, more),
        Intervention(more),
    )
    found = codify_one(
        session(phase("Do", *entries), phase("Next", Intervention(words), calls("Read a.py"), Prose(more)))
    )
    back, graph, diagnostics = read_back(written(found))
    assert back == found
    assert len(graph.steps) == len(list(found.walk()))
    assert diagnostics == ()
