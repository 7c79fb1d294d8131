"""What words come to: corrections, prohibitions that never mean the opposite, choices, chatter."""

from __future__ import annotations

import pytest
from hypothesis import given, settings

from crucible.acts.words import (
    answers_in,
    chosen_in,
    corrected_by,
    forbidden_in,
    gist,
    is_chatter,
    is_correction,
    said,
    untagged,
)
from tests.strategies_hostile import hostile_text


@pytest.mark.parametrize(
    "words",
    [
        "It must be per user, not global",
        "No, jitter must never be zero. Add a floor.",
        "Don't use requests.",
        "don’t delete files without asking",
        "That's wrong, the start time is UTC",
        "stop using threads",
        "Wait, the tests first",
        "It should use tomllib rather than a parser of its own",
        "Use redis instead of memory",
        "I said no new dependencies",
        "You should never have pushed that",
        "revert that",
        "Nein, so nicht!",
        "不对,应该按用户来",
    ],
)
def test_words_that_take_something_back_are_a_correction(words: str) -> None:
    assert is_correction(words)


@pytest.mark.parametrize(
    "words",
    [
        "Add a rate limiter to this project",
        "No problem, go on",
        "No worries!",
        "Why don't we use redis?",
        "Don't you think it is slow?",
        "Now write the docs, and don't touch the tests.",
        "Don't forget the changelog",
        "Add a note to the README",
        "",
    ],
)
def test_other_words_are_none(words: str) -> None:
    assert not is_correction(words)


def test_a_plain_prohibition_is_told_as_one() -> None:
    assert corrected_by("Don't use requests. It is slow.") == ["use requests"]
    assert corrected_by("No. Never commit to main!") == ["commit to main"]
    assert forbidden_in("Add caching and do not touch the tests.") == ["touch the tests"]
    assert forbidden_in("Write it, and please don't commit") == ["commit"]


def test_a_stop_inside_of_a_files_name_ends_no_prohibition() -> None:
    assert forbidden_in("Don't change a.py except its header. Go on.") == ["change a.py except its header"]


@pytest.mark.parametrize(
    "words",
    [
        "List the functions that are exported and don't have tests",
        "Users log in and don't see the banner",
        "Show me files which compile, but do not run",
        "If the tests fail, don't commit",
        "When it exists: never overwrite it",
        "Fix the case where two writers start and don't wait",
        "Test files are read but don't count",
    ],
)
def test_a_negation_that_forbids_nothing_or_only_at_times_is_no_prohibition(words: str) -> None:
    assert forbidden_in(words) == []


@pytest.mark.parametrize(
    "words",
    [
        "It must be per user, not global",
        "Don't use requests, use httpx",
        "Don't use requests but httpx",
        "No, jitter must never be zero. Add a floor.",
        "stop using threads",
        "Don't only test the happy path",
    ],
)
def test_what_could_mean_the_opposite_when_it_stands_alone_is_quoted(words: str) -> None:
    assert corrected_by(words) == [f'repeat what was corrected: "{words}"']


def test_a_long_correction_is_cut_and_stays_one_line() -> None:
    (told,) = corrected_by("No, " + "x\n" * 5000)
    assert "\n" not in told
    assert len(told) < 400


@pytest.mark.parametrize(
    "words", ["continue", "Thanks!", "ok, go on", "yes please", "LGTM", "👍", "great, thank you"]
)
def test_words_that_only_say_go_on_are_chatter(words: str) -> None:
    assert is_chatter(words)


@pytest.mark.parametrize(
    "words", ["", "continue with the tests", "no", "ok, but use httpx", "right, drop the table"]
)
def test_words_that_say_more_are_not(words: str) -> None:
    assert not is_chatter(words)


def test_an_agents_choice_and_its_reason_are_found_in_its_prose() -> None:
    prose = "It fails. I decided to use jitter because it prevents a herd on recovery. We chose redis. Actually, the better approach is a dict."
    assert list(chosen_in(prose)) == [
        ("use jitter", "it prevents a herd on recovery"),
        ("redis", ""),
        ("a dict", ""),
    ]


def test_what_is_no_choice_is_none() -> None:
    for prose in (
        "I have not decided yet.",
        "Have we decided to use redis?",
        "They chose well.",
        "He said: I chose wrongly.",
    ):
        assert list(chosen_in(prose)) == []


def test_a_users_answers_are_told_with_their_questions() -> None:
    result = 'Your questions have been answered: "Which database?"="Postgres", "Which port?"="5432". You can now continue.'
    assert answers_in("Which database? / Which port?", result) == [
        "Which database? Postgres",
        "Which port? 5432",
    ]
    assert answers_in("Which database?", "Postgres.") == ["Which database? Postgres"]
    assert answers_in("Which database?", " ") == []


def test_what_a_client_wrote_before_a_task_is_left_out() -> None:
    assert untagged("[agent:clock] Is it safe?") == "Is it safe?"
    assert untagged("[agent:clock]") == "[agent:clock]"
    assert untagged("[x] Is it safe?") == "[x] Is it safe?"


def test_a_list_is_told_in_one_line() -> None:
    assert gist("Schema:\n- type\n- id (required)\n") == "Schema: type; id (required)"
    assert gist("It is fast.\n\n- Against a server: dear.\n- Against LIKE: slow.\n") == (
        "It is fast; Against a server: dear; Against LIKE: slow"
    )


@settings(max_examples=settings().max_examples // 2)
@given(hostile_text())
def test_any_text_gives_lines(text: str) -> None:
    for told in (
        said(text),
        gist(text),
        *corrected_by(text),
        *(part for pair in chosen_in(text) for part in pair),
    ):
        assert "\n" not in told
    is_chatter(text)
    is_correction(text)
