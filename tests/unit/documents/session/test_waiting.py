"""What waits for a human, and what answers it."""

from __future__ import annotations

from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.documents.session.session import Callout, Decision, Entry, Failure, Intervention, Phase, Prose, Session
from crucible.documents.session.waiting import Answers, answer_note, pending_entries, words_of
from tests.counting import steps_of

STORE = Callout("decision_needed", "Which store for the tokens?", "SQLite or Postgres")
DROP = Callout("approval_required", "", "Drop the table?")
DONE = Callout("task_complete", "", "The limiter is in.")
BROKEN = Failure("No disk left.")


def waits(*entries: Entry) -> list[bool]:
    """Of each item."""
    answers = Answers(entries)
    return [not answers.settles(at) for at in answers.names]


def named(entry: Entry, verdict: str = "answered") -> Intervention:
    return Intervention("Done.", answer_note(verdict, Answers([entry]).names[0]))


@pytest.mark.parametrize("entry", [STORE, DROP, DONE, BROKEN])
def test_what_nobody_answered_waits_and_what_is_named_does_not(entry: Entry) -> None:
    assert waits(entry, Prose("Nothing more.")) == [True]
    assert waits(entry, Prose("Nothing more."), named(entry)) == [False]


def test_a_question_is_answered_directly_behind_or_by_words_that_speak_of_it() -> None:
    assert waits(STORE, Intervention("The second.")) == [False]
    assert waits(STORE, DROP, Intervention("The second, and yes.")) == [False, False]
    assert waits(STORE, Prose("I wait."), Intervention("Something else entirely.")) == [True]
    assert waits(STORE, Prose("I wait."), Intervention("Postgres, store tokens there.")) == [False]
    assert waits(STORE, Prose("So."), Decision("Store the tokens in SQLite")) == [False]
    assert waits(Intervention("Postgres, store tokens there."), STORE) == [True]


def test_a_task_is_looked_at_when_a_human_says_anything_later() -> None:
    assert waits(Intervention("Begin."), DONE, Prose("That was it.")) == [True]
    assert waits(DONE, Prose("That was it."), Intervention("Now the docs.")) == [False]


def test_an_error_waits_until_it_or_one_that_says_the_same_is_mended() -> None:
    assert waits(BROKEN, Intervention("Go on.")) == [True]
    assert waits(Failure("No disk left.", " ")) == [True]
    assert waits(BROKEN, Failure("No disk left.", "A bigger one.")) == [False, False]


def test_a_user_who_goes_on_after_an_error_that_ended_a_turn_has_mended_it() -> None:
    gone_on = Answers([BROKEN, Intervention("Go on.")], logged=True)
    assert gone_on.settles(0)
    assert not Answers([BROKEN, Prose("Hm."), Intervention("Go on.")], logged=True).settles(0)


def test_an_answer_that_names_an_item_is_for_that_one_alone() -> None:
    assert waits(STORE, DROP, named(DROP)) == [True, False]
    assert waits(DONE, BROKEN, named(BROKEN, "seen")) == [True, False]


def test_an_answer_still_stands_when_the_question_above_it_was_reworded() -> None:
    other = Callout("decision_needed", "", "Which store, then?")
    assert waits(other, named(STORE)) == [False]
    assert waits(other, STORE, named(STORE)) == [True, False]


@pytest.mark.parametrize("note", ["answered (inbox zzzzzz)", "answered (inbox 123456) and more", "inbox"])
def test_a_note_that_names_no_item_is_a_humans_ordinary_remark(note: str) -> None:
    assert waits(DONE, Prose("So."), Intervention("Well.", note)) == [False]


def test_names_follow_the_words_and_not_their_lines() -> None:
    wrapped = Callout("task_complete", "", "The limiter\nis  in.")
    assert Answers([DONE]).names[0] == Answers([wrapped]).names[0]
    assert Answers([DONE, DONE]).names == {0: Answers([DONE]).names[0], 1: Answers([DONE]).names[0] + "-2"}


def test_a_session_tells_by_lines() -> None:
    assert pending_entries(Session("a", phases=(Phase("A", entries=(Prose("x"),)),))) == {}
    assert pending_entries(Session("a", preamble=(DROP,), phases=(Phase("A", entries=(Prose("x"),)),))) == {-1: True}


def test_in_a_logged_conversation_a_user_who_goes_on_has_dismissed_the_question() -> None:
    entries: list[Entry] = [
        Callout("decision_needed", "", "Which store?"),
        Prose("I wait."),
        Intervention("Rename it."),
    ]
    assert not Answers(entries).settles(0)
    assert Answers(entries, logged=True).settles(0)
    assert not Answers(entries[:2], logged=True).settles(0)


WORDS = ["limiter", "bucket", "retry", "cache", "schema", "queue", "worker", "token", "session", "index"]
TEXTS = st.lists(st.sampled_from(WORDS), max_size=6).map(" ".join)


@given(st.lists(st.tuples(st.booleans(), TEXTS), max_size=12))
def test_a_later_reply_answers_if_it_shares_half_the_words_and_at_least_two(said: list[tuple[bool, str]]) -> None:
    entries = [Decision(text) if is_reply else Callout("decision_needed", "", text) for is_reply, text in said]
    replies = [(at, words_of(text)) for at, (is_reply, text) in enumerate(said) if is_reply]

    def is_answered(at: int, words: frozenset[str]) -> bool:
        needed = min(max(2, (len(words) + 1) // 2), len(words)) or 1
        return any(len(words & reply) >= needed for place, reply in replies if place > at)

    expected = [is_answered(at, words_of(text)) for at, (is_reply, text) in enumerate(said) if not is_reply]
    answers = Answers(entries)
    assert [answers.settles(at) for at in answers.names] == expected


@pytest.mark.parametrize("reply", [True, False])
def test_finding_answers_takes_twice_the_work_for_twice_the_entries(reply: bool) -> None:
    def session(count: int) -> Session:
        entries: list[Entry] = []
        for at in range(count):
            entries.append(Callout("decision_needed", "", f"Which store should limiter{at} bucket{at} take?"))
            if reply:
                entries += [Prose("I wait."), Decision(f"The store of worker{at} cache{at}")]
        return Session("one", phases=(Phase("Work", entries=tuple(entries)),))

    few, many = (steps_of(partial(pending_entries, session(count))) for count in (100, 200))
    assert many <= 2.3 * few
