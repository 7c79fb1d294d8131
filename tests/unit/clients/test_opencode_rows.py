"""The events of OpenCode's rows: databases of 1.2 and 2.0 made by hand."""

from __future__ import annotations

from pathlib import Path

import pytest

from crucible.clients.events import (
    Answered,
    CallEnd,
    Compacted,
    ContextSeen,
    Event,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from tests.unit.clients.building import one, only
from tests.unit.clients.opencode_building import (
    SECOND,
    SESSION,
    START,
    Row,
    events,
    insert,
    make,
    talk,
    text,
    tool,
)

RUN_RULES = '[{"permission":"question","action":"deny"},{"permission":"plan_enter","action":"deny"}]'
TOKENS = {"input": 10, "output": 5, "reasoning": 3, "cache": {"read": 100, "write": 20}}


def agent_said(folder: Path, *parts: Row, **data: object) -> list[Event]:
    made = talk(folder)
    made.user(text("Hello"))
    made.agent(*parts, **data)  # type: ignore[arg-type]
    return events(folder)


def user_said(folder: Path, *parts: Row, **session: object) -> list[Event]:
    made = talk(folder, **session)
    made.user(*parts)
    made.agent(text("Yes."))
    return events(folder)


def test_a_turn_of_words_and_thoughts(tmp_path: Path) -> None:
    found = agent_said(tmp_path, {"type": "step-start"}, {"type": "reasoning", "text": "Hm."}, text("Hi."))
    assert [type(event) for event in found] == [ContextSeen, Prompted, Reasoned, Replied, Answered, Titled]
    context = found[0]
    assert isinstance(context, ContextSeen)
    assert (context.session, context.cwd, context.version) == (SESSION, "/home/dev/project", "1.2.0")
    assert one(found, Replied).model == "m"


@pytest.mark.parametrize(
    "title", ["New session - 2026-11-22T04:37:33.433Z", "Child session - 2026-11-22T04:37:33.433Z", ""]
)
def test_a_stopgap_is_no_title(tmp_path: Path, title: str) -> None:
    assert not only(user_said(tmp_path, text("Hello"), title=title), Titled)


def test_text_that_the_client_adds_to_a_prompt_is_injected(tmp_path: Path) -> None:
    found = user_said(
        tmp_path,
        text("Look at @app.py"),
        text("Called the Read tool", synthetic=True),
        text("not sent", ignored=True),
        {"type": "file", "mime": "image/png", "url": "data:image/png;base64,AAAA"},
        {"type": "file", "mime": "text/plain", "url": "file:///app.py"},
        {"type": "agent", "name": "explore"},
    )
    prompt = one(found, Prompted)
    assert (prompt.text, prompt.images, prompt.kind) == ("Look at @app.py", 1, PromptKind.TYPED)
    assert [event.text for event in only(found, Injected)] == ["Called the Read tool", "not sent"]


@pytest.mark.parametrize(
    ("kept", "said"),
    [
        ('"Say \\"this\\" now"', 'Say "this" now'),
        ("Say", "Say"),
        ('"one two" three', '"one two" three'),
        ('"one two" "three four"', '"one two" "three four"'),
        ('"Say"', '"Say"'),
    ],
)
def test_the_command_line_quotes_one_argument(tmp_path: Path, kept: str, said: str) -> None:
    assert one(user_said(tmp_path / "run", text(kept), permission=RUN_RULES), Prompted).text == said
    assert one(user_said(tmp_path / "typed", text(kept)), Prompted).text == kept


def test_a_command_that_the_user_ran_is_a_shell_prompt(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("The following tool was executed by the user", synthetic=True))
    made.agent(tool("bash", input={"command": "ls"}, output="app.py", time={"start": START + 400, "end": START + 500}))
    found = events(tmp_path)
    prompt = one(found, Prompted)
    assert (prompt.text, prompt.kind) == ("!ls", PromptKind.SHELL)
    assert [event.text for event in only(found, Injected)] == ["app.py"]
    assert not only(found, ToolUsed, ToolReturned, Answered)


@pytest.mark.parametrize(
    ("state", "end", "feedback"),
    [
        ({"metadata": {"exit": 0}}, CallEnd.OK, ""),
        ({"metadata": {"exit": 2}}, CallEnd.FAILED, ""),
        ({"status": "error", "error": "File not found: x"}, CallEnd.FAILED, ""),
        (
            {"status": "error", "error": "The user rejected permission to use this specific tool call."},
            CallEnd.REJECTED,
            "",
        ),
        (
            {
                "status": "error",
                "error": "The user rejected permission to use this specific tool call "
                "with the following feedback: Use git mv",
            },
            CallEnd.REJECTED,
            "Use git mv",
        ),
        ({"status": "error", "error": "Tool execution aborted"}, CallEnd.INTERRUPTED, ""),
        ({"status": "running"}, CallEnd.INTERRUPTED, ""),
        ({"status": "pending"}, CallEnd.INTERRUPTED, ""),
        (
            {"output": "x\n\n<bash_metadata>\nUser aborted the command\n</bash_metadata>"},
            CallEnd.INTERRUPTED,
            "",
        ),
        (
            {"output": "<shell_metadata>\nterminated command after exceeding timeout 5 ms\n</shell_metadata>"},
            CallEnd.FAILED,
            "",
        ),
    ],
)
def test_how_a_call_ends(tmp_path: Path, state: Row, end: CallEnd, feedback: str) -> None:
    returned = one(agent_said(tmp_path, tool("bash", **state)), ToolReturned)
    assert (returned.call, returned.end, returned.feedback) == ("call-1", end, feedback)


def test_an_unknown_tool_keeps_the_name_it_was_called_by(tmp_path: Path) -> None:
    found = agent_said(
        tmp_path, tool("invalid", input={"tool": "frob", "error": "no such tool"}, output="no such tool")
    )
    assert one(found, ToolUsed).name == "frob"
    assert one(found, ToolReturned).end is CallEnd.FAILED


@pytest.mark.parametrize(
    ("part", "details"),
    [
        (
            tool("read", metadata={"display": {"lineStart": 3, "lineEnd": 5, "totalLines": 9}}),
            {"lines": 3, "total_lines": 9},
        ),
        (tool("read", output="<file>\n00001| a\n00002| b\n</file>"), {"lines": 2}),
        (
            tool("write", input={"content": "a\nb"}, metadata={"exists": False}),
            {"kind": "create", "lines": 2},
        ),
        (tool("write", input={"content": "a\n"}, metadata={"exists": True}), {"kind": "update", "lines": 1}),
        (
            tool("edit", metadata={"filediff": {"additions": 2, "deletions": 1}}),
            {"kind": "update", "added": 2, "removed": 1},
        ),
        (tool("grep", metadata={"matches": 4}), {"matches": 4}),
        (tool("glob", metadata={"count": 0}), {"matches": 0}),
        (tool("bash", output="a\nb\n", metadata={"exit": 0}), {"lines": 2, "exit_code": 0}),
    ],
)
def test_small_facts_of_a_result(tmp_path: Path, part: Row, details: Row) -> None:
    assert one(agent_said(tmp_path, part), ToolReturned).details == details


def test_a_list_of_tasks(tmp_path: Path) -> None:
    todos = [
        {"content": "Do it", "status": "in_progress", "priority": "high"},
        {"id": "x", "content": "Then"},
        "odd",
    ]
    listed = one(agent_said(tmp_path, tool("todowrite", input={"todos": todos})), TasksListed)
    assert [(t.id, t.content, t.status, t.priority) for t in listed.tasks] == [
        ("1", "Do it", "in_progress", "high"),
        ("x", "Then", "pending", ""),
    ]


@pytest.mark.parametrize(
    "output",
    [
        '<task id="ses_child" state="completed">\n<task_result>\nAll is well.\n</task_result>\n</task>',
        "All is well.\n\n<task_metadata>\nsession_id: ses_child\n</task_metadata>",
        '<subagent sessionID="ses_child" state="completed">\nAll is well.\n</subagent>',
        '<task id="ses_child" state="completed">\n<summary>done</summary>\n<task_result>\nAll is well.\n</task_result>\n</task>',
    ],
)
def test_a_subagent_reports_without_the_tags_of_the_client(tmp_path: Path, output: str) -> None:
    given = {"description": "Look", "prompt": "Look around.", "subagent_type": "explore"}
    found = agent_said(tmp_path, tool("task", input=given, output=output))
    begun, back = one(found, SubagentStarted), one(found, SubagentReturned)
    assert (begun.kind, begun.task, begun.title) == ("explore", "Look around.", "Look")
    assert (back.call, back.agent, back.text, back.end) == ("call-1", "ses_child", "All is well.", CallEnd.OK)
    assert not only(found, ToolReturned)


def test_a_subagent_in_the_background_reports_by_a_notice(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("Begin"))
    made.agent(tool("task", output='<task id="ses_b" state="running">\n</task>', metadata={"sessionId": "ses_b"}))
    notice = '<task id="ses_b" state="completed">\n<task_result>\nDone there.\n</task_result>\n</task>'
    made.user(text(notice, synthetic=True))
    found = events(tmp_path)
    assert one(found, SubagentStarted).agent == "ses_b"
    back = one(found, SubagentReturned)
    assert (back.agent, back.text) == ("ses_b", "Done there.")
    assert len(only(found, Prompted)) == 1


@pytest.mark.parametrize(
    ("state", "end"),
    [("completed", CallEnd.OK), ("error", CallEnd.FAILED), ("cancelled", CallEnd.INTERRUPTED)],
)
def test_a_subagent_ends_as_its_report_says(state: str, end: CallEnd, tmp_path: Path) -> None:
    tag = "task_error" if state == "error" else "task_result"
    words = "First.\n\n</task_result> is a tag.\n\nLast."
    notice = f'<task id="ses_b" state="{state}">\n<{tag}>\n{words}\n</{tag}>\n</task>'
    called = one(agent_said(tmp_path / "called", tool("task", output=notice)), SubagentReturned)
    told = one(user_said(tmp_path / "told", text(notice, synthetic=True)), SubagentReturned)
    assert (called.text, called.end) == (told.text, told.end) == (words, end)


def test_a_notice_that_a_subagent_continues_is_no_end(tmp_path: Path) -> None:
    notice = '<task id="ses_b" state="running">\n</task>'
    assert not only(user_said(tmp_path, text(notice, synthetic=True)), SubagentReturned)


@pytest.mark.parametrize(
    ("more", "said"),
    [({"total": 135}, 5), ({"total": 138}, 8), ({}, 8)],
)
def test_reasoning_counts_once(tmp_path: Path, more: Row, said: int) -> None:
    found = agent_said(tmp_path, text("Hi."), {"type": "step-finish", "reason": "stop", "tokens": {**TOKENS, **more}})
    usage = one(found, UsageCounted)
    assert (usage.fresh, usage.written, usage.cached, usage.said, usage.model) == (30, 20, 100, said, "m")


def test_a_message_without_steps_is_counted_by_itself_and_each_step_of_several_alone(tmp_path: Path) -> None:
    assert one(agent_said(tmp_path / "none", text("Hi."), tokens=TOKENS), UsageCounted).fresh == 30
    step = {"type": "step-finish", "tokens": TOKENS}
    counted = only(agent_said(tmp_path / "two", step, text("Hi."), step, tokens=TOKENS), UsageCounted)
    assert len({event.message for event in counted}) == 2


def test_how_a_message_breaks(tmp_path: Path) -> None:
    error = {"name": "APIError", "data": {"message": "Overloaded", "statusCode": 529}}
    assert one(agent_said(tmp_path / "fault", error=error), Faulted).text == "Overloaded (529)"
    stopped = agent_said(tmp_path / "stop", error={"name": "MessageAbortedError", "data": {"message": "Aborted"}})
    assert one(stopped, Interrupted).in_tool is False
    retried = agent_said(tmp_path / "retry", {"type": "retry", "attempt": 1, "error": error}, text("Now."))
    assert [type(event) for event in retried[2:5]] == [Faulted, Replied, Answered]


def test_a_compaction_keeps_its_summary_out_of_the_answers(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user({"type": "compaction", "auto": True})
    made.agent(text("So far: much."), summary=True, mode="compaction")
    found = events(tmp_path)
    compacted = one(found, Compacted)
    assert (compacted.trigger, compacted.summary) == ("auto", "So far: much.")
    assert not only(found, Replied, Prompted, Answered)


def test_words_that_were_taken_back_stay_and_their_turns_are_counted(tmp_path: Path) -> None:
    made = talk(tmp_path, revert=f'{{"messageID":"msg_{3:026d}"}}')
    for words in ("One", "Two", "Three"):
        made.user(text(words))
        made.agent(text("Yes."))
    found = events(tmp_path)
    assert [event.text for event in only(found, Prompted)] == ["One", "Two", "Three"]
    told = one(found, Rewound)
    assert (told.turns, told.at.row) == (2, f"msg_{3:026d}.revert")
    assert [event.at.line for event in found] == sorted(event.at.line for event in found)


def test_reverting_a_missing_message_removes_no_turn(tmp_path: Path) -> None:
    assert one(user_said(tmp_path, text("Hello"), revert='{"messageID":"msg_7"}'), Rewound).turns is None


def test_a_session_whose_parent_is_gone_was_asked_by_an_agent(tmp_path: Path) -> None:
    found = user_said(tmp_path, text("Look around"), parent_id="ses_gone")
    assert [(e.text, e.kind) for e in only(found, Prompted)] == [("Look around", PromptKind.TASK)]


def test_a_new_folder_is_emitted(tmp_path: Path) -> None:
    found = agent_said(tmp_path, text("Hi."), path={"cwd": "/elsewhere"})
    assert [event.cwd for event in only(found, ContextSeen)] == ["/home/dev/project", "/elsewhere"]


def test_unknown_parts_are_named_and_unreadable_ones_located(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("Hello"), {"type": "hologram"})
    made.agent({"type": "hologram"}, text("Hi."))
    made.message({"role": "ghost"})
    made.agent(text("x"))
    made.connection.execute("UPDATE part SET data = '{oops' WHERE data LIKE '%\"x\"%'")
    made.message("{oops", text("Still here."))
    found = events(tmp_path)
    assert [event.type for event in only(found, Unknown)] == [
        "part/hologram",
        "part/hologram",
        "message/ghost",
    ]
    assert [event.reason.split(" ")[0] for event in only(found, Unreadable)] == ["part", "message"]
    assert [event.text for event in only(found, Prompted)] == ["Hello", "Still here."]


# --- 2.0 -------------------------------------------------------------------------------------------------------------


def second(folder: Path, *rows: tuple[str, Row]) -> list[Event]:
    connection = make(folder / "opencode.db", SECOND)
    insert(
        connection,
        "session_v2",
        id=SESSION,
        directory="/p",
        version="2.0.14",
        title="Two",
        time_created=START,
    )
    for number, (kind, data) in enumerate(rows, 1):
        times = {"time_created": START + number * 1000, "time_updated": START + number * 1000 + 900}
        insert(
            connection,
            "session_message",
            id=f"msg_{number}",
            session_id=SESSION,
            type=kind,
            seq=number * 3,
            data=data,
            **times,
        )
    return events(folder)


STEP = {"agent": "build", "model": {"id": "big", "providerID": "p"}, "finish": "tool-calls"}


def test_a_session_of_the_second_generation(tmp_path: Path) -> None:
    call = {
        "type": "tool",
        "id": "c1",
        "name": "shell",
        "state": {
            "status": "completed",
            "input": {"command": "false"},
            "content": [
                {"type": "text", "text": "no"},
                {"type": "text", "text": "Command exited with code 1."},
            ],
            "metadata": {"exit": 1},
        },
        "time": {"created": START + 2200, "ran": START + 2300, "completed": START + 2400},
    }
    thought = {
        "type": "reasoning",
        "text": "Hm.",
        "time": {"created": START + 2050, "completed": START + 2100},
    }
    tokens = {"input": 10, "output": 4, "reasoning": 6, "cache": {"read": 2, "write": 1}}
    found = second(
        tmp_path,
        ("user", {"text": "Do it", "files": [{"mime": "image/png"}]}),
        ("assistant", {**STEP, "content": [thought, {"type": "text", "text": "Now."}, call], "tokens": tokens,
                       "time": {"created": START + 2000, "streamed": START + 2300, "completed": START + 2500}}),
        ("assistant", {**STEP, "finish": "stop", "content": [{"type": "text", "text": "Done."}],
                       "time": {"created": START + 3000, "completed": START + 3500}}),
        ("idle", {"outcome": "succeeded"}),
        ("shell", {"command": "ls", "output": {"output": "app.py"}, "time": {"completed": START + 5100}}),
        ("synthetic", {"text": 'The following shell command was executed by the user:\n<shell id="1">ls</shell>'}),
        ("compaction", {"status": "completed", "reason": "manual", "summary": "Much."}),
        ("model-switched", {"model": {"id": "other"}}),
        ("hologram", {}),
    )  # fmt: skip
    assert [type(event).__name__ for event in found] == [
        *("ContextSeen", "Prompted", "Reasoned", "Replied", "ToolUsed", "ToolReturned", "UsageCounted"),
        *("Replied", "Answered", "Prompted", "Injected", "Injected", "Compacted", "Unknown", "Titled"),
    ]
    returned, usage = one(found, ToolReturned), one(found, UsageCounted)
    assert (returned.text, returned.end) == ("no", CallEnd.FAILED)
    assert (usage.fresh, usage.cached, usage.said, usage.model) == (11, 2, 10, "big")
    assert [(e.text, e.kind, e.images) for e in only(found, Prompted)] == [
        ("Do it", PromptKind.TYPED, 1),
        ("!ls", PromptKind.SHELL, 0),
    ]


def test_failures_of_the_second_generation(tmp_path: Path) -> None:
    error = {"type": "provider.invalid-request", "message": "No such model", "status": 400}
    found = second(
        tmp_path,
        ("user", {"text": "Do it"}),
        (
            "assistant",
            {**STEP, "finish": "error", "content": [], "error": error, "time": {"completed": START + 2100}},
        ),
        ("idle", {"outcome": "failed"}),
        ("user", {"text": "Again"}),
        ("idle", {"outcome": "interrupted"}),
        ("compaction", {"status": "failed", "error": {"message": "too long"}}),
        ("compaction", {"status": "running"}),
    )
    assert [event.text for event in only(found, Faulted)] == ["No such model (400)", "too long"]
    assert len(only(found, Interrupted)) == 1


def test_a_streaming_step_is_emitted_up_to_its_last_complete_part(tmp_path: Path) -> None:
    running = {
        "type": "tool",
        "id": "c",
        "name": "shell",
        "time": {"created": START + 2100},
        "state": {"status": "streaming", "input": "{"},
    }
    content = [{"type": "text", "text": "I will."}, running, {"type": "text", "text": "Strea"}]
    found = second(
        tmp_path,
        ("user", {"text": "Go"}),
        ("assistant", {**STEP, "content": content, "time": {"created": START + 2000}}),
    )
    assert [event.text for event in only(found, Replied)] == ["I will."]
    assert not only(found, ToolUsed)


def test_a_session_in_both_generations_is_read_from_the_newer_rows(tmp_path: Path) -> None:
    made = talk(tmp_path)
    made.user(text("Old words"))
    made.connection.executescript(SECOND)
    assert [event.text for event in only(events(tmp_path), Prompted)] == ["Old words"]
    insert(made.connection, "session_v2", id=SESSION, directory="/p", time_created=START)
    insert(
        made.connection,
        "session_message",
        id="m",
        session_id=SESSION,
        type="user",
        seq=1,
        data={"text": "New words"},
    )
    assert [event.text for event in only(events(tmp_path), Prompted)] == ["New words"]
