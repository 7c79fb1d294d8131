from __future__ import annotations

import pytest

from crucible.bookmarks.model import Bookmark, Why
from crucible.resume.extent import find_extent
from crucible.resume.open_work import OpenWork, Said, find_open_work, task_at_work
from crucible.session.model import Callout, Decision, Failure, Intervention, Prose, Session, Task
from tests.resume.contexts import START, phase, session


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
    assert [(at, one.text) for at, one in work(made).decisions] == [
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
    assert task_at_work(made) == work(made).tasks[1]
    assert task_at_work(session(tasks=tasks[:2])) == work(made).tasks[0]
    assert task_at_work(session(tasks=tasks[:1])) is None


@pytest.mark.parametrize("kind", ["decision_needed", "approval_required"])
def test_what_waits_for_a_human_is_open_until_a_human_says_anything(kind: str) -> None:
    asked = Callout(kind, "Which store?", "Redis or memory")
    assert work(session(phase("A", asked))).questions == (Said("phase-1", "Which store?\nRedis or memory"),)
    assert not work(session(phase("A", asked), phase("B", Intervention("memory")))).questions
    assert len(work(session(phase("A", Intervention("go"), asked))).questions) == 1


@pytest.mark.parametrize("words", ["Shall I?", "Done.\n\nOr **shall I go on?**", "数据库？", '"Shall I?"'])
def test_an_agent_whose_last_words_ask_waits_for_an_answer(words: str) -> None:
    found = work(session(phase("A", Intervention("go"), Prose(words)))).questions
    assert [one.text for one in found] == [words.rsplit("\n\n", maxsplit=1)[-1]]


@pytest.mark.parametrize(
    "words", ["Why? Because.", "It works.", "See https://a.example/?q=1", "Shall I?\n\nNo need."]
)
def test_last_words_that_ask_nothing_are_no_question(words: str) -> None:
    assert not work(session(phase("A", Prose(words)))).questions


def test_only_the_last_words_may_ask() -> None:
    made = session(phase("A", Prose("Shall I?"), Callout("observation", "", "x"), Prose("I did.")))
    assert not work(made).questions


def test_blockers_are_the_bookmarks() -> None:
    mark = Bookmark("1", "it", START, Why.PAUSED, "phase-2", blockers=("no key", "no review"))
    assert work(session(), mark).blockers == (Said("phase-2", "no key"), Said("phase-2", "no review"))


def test_what_lies_behind_the_resume_point_is_left_out() -> None:
    made = session(
        phase("A", Decision("one")), phase("B", Decision("two"), Failure("odd")), resume_point="phase-1"
    )
    assert [one.text for _, one in work(made).decisions] == ["one"]
    assert not work(made).errors


def test_a_resume_point_in_a_subphase_ends_there() -> None:
    inner = (phase("X", Decision("x")), phase("Y", Decision("y")))
    extent = find_extent(
        session(phase("A", Decision("a"), subphases=inner), phase("B"), resume_point="phase-1.1")
    )
    assert [one.entry.text for one in extent.entries if isinstance(one.entry, Decision)] == ["a", "x"]
    assert [one.id for one in extent.later] == ["phase-1.2", "phase-2"]
    assert extent.phase is not None
    assert extent.phase.id == "phase-1.1"


def test_a_resume_point_that_names_no_phase_tells_all_and_says_so() -> None:
    extent = find_extent(session(phase("A"), resume_point="phase-9"))
    assert "resume_point 'phase-9' names no phase" in extent.problem
    assert extent.phase is not None
    assert not extent.later


@pytest.mark.parametrize("status", ["cancelled", "deleted", "completed"])
def test_a_task_that_nobody_is_to_do_is_not_open(status: str) -> None:
    """As a bookmark has it, so that both tell of the same task."""
    made = session(tasks=(Task("1", "a", status), Task("2", "b"), Task("3", "c", "waiting")))
    work = find_open_work(find_extent(made), None)
    assert [one.number for one in work.tasks] == [2, 3]
    at_work = task_at_work(made)
    assert at_work
    assert at_work.number == 2
