"""A task is named by its full name, a prefix, or its own id if the session is known."""

from __future__ import annotations

from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import CrucibleError, UnknownId, UsageError
from crucible.memory.tasks.task import OpenTask, Ref, find_task, session_prefix
from tests.cases import for_each

TASKS = [
    OpenTask(Ref(session, ident), "x")
    for session, ident in [
        ("2026-11-21-add", "1"),
        ("2026-11-21-add", "12"),
        ("2026-11-21-add.more", "3"),
        ("2026-11-21-other", "1"),
        ("2026-11-21-other", "a.b#c"),
    ]
]


@for_each(
    ("called", "meant"),
    [
        ("2026-11-21-add.1", "2026-11-21-add.1"),
        ("2026-11-21-add#12", "2026-11-21-add.12"),
        ("2026-11-21-add.12", "2026-11-21-add.12"),
        ("2026-11-21-oth.1", "2026-11-21-other.1"),
        ("2026-11-21-oth.a.b#c", "2026-11-21-other.a.b#c"),
        ("2026-11-21-add.more.3", "2026-11-21-add.more.3"),
        ("2026-11-21-add.m", "2026-11-21-add.more.3"),
        ("2026-11-21-other.a", "2026-11-21-other.a.b#c"),
    ],
)
def test_a_name_or_a_beginning_means_one_task(called: str, meant: str) -> None:
    assert str(find_task(called, TASKS).ref) == meant


def test_in_a_session_the_id_alone_will_do() -> None:
    assert find_task("1", TASKS, "2026-11-21-other").ref == ("2026-11-21-other", "1")
    with pytest.raises(UnknownId):
        find_task("1", TASKS)


def test_several_matches_are_named_and_none_is_an_error() -> None:
    with pytest.raises(UsageError, match="matches 3 tasks") as several:
        find_task("2026-11-21-add", TASKS)
    assert "2026-11-21-add.12" in several.value.hint
    with pytest.raises(UsageError, match="matches 2 tasks"):
        find_task("2026-11-21.1", TASKS)
    for nothing in ("", "x", "2026-11-21-add.9\n"):
        with pytest.raises(UnknownId, match="no task"):
            find_task(nothing, TASKS)


@given(st.text(), st.text(alphabet="ab.#", min_size=1), st.text(alphabet="ab-", min_size=1))
def test_any_text_means_a_task_or_is_refused(called: str, ident: str, session: str) -> None:
    task = OpenTask(Ref(session, ident), "x")
    assert find_task(f"{session}.{ident}", [task]) is task
    assert session.startswith(session_prefix(f"{session}.{ident}"))
    with suppress(CrucibleError):
        assert find_task(called, [task]) is task
