"""No run of eight words of a solution stands in its puzzle."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crucible.cases.hiding import MARK, leaks, withhold
from crucible.cases.model import Puzzle
from tests.cases.made import OPEN, PUZZLE, said, tool, used

ANSWER = "take the lock before the check and give it back after the write"


def test_words_of_the_solution_are_taken_out_of_everything_but_goal_and_failure() -> None:
    told = replace(
        PUZZLE,
        state=f"Before: {ANSWER}!",
        tried=(said(f"Perhaps {ANSWER}."), *PUZZLE.tried),
        solution=(said(ANSWER),),
        hints=(ANSWER, "Look."),
    )
    clean = withhold(told)
    assert clean.state == f"Before: {MARK}!"
    assert clean.tried[0].text == f"Perhaps {MARK}."
    assert clean.hints == ("Look.",)
    assert clean.solution == told.solution
    assert leaks(told)
    assert leaks(clean) == ()


def test_the_message_stays_exact_and_a_solution_that_quotes_it_gives_way() -> None:
    clean = withhold(replace(PUZZLE, failure=ANSWER, solution=(said(f"It says: {ANSWER}. So I do."),)))
    assert clean.failure == ANSWER
    assert clean.solution[0].text == f"It says: {MARK}. So I do."


def test_of_a_command_only_as_much_is_taken_out_as_has_to_be() -> None:
    common = "curl -s -f -X POST localhost -H accept -d"
    clean = withhold(
        replace(
            PUZZLE,
            tried=(used("1", "Bash", command=f"{common} null"), tool("1", "no", failed=True)),
            solution=(used("2", "Bash", command=f"{common} 12"), tool("2", "yes")),
        )
    )
    command = str(clean.tried[0].calls[0].arguments["command"])
    assert command.startswith("curl -s -f")
    assert command.endswith("null")
    assert MARK in command
    assert leaks(clean) == ()


def test_an_open_puzzle_has_nothing_to_hide() -> None:
    assert withhold(OPEN) is OPEN


_TEXTS = st.lists(
    st.sampled_from(["take", "The", "lock,", "before;", "check", "-", "…", "give", "it"]), max_size=25
).map(" ".join)


@given(_TEXTS, _TEXTS, _TEXTS, _TEXTS, _TEXTS, _TEXTS)
def test_no_run_is_left_whatever_the_words_are(
    goal: str, state: str, tried: str, failure: str, expected: str, solution: str
) -> None:
    clean = withhold(
        Puzzle(
            goal,
            state,
            (said(tried), used("1", "Bash", command=tried), tool("1", failure)),
            failure,
            expected,
            (said(solution), used("2", "Bash", command=solution)),
            (state,),
        )
    )
    assert leaks(clean) == ()
    assert (clean.goal, clean.failure) == (goal, failure)
