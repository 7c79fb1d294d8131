"""A note read, part by part: headings, fields, entries, their lines, and what is said about what is untidy."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import pytest

from crucible.documents.markdown.source import NOWHERE, Lines, Source
from crucible.documents.session.note_entries import CALLOUT_KINDS, read_calls, read_heading
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
    Status,
    Subagent,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.task_block import read_tasks
from tests.cases import for_each

WHEN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
HEAD = "---\ntype: session\nsession_id: s\nstarted: 2026-11-21T20:26:47Z\nstatus: active\n---\n"
"""Six lines: the body begins on line 6, counted from 0."""


def read(body: str, head: str = HEAD) -> Session:
    return read_session(Source(head + body), "s")


def said(session: Session) -> list[tuple[str, int, str]]:
    return [(p.code, p.line, p.message) for p in session.problems]


def entries(body: str) -> list[Entry]:
    session = read(f"## P\n\n{body}")
    assert session.problems == ()
    assert len(session.phases) == 1
    return list(session.phases[0].entries)


def one(body: str) -> Entry:
    (entry,) = entries(body)
    return entry


# --- headings -----------------------------------------------------------------------------------------------------


@for_each(
    ("text", "name", "agent", "channel"),
    [
        ("Build it", "Build it", None, None),
        ("Build it @a", "Build it", AgentRef("a"), None),
        ("Build it @a@1.2 #dev", "Build it", AgentRef("a", "1.2"), "dev"),
        ("Build it #dev @a@1.2", "Build it", AgentRef("a", "1.2"), "dev"),
        ("Build it   @a  #dev  ", "Build it", AgentRef("a"), "dev"),
        ("Build it\t#dev", "Build it\t#dev", None, None),
        ("Build @b it @a", "Build @b it", AgentRef("a"), None),
        ("Build @b @a", "Build @b", AgentRef("a"), None),
        ("Build #x #dev", "Build #x", None, "dev"),
        ("Build #x word #dev", "Build #x word", None, "dev"),
        ("Fix #12", "Fix #12", None, None),
        ("Fix #1a", "Fix", None, "1a"),
        ("Mail a@b.c", "Mail a@b.c", None, None),
        ("C#", "C#", None, None),
        ("It @", "It @", None, None),
        ("It #", "It #", None, None),
        ("It @a,b", "It @a,b", None, None),
        ("It @a@1@2", "It @a@1@2", None, None),
        ("@a #dev", "", AgentRef("a"), "dev"),
        (
            "It @my/a.b:c+d-e@v1/2.3:4+5-6 #x/y.z:1+2-3",
            "It",
            AgentRef("my/a.b:c+d-e", "v1/2.3:4+5-6"),
            "x/y.z:1+2-3",
        ),
        (r"Not \@a", "Not @a", None, None),
        (r"Not \#dev @a", "Not #dev", AgentRef("a"), None),
        (r"Not \\@a", r"Not \@a", None, None),
        (r"\#dev", "#dev", None, None),
        (r"A [\[link", "A [[link", None, None),
        (r"Keep a \word", r"Keep a \word", None, None),
    ],
)
def test_a_heading_ends_in_its_markers(text: str, name: str, agent: AgentRef | None, channel: str | None) -> None:
    assert read_heading(text) == (name, agent, channel)


def test_headings_make_phases_and_sub_phases_with_ordinal_ids() -> None:
    session = read("# T\n\n## A\n\n### B\n\n### C\n\n## D\n\n### E\n\n#### no\n")
    assert [(p.id, p.name) for p in session.all_phases()] == [
        ("phase-1", "A"),
        ("phase-1.1", "B"),
        ("phase-1.2", "C"),
        ("phase-2", "D"),
        ("phase-2.1", "E"),
    ]
    assert session.phases[1].subphases[0].entries == (Prose("#### no"),)


def test_a_heading_without_a_name_is_untitled() -> None:
    assert [p.name for p in read("##\n\n## @a\n").phases] == ["Untitled", "Untitled"]


def test_a_sub_phase_needs_a_phase_above_it() -> None:
    session = read("### not\n\n## A\n")
    assert session.preamble == (Prose("### not"),)
    assert [p.id for p in session.all_phases()] == ["phase-1"]


def test_the_title_is_the_first_level_one_heading_before_the_phases() -> None:
    session = read("\n# One\n\n# Two\n\n## A\n\n# Three\n")
    assert session.title == "One"
    assert session.title_lines == Lines(7, 8)
    assert session.preamble == (Prose("# Two"),)
    assert session.phases[0].entries == (Prose("# Three"),)


def test_a_title_after_prose_is_a_title() -> None:
    session = read("Above.\n\n# T\n\nBelow.\n")
    assert (session.title, session.preamble) == ("T", (Prose("Above."), Prose("Below.")))


@pytest.mark.parametrize(
    ("line", "title"), [(r"# A \##", "A ##"), (r"# A \\#", r"A \#"), (r"# \#", "#"), (r"# A \b", r"A \b")]
)
def test_a_title_that_ends_in_hashes_is_read_without_its_backslash(line: str, title: str) -> None:
    assert read(f"{line}\n").title == title


def test_headings_in_fences_quotes_comments_and_html_are_no_phases() -> None:
    body = "```\n## a\n```\n\n> ## b\n\n%%\n## c\n%%\n\n<!--\n## d\n-->\n\n- x\n  ## e\n"
    session = read(f"## P\n\n{body}")
    assert [p.name for p in session.phases] == ["P"]
    assert session.phases[0].entries == (Prose(body.strip("\n")),)


# --- where things stand ---------------------------------------------------------------------------------------------

WHOLE = """\
# T

Pre.

```tasks
[
  {"id": "1", "content": "x"}
]
```

## A

started:: 2026-11-21T20:26:47Z

Text.

**Tool calls:**
- `a` → 1
- `b` → 2

### Sub

In sub.

---

## B

> [!decision]
> D

---

## Summary

All done.
"""


def test_every_part_knows_its_lines() -> None:
    session = read(WHOLE)
    assert session.problems == ()
    assert session.title_lines == Lines(6, 7)
    assert session.preamble_lines == Lines(6, 16)
    assert session.tasks_lines == Lines(10, 15)
    a, b = session.phases
    assert (a.lines, a.body_end) == (Lines(16, 32), 25)
    assert (a.subphases[0].lines, a.subphases[0].body_end) == (Lines(26, 32), 29)
    assert (b.lines, b.body_end) == (Lines(32, 39), 36)
    assert session.summary_lines == Lines(39, 43)  # the empty last line too, as in an editor
    prose, calls = a.entries
    assert isinstance(calls, ToolCalls)
    assert (prose.lines.end, calls.lines) == (21, Lines(22, 25))
    assert [call.lines for call in calls.calls] == [Lines(23, 24), Lines(24, 25)]
    assert b.entries[0].lines == Lines(34, 36)


def test_every_part_is_read() -> None:
    assert read(WHOLE) == Session(
        id="s",
        started=WHEN,
        title="T",
        preamble=(Prose("Pre."),),
        tasks=(Task("1", "x"),),
        phases=(
            Phase(
                "A",
                started=WHEN,
                entries=(Prose("Text."), ToolCalls((ToolCall("a", "1"), ToolCall("b", "2")))),
                subphases=(Phase("Sub", entries=(Prose("In sub."),)),),
            ),
            Phase("B", entries=(Decision("D"),)),
        ),
        summary="All done.",
    )


def test_an_empty_body_stands_nowhere() -> None:
    session = read("")
    assert (session.title, session.preamble, session.phases, session.summary) == ("", (), (), None)
    assert session.title_lines is session.tasks_lines is session.summary_lines is NOWHERE
    assert session.preamble_lines == Lines(6, 7)


def test_a_bare_phase_ends_its_body_under_its_heading() -> None:
    session = read("## A\n## B\n\n\n")
    a, b = session.phases
    assert (a.lines, a.body_end) == (Lines(6, 7), 7)
    assert (b.lines, b.body_end) == (Lines(7, 11), 8)


# --- fields ---------------------------------------------------------------------------------------------------------


def test_fields_under_the_heading_are_read() -> None:
    session = read("## A\nstarted:: 2026-11-21T20:26:47Z\nended::2026-11-21T20:26:48Z\ntokens::  7 \nText.\n")
    assert session.phases == (
        Phase("A", started=WHEN, ended=WHEN + timedelta(seconds=1), tokens=7, entries=(Prose("Text."),)),
    )
    assert session.phases[0].entries[0].lines == Lines(10, 11)


def test_a_repeated_field_ends_the_fields() -> None:
    (phase,) = read("## A\n\ntokens:: 1\ntokens:: 2\n").phases
    assert (phase.tokens, phase.entries) == (1, (Prose("tokens:: 2"),))


def test_fields_stand_in_the_first_paragraph_only() -> None:
    (phase,) = read("## A\n\nText.\n\ntokens:: 1\n").phases
    assert (phase.tokens, phase.entries) == (None, (Prose("Text.\n\ntokens:: 1"),))
    (phase,) = read("## A\n\ntokens:: 1\n\nended:: 2026-11-21T20:26:47Z\n").phases
    assert (phase.tokens, phase.ended) == (1, None)
    (phase,) = read("## A\n\n> [!decision]\n> x\n\ntokens:: 1\n").phases
    assert (phase.tokens, phase.entries) == (None, (Decision("x"), Prose("tokens:: 1")))


def test_the_preamble_has_no_fields() -> None:
    assert read("# T\n\ntokens:: 1\n").preamble == (Prose("tokens:: 1"),)


def test_a_phase_with_fields_alone_ends_its_body_below_them() -> None:
    assert read("## A\n\ntokens:: 1\n\n## B\n").phases[0].body_end == 9


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("tokens:: 1,000", "tokens:: '1,000' is not a whole number"),
        ("tokens:: -1", "tokens:: '-1' is not a whole number"),
        ("tokens:: ٣", "tokens:: '٣' is not a whole number"),
        ("tokens::", "tokens:: '' is not a whole number"),
        ("tokens:: " + "9" * 19, f"tokens:: '{'9' * 19}' is not a whole number"),
        ("started:: now", "started:: 'now' is not a time"),
        ("ended:: " + "x" * 61, f"ended:: '{'x' * 60}' is not a time"),
    ],
)
def test_a_field_that_does_not_fit_is_said_and_counts_as_absent(line: str, message: str) -> None:
    session = read(f"## A\n\n{line}\n")
    assert said(session) == [("bad-field", 9, message)]
    assert session.phases == (Phase("A"),)


def test_a_count_may_have_eighteen_digits() -> None:
    assert read(f"## A\n\ntokens:: {'9' * 18}\n").phases[0].tokens == 10**18 - 1


# --- prose and rules --------------------------------------------------------------------------------------------------


def test_adjacent_prose_is_one_entry() -> None:
    assert one("One.\n\n\n- a\n- b\n\n```\ncode\n```\n\n> quote\n\n#### Four\n") == Prose(
        "One.\n\n\n- a\n- b\n\n```\ncode\n```\n\n> quote\n\n#### Four"
    )


def test_a_rule_before_a_section_is_decoration_and_any_other_is_prose() -> None:
    session = read("## A\n\na\n\n---\n\nb\n\n---\n\n## B\n\n---\n\n### C\n\nc\n\n---\n")
    assert session.phases == (
        Phase("A", entries=(Prose("a\n\n---\n\nb"),)),
        Phase("B", subphases=(Phase("C", entries=(Prose("c"),)),)),
    )


def test_of_two_rules_the_first_is_prose() -> None:
    assert read("## A\n\n***\n\n---\n\n## B\n").phases[0].entries == (Prose("***"),)


def test_a_separator_after_an_entry_is_dropped_and_one_at_the_start_is_not() -> None:
    assert entries("**Tool calls:**\n- `a` → 1\n\n<!-- -->\n\n- item\n") == [
        ToolCalls((ToolCall("a", "1"),)),
        Prose("- item"),
    ]
    assert one("<!-- -->\n\n- item\n") == Prose("<!-- -->\n\n- item")


def test_prose_may_stand_directly_under_a_separator() -> None:
    assert entries("**Tool calls:**\n- `a` → 1\n\n<!-- -->\n- item\n- more\n")[1] == Prose("- item\n- more")


def test_prose_may_begin_on_the_first_line_of_a_note() -> None:
    assert read("a\n\n```\nx\n```\n\nb\n", head="").preamble == (Prose("a\n\n```\nx\n```\n\nb"),)


def test_escapes_of_contained_text_are_taken_off() -> None:
    assert one("\\## Not a phase\n\n[\\[x]]\n") == Prose("## Not a phase\n\n[[x]]")


# --- summary ----------------------------------------------------------------------------------------------------------


def test_the_summary_is_no_phase_and_holds_everything_to_the_next() -> None:
    session = read("## A\n\n## summary\n\nOne.\n\n### Two\n\n> [!decision]\n> x\n\n---\n\n## B\n")
    assert [p.name for p in session.phases] == ["A", "B"]
    assert session.phases[1].id == "phase-2"
    assert session.summary == "One.\n\n### Two\n\n> [!decision]\n> x"
    assert session.summary_lines == Lines(8, 19)
    assert session.phases[0].lines == Lines(6, 8)


def test_an_empty_summary_is_there() -> None:
    assert read("## Summary\n").summary == ""


def test_a_rule_inside_the_summary_stays() -> None:
    assert read("## Summary\n\na\n\n---\n\nb\n\n---\n").summary == "a\n\n---\n\nb"


@pytest.mark.parametrize(
    "heading", ["## Summary @a", "## Summary #dev", "## Summary\n\ntokens:: 1", "## Summary of it"]
)
def test_a_summary_with_a_marker_or_a_field_is_a_phase(heading: str) -> None:
    session = read(f"{heading}\n\nText.\n")
    assert session.summary is None
    assert [p.name for p in session.phases] == ["Summary of it" if "of" in heading else "Summary"]
    assert session.phases[0].entries == (Prose("Text."),)


def test_a_second_summary_is_said_and_is_a_phase() -> None:
    session = read("## Summary\n\na\n\n## Summary\n\nb\n")
    assert session.summary == "a"
    assert session.phases == (Phase("Summary", entries=(Prose("b"),)),)
    assert said(session) == [("second-summary", 11, "a second summary; read as a phase")]


# --- tasks ------------------------------------------------------------------------------------------------------------


def test_the_tasks_block_stands_before_the_first_phase() -> None:
    block = '```tasks\n[{"id": "1", "content": "x"}]\n```\n'
    assert read(block).tasks == (Task("1", "x"),)
    late = read(f"## A\n\n{block}")
    assert late.tasks == ()
    assert late.phases[0].entries == (Prose(block.strip()),)
    assert read("```tasks-not\n[]\n```\n").preamble == (Prose("```tasks-not\n[]\n```"),)
    assert read("```tasks now\n[]\n```\n").preamble == ()


def test_a_second_tasks_block_is_said_and_kept_as_text() -> None:
    block = '```tasks\n[{"id": "1", "content": "x"}]\n```'
    session = read(f"a\n\n{block}\n\nb\n\n{block}\n\nc\n")
    assert session.tasks == (Task("1", "x"),)
    assert session.preamble == (Prose("a"), Prose(f"b\n\n{block}\n\nc"))
    assert said(session) == [("second-tasks", 15, "a second task list; kept as text")]


def test_an_unclosed_tasks_block_is_read() -> None:
    session = read('```tasks\n[{"id": "1", "content": "x"}]\n')
    assert session.tasks == (Task("1", "x"),)
    assert [p.code for p in session.problems] == ["unclosed-fence"]


TASK = (
    '{"id": 7, "content": "x", "status": "completed", "priority": "low", "depends_on": [1, "2"],'
    ' "started": 3, "completed": "c", "owner": "me"}'
)


def test_every_key_of_a_task_is_read() -> None:
    (task,), problems = read_tasks(f"[{TASK}]", 4)
    assert task == Task("7", "x", "completed", "low", ("1", "2"), "3", "c", {"owner": "me"})
    assert problems == []


@pytest.mark.parametrize("status", ["pending", "in_progress", "cancelled"])
def test_a_task_that_is_not_completed_has_no_time_of_that(status: str) -> None:
    (task,), _ = read_tasks(f'[{{"id": 1, "content": "x", "status": "{status}", "completed": "c"}}]', 0)
    assert task == Task("1", "x", status)


def test_a_task_needs_only_an_id_and_its_content() -> None:
    (task,), _ = read_tasks('[{"id": "1", "content": ""}]', 0)
    assert task == Task("1", "", "pending", "medium", (), None, None, {})


def test_what_is_wrong_with_tasks_is_said_on_the_line_of_the_block() -> None:
    tasks, problems = read_tasks(
        '[{"id": 1, "content": "x", "status": "done", "priority": "top"}, {"id": 2}, 3, {"content": "x"},'
        ' {"id": 2, "content": 5}, {"id": "1", "content": "y"}, {"id": 3, "content": "z", "depends_on": "1"}]',
        10,
    )
    assert [(t.id, t.content, t.depends_on) for t in tasks] == [
        ("1", "x", ()),
        ("1", "y", ()),
        ("3", "z", ()),
    ]
    assert [(p.code, p.line, p.message) for p in problems] == [
        ("bad-task", 11, "task 1: status 'done' is not one of pending, in_progress, completed, cancelled"),
        ("bad-task", 11, "task 1: priority 'top' is not one of high, medium, low"),
        ("broken-tasks", 11, "task 2 has no `id` or `content`"),
        ("broken-tasks", 11, "task 3 has no `id` or `content`"),
        ("broken-tasks", 11, "task 4 has no `id` or `content`"),
        ("broken-tasks", 11, "task 5 has no `id` or `content`"),
        ("bad-task", 11, "task 1: the id is repeated"),
    ]


@pytest.mark.parametrize(
    ("text", "line", "message"),
    [
        ("[\n{]", 12, "the tasks block is not JSON: Expecting property name enclosed in double quotes"),
        ("{}", 11, "the tasks block is not a JSON list"),
        ("", 11, "the tasks block is not JSON: Expecting value"),
    ],
)
def test_a_block_that_is_no_list_is_said_with_its_line(text: str, line: int, message: str) -> None:
    tasks, (problem,) = read_tasks(text, 10)
    assert tasks == ()
    assert (problem.code, problem.line) == ("broken-tasks", line)
    assert problem.message.startswith(message)


def test_tasks_nested_too_deeply_are_no_json() -> None:
    tasks, (problem,) = read_tasks("[" * 200_000, 10)
    assert (tasks, problem.code, problem.line) == ((), "broken-tasks", 11)


def test_a_problem_inside_the_tasks_block_has_its_line_in_the_file() -> None:
    session = read('# T\n\n```tasks\n[\n{"id": 1, "content": "x"}\n{"id": 2}\n]\n```\n')
    assert [(p.code, p.line) for p in session.problems] == [("broken-tasks", 12)]
    assert session.tasks_lines == Lines(8, 14)


# --- tool calls ---------------------------------------------------------------------------------------------------------


def call(item: str) -> ToolCall:
    entry = one(f"**Tool calls:**\n{item}\n")
    assert isinstance(entry, ToolCalls)
    (found,) = entry.calls
    return found


@for_each(
    ("item", "found"),
    [
        ("- `Bash ls` → ok", ToolCall("Bash ls", "ok")),
        ("- `Bash ls` -> ok", ToolCall("Bash ls", "ok")),
        ("* `Bash ls` → ok", ToolCall("Bash ls", "ok")),
        ("+   `Bash ls` → ok", ToolCall("Bash ls", "ok")),
        ("- `Bash ls` →", ToolCall("Bash ls")),
        ("- `Bash ls` →ok", ToolCall("Bash ls", "ok")),
        ("- `Bash ls`→ ok", ToolCall("Bash ls", "ok")),
        ("- `Bash ls`  ->  ok  ", ToolCall("Bash ls", "ok")),
        ("-\t`Bash ls` → ok", ToolCall("Bash ls", "ok")),
        ("- `` a ` b `` → ok", ToolCall("a ` b", "ok")),
        ("- ` a ` → ok", ToolCall("a", "ok")),
        ("- ` a` → ok", ToolCall(" a", "ok")),
        ("- `  ` → ok", ToolCall("  ", "ok")),
        ("- `a` → b → c", ToolCall("a", "b → c")),
        ("- `a` → ❌ no", ToolCall("a", "no", Outcome.FAILED)),
        ("- `a` → ❌no", ToolCall("a", "no", Outcome.FAILED)),
        ("- `a` → ❌", ToolCall("a", "", Outcome.FAILED)),
        ("- `a` → 🚫 no", ToolCall("a", "no", Outcome.REJECTED)),
        ("- `a` → ⏹ no", ToolCall("a", "no", Outcome.INTERRUPTED)),
        ("- `a` → ⏹\ufe0f no", ToolCall("a", "no", Outcome.INTERRUPTED)),
        ("- `a` → ⏳", ToolCall("a", "", Outcome.PENDING)),
        ("- `a` → \\❌ no", ToolCall("a", "❌ no")),
        ("- `a` → \\\\❌ no", ToolCall("a", "\\❌ no")),
        ("- `a` → \\x", ToolCall("a", "\\x")),
        ("- `a` → see [\\[x]]", ToolCall("a", "see [[x]]")),
    ],
)
def test_a_list_item_is_a_call(item: str, found: ToolCall) -> None:
    assert call(item) == found


def test_the_tool_of_a_call_is_its_first_word() -> None:
    assert [ToolCall(text).tool for text in ("Bash ls -l", "Bash", "")] == ["Bash", "Bash", ""]


def test_a_wrapped_result_is_joined() -> None:
    found = one("**Tool calls:**\n- `a` → one\n  two\n   three\n- `b` → x\n\n- `c` → y\n")
    assert found == ToolCalls((ToolCall("a", "one two three"), ToolCall("b", "x"), ToolCall("c", "y")))
    assert isinstance(found, ToolCalls)
    assert [c.lines for c in found.calls] == [Lines(9, 12), Lines(12, 13), Lines(14, 15)]


def test_an_item_that_is_no_call_ends_the_calls_and_is_prose() -> None:
    session = read("## P\n\n**Tool calls:**\n- `a` → 1\n- just text\n- `b` → 2\n")
    calls, prose = session.phases[0].entries
    assert calls == ToolCalls((ToolCall("a", "1"),))
    assert prose == Prose("- just text\n- `b` → 2")
    assert (calls.lines, prose.lines) == (Lines(8, 10), Lines(10, 12))
    assert session.phases[0].body_end == 12


@pytest.mark.parametrize("item", ["- `a` => b", "- `a`", "- `a → b"])
def test_a_call_without_an_arrow_is_said_and_kept_as_text(item: str) -> None:
    session = read(f"## P\n\n**Tool calls:**\n{item}\n- `b` → 2\n")
    assert session.phases[0].entries == (Prose(f"**Tool calls:**\n{item}\n- `b` → 2"),)
    assert [(code, line) for code, line, _ in said(session)] == [("broken-call", 10)]
    later = read(f"## P\n\n**Tool calls:**\n- `b` → 2\n{item}\n")
    assert [(code, line) for code, line, _ in said(later)] == [("broken-call", 11)]


@pytest.mark.parametrize("item", ["- text", "1. `a` → b"])
def test_a_list_without_any_call_is_prose_with_its_heading_line(item: str) -> None:
    assert one(f"**Tool calls:**\n{item}\n") == Prose(f"**Tool calls:**\n{item}")


def test_the_line_alone_is_prose() -> None:
    assert one("**Tool calls:**\n\nText.\n") == Prose("**Tool calls:**\n\nText.")
    assert one("**Tool calls:**\n") == Prose("**Tool calls:**")
    assert one("**Tool calls:**\n\n**Tool calls:**\n") == Prose("**Tool calls:**\n\n**Tool calls:**")


def test_a_list_without_the_line_is_prose() -> None:
    assert one("- `a` → 1\n") == Prose("- `a` → 1")


def test_prose_before_and_after_calls_is_apart() -> None:
    assert entries("a\n\n**Tool calls:**\n- `a` → 1\n\nb\n\n**Tool calls:**\n- `b` → 2\n") == [
        Prose("a"),
        ToolCalls((ToolCall("a", "1"),)),
        Prose("b"),
        ToolCalls((ToolCall("b", "2"),)),
    ]


def test_calls_know_their_lines_and_how_many_they_take() -> None:
    calls, taken = read_calls(["- `a` → 1", "", "- `b` → 2", "", "- no", "- `c` → 3"], 40)
    assert [(c.call, c.lines) for c in calls] == [("a", Lines(40, 41)), ("b", Lines(42, 43))]
    assert taken == 3
    assert read_calls(["- no"], 0) == ([], 0)


# --- callouts -----------------------------------------------------------------------------------------------------------


@for_each(
    ("lines", "entry"),
    [
        ("> [!decision]\n> Take it.", Decision("Take it.")),
        ("> [!DECISION]+ Take it.", Decision("Take it.")),
        ("> [!decision] Take it.\n> More.", Decision("Take it.\nMore.")),
        ("> [!decision]\n> A.\n> Rationale: B.\n> C.", Decision("A.", "B.\nC.")),
        ("> [!decision]\n> A.\n>\n> Rationale:\n> B.\n>", Decision("A.", "B.")),
        ("> [!decision]\n> A.\n> Rationale:  B.\n> Rationale: C.", Decision("A.", "B.\nRationale: C.")),
        ("> [!decision]\n> A.\n> Resolution: B.", Decision("A.\nResolution: B.")),
        ("> [!decision]\n> A. Rationale: B.", Decision("A. Rationale: B.")),
        ("> [!decision]\n> A.\n> rationale: B.", Decision("A.\nrationale: B.")),
        ("> [!decision]\n> A.\n> Rationale\\: B.", Decision("A.\nRationale: B.")),
        ("> [!decision]\n> ```\n> Rationale: B.\n> ```", Decision("```\nRationale: B.\n```")),
        ("> [!decision]\n> Rationale: B.", Decision("", "B.")),
        ("> [!decision]\n> Rationale:", Decision("", "")),
        ("> [!error]\n> A.\n> Resolution: B.", Failure("A.", "B.")),
        ("> [!error] A.", Failure("A.")),
        ("> [!error]\n> A.\n> Rationale: B.", Failure("A.\nRationale: B.")),
        ("> [!milestone] Half\n> way", Callout("milestone", "Half", "way")),
        ("> [!Observation]\n> It\n>\n> rains", Callout("observation", "", "It\n\nrains")),
        ("> [!agent_switch] a \\:\\: b", Callout("agent_switch", r"a \:\: b", "")),
        ("> [!decision_needed] Which?", Callout("decision_needed", "Which?", "")),
        ("> [!approval_required] May I?", Callout("approval_required", "May I?", "")),
        ("> [!task_complete] Done", Callout("task_complete", "Done", "")),
        ("> [!abstract] Brief\n> x", Callout("abstract", "Brief", "x")),
        ("> [!abstract] BRIEF\n> x", Callout("abstract", "BRIEF", "x")),
    ],
)
def test_a_callout_is_an_entry(lines: str, entry: Entry) -> None:
    assert one(f"{lines}\n") == entry


@pytest.mark.parametrize(
    "lines",
    ["> [!note] x", "> [!abstract] Other\n> x", "> [!abstract]\n> x", "> quote", "> [!summary] Brief"],
)
def test_other_callouts_and_quotes_are_text(lines: str) -> None:
    assert one(f"a\n\n{lines}\n\nb\n") == Prose(f"a\n\n{lines}\n\nb")


def test_the_kinds_that_mean_something() -> None:
    assert (
        frozenset(
            [
                "decision",
                "error",
                "user",
                "subagent",
                "milestone",
                "observation",
                "agent_switch",
                "plan",
                "tool",
                "decision_needed",
                "approval_required",
                "task_complete",
                "abstract",
            ]
        )
        == CALLOUT_KINDS
    )


@for_each(
    ("body", "words", "note"),
    [
        ('"Do it"', "Do it", None),
        ('"Do it" - it was done', "Do it", "it was done"),
        ('"Do it" -\n- a\n- b', "Do it", "- a\n- b"),
        ('"Do\nit" - now\nthen', "Do\nit", "now\nthen"),
        ('"Say "x" - y" - z', 'Say "x', 'y" - z'),
        ('"Say "x" \\- y" - z', 'Say "x" - y', "z"),
        ('"a" -b', 'a" -b', None),
        ('"a" - ', "a", None),
        ('"a" -', "a", None),
        ('"a"\tb', 'a"\tb', None),
        ('"open', "open", None),
        ("no quotes", "no quotes", None),
        ('it\'s "so"', 'it\'s "so"', None),
        ('""', "", None),
        ('"\n```\n" - x\n```\n"', '```\n" - x\n```', None),
        ('"\n```\n" - x\n```\n" - noted', '```\n" - x\n```', "noted"),
        ('\n"a"', "a", None),
        ('"a"\n', "a", None),
    ],
)
def test_a_user_s_words_are_quoted_exactly_and_come_first(body: str, words: str, note: str | None) -> None:
    lines = "\n".join(["> [!user]", *(f"> {line}" for line in body.split("\n"))])
    assert one(f"{lines}\n") == Intervention(words, note)


def test_words_without_quotes_stand_on_the_lines_of_their_callout() -> None:
    for words in ("a", '"a"', '"a" - b'):
        assert one(f"> [!user]\n> {words}\n").lines == Lines(8, 10)


def test_an_empty_user_callout_has_no_words() -> None:
    assert one("> [!user]\n") == Intervention("")
    assert one('> [!user] "Do it"\n') == Intervention("Do it")


# --- subagents ----------------------------------------------------------------------------------------------------------


@for_each(
    ("title", "agent", "model"),
    [
        ("@a", AgentRef("a"), None),
        ("@a@1", AgentRef("a", "1"), None),
        ("@a@1 (opus)", AgentRef("a", "1"), "opus"),
        ("@a (opus 4)", AgentRef("a"), "opus 4"),
        ("a (opus)", AgentRef("a"), "opus"),
        ("@a ()", AgentRef("a"), None),
        ("", AgentRef("agent"), None),
        ("two words here", AgentRef("two words here"), None),
    ],
)
def test_a_subagent_s_title_names_agent_and_model(title: str, agent: AgentRef, model: str | None) -> None:
    assert one(f"> [!subagent] {title}\n> x\n") == Subagent(agent, model, text="x")


@for_each(
    ("lines", "subagent"),
    [
        (["mode: link", "[[x]]", "Summary: s"], Subagent(AgentRef("a"), link="x", summary="s")),
        (["[[x]]"], Subagent(AgentRef("a"), link="x")),
        (["→ [[x]]"], Subagent(AgentRef("a"), link="x")),
        (["->[[x|shown]] "], Subagent(AgentRef("a"), link="x")),
        (["[[ x #h]]"], Subagent(AgentRef("a"), link="x")),
        (["![[x]]"], Subagent(AgentRef("a"), mode=Mode.EMBED, link="x")),
        (["mode: embed", "![[x]]"], Subagent(AgentRef("a"), mode=Mode.EMBED, link="x")),
        (["mode:link", "![[x]]"], Subagent(AgentRef("a"), mode=Mode.LINK, link="x")),
        (["mode: other", "text"], Subagent(AgentRef("a"), text="mode: other\ntext")),
        (["see [[x]]"], Subagent(AgentRef("a"), text="see [[x]]")),
        (["[[x]]", "[[y]]", "z"], Subagent(AgentRef("a"), link="x", text="[[y]]\nz")),
        (
            ["[[x]]", "t", "Summary: s", "more"],
            Subagent(AgentRef("a"), link="x", text="t", summary="s\nmore"),
        ),
        (["[[x]]", "Task: t"], Subagent(AgentRef("a"), link="x", text="Task: t")),
        (
            ["```", "mode: embed", "```", "[[x]]"],
            Subagent(AgentRef("a"), link="x", text="```\nmode: embed\n```"),
        ),
    ],
)
def test_a_subagent_s_lines(lines: list[str], subagent: Subagent) -> None:
    text = "\n".join(f"> {line}" for line in lines)
    assert one(f"> [!subagent] @a\n{text}\n") == subagent


INLINE = """\
> [!subagent] @a@1 (m)
> mode: inline
> Words.
>
> Task: Find
> it.
>
> > Looked.
> >
> > **Tool calls:**
> > - `Grep x` → 3
> >
> > ## no phase
> >
> > > [!decision]
> > > D
> >
> > > [!subagent] @b
> > > mode: inline
> > >
> > > > Deep.
>
> Summary: Found
> it.
"""


def test_work_kept_inline_is_read_one_level_deeper() -> None:
    assert one(INLINE) == Subagent(
        AgentRef("a", "1"),
        "m",
        Mode.INLINE,
        None,
        "Words.",
        "Found\nit.",
        "Find\nit.",
        (
            Prose("Looked."),
            ToolCalls((ToolCall("Grep x", "3"),)),
            Prose("## no phase"),
            Decision("D"),
            Subagent(AgentRef("b"), mode=Mode.INLINE, entries=(Prose("Deep."),)),
        ),
    )


def test_what_is_inside_an_inline_subagent_stands_nowhere_in_the_note() -> None:
    entry = one(INLINE)
    assert isinstance(entry, Subagent)
    calls = entry.entries[1]
    assert isinstance(calls, ToolCalls)
    assert [inner.lines for inner in (*entry.entries, *calls.calls)] == [NOWHERE] * 6
    assert entry.lines == Lines(8, 32)


@pytest.mark.parametrize(
    ("lines", "text", "task", "summary"),
    [
        (["mode: inline", "", "> W"], "", None, None),
        (["mode: inline", "T", "", "> W"], "T", None, None),
        (["mode: inline", "Task: T", "", "> W"], "", "T", None),
        (["mode: inline", "Task: T", "", "> W", "", "Summary: S"], "", "T", "S"),
        (["mode: inline", "\\> Q", "", "> W"], "> Q", None, None),
    ],
)
def test_task_and_summary_of_inline_work_may_be_absent(
    lines: list[str], text: str, task: str | None, summary: str | None
) -> None:
    body = "\n".join(f"> {line}".rstrip() for line in lines)
    assert one(f"> [!subagent] @a\n{body}\n") == Subagent(
        AgentRef("a"), mode=Mode.INLINE, text=text, task=task, summary=summary, entries=(Prose("W"),)
    )


def test_an_inline_subagent_without_work_has_no_entries() -> None:
    assert one("> [!subagent] @a\n> mode: inline\n> Task: T\n") == Subagent(AgentRef("a"), mode=Mode.INLINE, task="T")


# --- what is said -------------------------------------------------------------------------------------------------------


def test_bytes_that_are_not_utf_8_are_said_with_their_line() -> None:
    source = Source.from_bytes((HEAD + "# é\n\n").encode() + b"caf\xe9\n")
    assert said(read_session(source, "s")) == [("not-utf8", 9, "bytes that are not UTF-8")]


def test_problems_of_all_parts_come_in_the_order_of_the_lines() -> None:
    session = read("## A\n\ntokens:: x\n\n```\nopen\n", HEAD.replace("active", "gone"))
    assert [(p.code, p.line) for p in session.problems] == [
        ("bad-field", 5),
        ("bad-field", 9),
        ("unclosed-fence", 11),
    ]


# --- the model ------------------------------------------------------------------------------------------------------------


def test_an_agent_is_a_name_and_perhaps_a_version() -> None:
    assert AgentRef.parse("a@1@2") == AgentRef("a", "1@2")
    assert AgentRef.parse("a") == AgentRef.parse("a@") == AgentRef("a", None)
    assert [str(AgentRef("a", "1")), str(AgentRef("a"))] == ["a@1", "a"]


@for_each(
    ("entries", "status"),
    [
        ((), "success"),
        ((Failure("x"),), "failed"),
        ((Failure("x", ""),), "failed"),
        ((Failure("x", "mended"),), "success"),
        ((Failure("x", "mended"), Failure("y")), "failed"),
        ((ToolCalls((ToolCall("a", outcome=Outcome.FAILED),)),), "failed"),
        ((ToolCalls((ToolCall("a", outcome=Outcome.FAILED), ToolCall("b"))),), "success"),
        ((ToolCalls((ToolCall("a", outcome=Outcome.REJECTED),)), Prose("x")), "success"),
        (
            (ToolCalls((ToolCall("a"),)), Prose("x"), ToolCalls((ToolCall("b", outcome=Outcome.FAILED),))),
            "failed",
        ),
    ],
)
def test_a_phase_failed_when_an_error_stayed_or_its_last_call_failed(entries: tuple[Entry, ...], status: str) -> None:
    assert Phase("P", entries=entries).status == status
    assert Phase("P", subphases=(Phase("Q", entries=entries),)).status == status


def test_all_entries_and_calls_come_in_the_order_of_the_note() -> None:
    inner = Subagent(AgentRef("a"), mode=Mode.INLINE, entries=(ToolCalls((ToolCall("hidden"),)),))
    sub = Phase("B", entries=(ToolCalls((ToolCall("2"), ToolCall("3"))),))
    session = Session(
        "s",
        preamble=(ToolCalls((ToolCall("0"),)),),
        phases=(
            Phase("A", entries=(ToolCalls((ToolCall("1"),)), inner), subphases=(sub,)),
            Phase("C", entries=(ToolCalls((ToolCall("4"),)),)),
        ),
    )
    assert [c.call for c in session.calls()] == ["1", "2", "3", "4"]
    assert [p.name for p in session.all_phases()] == ["A", "B", "C"]
    assert len(list(session.all_entries())) == 4


@for_each(
    ("session", "seconds"),
    [
        (Session("s"), None),
        (Session("s", WHEN), None),
        (Session("s", WHEN, ended=WHEN + timedelta(seconds=9)), 9),
        (Session("s", WHEN, ended=WHEN), 0),
        (Session("s", WHEN, ended=WHEN - timedelta(seconds=1)), None),
        (Session("s", ended=WHEN), None),
        (Session("s", WHEN, phases=(Phase("A", started=WHEN + timedelta(seconds=5)),)), 5),
        (
            Session(
                "s",
                WHEN,
                phases=(
                    Phase(
                        "A",
                        ended=WHEN + timedelta(seconds=7),
                        subphases=(Phase("B", ended=WHEN + timedelta(seconds=8)),),
                    ),
                    Phase("C", started=WHEN + timedelta(seconds=3)),
                ),
            ),
            8,
        ),
        (
            Session(
                "s",
                WHEN,
                ended=WHEN + timedelta(seconds=2),
                phases=(Phase("A", ended=WHEN + timedelta(seconds=7)),),
            ),
            2,
        ),
    ],
)
def test_a_session_lasts_to_its_end_or_to_the_last_known_time(session: Session, seconds: int | None) -> None:
    assert session.duration() == (None if seconds is None else timedelta(seconds=seconds))


def test_places_do_not_count_for_equality() -> None:
    assert read("## A\n\nx\n") == read("\n\n## A\n\n\nx\n")
    assert read("## A\n\nx\n").phases[0].id == "phase-1"


def test_a_new_session_is_active() -> None:
    assert Session("s").status is Status.ACTIVE


@pytest.mark.parametrize(
    ("link", "found"),
    [
        ("[[x]]", ("x", "")),
        ("[[sessions/x|x]]", ("x", "sessions")),
        ("![[sessions/deep/x|x]]", ("x", "sessions/deep")),
        ("[[sessions/new|old]]", ("new", "sessions")),  # renamed in Obsidian
        ("[[archive/x]]", ("archive/x", "")),
        ("[[archive/x#A|y]]", ("archive/x", "")),
    ],
)
def test_a_subagent_s_link_is_an_id_and_a_folder(link: str, found: tuple[str, str]) -> None:
    session = read_session(Source(f"## A\n\n> [!subagent] @a\n> mode: link\n> {link}\n"), "s")
    [entry] = session.phases[0].entries
    assert isinstance(entry, Subagent)
    assert (entry.link, entry.folder) == found
