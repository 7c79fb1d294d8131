"""What is typed at a question, and what `--accept` names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.capture.question import TypedAction, TypedLine, parse_accept, read_typed
from crucible.core.errors import UsageError
from tests.cases import for_each


@for_each(
    ("text", "expected"),
    [
        ("1", TypedLine(TypedAction.TOGGLE, (0,))),
        ("1 3", TypedLine(TypedAction.TOGGLE, (0, 2))),
        (" 2-4, 1 ", TypedLine(TypedAction.TOGGLE, (1, 2, 3, 0))),
        ("s", TypedLine(TypedAction.SAVE)),
        ("[S]", TypedLine(TypedAction.SAVE)),
        ("save", TypedLine(TypedAction.SAVE)),
        ("e 2", TypedLine(TypedAction.EDIT, (1,))),
        ("edit 4", TypedLine(TypedAction.EDIT, (3,))),
        ("k", TypedLine(TypedAction.SKIP)),
        ("p", TypedLine(TypedAction.PREFERENCES)),
        ("q", TypedLine(TypedAction.LATER)),
    ],
)
def test_numbers_tick_and_letters_act(text: str, expected: TypedLine) -> None:
    assert read_typed(text, 4) == expected


@for_each("text", ["", "x", "0", "5", "3-2", "e", "e 1 2", "s 1", "-1", "1.5", "999999999", "²"])
def test_what_means_nothing_does_nothing(text: str) -> None:
    typed = read_typed(text, 4)
    assert (typed.act, typed.at) == (TypedAction.UNKNOWN, ())
    assert typed.why


def test_a_session_end_cannot_be_put_off_to_itself() -> None:
    assert read_typed("d", 2).act is TypedAction.UNKNOWN
    assert read_typed("d", 2, deferrable=True).act is TypedAction.DEFER


def test_of_one_candidate_the_one_is_edited() -> None:
    assert read_typed("e", 1) == TypedLine(TypedAction.EDIT, (0,))


@given(st.text(max_size=30), st.integers(0, 9))
def test_whatever_is_typed_points_to_what_is_there(text: str, count: int) -> None:
    assert set(read_typed(text, count).at) <= set(range(count))


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("all", {0, 1, 2}),
        ("none", set()),
        ("1,3", {0, 2}),
        ("2-3", {1, 2}),
        ("c-aa", {0}),
        ("c-cc 2", {1, 2}),
    ],
)
def test_accept_takes_words_numbers_and_keys(text: str, places: set[int]) -> None:
    assert parse_accept(text, ["c-aa", "c-bb", "c-cc"]) == places


@pytest.mark.parametrize("text", ["", "4", "0", "c-zz", "all 1", "yes"])
def test_accept_of_what_is_not_there_is_refused(text: str) -> None:
    with pytest.raises(UsageError):
        parse_accept(text, ["c-aa", "c-bb", "c-cc"])
