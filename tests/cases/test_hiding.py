"""No run of eight words of a solution stands in its puzzle."""

from __future__ import annotations

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crucible.cases.hiding import MARK, leaks, withhold
from crucible.cases.model import Puzzle
from tests.cases.made import OPEN, PUZZLE, said, tool, used

ANSWER = "take the lock before the check and give it back after the write"


def test_words_of_the_solution_are_taken_out_of_what_was_tried_and_of_hints() -> None:
    told = replace(
        PUZZLE,
        tried=(said(f"Perhaps {ANSWER}."), *PUZZLE.tried),
        solution=(said(ANSWER),),
        hints=(ANSWER, "Look."),
    )
    clean = withhold(told)
    assert clean.tried[0].text == f"Perhaps {MARK}."
    assert clean.hints == ("Look.",)
    assert clean.solution == told.solution
    assert leaks(told)
    assert leaks(clean) == ()


def test_what_a_solution_quotes_of_the_message_or_of_the_files_is_no_answer() -> None:
    told = replace(PUZZLE, tried=(said(ANSWER),), solution=(said(f"It says: {ANSWER}."),))
    for asked in (replace(told, failure=ANSWER), replace(told, goal=ANSWER), replace(told, state=ANSWER)):
        assert withhold(asked) == asked


def test_an_open_puzzle_has_nothing_to_hide() -> None:
    assert withhold(OPEN) == OPEN


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
