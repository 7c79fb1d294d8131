"""Tasks of a note and of the client's files, joined to one list."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crucible.documents.session.session import Session, Task
from crucible.memory.tasks.task import LARGEST_TASK, OpenTask, Ref, Stage, join_lists, read_store, tasks_of

REF = Ref("s", "1")


def put(folder: Path, name: str, row: object) -> None:
    (folder / name).write_text(row if isinstance(row, str) else json.dumps(row))


def test_the_tasks_of_a_note_keep_what_the_note_says() -> None:
    task = Task("2", "two\nlines", "in_progress", "high", ("1",), "2026-01-25T10:00:00Z", None, {"x": 1})
    (found,) = tasks_of(Session("s", tasks=(task,)))
    assert found == OpenTask(
        Ref("s", "2"), "two lines", Stage.IN_PROGRESS, "high", ("1",), started="2026-01-25T10:00:00Z"
    )


def test_the_word_blocked_holds_a_task() -> None:
    (found,) = tasks_of(Session("s", tasks=(Task("1", "x", "Blocked"),)))
    assert (found.stage, found.held) == (Stage.PENDING, True)


def test_a_store_is_read_by_number(tmp_path: Path) -> None:
    put(
        tmp_path,
        "10.json",
        {"id": "10", "subject": "ten", "status": "pending", "blocks": [], "blockedBy": ["9"]},
    )
    put(tmp_path, "9.json", {"id": "9", "subject": "nine", "status": "in_progress", "blocks": ["2", "77"]})
    put(tmp_path, "2.json", {"id": 2, "subject": "two", "status": "completed", "activeForm": "Doing two"})
    put(tmp_path, ".highwatermark", "10")
    put(tmp_path, ".lock", "")
    found, problems = read_store(tmp_path, "s")
    assert not problems
    assert [(one.ref, one.content, one.stage, one.needs) for one in found] == [
        (Ref("s", "2"), "two", Stage.COMPLETED, ("9",)),
        (Ref("s", "9"), "nine", Stage.IN_PROGRESS, ()),
        (Ref("s", "10"), "ten", Stage.PENDING, ("9",)),
    ]


def test_an_invalid_task_file_is_reported_and_the_rest_is_read(tmp_path: Path) -> None:
    put(tmp_path, "1.json", {"subject": "good"})
    for name, row in {
        "2.json": "{",
        "3.json": [],
        "4.json": {"id": "4"},
        "5.json": '"' * LARGEST_TASK + "xx",
    }.items():
        put(tmp_path, name, row)
    (tmp_path / "6.json").symlink_to(tmp_path / "1.json")
    os.mkfifo(tmp_path / "7.json")
    (tmp_path / "8.json").mkdir()
    found, problems = read_store(tmp_path, "s")
    assert [one.ref.id for one in found] == ["1"]
    assert [one.message.partition(":")[0] for one in problems] == [f"{n}.json" for n in range(2, 9)]


def test_a_store_that_is_not_there_has_no_tasks(tmp_path: Path) -> None:
    assert read_store(tmp_path / "none", "s") == ((), [])


def test_a_store_that_is_a_symlink_is_not_ours(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    put(tmp_path / "real", "1.json", {"subject": "x"})
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert read_store(tmp_path / "link", "s") == ((), [])


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    row=st.dictionaries(
        st.sampled_from(["id", "subject", "status", "blocks", "blockedBy"]),
        st.recursive(
            st.none() | st.booleans() | st.integers() | st.text(max_size=4),
            lambda one: st.lists(one, max_size=3),
        ),
    )
)
def test_any_json_is_a_task_or_is_named(tmp_path: Path, row: dict[str, object]) -> None:
    put(tmp_path, "1.json", row)
    found, problems = read_store(tmp_path, "s")
    assert len(found) + len(problems) == 1
    assert bool(found) == bool(isinstance(row.get("subject"), str) and row["subject"])


def test_the_stage_comes_from_the_store_and_the_text_from_the_note() -> None:
    noted = OpenTask(REF, "mine", priority="high", needs=("0",))
    stored = OpenTask(REF, "theirs", Stage.IN_PROGRESS, needs=("0", "7"))
    more = OpenTask(Ref("s", "2"), "new")
    assert join_lists([noted], [stored, more]) == (
        OpenTask(REF, "mine", Stage.IN_PROGRESS, "high", ("0", "7")),
        more,
    )


@pytest.mark.parametrize("over", [Stage.COMPLETED, Stage.DROPPED])
def test_a_task_closed_in_either_list_is_closed(over: Stage) -> None:
    open_, ended = OpenTask(REF, "x", Stage.IN_PROGRESS), OpenTask(REF, "x", over)
    assert join_lists([open_], [ended])[0].stage is over
    assert join_lists([ended], [open_])[0].stage is over


@pytest.mark.parametrize(
    ("noted", "stored", "counts"),
    [
        (Stage.IN_PROGRESS, Stage.PENDING, Stage.IN_PROGRESS),
        (Stage.PENDING, Stage.IN_PROGRESS, Stage.IN_PROGRESS),
        (Stage.COMPLETED, Stage.IN_PROGRESS, Stage.COMPLETED),
        (Stage.IN_PROGRESS, Stage.COMPLETED, Stage.COMPLETED),
        (Stage.DROPPED, Stage.PENDING, Stage.DROPPED),
    ],
)
def test_the_list_in_which_a_task_is_further_counts(noted: Stage, stored: Stage, counts: Stage) -> None:
    (joined,) = join_lists([OpenTask(REF, "x", noted)], [OpenTask(REF, "y", stored)])
    assert (joined.content, joined.stage) == ("x", counts)
