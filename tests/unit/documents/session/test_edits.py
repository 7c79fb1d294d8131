"""Every edit shows when read back, and no byte outside its lines changes."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.edits import (
    add_entry,
    add_phase,
    add_subphase,
    find_phase,
    set_call,
    set_phase_field,
)
from crucible.documents.session.markup import render_session
from crucible.documents.session.session import (
    ENDED,
    Entry,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_edits import set_field, set_tasks
from tests.unit.documents.session.session_strategies import entries, phases, sessions, tasks

WHEN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)


@st.composite
def notes(draw: st.DrawFn) -> Source:
    """A note as it lies on disk: any line end, with or without a byte order mark and a last newline."""
    text = render_session(draw(sessions()))
    if draw(st.booleans()):
        text = text.rstrip("\n")
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return Source(text, draw(st.booleans()))


def reread(source: Source, edits: list[Edit], name: str = "s") -> Session:
    """The session after the edits, which must have kept every line that they do not name."""
    kept_apart(source, edits)
    return read_session(apply_edits(source, edits), name)


def kept_apart(source: Source, edits: list[Edit]) -> None:
    """Each edit inserts, or stands within whole lines; the rest of the text survives in order."""
    after = apply_edits(source, edits).text
    at = done = 0
    for edit in sorted(edits, key=lambda e: e.span.start):
        untouched = source.text[done : edit.span.start]
        assert after.startswith(untouched, at)
        at += len(untouched) + len(edit.text)
        done = edit.span.end
    assert after[at:] == source.text[done:]


def joined(found: tuple[Entry, ...], entry: Entry) -> tuple[Entry, ...]:
    """Entries as they read after one was added: adjacent prose is one entry, adjacent calls one list."""
    match found[-1:], entry:
        case (Prose(text=before),), Prose():
            return (*found[:-1], Prose(f"{before}\n\n{entry.text}"))
        case (ToolCalls(calls=before),), ToolCalls():
            return (*found[:-1], ToolCalls(before + entry.calls))
    return (*found, entry)


def with_phase(session: Session, changed: Phase) -> Session:
    """The session with the phase or sub-phase of that id exchanged."""

    def swap(phase: Phase) -> Phase:
        if phase.id == changed.id:
            return changed
        return replace(phase, subphases=tuple(swap(sub) for sub in phase.subphases))

    return replace(session, phases=tuple(swap(phase) for phase in session.phases))


@given(notes(), phases())
def test_an_added_phase_is_the_last_one_and_nothing_else_changes(source: Source, phase: Phase) -> None:
    before = read_session(source, "s")
    after = reread(source, add_phase(source, before, phase))
    assert after == replace(before, phases=(*before.phases, phase))


@given(notes(), entries, st.data())
def test_an_added_entry_is_the_last_of_its_phase(source: Source, entry: Entry, data: st.DataObject) -> None:
    before = read_session(source, "s")
    ids = [phase.id for phase in before.all_phases()]
    if not ids:
        return
    phase = find_phase(before, data.draw(st.sampled_from(ids)))
    after = reread(source, add_entry(source, before, entry, phase.id))
    assert after == with_phase(before, replace(phase, entries=joined(phase.entries, entry)))


@given(notes(), phases(depth=0), st.data())
def test_an_added_sub_phase_is_the_last_of_its_phase(source: Source, sub: Phase, data: st.DataObject) -> None:
    before = read_session(source, "s")
    if not before.phases:
        return
    phase = data.draw(st.sampled_from(before.phases))
    after = reread(source, add_subphase(source, before, phase.id, sub))
    assert after == with_phase(before, replace(phase, subphases=(*phase.subphases, sub)))


@given(notes(), st.sampled_from(["started", "ended", "tokens"]), st.integers(0, 10**9), st.data())
def test_a_phase_field_is_set_alone(source: Source, key: str, number: int, data: st.DataObject) -> None:
    before = read_session(source, "s")
    ids = [phase.id for phase in before.all_phases()]
    if not ids:
        return
    phase = find_phase(before, data.draw(st.sampled_from(ids)))
    value = number if key == "tokens" else WHEN
    after = reread(source, set_phase_field(source, before, phase.id, key, value))
    wanted: dict[str, Any] = {key: value}
    assert after == with_phase(before, replace(phase, **wanted))


@given(notes(), tasks())
def test_the_tasks_become_those_that_were_set(source: Source, wanted: tuple[Task, ...]) -> None:
    before = read_session(source, "s")
    after = reread(source, set_tasks(source, before, wanted))
    assert after == replace(before, tasks=wanted)


@given(notes(), st.sampled_from(Status))
def test_the_status_changes_one_line(source: Source, status: Status) -> None:
    before = read_session(source, "s")
    edits = set_field(source, before, "status", str(status))
    after = reread(source, edits)
    assert after == replace(before, status=status)
    assert len(edits) <= 1 or (before.tasks and (status in ENDED) != (before.status in ENDED))
    assert all(source.slice(edit.span).count("\n") <= 1 for edit in edits)


@given(notes(), st.data())
def test_a_call_gets_its_result_on_its_own_line(source: Source, data: st.DataObject) -> None:
    before = read_session(source, "s")
    calls = [
        call for phase in before.all_phases() for e in phase.entries if isinstance(e, ToolCalls) for call in e.calls
    ]
    if not calls:
        return
    call = data.draw(st.sampled_from(calls))
    new = ToolCall(call.call, "❌ not what it seems", Outcome.OK)
    after = reread(source, set_call(source, before, call, new))
    line = after_call(after, call)
    assert line == new
    assert len(list(after.calls())) == len(list(before.calls()))


def after_call(session: Session, call: ToolCall) -> ToolCall:
    """The call that stands on the same line as `call` did."""
    return next(found for found in session.calls() if found.lines == call.lines)


# --- what random notes do not find -----------------------------------------------------------------------------------

HEAD = "---\ntype: session\nsession_id: s\nstarted: 2026-11-21T20:26:47Z\nstatus: active\n---\n\n# T\n\n"


def edited(body: str, change: str, *args: object) -> str:
    """The body of a note after one edit."""
    source = Source(HEAD + body)
    session = read_session(source, "s")
    functions = {
        "entry": add_entry,
        "phase": add_phase,
        "field": set_phase_field,
        "tasks": set_tasks,
        "sub": add_subphase,
    }
    edits: list[Edit] = functions[change](source, session, *args)  # type: ignore[operator]
    return apply_edits(source, edits).text.removeprefix(HEAD)


def test_a_phase_goes_before_the_summary_with_a_rule_on_each_side() -> None:
    body = "## A\n\na\n\n---\n\n## Summary\n\nend\n"
    assert edited(body, "phase", Phase("B")) == "## A\n\na\n\n---\n\n## B\n\n---\n\n## Summary\n\nend\n"


def test_a_summary_that_a_human_put_first_does_not_catch_the_new_phase() -> None:
    body = "## Summary\n\nfirst\n\n## A\n\na\n"
    assert edited(body, "phase", Phase("B")) == body + "\n---\n\n## B\n"


def test_a_rule_that_stands_at_the_end_is_not_doubled() -> None:
    assert edited("## A\n\na\n\n---\n", "phase", Phase("B")) == "## A\n\na\n\n---\n\n## B\n"


def test_the_first_phase_has_no_rule_before_it() -> None:
    assert edited("intro", "phase", Phase("A")) == "intro\n\n## A\n"


def test_an_entry_goes_before_the_rule_that_parts_two_phases() -> None:
    body = "## A\n\na\n\n---\n\n## B\n"
    assert edited(body, "entry", Prose("b"), "phase-1") == "## A\n\na\n\nb\n\n---\n\n## B\n"


def test_an_entry_in_an_empty_phase_stands_below_its_heading() -> None:
    assert edited("## A\n## B\n", "entry", Prose("b"), "phase-1") == "## A\n\nb\n\n## B\n"


def test_calls_join_the_list_above_them() -> None:
    body = "## A\n\n**Tool calls:**\n- `a` → b"
    calls = ToolCalls((ToolCall("c", "d"),))
    assert edited(body, "entry", calls, "phase-1") == body + "\n- `c` → d\n"


def test_prose_that_would_continue_a_list_of_calls_is_set_apart() -> None:
    body = "## A\n\n**Tool calls:**\n- `a` → b\n"
    assert edited(body, "entry", Prose("- item"), "phase-1") == body + "\n<!-- -->\n\n- item\n"


def test_a_missing_field_goes_where_it_belongs() -> None:
    body = "## A\n\nstarted:: 2026-11-21T20:26:47Z\ntokens:: 3\n\ntext\n"
    expected = body.replace("tokens", "ended:: 2026-11-21T20:26:47Z\ntokens")
    assert edited(body, "field", "phase-1", "ended", WHEN) == expected


def test_a_first_field_goes_right_under_the_heading() -> None:
    assert edited("## A\ntext\n", "field", "phase-1", "tokens", 3) == "## A\n\ntokens:: 3\n\ntext\n"


def test_a_value_that_is_set_already_is_no_edit() -> None:
    body = "## A\n\ntokens:: 3\n"
    assert edited(body, "field", "phase-1", "tokens", 3) == body


TASKS = '```tasks\n[\n  {"id": "1", "content": "a",   "status": "pending", "x": 1},\n  {"id": "2", "content": "b"}\n]\n```\n'


def test_a_changed_task_changes_its_own_line_and_keeps_unknown_keys() -> None:
    source = Source(HEAD + TASKS)
    session = read_session(source, "s")
    first, second = session.tasks
    edits = set_tasks(source, session, (first, replace(second, status="completed")))
    after = apply_edits(source, edits).text
    assert '"a",   "status": "pending", "x": 1},\n' in after
    assert read_session(Source(after), "s").tasks == (first, replace(second, status="completed"))
    edits = set_tasks(source, session, (replace(first, status="completed"), second))
    assert '"x": 1' in apply_edits(source, edits).text


def test_an_added_task_touches_only_the_line_before_it() -> None:
    source = Source(HEAD + TASKS)
    session = read_session(source, "s")
    after = apply_edits(source, set_tasks(source, session, (*session.tasks, Task("3", "c")))).text
    assert '  {"id": "2", "content": "b"},\n  {"id": "3"' in after
    assert '"a",   "status"' in after


def test_tasks_on_one_line_are_written_anew() -> None:
    body = '```tasks\n[{"id": "1", "content": "a"}]\n```\n'
    after = edited(body, "tasks", (Task("1", "z"),))
    assert '  {"id": "1", "content": "z"' in after


def test_a_broken_tasks_block_is_not_overwritten() -> None:
    with pytest.raises(EditRefused, match="s:10"):
        edited("```tasks\n[{]\n```\n", "tasks", (Task("1", "z"),))


@pytest.mark.parametrize("opener", ["```py\ncode", "<!-- hidden", "<script>\nlet x"])
def test_what_would_not_show_below_a_humans_open_block_is_refused_with_the_line(opener: str) -> None:
    body = f"## A\n\n{opener}\n"
    for change, arguments in (("phase", [Phase("B")]), ("entry", [Prose("x"), "phase-1"])):
        with pytest.raises(EditRefused, match="s:12"):
            edited(body, change, *arguments)


def test_tasks_in_a_block_that_is_never_closed_are_not_set() -> None:
    with pytest.raises(EditRefused, match="s:10"):
        edited('```tasks\n[{"id": "1", "content": "a"}]\n', "tasks", (Task("2", "z"),))


def test_an_open_block_does_not_stop_edits_above_it() -> None:
    body = "## A\n\n## B\n\n```py\n"
    assert edited(body, "entry", Prose("x"), "phase-1") == "## A\n\nx\n\n## B\n\n```py\n"


def test_a_phase_that_is_not_there_is_refused() -> None:
    with pytest.raises(EditRefused, match="phase-7"):
        edited("## A\n", "entry", Prose("x"), "phase-7")


def test_a_call_made_in_memory_has_no_line_to_change() -> None:
    source = Source(HEAD)
    with pytest.raises(EditRefused):
        set_call(source, read_session(source, "s"), ToolCall("a"), ToolCall("b"))


def test_setting_a_field_to_nothing_removes_its_line() -> None:
    source = Source(HEAD.replace("status: active", "status: active # mine\nbranch: x"))
    session = read_session(source, "s")
    assert apply_edits(source, set_field(source, session, "branch", None)).text == HEAD.replace(
        "active", "active # mine"
    )


# --- found by a hostile user -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("body", "change", "arguments"),
    [
        ("## R\n```py\ncode\n\n\n", "entry", [Prose("new"), "phase-1"]),
        ("## R\n\n<!--\n\n\n", "phase", [Phase("N")]),
        ("## A\n\n```\n  ", "sub", ["phase-1", Phase("N")]),
        ("## R\n---\n---", "sub", ["phase-1", Phase("N")]),
    ],
)
def test_what_would_be_swallowed_or_would_change_what_is_there_is_refused(
    body: str, change: str, arguments: list[object]
) -> None:
    with pytest.raises(EditRefused, match=r"s:\d+"):
        edited(body, change, *arguments)


def test_a_phase_below_an_unclosed_frontmatter_does_not_close_it() -> None:
    source = Source("---\nmy first thought\n\n## A\n\ntext\n")
    before = read_session(source, "s")
    after = reread(source, add_phase(source, before, Phase("N")))
    assert [phase.name for phase in after.phases] == ["A", "N"]


@pytest.mark.parametrize("bullet", ["* ", "+ ", "-   "])
def test_calls_keep_the_bullets_that_a_human_chose(bullet: str) -> None:
    body = f"## F\n\n**Tool calls:**\n\n{bullet}`a` -> x\n{bullet}`b` -> y\n"
    calls = ToolCalls((ToolCall("c", "z"),))
    assert edited(body, "entry", calls, "phase-1") == f"{body}{bullet}`c` → z\n"
    source = Source(HEAD + body)
    session = read_session(source, "s")
    first = next(session.calls())
    after = reread(source, set_call(source, session, first, ToolCall("a", "done")))
    assert [call.result for call in after.calls()] == ["done", "y"]


def test_a_lone_cr_above_and_our_line_end_do_not_become_one() -> None:
    source = Source("## A\r\r<details>\rx\r")
    before = read_session(source, "s")
    after = reread(source, add_phase(source, before, Phase("N")))
    assert [phase.name for phase in after.phases] == ["A", "N"]


def test_a_title_inside_a_summary_is_part_of_it() -> None:
    source = Source("## Summary\n# Move\n")
    before = read_session(source, "s")
    assert (before.title, before.summary) == ("", "# Move")


def test_a_field_above_a_line_of_blanks_does_not_change_the_prose() -> None:
    source = Source(HEAD + "## D\n   \ntext")
    before = read_session(source, "s")
    after = reread(source, set_phase_field(source, before, "phase-1", "tokens", 3))
    assert after.phases[0].entries == (Prose("text"),)


@pytest.mark.parametrize("time", ["0001-01-01T00:00:00+14:00", "9999-12-31T23:59:59-14:00"])
def test_a_time_that_utc_has_not_is_a_bad_field(time: str) -> None:
    source = Source(HEAD.replace("status:", f"ended: {time}\nstatus:") + f"## A\n\nstarted:: {time}\n")
    session = read_session(source, "s")
    assert [problem.code for problem in session.problems] == ["bad-field", "bad-field"]
    assert session.ended is None
