from __future__ import annotations

from dataclasses import replace

import pytest

from crucible.commands.resume.context_parts import OpenWork, PlacedText, find_open_work
from crucible.commands.resume.resume_material import find_extent
from crucible.documents.session.session import (
    Callout,
    Decision,
    Failure,
    FindingItem,
    Intervention,
    Prose,
    Session,
    Task,
)
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason, current_task
from tests.unit.commands.resume.contexts import START, phase, session

CORRECTION = FindingItem("correction", '"Build the data in the test"', "refused: Edit orders.json")
OPEN = FindingItem("open_end", "Asked, no answer: keep the format?")


def work(made: Session, bookmark: Bookmark | None = None) -> OpenWork:
    return find_open_work(find_extent(made), bookmark)


def test_an_error_without_a_resolution_is_open_with_its_phase() -> None:
    made = session(phase("A", Failure("mended", "so")), phase("B", Failure("broken"), Failure("blank", " ")))
    assert [(at, failure.text) for at, failure in work(made).errors] == [
        ("phase-2", "broken"),
        ("phase-2", "blank"),
    ]


def test_decisions_and_errors_of_the_preamble_and_of_subphases_count() -> None:
    made = session(
        phase("A", subphases=(phase("Inner", Decision("inner")),)),
        preamble=(Decision("early"), Failure("odd")),
    )
    assert [(at, one.summary) for at, one in work(made).decisions] == [
        ("start", "early"),
        ("phase-1.1", "inner"),
    ]
    assert [at for at, _ in work(made).errors] == ["start"]


def test_tasks_that_are_not_completed_keep_their_number() -> None:
    tasks = (
        Task("a", "one", "completed"),
        Task("b", "two"),
        Task("c", "three", "in_progress"),
        Task("d", "four", "odd"),
    )
    made = session(tasks=tasks)
    assert [(one.number, one.task.id) for one in work(made).tasks] == [(2, "b"), (3, "c"), (4, "d")]
    assert current_task(made) == work(made).tasks[1]
    assert current_task(session(tasks=tasks[:2])) == work(made).tasks[0]
    assert current_task(session(tasks=tasks[:1])) is None


@pytest.mark.parametrize("kind", ["decision_needed", "approval_required"])
def test_a_question_is_open_until_the_user_says_anything(kind: str) -> None:
    asked = Callout(kind, "Which store?", "Redis or memory")
    assert work(session(phase("A", asked))).questions == (PlacedText("phase-1", "Which store?\nRedis or memory"),)
    assert not work(session(phase("A", asked), phase("B", Intervention("memory")))).questions
    assert len(work(session(phase("A", Intervention("go"), asked))).questions) == 1


def test_a_skipped_question_is_open_only_in_a_recorded_session() -> None:
    asked, words = Callout("decision_needed", "Which store?", "Redis or memory"), Intervention("Rename it.")
    made = session(phase("A", asked, Prose("I wait.")), phase("B", words))
    assert len(work(made).questions) == 1
    assert not work(replace(made, sources=("claude-code:1",))).questions


def test_an_open_end_that_lists_the_open_tasks_is_no_question() -> None:
    tasks = (Task("1", "Write the parser"), Task("2", "Test the parser on Windows"))
    listed = FindingItem("open_end", "Not ticked: Write the parser; Test the parser on Windows")
    made = replace(session(phase("A", Prose("x")), tasks=tasks), findings=(listed, OPEN))
    assert [one.text for one in work(made).questions] == [OPEN.text]


def test_corrections_follow_the_decisions_with_their_own_phase() -> None:
    made = session(phase("A", Decision("one")), phase("B", Intervention("Build the data in the test, please")))
    assert [(at, one.kind, one.details) for at, one in work(replace(made, findings=(CORRECTION,))).decisions] == [
        ("phase-1", "decision", ""),
        ("phase-2", "correction", "refused: Edit orders.json"),
    ]


def test_open_ends_are_questions_if_no_phase_is_left_out() -> None:
    made = replace(session(phase("A", Prose("x")), phase("B", Prose("y"))), findings=(OPEN,))
    assert work(made).questions == (PlacedText("phase-2", "Asked, no answer: keep the format?"),)
    assert not work(replace(made, resume_point="phase-1")).questions


def test_blockers_come_from_the_bookmark() -> None:
    mark = Bookmark("1", "it", START, StopReason.PAUSED, "phase-2", blockers=("no key", "no review"))
    assert work(session(), mark).blockers == (PlacedText("phase-2", "no key"), PlacedText("phase-2", "no review"))


def test_work_after_the_resume_point_is_left_out() -> None:
    made = session(phase("A", Decision("one")), phase("B", Decision("two"), Failure("odd")), resume_point="phase-1")
    assert [one.summary for _, one in work(made).decisions] == ["one"]
    assert not work(made).errors


def test_a_resume_point_in_a_subphase_ends_there() -> None:
    inner = (phase("X", Decision("x")), phase("Y", Decision("y")))
    extent = find_extent(session(phase("A", Decision("a"), subphases=inner), phase("B"), resume_point="phase-1.1"))
    assert [one.entry.text for one in extent.entries if isinstance(one.entry, Decision)] == ["a", "x"]
    assert [one.id for one in extent.later] == ["phase-1.2", "phase-2"]
    assert extent.phase is not None
    assert extent.phase.id == "phase-1.1"


def test_an_unknown_resume_point_is_a_problem_and_shows_all() -> None:
    extent = find_extent(session(phase("A"), resume_point="phase-9"))
    assert "resume_point 'phase-9' is not a phase" in extent.problem
    assert extent.phase is not None
    assert not extent.later


@pytest.mark.parametrize("status", ["cancelled", "deleted", "completed"])
def test_a_finished_or_dropped_task_is_not_open(status: str) -> None:
    """Bookmarks use the same rule, so that both name the same task."""
    made = session(tasks=(Task("1", "a", status), Task("2", "b"), Task("3", "c", "waiting")))
    work = find_open_work(find_extent(made), None)
    assert [one.number for one in work.tasks] == [2, 3]
    at_work = current_task(made)
    assert at_work
    assert at_work.number == 2
