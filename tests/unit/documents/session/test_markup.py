"""A session's parts as lines of a note, and edits as new lines in one: exactly what is written, and where."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Lines, Source, apply_edits
from crucible.documents.session.edits import (
    add_entry,
    add_phase,
    add_subphase,
    find_phase,
    set_call,
    set_phase_field,
)
from crucible.documents.session.markup import (
    render_body,
    render_call,
    render_entry,
    render_heading,
    render_phase,
    render_session,
    separates,
)
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_block import render_task, render_tasks
from crucible.documents.session.task_edits import set_field, set_tasks
from tests.cases import for_each

WHEN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
A = AgentRef("a")


# --- one line -------------------------------------------------------------------------------------------------------


@for_each(
    ("name", "agent", "channel", "line"),
    [
        ("Build", None, None, "## Build"),
        ("Build", A, None, "## Build @a"),
        ("Build", AgentRef("a", "1"), "dev", "## Build @a@1 #dev"),
        ("Build", AgentRef("a b@c", "1 2"), "x y", "## Build @a-b-c@1-2 #x-y"),
        ("Build", None, "12", "## Build #channel-12"),
        ("Build", None, "", "## Build"),
        ("", None, None, "## Untitled"),
        (" \n ", A, None, "## Untitled @a"),
        ("a\n\n  b", None, None, "## a b"),
        ("See @x", None, None, r"## See \@x"),
        ("See #x", A, None, r"## See \#x @a"),
        (r"See \@x", None, None, r"## See \\@x"),
        ("@x", None, None, r"## \@x"),
        ("@x see", None, None, "## @x see"),
        ("Summary", None, None, "## Summary (phase)"),
        ("sUMMARY", None, None, "## sUMMARY (phase)"),
        ("Summary", A, None, "## Summary @a"),
        ("Summary", None, "dev", "## Summary #dev"),
        ("a [[b]]", None, None, r"## a [\[b]]"),
    ],
)
def test_a_heading_is_a_name_and_its_markers(name: str, agent: AgentRef | None, channel: str | None, line: str) -> None:
    assert render_heading(2, name, agent, channel) == line


def test_a_sub_phase_named_summary_is_no_summary() -> None:
    assert render_heading(3, "Summary") == "### Summary"


@for_each(
    ("call", "line"),
    [
        (ToolCall("Bash ls", "ok"), "- `Bash ls` → ok"),
        (ToolCall("Bash ls"), "- `Bash ls` →"),
        (ToolCall("a\nb", "c\nd"), "- `a⏎b` → c⏎d"),
        (ToolCall("a  b", " c   d "), "- `a b` → c d"),
        (ToolCall("a`b", "x"), "- ``a`b`` → x"),
        (ToolCall("a", "no", Outcome.FAILED), "- `a` → ❌ no"),
        (ToolCall("a", "", Outcome.FAILED), "- `a` → ❌"),
        (ToolCall("a", "no", Outcome.REJECTED), "- `a` → 🚫 no"),
        (ToolCall("a", "no", Outcome.INTERRUPTED), "- `a` → ⏹ no"),
        (ToolCall("a", "", Outcome.PENDING), "- `a` → ⏳"),
        (ToolCall("a", "❌ no"), "- `a` → \\❌ no"),
        (ToolCall("a", "⏳"), "- `a` → \\⏳"),
        (ToolCall("a", "\\⏳"), "- `a` → \\\\⏳"),
        (ToolCall("a", "see ❌"), "- `a` → see ❌"),
        (ToolCall("a", "❌ no", Outcome.FAILED), "- `a` → ❌ ❌ no"),
        (ToolCall("x" * 200, "y" * 100), f"- `{'x' * 200}` → {'y' * 100}"),
        (ToolCall("x" * 201, "y" * 101), f"- `{'x' * 199}…` → {'y' * 99}…"),
        (ToolCall("a", "[[x]] <b>"), r"- `a` → [\[x]] \<b>"),
    ],
)
def test_a_call_is_one_list_item(call: ToolCall, line: str) -> None:
    assert render_call(call) == line


# --- entries --------------------------------------------------------------------------------------------------------


@for_each(
    ("entry", "text"),
    [
        (Prose(""), ""),
        (Prose("a\n\nb"), "a\n\nb"),
        (Prose("## a"), r"\## a"),
        (ToolCalls(()), ""),
        (ToolCalls((ToolCall("a", "1"), ToolCall("b", "2"))), "**Tool calls:**\n- `a` → 1\n- `b` → 2"),
        (Decision("A."), "> [!decision]\n> A."),
        (Decision("A.", "B."), "> [!decision]\n> A.\n> Rationale: B."),
        (Decision("A.\nC.", "B.\nD."), "> [!decision]\n> A.\n> C.\n>\n> Rationale: B.\n> D."),
        (Decision("- A", "B."), "> [!decision]\n> - A\n>\n> Rationale: B."),
        (Decision("1. A", "B."), "> [!decision]\n> 1. A\n>\n> Rationale: B."),
        (Decision("A.", "- B"), "> [!decision]\n> A.\n> Rationale:\n> - B"),
        (Decision("A.", "2) B"), "> [!decision]\n> A.\n> Rationale:\n> 2) B"),
        (Decision("A.", ""), "> [!decision]\n> A.\n> Rationale:"),
        (Decision("", "B."), "> [!decision]\n> Rationale: B."),
        (Decision(""), "> [!decision]"),
        (Decision("Rationale: A."), "> [!decision]\n> Rationale\\: A."),
        (Failure("A.", "B."), "> [!error]\n> A.\n> Resolution: B."),
        (Failure("A."), "> [!error]\n> A."),
        (Callout("milestone", "Half\nway", "x\n\ny"), "> [!milestone] Half way\n> x\n>\n> y"),
        (Callout("milestone"), "> [!milestone]"),
        (Callout("observation", "[[x]]", "[[x]]"), "> [!observation] [\\[x]]\n> [\\[x]]"),
        (Intervention("Do it"), '> [!user]\n> "Do it"'),
        (Intervention(""), '> [!user]\n> ""'),
        (Intervention("Do\nit", "now\nthen"), '> [!user]\n> "Do\n> it" - now\n> then'),
        (Intervention("Do it", "- a\n- b"), '> [!user]\n> "Do it" -\n> - a\n> - b'),
        (Intervention("Do it", ""), '> [!user]\n> "Do it"'),
        (Intervention('Say "x" - y'), '> [!user]\n> "Say "x" \\- y"'),
        (Intervention("```\nx\n```"), '> [!user]\n> "\n> ```\n> x\n> ```\n> "'),
        (Intervention("```\nx\n```", "y"), '> [!user]\n> "\n> ```\n> x\n> ```\n> " - y'),
        (Subagent(A), "> [!subagent] @a\n> mode: link"),
        (Subagent(AgentRef("a", "1"), "m"), "> [!subagent] @a@1 (m)\n> mode: link"),
        (Subagent(A, "m m)"), "> [!subagent] @a (m-m-)\n> mode: link"),
        (Subagent(A, link="x", summary="S"), "> [!subagent] @a\n> mode: link\n> [[sessions/x|x]]\n> Summary: S"),
        (Subagent(A, mode=Mode.EMBED, link="x"), "> [!subagent] @a\n> mode: embed\n> ![[sessions/x|x]]"),
        (
            Subagent(A, link="x", text="T", summary="S"),
            "> [!subagent] @a\n> mode: link\n> [[sessions/x|x]]\n> T\n> Summary: S",
        ),
        (
            Subagent(A, link="x", text="- T", summary="S"),
            "> [!subagent] @a\n> mode: link\n> [[sessions/x|x]]\n>\n> - T\n>\n> Summary: S",
        ),
        (Subagent(A, text="T\nU", summary="S"), "> [!subagent] @a\n> mode: link\n> T\n> U\n>\n> Summary: S"),
        (Subagent(A, mode=Mode.INLINE), "> [!subagent] @a\n> mode: inline"),
        (
            Subagent(A, mode=Mode.INLINE, link="x", task="T", entries=(Prose("W"), Decision("D")), summary="S"),
            "> [!subagent] @a\n> mode: inline\n> Task: T\n>\n> > W\n> >\n> > > [!decision]\n> > > D\n>\n> Summary: S",
        ),
        (
            Subagent(A, mode=Mode.INLINE, text="X", task="> T", entries=(Prose("W"),)),
            "> [!subagent] @a\n> mode: inline\n> X\n> Task: \\> T\n>\n> > W",
        ),
        (
            Subagent(A, mode=Mode.INLINE, text="> X", entries=(Prose("W"),)),
            "> [!subagent] @a\n> mode: inline\n> \\> X\n>\n> > W",
        ),
    ],
)
def test_an_entry_is_its_lines(entry: Entry, text: str) -> None:
    assert "\n".join(render_entry(entry)) == text
    if text:
        read = read_session(Source(f"## P\n\n{text}\n"), "s").phases[0].entries
        assert [render_entry(found) for found in read] == [render_entry(entry)]


def test_entries_stand_apart_and_empty_ones_do_not_stand() -> None:
    assert render_body([Prose("a"), Prose(""), Decision("b"), Prose("c")]) == [
        "a", "", "> [!decision]", "> b", "", "c",
    ]  # fmt: skip


def test_prose_that_would_continue_a_list_of_calls_is_set_apart() -> None:
    calls = ToolCalls((ToolCall("a", "1"),))
    assert render_body([calls, Prose("- x")]) == ["**Tool calls:**", "- `a` → 1", "", "<!-- -->", "", "- x"]
    assert render_body([calls, Prose("x")]) == ["**Tool calls:**", "- `a` → 1", "", "x"]
    assert render_body([calls, Decision("d"), Prose("- x")])[-2:] == ["", "- x"]
    assert render_body([calls, Prose(""), Prose("- x")])[-4:] == ["", "<!-- -->", "", "- x"]


@for_each(
    ("line", "apart"),
    [
        ("- x", True), ("* x", True), ("+ x", True), ("-", True), ("-\tx", True), ("1. x", True), ("23) x", True), ("1.", True),
        (" x", True), ("\tx", True), ("-x", False), ("1.x", False), ("x", False), ("> x", False), ("1 x", False),
    ],
)  # fmt: skip
def test_a_list_item_or_an_indent_would_continue_a_list(line: str, apart: bool) -> None:
    assert separates([line, "more"]) is apart


def test_no_lines_continue_nothing() -> None:
    assert not separates([])


# --- sections -------------------------------------------------------------------------------------------------------


def test_a_phase_is_heading_fields_entries_and_sub_phases() -> None:
    sub = Phase("B", tokens=0, entries=(Prose("y"),), subphases=(Phase("C"),))
    phase = Phase("A", A, "dev", WHEN, WHEN.replace(second=48), 5, (Prose("x"), Decision("d")), (sub,))
    assert "\n".join(render_phase(phase)) == (
        "## A @a #dev\n\nstarted:: 2026-11-21T20:26:47Z\nended:: 2026-11-21T20:26:48Z\ntokens:: 5\n\nx\n\n"
        "> [!decision]\n> d\n\n### B\n\ntokens:: 0\n\ny\n\n#### C"
    )
    assert render_phase(Phase("A")) == ["## A"]


def test_a_note_is_properties_title_preamble_tasks_phases_and_summary() -> None:
    session = Session(
        "s",
        title="T ##",
        preamble=(Prose("p"),),
        tasks=(Task("1", "x"),),
        phases=(Phase("A"), Phase("B")),
        summary="S",
    )
    head = "---\ntype: session\nsession_id: s\nstatus: active\nformat: 2\n---\n\n"
    titled = head.replace("status:", 'title: "T ##"\naliases:\n  - "T ##"\nstatus:')
    assert render_session(session) == (
        titled + "# T \\##\n\np\n\n### Tasks\n\n- [ ] x ^task-1\n\n## A\n\n---\n\n## B\n\n---\n\n## Summary\n\nS\n"
    )
    assert render_session(Session("s")) == f"{head}# s\n"
    assert render_session(Session("s", title="\n", summary="")) == f"{head}# Untitled\n\n## Summary\n"


def test_a_task_is_a_line_of_json() -> None:
    task = Task("1", "a\n b é", "completed", "high", ("2", "3"), "x", "y", {"owner": ["me"]})
    assert render_task(task) == (
        '{"id": "1", "content": "a b é", "status": "completed", "priority": "high", "depends_on": ["2", "3"],'
        ' "started": "x", "completed": "y", "owner": ["me"]}'
    )
    assert render_task(Task("1", "a")) == '{"id": "1", "content": "a", "status": "pending", "priority": "medium"}'


def test_tasks_are_a_fence_with_a_list() -> None:
    lines = render_tasks([Task("1", "a"), Task("2", "b"), Task("3", "c")])
    assert lines[:2] + lines[-2:] == ["```tasks", "[", "]", "```"]
    assert [line[-2:] for line in lines[2:-2]] == ["},", "},", '"}']
    assert all(line.startswith('  {"id"') for line in lines[2:-2])
    assert render_tasks([]) == ["```tasks", "[", "]", "```"]


# --- edits ------------------------------------------------------------------------------------------------------------

HEAD = "---\ntype: session\nsession_id: s\nstarted: 2026-11-21T20:26:47Z\nstatus: active\n---\n"


def edited(body: str, edit: object, *args: object) -> str:
    """The body after an edit, which must have left the properties alone."""
    source = Source(HEAD + body)
    edits = edit(source, read_session(source, "s"), *args)  # type: ignore[operator]
    text = apply_edits(source, edits).text
    assert text.startswith(HEAD)
    return text.removeprefix(HEAD)


@for_each(
    ("body", "after"),
    [
        ("", "\n## N\n\nx\n"),
        ("# T\n", "# T\n\n## N\n\nx\n"),
        ("# T", "# T\n\n## N\n\nx\n"),
        ("# T\n\n", "# T\n\n## N\n\nx\n"),
        ("# T\n \t\n", "# T\n \t\n## N\n\nx\n"),
        ("## A\n", "## A\n\n---\n\n## N\n\nx\n"),
        ("## A\n\n---\n", "## A\n\n---\n\n## N\n\nx\n"),
        ("## A\n\n--- \n\n", "## A\n\n--- \n\n## N\n\nx\n"),
        ("## A\n\n## Summary\n\nS\n", "## A\n\n## N\n\nx\n\n---\n\n## Summary\n\nS\n"),
        ("## A\n\n---\n\n## Summary\n", "## A\n\n---\n\n## N\n\nx\n\n---\n\n## Summary\n"),
        ("## Summary\n\nS\n\n## A\n", "## Summary\n\nS\n\n## A\n\n---\n\n## N\n\nx\n"),
        ("## Summary\n", "\n## N\n\nx\n\n---\n\n## Summary\n"),
    ],
)
def test_a_new_phase_is_the_last_one_and_stands_before_the_summary(body: str, after: str) -> None:
    assert edited(body, add_phase, Phase("N", entries=(Prose("x"),))) == after


def test_new_lines_get_the_note_s_own_line_end() -> None:
    source = Source("## A\r\n\r\nx\r\n")
    (edit,) = add_phase(source, read_session(source, "s"), Phase("N"))
    assert edit.text == "\r\n---\r\n\r\n## N\r\n"
    source = Source("## A\r\n\r\nx")
    (edit,) = add_entry(source, read_session(source, "s"), Decision("d"), "phase-1")
    assert edit.text == "\r\n\r\n> [!decision]\r\n> d\r\n"


@for_each(
    ("body", "entry", "after"),
    [
        ("## A\n", Prose("x"), "## A\n\nx\n"),
        ("## A\n\na\n", Prose("x"), "## A\n\na\n\nx\n"),
        ("## A\n\na\n\n## B\n", Prose("x"), "## A\n\na\n\nx\n\n## B\n"),
        ("## A\n\na\n\n---\n\n## B\n", Prose("x"), "## A\n\na\n\nx\n\n---\n\n## B\n"),
        ("## A\n\na\n### S\n", Prose("x"), "## A\n\na\n\nx\n\n### S\n"),
        ("## A\n\ntokens:: 1\n", Prose("x"), "## A\n\ntokens:: 1\n\nx\n"),
        ("## A\n\na\n", Prose(""), "## A\n\na\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1\n", ToolCalls((ToolCall("b", "2"), ToolCall("c", "3"))),
         "## A\n\n**Tool calls:**\n- `a` → 1\n- `b` → 2\n- `c` → 3\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1", ToolCalls((ToolCall("b", "2"),)), "## A\n\n**Tool calls:**\n- `a` → 1\n- `b` → 2\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1\n", ToolCalls(()), "## A\n\n**Tool calls:**\n- `a` → 1\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1\n\n\n## B\n", ToolCalls((ToolCall("b", "2"),)),
         "## A\n\n**Tool calls:**\n- `a` → 1\n- `b` → 2\n\n\n## B\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1\n", Prose("- x"), "## A\n\n**Tool calls:**\n- `a` → 1\n\n<!-- -->\n\n- x\n"),
        ("## A\n\n**Tool calls:**\n- `a` → 1\n", Prose("x"), "## A\n\n**Tool calls:**\n- `a` → 1\n\nx\n"),
        ("## A\n\na\n", ToolCalls((ToolCall("b", "2"),)), "## A\n\na\n\n**Tool calls:**\n- `b` → 2\n"),
        ("## A\n\na\n", Prose("- x"), "## A\n\na\n\n- x\n"),
    ],
)  # fmt: skip
def test_a_new_entry_is_the_last_of_its_phase(body: str, entry: Entry, after: str) -> None:
    assert edited(body, add_entry, entry, "phase-1") == after


def test_a_new_entry_of_a_sub_phase_stands_in_it() -> None:
    body = "## A\n\n### S\n\ns\n\n### T\n\n## B\n"
    assert edited(body, add_entry, Prose("x"), "phase-1.1") == "## A\n\n### S\n\ns\n\nx\n\n### T\n\n## B\n"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("## A\n\na\n\n## B\n", "## A\n\na\n\n### N\n\n## B\n"),
        ("## A\n\n### S\n\ns\n\n---\n\n## B\n", "## A\n\n### S\n\ns\n\n### N\n\n---\n\n## B\n"),
    ],
)
def test_a_new_sub_phase_is_the_last_of_its_phase(body: str, after: str) -> None:
    assert edited(body, add_subphase, "phase-1", Phase("N")) == after


def test_a_phase_that_is_not_there_is_refused() -> None:
    session = Session("s", phases=(Phase("A", id="phase-1", subphases=(Phase("B", id="phase-1.1"),)),))
    assert find_phase(session, "phase-1.1").name == "B"
    with pytest.raises(EditRefused, match=r"^s has no phase-2") as refused:
        find_phase(session, "phase-2")
    assert "it has 1 phases" in (refused.value.hint or "")


OPEN = "## A\n\n```\nopen\n"


@pytest.mark.parametrize(
    ("edit", "args"),
    [
        (add_phase, (Phase("N"),)),
        (add_entry, (Prose("x"), "phase-1")),
        (add_subphase, ("phase-1", Phase("N"))),
    ],
)
def test_nothing_is_added_below_an_open_fence(edit: object, args: tuple[object, ...]) -> None:
    with pytest.raises(EditRefused, match=r"^s:9: .*; text added below it would be hidden") as refused:
        edited(OPEN, edit, *args)
    assert refused.value.hint == "close it in the note and try again"


def test_calls_do_not_join_a_list_below_which_html_is_open() -> None:
    body = "## A\n\n**Tool calls:**\n- `a` → 1\n\n## B\n\n<!-- open\n"
    assert edited(body, add_entry, ToolCalls((ToolCall("b"),)), "phase-1").startswith(
        "## A\n\n**Tool calls:**\n- `a` → 1\n- `b` →\n"
    )


# calls and fields


def test_a_call_is_written_anew_on_its_own_line() -> None:
    source = Source("## A\n\n**Tool calls:**\n- `a` → ⏳\n- `b` → ⏳\r\n")
    session = read_session(source, "s")
    first, second = session.calls()
    edits = set_call(source, session, second, ToolCall("b", "done"))
    assert apply_edits(source, edits).text == "## A\n\n**Tool calls:**\n- `a` → ⏳\n- `b` → done\r\n"
    assert set_call(source, session, first, first) == []


def test_a_wrapped_call_becomes_one_line() -> None:
    source = Source("## A\n\n**Tool calls:**\n- `a` → one\n  two\n- `b` → 1\n")
    session = read_session(source, "s")
    edits = set_call(source, session, next(session.calls()), ToolCall("a", "x"))
    assert apply_edits(source, edits).text == "## A\n\n**Tool calls:**\n- `a` → x\n- `b` → 1\n"


def test_a_call_that_stands_in_no_note_is_refused() -> None:
    with pytest.raises(EditRefused, match=r"^'a' is not in the note"):
        set_call(Source(""), Session("s"), ToolCall("a"), ToolCall("b"))


@for_each(
    ("body", "key", "value", "after"),
    [
        ("## A\n\na\n", "tokens", 5, "## A\n\ntokens:: 5\n\na\n"),
        ("## A\na\n", "tokens", 5, "## A\n\ntokens:: 5\n\na\n"),
        ("## A", "tokens", 5, "## A\n\ntokens:: 5\n"),
        ("## A\n\ntokens:: 1\n\na\n", "tokens", 5, "## A\n\ntokens:: 5\n\na\n"),
        ("## A\n\ntokens:: 5\n", "tokens", 5, "## A\n\ntokens:: 5\n"),
        ("## A\n\ntokens:: 1\n", "started", WHEN, "## A\n\nstarted:: 2026-11-21T20:26:47Z\ntokens:: 1\n"),
        (
            "## A\n\nstarted:: x\ntokens:: 1\n",
            "ended",
            WHEN,
            "## A\n\nstarted:: x\nended:: 2026-11-21T20:26:47Z\ntokens:: 1\n",
        ),
        ("## A\n\nstarted:: x\nended:: y\n", "tokens", 0, "## A\n\nstarted:: x\nended:: y\ntokens:: 0\n"),
        ("## A\n\nstarted:: x", "tokens", 0, "## A\n\nstarted:: x\ntokens:: 0"),
        ("## A\n\n\nended:: y\na\n", "tokens", 0, "## A\n\n\nended:: y\ntokens:: 0\na\n"),
        ("## A\n\ntokens:: 1\ntokens:: 2\n", "tokens", 5, "## A\n\ntokens:: 5\ntokens:: 2\n"),
        ("## A\n\na\ntokens:: 1\n", "tokens", 5, "## A\n\ntokens:: 5\n\na\ntokens:: 1\n"),
        ("## A\n## B\n\ntokens:: 1\n", "tokens", 5, "## A\n\ntokens:: 5\n\n## B\n\ntokens:: 1\n"),
    ],
)
def test_a_phase_field_is_set_on_its_own_line_in_its_order(body: str, key: str, value: object, after: str) -> None:
    assert edited(body, set_phase_field, "phase-1", key, value) == after


def test_a_property_is_set_and_none_removes_it() -> None:
    source = Source(HEAD)
    session = read_session(source, "s")
    assert apply_edits(source, set_field(source, session, "status", "paused")).text == HEAD.replace("active", "paused")
    assert apply_edits(source, set_field(source, session, "status", None)).text == HEAD.replace("status: active\n", "")
    assert set_field(source, session, "status", "active") == []
    assert set_field(source, session, "ended", None) == []


# tasks

ONE = '{"id": "1", "content": "x", "status": "pending", "priority": "medium"}'
TWO = ONE.replace('"1"', '"2"')
X, Y = Task("1", "x"), Task("2", "x")
THREE = ONE.replace('"1"', '"3"')
DONE = ONE.replace("pending", "completed")
ONE_Y, TWO_Y = (item.replace('"x"', '"y"') for item in (ONE, TWO))
OTHER = '{"content": "x", "id": 1}'


def block(*items: str) -> str:
    return "\n".join(["```tasks", "[", *items, "]", "```"])


@for_each(
    ("before", "tasks", "after"),
    [
        ([f"  {ONE}"], [X, Y], [f"  {ONE},", f"  {TWO}"]),
        ([f"  {ONE}"], [X, Y, Task("3", "x")], [f"  {ONE},", f"  {TWO},", f"  {THREE}"]),
        ([f"  {ONE},", f"  {TWO}"], [Task("1", "x", "completed"), Y], [f"  {DONE},", f"  {TWO}"]),
        ([f"  {TWO},", f"  {ONE}"], [Y, Task("1", "x", "completed")], [f"  {TWO},", f"  {DONE}"]),
        ([f"  {ONE}"], [Task("1", "x", "completed"), Y], [f"  {DONE},", f"  {TWO}"]),
        (['{"content": "x", "id": "1"},', "", f"\t{TWO} "], [X, Task("2", "y")],
         ['{"content": "x", "id": "1"},', "", f"  {TWO_Y}"]),
        (['{"content": "x", "id": 1} '], [X, Y], ['{"content": "x", "id": 1},', f"  {TWO}"]),
        ([f"  {ONE},", f"  {TWO}"], [Y, X], [f"  {TWO},", f"  {ONE}"]),
        ([f"  {ONE},", f"  {TWO}"], [X], [f"  {ONE}"]),
        ([f"  {ONE},", f"  {TWO}"], [], []),
        ([f"  {ONE}, {TWO}"], [X, Task("2", "y")], [f"  {ONE},", f"  {TWO_Y}"]),
        (['{"id": "1",', '"content": "x"}'], [Task("1", "y")], [f"  {ONE_Y}"]),
        ([], [X], [f"  {ONE}"]),
    ],
)  # fmt: skip
def test_a_task_that_did_not_change_keeps_its_line(before: list[str], tasks: list[Task], after: list[str]) -> None:
    assert edited(f"# T\n\n{block(*before)}\n\nx\n", set_tasks, tasks) == f"# T\n\n{block(*after)}\n\nx\n"


def test_equal_tasks_are_no_edit() -> None:
    assert edited(f"{block(OTHER)}\n", set_tasks, [X]) == f"{block(OTHER)}\n"


@pytest.mark.parametrize(
    ("body", "after"),
    [
        ("# T\n\npre\n\n\n## A\n", f"# T\n\npre\n\n{block(f'  {ONE}')}\n\n\n## A\n"),
        ("# T\n", f"# T\n\n{block(f'  {ONE}')}\n"),
        ("\n## A\n", f"{block(f'  {ONE}')}\n\n## A\n"),
    ],
)
def test_a_new_tasks_block_ends_the_preamble(body: str, after: str) -> None:
    text = edited(body, set_tasks, [X])
    assert text.lstrip("\n") == after
    assert read_session(Source(HEAD + text), "s").tasks == (X,)


def test_a_broken_tasks_block_is_not_overwritten() -> None:
    with pytest.raises(EditRefused, match=r"^s:9: the tasks block is broken") as refused:
        edited("# T\n\n```tasks\n[{]\n```\n", set_tasks, [X])
    assert refused.value.hint == "fix its JSON and try again"


def test_an_edit_knows_the_lines_of_what_it_adds() -> None:
    source = Source("## A\n\nx\n\n## B\n")
    (edit,) = add_entry(source, read_session(source, "s"), Decision("d"), "phase-1")
    assert edit.span == source.span_of(Lines(3, 3))
