"""The task list: checkboxes that Obsidian can tick, without a loss of any field."""

from __future__ import annotations

import re
from dataclasses import replace
from time import perf_counter

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from crucible.documents.markdown.source import Source, apply_edits
from crucible.documents.session.append import Addition, TaskList, append
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import ENDED, Prose, Session, Status, Task
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_block import render_tasks
from crucible.documents.session.task_edits import convert_tasks, set_boxes, set_field, set_tasks
from crucible.documents.session.task_list import read_task_list, render_task_item, render_task_list
from samples.hostile_texts import BLOCKS, INLINE
from tests.openings import OPENINGS
from tests.unit.documents.session.session_strategies import tasks

HEAD = '---\ntype: session\nsession_id: s\nstarted: "2026-01-01T00:00:00Z"\nstatus: active\nformat: 2\n---\n\n# T\n\n'
LIST = "### Tasks\n\n- [ ] Write it ^task-1\n- [x] Plan it (high, completed 2026-01-01T00:00:00Z) ^task-2\n"


def read(body: str, head: str = HEAD) -> Session:
    return read_session(Source(head + body), "s")


def edited(body: str, tasks_now: tuple[Task, ...]) -> str:
    source = Source(HEAD + body)
    return apply_edits(source, set_tasks(source, read_session(source, "s"), tasks_now)).text.removeprefix(HEAD)


# --- every task comes back -------------------------------------------------------------------------------------------


@given(tasks(), st.booleans())
def test_tasks_read_back_with_all_fields_from_a_list(wanted: tuple[Task, ...], is_ended: bool) -> None:
    lines = render_task_list(wanted, is_ended=is_ended)
    found = read_task_list(lines, 1, len(lines), 2)
    assert tuple(item.task for item in found.items) == wanted
    assert found.end == (len(lines) if wanted else 1)
    assert found.problems == ()


@given(tasks(), st.sampled_from(Status))
def test_tasks_as_json_become_a_list_without_a_loss(wanted: tuple[Task, ...], status: Status) -> None:
    head = HEAD.replace("active", str(status))
    source = Source(head + "\n".join(render_tasks(wanted)) + "\n\nText.\n\n## P\n\n- [ ] mine\n")
    before = read_session(source, "s")
    if not wanted:
        return
    after = apply_edits(source, convert_tasks(source, before))
    assert read_session(after, "s") == before
    assert after.text.endswith("\n\nText.\n\n## P\n\n- [ ] mine\n")
    assert set_boxes(after, read_session(after, "s")) == []


@given(tasks())
def test_only_live_sessions_have_open_checkboxes(wanted: tuple[Task, ...]) -> None:
    open_ones = [task for task in wanted if task.status in ("pending", "in_progress")]
    live, ended = (render_task_list(wanted, is_ended=is_ended) for is_ended in (False, True))
    assert sum(line.startswith("- [ ] ") for line in live) == len(open_ones)
    assert not any(line.startswith("- [ ]") for line in ended)


@given(
    st.lists(st.sampled_from([*BLOCKS, *INLINE]), min_size=1, max_size=4), st.sampled_from(["", "x", "high)", "`{}`)"])
)
def test_a_hostile_task_is_one_item_of_text(pieces: list[str], end: str) -> None:
    task = Task("2.1", " ".join(pieces) + end, "in_progress", extra={"owner": "".join(pieces)})
    for is_ended in (False, True):
        line = render_task_item(task, is_ended=is_ended)
        tokens = MarkdownIt("gfm-like", {"linkify": False}).parse(f"### Tasks\n\n{line}\n")
        assert [token.type for token in tokens[3:-1]] == [
            "bullet_list_open",
            "list_item_open",
            "paragraph_open",
            "inline",
            "paragraph_close",
            "list_item_close",
        ]
        kinds = {token.type for token in tokens[6].children or ()}
        assert not kinds & {"html_inline", "image"}
        for opening in OPENINGS:
            if opening.where == "raw":
                assert not re.search(opening.pattern, line), opening.name


# --- what a user does ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("mark", "status"),
    [("x", "completed"), ("X", "completed"), ("/", "in_progress"), ("-", "cancelled"), ("!", "completed")],
)
def test_a_mark_in_the_checkbox_is_the_status(mark: str, status: str) -> None:
    assert read(LIST.replace("[ ]", f"[{mark}]")).tasks[0] == Task("1", "Write it", status)


def test_a_ticked_task_in_progress_is_completed() -> None:
    session = read("### Tasks\n\n- [x] A (in progress, started 2026-01-01T00:00:00Z) ^task-1\n")
    assert session.tasks == (Task("1", "A", "completed", started="2026-01-01T00:00:00Z"),)


def test_an_unticked_task_is_open_again() -> None:
    assert read(LIST.replace("[x]", "[ ]")).tasks[1] == Task("2", "Plan it", "pending", "high")


def test_a_task_that_a_user_typed_has_an_id_of_its_words() -> None:
    session = read(f"{LIST}- [ ] Buy milk\n- [ ] Buy milk\n* [ ] 牛乳\n")
    assert [task.id for task in session.tasks[2:4]] == ["buy-milk", "buy-milk-2"]
    assert session.tasks[4].content == "牛乳"
    assert session.problems == ()


def test_lines_of_a_user_below_a_task_are_no_tasks_and_stay() -> None:
    body = LIST.replace("^task-1\n", "^task-1\n  - [ ] a step of mine\n  more\n- a remark\n")
    session = read(f"{body}\nText below.\n")
    assert [task.id for task in session.tasks] == ["1", "2"]
    after = edited(body, (session.tasks[1], replace(session.tasks[0], status="completed")))
    assert after.endswith("- [x] Write it ^task-1\n  - [ ] a step of mine\n  more\n- a remark\n")


def test_a_link_that_a_user_typed_in_a_task_stays_when_it_is_completed() -> None:
    body = "### Tasks\n\n* [ ] See [[Plan]]  and `x` ^task-1\n"
    (task,) = read(body).tasks
    assert edited(body, (replace(task, status="completed"),)) == "### Tasks\n\n* [x] See [[Plan]]  and `x` ^task-1\n"


def test_the_line_of_a_removed_task_stays_if_a_user_wrote_below_it() -> None:
    body = LIST.replace("^task-1\n", "^task-1\n  mine\n")
    assert edited(body, read(body).tasks[1:]) == (
        "### Tasks\n\n- [x] Plan it (high, completed 2026-01-01T00:00:00Z) ^task-2\n- Removed: Write it\n  mine\n"
    )


def test_a_list_without_tasks_goes_with_its_heading() -> None:
    assert "Tasks" not in edited(f"{LIST}\n## P\n", ())


def test_a_changed_task_changes_its_own_line() -> None:
    first, second = read(LIST).tasks
    after = edited(LIST, (replace(first, status="in_progress"), second, Task("3", "New")))
    assert after == LIST.replace("Write it ^", "Write it (in progress) ^") + "- [ ] New ^task-3\n"


def test_a_list_at_the_end_without_a_newline_grows() -> None:
    body = LIST.removesuffix("\n")
    after = edited(body, (*read(body).tasks, Task("3", "New")))
    assert read(after).tasks[2] == Task("3", "New")


# --- where a list is -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "body",
    [
        f"## P\n\n{LIST}",
        f"```\n{LIST}```\n",
        f"## Tasks\n\n{LIST[11:]}",
        "### Tasks\n\nNot a list.\n",
        f"%%\n{LIST}%%\n",
    ],
)
def test_a_list_elsewhere_is_text(body: str) -> None:
    assert read(body).tasks == ()


def test_a_heading_above_json_is_text() -> None:
    session = read('### Tasks\n\n```tasks\n[{"id": "1", "content": "x"}]\n```\n')
    assert session.tasks == (Task("1", "x"),)
    assert [problem.code for problem in session.problems] == []


def test_a_second_list_is_reported_and_kept_as_text() -> None:
    session = read(f"{LIST}\n{LIST}")
    assert len(session.tasks) == 2
    assert [(problem.code, problem.line) for problem in session.problems] == [("second-tasks", 16)]


def test_an_agent_s_words_are_no_list() -> None:

    text = render_session(Session("s", title="T", preamble=(Prose(LIST),)))
    assert read_session(Source(text), "s").tasks == ()


# --- the session's status --------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", Status)
def test_a_new_status_changes_the_checkboxes_of_open_tasks(status: Status) -> None:
    body = LIST + "- [ ] Third (in progress) ^task-3\n"
    source = Source(HEAD + body)
    session = read_session(source, "s")
    after = apply_edits(source, set_field(source, session, "status", str(status)))
    assert read_session(after, "s") == replace(session, status=status)
    assert ("- [ ]" in after.text) == (status not in ENDED)
    back = apply_edits(after, set_field(after, read_session(after, "s"), "status", "active"))
    assert back.text == source.text


def test_an_appended_status_changes_the_checkboxes() -> None:
    source = Source(HEAD + LIST + "\n## P\n\nText.\n")
    done = append(source, "s", lambda _: Addition({"status": "completed"}))
    assert "- Pending: Write it ^task-1\n" in done.source.text
    assert done.place is not None
    assert done.source.text[done.place.tail :].startswith("## P")


def test_an_appended_list_is_json_where_the_settings_say_so() -> None:
    source = Source(HEAD + "## P\n\nText.\n")
    for as_json, mark in ((True, "```tasks\n"), (False, "### Tasks\n")):
        addition = Addition(steps=(TaskList((Task("1", "x"),), as_json),))
        assert mark in append(source, "s", lambda _, it=addition: it).source.text  # type: ignore[misc]


def test_tasks_of_format_1_stay_json() -> None:
    source = Source(HEAD.replace("format: 2\n", "") + "## P\n\nText.\n")
    after = apply_edits(source, set_tasks(source, read_session(source, "s"), (Task("1", "x"),)))
    assert "```tasks\n" in after.text


# --- what a user typed is not lost -----------------------------------------------------------------------------------


def test_a_new_list_of_an_agent_leaves_the_tasks_that_a_user_typed() -> None:
    body = "### Tasks\n\n- [ ] Mine\n- [ ] Old ^task-1\n- [ ] Buy [[Milk]]\n- [ ] Also old ^task-2\n"
    assert edited(body, (Task("2", "Also old"), Task("3", "New"))) == (
        "### Tasks\n\n- [ ] Mine\n- [ ] Buy [[Milk]]\n- [ ] Also old ^task-2\n- [ ] New ^task-3\n"
    )
    assert edited(body, ()) == "### Tasks\n\n- [ ] Mine\n- [ ] Buy [[Milk]]\n"


def test_of_two_tasks_with_one_id_each_keeps_its_own_line() -> None:
    body = "### Tasks\n\n- [ ] See [[Plan]] ^task-1\n- [ ] See `x` ^task-1\n"
    first, second = read(body).tasks
    assert edited(body, (second, first)) == "### Tasks\n\n- [ ] See `x` ^task-1\n- [ ] See [[Plan]] ^task-1\n"
    assert edited(body, (second,)) == "### Tasks\n\n- [ ] See `x` ^task-1\n"


def test_dates_of_the_tasks_plugin_stay_at_the_end_and_hide_no_details() -> None:
    body = "### Tasks\n\n- [x] Write it (high, after 2) ⏫ 📅 2026-02-01 ✅ 2026-01-01 ^task-1\n"
    (task,) = read(body).tasks
    assert task == Task("1", "Write it", "completed", "high", ("2",))
    assert edited(body, (replace(task, content="Do it", status="pending"),)) == (
        "### Tasks\n\n- [ ] Do it (high, after 2) ⏫ 📅 2026-02-01 ✅ 2026-01-01 ^task-1\n"
    )


def test_signs_of_the_tasks_plugin_in_an_agents_text_are_text() -> None:
    task = Task("1", "Ship 📅 2026-02-01 ⏫")
    assert read(f"### Tasks\n\n{render_task_item(task, is_ended=False)}\n").tasks == (task,)


@pytest.mark.parametrize("heading", ["### tasks", "###  Tasks", " ### TASKS ###"])
def test_an_ended_session_has_no_open_box_however_a_user_writes_the_heading(heading: str) -> None:
    source = Source(f"{HEAD}{heading}\n\n- [ ] A ^task-1\n\n## P\n\nText.\n")
    after = append(source, "s", lambda _: Addition(keys={"status": "completed"})).source
    assert "- [ ]" not in after.text


@pytest.mark.parametrize("line", ["- [ ] same", "- [ ] same ^task-1", "- [ ] {0} ^task-{0}"])
def test_reading_and_reordering_many_tasks_is_linear(line: str) -> None:
    def run(count: int) -> float:
        source = Source(HEAD + "### Tasks\n\n" + "".join(f"{line.format(at)}\n" for at in range(count)))
        began = perf_counter()
        session = read_session(source, "s")
        if "{0}" in line:
            set_tasks(source, session, session.tasks[::-1])
        return perf_counter() - began

    run(10)
    assert run(8000) < 20 * run(2000)


def test_a_line_of_spaces_is_read_at_once() -> None:
    began = perf_counter()
    read("### Tasks\n\n- [ ] x" + " " * 100_000 + "y\n")
    assert perf_counter() - began < 5
