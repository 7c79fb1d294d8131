"""Which of a human's words, and which rejected calls, are corrections."""

from __future__ import annotations

import pytest

from crucible.cases.corrections import find_corrections
from crucible.cases.model import Correction
from crucible.session.model import Callout, Entry, Outcome
from tests.cases.extracted import call, timeline_of, user

START: tuple[Entry | str, ...] = (user("Add a limiter."), "On it.", call("Edit limiter.py"))
STOPPED = Callout("observation", "Interrupted", "The user stopped the agent.")
REFUSED = call("Bash rm -rf build", "", Outcome.REJECTED)


def found(*phases: tuple[Entry | str, ...]) -> list[Correction]:
    bodies = [case.body for case in find_corrections(timeline_of(*phases))]
    return [body for body in bodies if isinstance(body, Correction)]


def words_of(*phases: tuple[Entry | str, ...]) -> list[str]:
    return [one.words for one in found(*phases)]


@pytest.mark.parametrize(
    "words",
    [
        "No, per user.",
        "Hmm, that's not it. The bug is in the parser.",
        "You changed the wrong module.",
        "I asked for tests, not docs.",
        "that broke the build",
        "The tests are still red.",
        "This should use the cache that is there rather than a new one.",
        "Please don't touch the migrations.",
        "Your change breaks Windows.",
        "Can you use asyncio instead?",
        "Put the config back the way it was.",
        "hold on, that table is live",
        "The function must return a list, not a generator.",
        "this won't work on old versions",
        "That's overkill.",
        "Why did you delete the tests? Put them back.",
        "Never commit directly to main.",
        "Nein, das war anders gemeint.",
        "Thank you! Could you please make it a page of its own rather than a dialog?",
        "not a modal!!",
        "Das ist falsch, es soll eine eigene Seite sein.",
        "Kein Modal, sondern eine Seite!",
        "Nicht so. Bitte rückgängig machen.",
        "Nimm bitte SQLite statt Postgres.",
        "Das stimmt nicht, die Reihenfolge ist umgekehrt.",
        "Ich meinte die andere Datei.",
        "Non, pas un modal, une page.",
    ],
)
def test_words_that_take_something_back_are_one(words: str) -> None:
    assert words_of(START, (user(words), "Changing it.")) == [words]


@pytest.mark.parametrize(
    "words",
    [
        "Looks good, merge it.",
        "thanks!",
        "What does this function do?",
        "You can commit now.",
        "No further changes, thanks.",
        "No problem.",
        "Nein danke, das reicht so.",
        "Nicht schlecht! Weiter so.",
        "Super, jetzt noch ein Logout-Knopf.",
        "Non merci.",
        "not a problem",
        "Das ist nicht schlimm.",
        "Add a retry so that it does not fail on a flaky network.",
        "Is there a reason not to cache this?",
        "Why did the first run fail?",
        "Does nil? return false there?",
        "Users report that it doesn't work on Safari. Look into it.",
        "Do not forget the changelog.",
        "sorry, wrong window. go on",
        "If it fails, tell me.",
    ],
)
def test_further_wishes_questions_and_thanks_are_none(words: str) -> None:
    assert words_of(START, (user(words), "Fine.", call("Edit a.py"))) == []


def test_the_first_words_are_none() -> None:
    assert words_of((user("No more globals: don't use them."), "On it.", call("Edit a.py"))) == []


def test_an_answer_to_the_agents_own_question_is_none() -> None:
    assert words_of((*START, "Shall I delete the old one, too?"), (user("no, keep it"), "Kept.")) == []


def test_what_the_agent_concedes_is_one() -> None:
    words = "The header is in upper case."
    assert words_of(START, (user(words), "You are right, I read it as lower case.")) == [words]
    assert words_of(START, (user(words), "I'll look at the header.")) == []


def test_words_behind_a_stop_are_one_unless_they_send_it_on() -> None:
    assert words_of((*START, STOPPED), (user("only the parser"), "Only that.")) == ["only the parser"]
    assert words_of((*START, STOPPED), (user("continue"), "Going on.")) == []
    assert words_of((*START, STOPPED), (user("sorry, by accident, go on"), "Going on.")) == []


@pytest.mark.parametrize("words", ["Six after", "And a second prompt", "Write a page on the parser."])
def test_what_asks_for_something_else_behind_a_stop_or_a_refusal_is_none(words: str) -> None:
    after: tuple[Entry | str, ...] = (user(words), "After long.", call("Bash echo two"))
    halted = call("Bash sleep 30", "", Outcome.INTERRUPTED)
    for before in ((STOPPED,), (halted, STOPPED), (REFUSED,), (REFUSED, STOPPED)):
        assert found((*START, *before), after) == []


def test_what_speaks_of_the_call_that_was_kept_from_is_one() -> None:
    halted = call("Bash pytest tests/slow", "", Outcome.INTERRUPTED)
    assert words_of((*START, halted, STOPPED), (user("the slow ones cost money"), "Fine.")) == [
        "the slow ones cost money"
    ]
    assert words_of((*START, REFUSED), (user("build holds the cache"), "Fine.")) == ["build holds the cache"]


def test_what_leads_the_agent_to_do_the_same_otherwise_is_one() -> None:
    halted = call("Edit limiter.py", "", Outcome.INTERRUPTED)
    after = (user("per user please"), "Fine.", call("Edit limiter.py"))
    assert words_of((*START, halted, STOPPED), after) == ["per user please"]
    pushed = call("Bash git push --force origin main", "", Outcome.REJECTED)
    after = (user("my colleagues work there"), "Fine.", call("Bash git push origin main"))
    [one] = found((*START, pushed), after)
    assert (one.words, one.rejected) == ("my colleagues work there", "Bash git push --force origin main")


def test_a_refusal_that_nothing_followed_or_after_which_the_same_was_done_is_none() -> None:
    assert found((*START, REFUSED, STOPPED)) == []
    assert found((*START, REFUSED), (user("continue"), "Once more.", call("Bash rm -rf build"))) == []


def test_words_that_came_with_a_refusal_are_one_whatever_followed() -> None:
    refused = call("Bash rm -rf build", "keep it", Outcome.REJECTED)
    assert words_of((*START, refused)) == ["keep it"]
    [one] = found((*START, refused), (user("Write a page on the parser."), "On it."))
    assert (one.words, one.then) == ("keep it", ())
    assert words_of((*START, refused), (user("no, build is not yours"), "I see.")) == [
        "keep it\n\nno, build is not yours"
    ]


def test_what_followed_a_refusal_is_what_the_agent_did_when_it_was_sent_on() -> None:
    [one] = found((*START, REFUSED, STOPPED), (user("continue"), "Another way.", call("Edit b.py")))
    assert [turn.text for turn in one.then] == ["Another way.", "ok"]


def test_words_amid_the_work_are_one() -> None:
    asked = (*START, user("stop, not in that folder"), "I'll work in the right folder.", call("Edit b.py"))
    [one] = found(asked)
    assert one.words == "stop, not in that folder"
    assert one.goal == "Add a limiter."
    assert [turn.calls[0].name for turn in one.did if turn.calls] == ["Edit"]
    assert [turn.text for turn in one.then] == ["I'll work in the right folder.", "ok"]


def test_a_call_that_was_rejected_without_a_word_is_one() -> None:
    [one] = found((*START, REFUSED, "Then another way.", call("Edit b.py")))
    assert (one.words, one.rejected) == ("", "Bash rm -rf build")
    assert one.did[-1].failed
    assert one.then[0].text == "Then another way."


def test_words_that_come_with_a_rejected_call_or_follow_it_are_its_words() -> None:
    with_it = (*START, call("Bash rm -rf build", "keep it", Outcome.REJECTED), user("keep it"), "Kept.")
    [one] = found(with_it)
    assert (one.words, one.rejected) == ("keep it", "Bash rm -rf build")
    [two] = found((*START, REFUSED, STOPPED), (user("that is where the cache lies"), "I see."))
    assert (two.words, two.rejected) == ("that is where the cache lies", "Bash rm -rf build")


def test_calls_that_were_rejected_at_once_are_one() -> None:
    assert len(found((*START, REFUSED, call("Bash rm x", "", Outcome.REJECTED), "Another way."))) == 1


def test_going_on_after_a_rejected_call_is_no_word_of_it() -> None:
    [one] = found((*START, REFUSED, STOPPED), (user("continue"), "Going on."))
    assert one.words == ""


def test_a_question_that_the_user_did_not_answer_is_none() -> None:
    assert found((*START, call("AskUserQuestion Which?", "", Outcome.REJECTED), "Then I choose.")) == []


def test_the_goal_of_a_second_correction_is_what_was_asked_for() -> None:
    goals = [one.goal for one in found(START, (user("no, per user"), "Yes.", call("Edit a.py")), (user("still wrong"), "Ah."))]  # fmt: skip
    assert goals == ["Add a limiter.", "Add a limiter."]


def test_an_agent_that_owns_up_in_german_was_corrected() -> None:
    said = "Es soll eine eigene Seite sein."
    assert words_of(START, (user(said), "Du hast recht, ich ändere es.", call("Edit a.py"))) == [said]
    assert words_of(START, (user(said), "Ist drin.", call("Edit a.py"))) == []


def test_what_is_taken_back_after_a_question_is_what_was_done_before_it() -> None:
    (one,) = found(
        (*START, user("What would an offset cost us?"), "It is slow.", user("No, rename `next`."), "Done.")
    )
    assert one.goal == "Add a limiter."
    assert [call.name for turn in one.did for call in turn.calls] == ["Edit"]
