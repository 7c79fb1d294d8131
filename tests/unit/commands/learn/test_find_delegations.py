"""The task and the result of a delegation, and if the result was used."""

from __future__ import annotations

from dataclasses import replace

from crucible.commands.learn.case import Delegation
from crucible.commands.learn.case_finders import find_delegations
from crucible.documents.session.session import AgentRef, Entry, Mode, Prose, Session, Subagent
from tests.unit.commands.learn.sample_sessions import call, session_of, timeline_of, user

CHILD = "2026-05-04-told-find-callers"
GIVEN = Subagent(AgentRef("explorer"), mode=Mode.LINK, link=CHILD, summary="three callers, one without a key.")
GOAL = user("Add a limiter.")


def child() -> Session:
    made = session_of(("Looking.", call("Grep take"), "Three places. Summary: three callers, one without a key."))
    return replace(made, id=CHILD, preamble=(Prose("[agent:explorer] Find all callers of take."),))


def found(*after: Entry | str, given: Subagent = GIVEN, known: bool = True) -> Delegation:
    timeline = timeline_of((GOAL, "A subagent can do this.", given, *after))
    [case] = find_delegations(timeline, {CHILD: child() if known else None})
    assert isinstance(case.body, Delegation)
    return case.body


def test_the_task_and_the_result_are_the_subagents_own_words() -> None:
    one = found("Going on.")
    assert (one.agent, one.task) == ("explorer", "Find all callers of take.")
    assert one.result == "Three places. Summary: three callers, one without a key."


def test_without_a_note_the_callout_gives_task_and_result() -> None:
    one = found("Going on.", known=False)
    assert one.result == "three callers, one without a key."


def test_new_words_of_the_result_show_that_it_was_used() -> None:
    evidence = "One of three has no key, so that one changes."
    one = found(evidence, call("Edit a.py"))
    assert (one.used, one.evidence) == (True, evidence)


def test_later_work_without_its_words_shows_no_use() -> None:
    assert found("Now the documentation.", call("Edit README.md")).used is None


def test_words_of_the_user_show_no_use() -> None:
    assert found(user("one of the three callers has no key"), "Fine.").used is None


def test_a_delegation_needs_a_result() -> None:
    given = replace(GIVEN, summary=None)
    assert [*find_delegations(timeline_of((GOAL, given, "I do it.")), {})] == []


def test_a_failed_subagent_has_no_result() -> None:
    failed = replace(
        GIVEN, text="Find all callers of take.\nThe subagent failed.", summary="Agent stopped calling tools."
    )
    assert [*find_delegations(timeline_of((GOAL, failed, "I look myself.")), {})] == []


def test_a_task_loses_its_label() -> None:
    one = found("Going on.", given=replace(GIVEN, text="Task: Review the diff."), known=False)
    assert one.task == "Review the diff."
