from __future__ import annotations

from datetime import timedelta

import pytest

from crucible.commands.resume.resume_material import find_extent, last_active, position_line
from crucible.core.text import age_words
from crucible.documents.session.session import Task
from crucible.memory.bookmarks.bookmark import Bookmark, StopReason
from tests.unit.commands.resume.contexts import NOW, START, phase, session


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (-5, "just now"),
        (59, "just now"),
        (60, "1 min ago"),
        (3599, "59 min ago"),
        (7200, "2 h ago"),
        (86399, "23 h ago"),
        (30 * 86400, "30 d ago"),
    ],
)
def test_how_long_ago(seconds: int, words: str) -> None:
    assert age_words(timedelta(seconds=seconds)) == words


def test_a_line_of_phase_task_and_age() -> None:
    tasks = (Task("1", "a", "completed"), Task("2", "b", "completed"), Task("3", "c", "in_progress"))
    made = session(phase("A"), phase("B"), phase("C"), tasks=tasks, resume_point="phase-2")
    assert (
        position_line(find_extent(made), None, NOW) == "You are in phase-2 of 3, at task 3 of 3; last active 1 d ago."
    )


def test_a_session_without_phases_and_with_all_tasks_done() -> None:
    made = session(tasks=(Task("1", "a", "completed"), Task("2", "b", "completed")))
    assert (
        position_line(find_extent(made), None, NOW)
        == "You are before the first phase, all 2 tasks done; last active 1 d ago."
    )


def test_only_a_bookmark_made_during_work_counts_as_activity() -> None:
    made = session(phase("A"))
    later = START + timedelta(hours=5)
    assert last_active(made, Bookmark("1", "it", later, StopReason.PAUSED)) == later
    assert last_active(made, Bookmark("1", "it", later, StopReason.IDLE)) == START
