"""What a user's words settle, and what only wishes for work."""

from __future__ import annotations

import pytest

from crucible.capture.decided import decided_by_agent, decided_by_user
from crucible.capture.leanings import leanings
from crucible.capture.sentences import sentences_of


@pytest.mark.parametrize(
    "said",
    [
        "No new dependency, please.",
        "Please keep the public API as it is.",
        "Store the times in UTC from now on.",
        "Let's go with option B.",
        "Use Postgres for this, not SQLite.",
    ],
)
def test_a_rule_that_a_user_sets_is_a_choice(said: str) -> None:
    assert decided_by_user(leanings(sentences_of(said, 1), by_user=True))


def test_of_a_wish_and_a_rule_the_rule_is_told() -> None:
    said = "Build the index with FTS5 and time twenty searches. No new dependency, please."
    told = decided_by_user(leanings(sentences_of(said, 1), by_user=True))
    assert told
    assert told.sentence.text == "No new dependency, please."


@pytest.mark.parametrize(
    "said",
    [
        "Build the index with FTS5 and time twenty searches from the log.",
        "Write a test for TokenBucket and run it.",
        "Fix the bug in app.py and add a regression test.",
        "Should we keep the API as it is?",
        "If we go with option B, what breaks?",
    ],
)
def test_a_wish_for_work_and_a_question_are_none(said: str) -> None:
    assert decided_by_user(leanings(sentences_of(said, 1), by_user=True)) is None


@pytest.mark.parametrize(
    "said",
    [
        "I chose a ring buffer over a list because it never grows.",
        "We went with Postgres rather than MySQL, since the team knows it.",
        "I picked Redis instead of memcached because of persistence.",
    ],
)
def test_an_agents_plain_choice_with_what_it_was_against_and_why_is_always_one(said: str) -> None:
    assert [*decided_by_agent(leanings(sentences_of(said, 1)))]


@pytest.mark.parametrize(
    "said", ["Looking at how the queue is wired up.", "Reading the tests first.", "Now to the parser."]
)
def test_what_is_done_next_is_no_choice(said: str) -> None:
    assert [*decided_by_agent(leanings(sentences_of(said, 1)))] == []
