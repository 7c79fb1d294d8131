"""Which parts of a session belong to a decision."""

from __future__ import annotations

from crucible.analysis.tools.recorded_calls import RecordedCalls
from crucible.commands.learn.case import Choice
from crucible.commands.learn.case_finders import find_choices
from crucible.commands.learn.case_gathering import is_teachable
from crucible.commands.learn.timeline import build_timeline
from crucible.documents.session.session import Decision, Entry, Grounds, Phase, Prose, Session
from tests.unit.commands.learn.sample_sessions import call, user

GOAL = user("Add a limiter.")
ASKED = Decision(
    "Where shall the cache live? One SQLite file",
    "No server to run.",
    "Redis; a file per user",
    "user",
    Grounds("answered question", 0.97, ("3a77d35a",)),
)


def found(*entries: Entry | str) -> list[Choice]:
    shown = tuple(Prose(one) if isinstance(one, str) else one for one in entries)
    session = Session("s", phases=(Phase("P", entries=(GOAL, *shown), id="phase-1"),))
    bodies = [case.body for case in find_choices(build_timeline(session, RecordedCalls()))]
    return [body for body in bodies if isinstance(body, Choice)]


def test_an_answered_question_is_a_choice_among_its_options() -> None:
    [one] = found(ASKED)
    assert one.choice == "One SQLite file"
    assert one.options == ("a file per user", "One SQLite file", "Redis")
    assert one.rationale == "No server to run."
    assert one.situation == "Add a limiter.\n\nWhere shall the cache live?"


def test_plain_prose_of_an_agent_is_no_decision() -> None:
    assert found("I chose a token bucket over a log because it is simple.") == []


def test_a_decision_without_alternatives_has_no_options() -> None:
    [one] = found(Decision("Keys are UUIDs.", "They sort."))
    assert (one.choice, one.options, one.rationale) == ("Keys are UUIDs.", (), "They sort.")


def test_a_decision_without_alternatives_and_reason_is_not_teachable() -> None:
    [one] = found(Decision("Keys are UUIDs."))
    assert not is_teachable(one, is_noted=True)


def test_a_reply_to_no_question_is_no_decision() -> None:
    grounds = Grounds("reply", 0.9)
    assert found(Decision("Rename it → do it in all five of the files", "Clearer.", grounds=grounds)) == []


def test_the_situation_does_not_reveal_the_choice() -> None:
    [one] = found("I take keys that are UUIDs. They sort.", Decision("keys that are UUIDs", "They sort."))
    assert one.situation == "Add a limiter."


def test_prose_that_names_all_options_is_part_of_the_situation() -> None:
    [one] = found("Redis, a file per user, or one SQLite file?", ASKED)
    assert "Redis, a file per user, or one SQLite file?" in one.situation


def test_a_reply_that_opens_its_phase_is_not_the_situation() -> None:
    reply = "One SQLite file, please"
    phases = (
        Phase("A", entries=(GOAL, Prose("Where shall the cache live?")), id="phase-1"),
        Phase("B", entries=(user(reply), Decision(reply, "asked: Where?")), id="phase-2"),
    )
    [case] = find_choices(build_timeline(Session("s", phases=phases), RecordedCalls()))
    assert isinstance(case.body, Choice)
    assert case.body.situation == "Add a limiter.\n\nWhere shall the cache live?"


def test_two_decisions_with_the_same_words_are_two_cases() -> None:
    assert [one.rationale for one in found(Decision("Yes.", "A"), Decision("Yes.", "B"))] == ["A", "B"]


def test_a_check_that_passed_later_is_its_outcome() -> None:
    [one] = found(ASKED, call("Edit a.py"), call("Bash pytest -q", "3 passed"))
    assert one.outcome == "`pytest -q` passed afterwards."


def replied(words: str, alternatives: str = "a lock file; a queue", *, offer: str = "Which one?", choice: str = "a queue") -> list[Choice]:  # fmt: skip
    others = "; ".join(one for one in alternatives.split("; ") if one != choice)
    decision = Decision(f"Which one? → {choice}", "fast", others, "user", Grounds("picked option", 0.9))
    return found("1. a lock file\n2. a queue\n\n" + offer, user(words), "I begin with it.", decision)


def test_the_situation_is_the_prose_before_the_reply() -> None:
    [one] = replied("2, a queue")
    assert one.situation == "Add a limiter.\n\n1. a lock file\n2. a queue\n\nWhich one?"


def test_a_reply_that_names_several_options_is_no_decision() -> None:
    assert replied("a queue, so 2 and 3") == []


def test_a_finished_item_is_no_option() -> None:
    assert replied("a queue", "✅ a lock file; a queue") == []


def test_options_do_not_show_the_recommendation() -> None:
    [one] = replied("a queue", "a lock file (Recommended); a queue")
    assert one.options == ("a lock file", "a queue")


def test_a_new_request_is_no_answer_to_the_question_before_it() -> None:
    def choices_of(words: str) -> list[Choice]:
        decision = Decision(f"Would you like me to fix the typo? → {words}", grounds=Grounds("reply", 0.9))
        return found("There is one more.", user(words), decision)

    assert choices_of("add an option that discards the work of previous sessions") == []
    assert choices_of("yes, and the same one in the README") != []
    assert choices_of("a typo is not worth a commit of its own") != []
