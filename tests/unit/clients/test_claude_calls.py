"""Results of calls: outcomes, feedback, details, tasks, subagents."""

from __future__ import annotations

import pytest

from crucible.clients.claude_code.call_results import peel_agent_tail
from crucible.clients.events import (
    CallEnd,
    Injected,
    Prompted,
    PromptKind,
    Replied,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
)
from tests.cases import for_each
from tests.unit.clients.building import (
    Row,
    assistant,
    envelope,
    one,
    only,
    queue,
    queued,
    read_rows,
    result,
    text,
    use,
    user,
)

REJECTED = (
    "The user doesn't want to proceed with this tool use. The tool use was rejected (eg. if it was a file edit, "
    "the new_string was NOT written to the file). "
)
NOTE = "\n\nNote: The user's next message may contain a correction or preference. Pay close attention — …"


def returned(
    name: str,
    content: object,
    *,
    error: bool | None = None,
    raw: object = None,
    arguments: object = None,
) -> ToolReturned:
    call = {**use(name), "input": arguments or {}}
    return one(read_rows(assistant(call), result(content, error=error, raw=raw)), ToolReturned)


@for_each(
    ("content", "error", "raw", "end", "feedback"),
    [
        ("fine", None, None, CallEnd.OK, ""),
        ("fine", False, {"stdout": "fine"}, CallEnd.OK, ""),
        ("Exit code 1\nno", True, "Error: Exit code 1\nno", CallEnd.FAILED, ""),
        ("<tool_use_error>File does not exist.</tool_use_error>", True, None, CallEnd.FAILED, ""),
        (
            REJECTED + "STOP what you are doing and wait …",
            True,
            "User rejected tool use",
            CallEnd.REJECTED,
            "",
        ),
        (REJECTED + "STOP what you are doing and wait …", None, None, CallEnd.REJECTED, ""),
        ("No.", True, "User rejected tool use", CallEnd.REJECTED, ""),
        (
            REJECTED + 'To tell you how to proceed, the user said:\n  Use tabs,\nnot "spaces"\n',
            True,
            "Error: …",
            CallEnd.REJECTED,
            '  Use tabs,\nnot "spaces"\n',
        ),
        (
            REJECTED + "To tell you how to proceed, the user said:\nUse tabs." + NOTE,
            True,
            None,
            CallEnd.REJECTED,
            "Use tabs.",
        ),
        (
            "Permission for this tool use was denied. The tool use was rejected (eg. …). The user said:\nNot there",
            True,
            None,
            CallEnd.REJECTED,
            "Not there",
        ),
        ("The agent proposed a plan that was rejected by the user. The …", True, None, CallEnd.REJECTED, ""),
        (
            "The user doesn't want to take this action right now. STOP …" + NOTE,
            True,
            None,
            CallEnd.REJECTED,
            "",
        ),
        ("Permission to use Bash has been denied because …", True, None, CallEnd.FAILED, ""),
        ("[Request interrupted by user for tool use]", True, None, CallEnd.INTERRUPTED, ""),
        ("[Request interrupted by user for tool use]", None, None, CallEnd.INTERRUPTED, ""),
        ("<tool_use_error>Sibling tool call errored</tool_use_error>", True, None, CallEnd.INTERRUPTED, ""),
        ("Sibling tool call errored", True, None, CallEnd.INTERRUPTED, ""),
        ("half", False, {"stdout": "half", "interrupted": True}, CallEnd.INTERRUPTED, ""),
    ],
)
def test_a_result_says_how_its_call_ended(
    content: str, error: bool | None, raw: object, end: CallEnd, feedback: str
) -> None:
    event = returned("Bash", content, error=error, raw=raw)
    assert (event.end, event.feedback, event.text) == (end, feedback, content)


def test_calls_and_results_pair_by_id_though_they_interleave() -> None:
    events = read_rows(
        assistant(use("Read", "a"), message="m"),
        assistant(use("Bash", "b"), message="m"),
        result("second", "b"),
        result("first", "a"),
    )
    assert [(event.call, event.name) for event in only(events, ToolUsed)] == [("a", "Read"), ("b", "Bash")]
    assert [(event.call, event.text) for event in only(events, ToolReturned)] == [
        ("b", "second"),
        ("a", "first"),
    ]


def test_a_result_of_blocks_is_their_text_and_counts_images() -> None:
    event = returned("mcp__x__shot", [text("one"), {"type": "image"}, text("two"), {"type": "tool_reference"}])
    assert event.text == "one\ntwo"
    assert event.details == {"images": 1}


def test_several_results_in_one_row_are_all_emitted() -> None:
    blocks = [{"type": "tool_result", "tool_use_id": call, "content": call.upper()} for call in "ab"]
    events = read_rows(assistant(use("Bash", "a"), use("Bash", "b")), user(blocks, toolUseResult={"stdout": "1\n2"}))
    assert [event.text for event in only(events, ToolReturned)] == ["A", "B"]
    assert [event.details for event in only(events, ToolReturned)] == [{"lines": 1, "exit_code": 0}] * 2


@for_each(
    ("name", "arguments", "content", "raw", "facts"),
    [
        ("Bash", {}, "a\nb", {"stdout": "a\nb\n", "stderr": ""}, {"lines": 2, "exit_code": 0}),
        (
            "Bash",
            {},
            "",
            {"stdout": "", "returnCodeInterpretation": "No matches found"},
            {"lines": 0, "note": "No matches found"},
        ),
        ("Bash", {}, "running", {"stdout": "", "backgroundTaskId": "b1"}, {"lines": 0, "background": "b1"}),
        ("Bash", {}, "a", None, {"lines": 1, "exit_code": 0}),
        (
            "Read",
            {},
            "1→x",
            {"type": "text", "file": {"numLines": 3, "totalLines": 90}},
            {"lines": 3, "total_lines": 90},
        ),
        ("Read", {}, "1→x\n2→y", None, {"lines": 2}),
        ("Read", {}, "", {"type": "image", "file": {"base64": ""}}, {"kind": "image"}),
        (
            "Write",
            {"content": "a\nb\n"},
            "File created successfully at: x",
            None,
            {"kind": "create", "lines": 2},
        ),
        (
            "Write",
            {"content": "a"},
            "ok",
            {"type": "update", "content": "a\nb"},
            {"kind": "update", "lines": 2},
        ),
        ("Edit", {"new_string": "a\nb"}, "updated", None, {"kind": "update", "lines": 2}),
        (
            "Edit",
            {"new_string": "a"},
            "updated",
            {"structuredPatch": [{"lines": [" x", "-y", "+z", "+w"]}, 7]},
            {"kind": "update", "lines": 1, "added": 2, "removed": 1},
        ),
        ("MultiEdit", {"edits": [{}, {}]}, "updated", None, {"kind": "update", "edits": 2}),
        ("Grep", {}, "x", {"mode": "content", "numFiles": 0, "numLines": 4}, {"matches": 4}),
        ("Grep", {}, "x", {"numFiles": 2, "filenames": []}, {"matches": 2, "files": 2}),
        ("Grep", {}, "Found 12 files\na", None, {"matches": 12}),
        ("Glob", {}, "No files found", {"numFiles": 0}, {"matches": 0}),
        ("Glob", {}, "No files found", None, {"matches": 0}),
        ("Glob", {}, "a\nb\nc", None, {"matches": 3}),
        ("WebFetch", {}, "x", {"code": 200, "bytes": 9, "url": "…"}, {"code": 200, "bytes": 9}),
        ("WebSearch", {}, "x", {"results": [1, 2]}, {"results": 2}),
        ("WebSearch", {}, "x", None, None),
        ("Skill", {}, "x", {"success": True}, None),
    ],
)
def test_a_result_has_small_facts(
    name: str, arguments: dict[str, object], content: str, raw: object, facts: dict[str, object] | None
) -> None:
    assert returned(name, content, raw=raw, arguments=arguments).details == facts


def test_a_failed_command_has_its_exit_code() -> None:
    event = returned("Bash", "Exit code 127\nnot found\n", error=True, raw="Error: Exit code 127\nnot found")
    assert event.details == {"lines": 1, "exit_code": 127}


def test_a_failed_edit_has_no_facts() -> None:
    assert returned("Edit", "String to replace not found", error=True, arguments={"new_string": "x"}).details is None


# --- tasks ---


def test_a_written_todo_list_is_emitted_whole() -> None:
    todos = [
        {"content": "one", "status": "completed", "activeForm": "…"},
        {"content": "two", "status": "in_progress", "id": "t2", "priority": "high"},
    ]
    events = read_rows(
        assistant(use("TodoWrite", todos=todos)), result("Todos have been modified", raw={"newTodos": []})
    )
    assert one(events, TasksListed).tasks == (
        TaskState("1", "one", "completed"),
        TaskState("t2", "two", "in_progress", "high"),
    )
    assert len(only(events, ToolUsed, ToolReturned)) == 2
    assert not only(read_rows(assistant(use("TodoWrite", todos=todos)), result("no", error=True)), TasksListed)


def test_a_created_task_has_the_id_of_its_result() -> None:
    created = assistant(use("TaskCreate", subject="Write it", description="…"))
    for answer in (
        result("Task #7 created successfully: Write it", raw={"task": {"id": "7", "subject": "Write it"}}),
        result("Task #7 created successfully: Write it"),
    ):
        event = one(read_rows(created, answer), TaskChanged)
        assert (event.id, event.content, event.status) == ("7", "Write it", "pending")


def test_an_updated_task_says_what_changed() -> None:
    update = use("TaskUpdate", taskId="2", status="in_progress", addBlockedBy=["1", 3], addBlocks=["4"])
    events = only(read_rows(assistant(update), result("Updated task #2", raw={"success": True})), TaskChanged)
    assert [(e.id, e.content, e.status, e.adds_dependencies) for e in events] == [
        ("2", None, "in_progress", ("1", "3")),
        ("4", None, None, ("2",)),
    ]


def test_an_update_that_did_not_work_changes_nothing() -> None:
    update = assistant(use("TaskUpdate", taskId="2", status="completed"))
    for answer in (
        result("no", error=True),
        result("no", raw={"success": False}),
        result(REJECTED, error=True),
    ):
        assert not only(read_rows(update, answer), TaskChanged)
    nameless = assistant(use("TaskUpdate", status="completed"))
    assert not only(read_rows(nameless, result("ok")), TaskChanged)


# --- subagents ---

SPAWN = use("Agent", "spawn", subagent_type="Explore", prompt="Find it", description="Find")
TAIL = "agentId: a94e (use SendMessage with to: 'a94e', summary: '<5-10 word recap>' to continue this agent)\n"
USAGE = "<usage>subagent_tokens: 662\ntool_uses: 1\nduration_ms: 71</usage>"


@pytest.mark.parametrize("name", ["Task", "Agent"])
def test_a_spawn_is_a_call_and_a_subagent(name: str) -> None:
    events = read_rows(assistant({**SPAWN, "name": name}))
    assert one(events, ToolUsed).name == name
    started = one(events, SubagentStarted)
    assert (started.call, started.kind, started.task, started.title) == (
        "spawn",
        "Explore",
        "Find it",
        "Find",
    )


def test_a_report_comes_without_the_clients_tail() -> None:
    answer = result([text("Found it.\n\nagentId: x is quoted"), text(TAIL + USAGE)], "spawn")
    event = one(read_rows(assistant(SPAWN), answer), SubagentReturned)
    assert (event.call, event.agent, event.tokens) == ("spawn", "a94e", 662)
    assert event.text == "Found it.\n\nagentId: x is quoted"
    assert not only(read_rows(assistant(SPAWN), answer), ToolReturned)


@pytest.mark.parametrize(
    "tail",
    ["agentId: a94e", TAIL, TAIL + USAGE, "agentId: a94e (for resuming)\n<usage>total_tokens: 9</usage>\n"],
)
def test_every_tail_of_every_version_is_peeled(tail: str) -> None:
    assert peel_agent_tail("Done.\n" + tail)[:2] == ("Done.", "a94e")


@pytest.mark.parametrize("words", ["no tail", "agentId: a94e is what I said, and more", "myagentId: x", ""])
def test_a_report_that_only_talks_of_agents_is_whole(words: str) -> None:
    assert peel_agent_tail(words) == (words, "", None)


def test_the_structured_result_names_the_agent_and_its_tokens() -> None:
    answer = result("Found it.", "spawn", raw={"status": "completed", "agentId": "a1", "totalTokens": 5})
    event = one(read_rows(assistant(SPAWN), answer), SubagentReturned)
    assert (event.agent, event.tokens, event.end) == ("a1", 5, CallEnd.OK)


def test_a_subagent_that_failed_returned_as_failed() -> None:
    for words in ("Agent type 'x' not found", "<tool_use_error>Agent type 'x' not found</tool_use_error>"):
        rows = (assistant(SPAWN), result(words, "spawn", error=True, raw=f"Error: {words}"))
        event = one(read_rows(*rows), SubagentReturned)
        assert (event.end, event.text) == (CallEnd.FAILED, "Agent type 'x' not found")


def test_the_structured_report_is_emitted_whole() -> None:
    report = "Found it.\n\nagentId: x (is what I searched)"
    raw = {"status": "completed", "agentId": "a1", "content": [text(report), text("More.")]}
    rows = (assistant(SPAWN), result([text(report), text("More."), text(TAIL + USAGE)], "spawn", raw=raw))
    assert one(read_rows(*rows), SubagentReturned).text == f"{report}\nMore."


def test_a_silent_subagent_has_an_empty_report() -> None:
    raw = {"status": "completed", "agentId": "a1", "content": []}
    rows = (assistant(SPAWN), result("(Agent completed with no output)", "spawn", raw=raw))
    assert one(read_rows(*rows), SubagentReturned).text == ""


def test_a_report_without_its_call_is_a_subagents_report() -> None:
    raw = {
        "status": "completed",
        "agentId": "a1",
        "prompt": "Find it",
        "content": [text("Found it.")],
        "totalTokens": 5,
    }
    events = read_rows(result([text("Found it."), text(TAIL)], "gone", raw=raw))
    started, returned = one(events, SubagentStarted), one(events, SubagentReturned)
    assert (started.call, started.agent, started.task) == ("gone", "a1", "Find it")
    assert (returned.call, returned.agent, returned.text, returned.tokens) == ("gone", "a1", "Found it.", 5)
    assert not only(events, ToolReturned)


def test_a_spawn_that_the_user_rejected_keeps_what_the_user_said() -> None:
    said = REJECTED + "To tell you how to proceed, the user said:\nDo it yourself"
    events = read_rows(assistant(SPAWN), result(said, "spawn", error=True))
    assert one(events, ToolReturned).feedback == "Do it yourself"
    assert one(events, SubagentReturned).end is CallEnd.REJECTED


def notice(status: str = "completed", *, call: str = "spawn", task: str = "a5", more: str = "") -> str:
    return (
        f"<task-notification>\n<task-id>{task}</task-id>\n<tool-use-id>{call}</tool-use-id>\n<status>{status}</status>\n"
        f'<summary>Agent "Find" {status}</summary>\n{more}</task-notification>'
    )


LAUNCHED = result(
    "Async agent launched successfully.\nagentId: a5 (internal ID)\n…",
    "spawn",
    raw={"isAsync": True, "agentId": "a5"},
)
REPORT = "<result>Found <result>it</result> & <status>more</status></result>\n<usage><subagent_tokens>77</subagent_tokens></usage>"


def test_a_background_subagent_returns_with_its_notice() -> None:
    events = read_rows(assistant(SPAWN), LAUNCHED, user(notice(more=REPORT), origin={"kind": "task-notification"}))
    assert [event.agent for event in only(events, SubagentStarted)] == ["", "a5"]
    event = one(events, SubagentReturned)
    assert (event.call, event.agent, event.tokens) == ("spawn", "a5", 77)
    assert event.text == "Found <result>it</result> & <status>more</status>"


def test_the_stub_of_an_old_background_subagent_names_it_in_its_text() -> None:
    stub = result("Async agent launched successfully.\nagentId: a7\nThe agent is working", "spawn")
    assert only(read_rows(assistant(SPAWN), stub), SubagentStarted)[-1].agent == "a7"


@pytest.mark.parametrize(
    ("status", "end", "words"),
    [
        ("completed", CallEnd.OK, ""),
        ("failed", CallEnd.FAILED, 'Agent "Find" failed'),
        ("killed", CallEnd.INTERRUPTED, ""),
    ],
)
def test_a_notice_says_how_the_subagent_ended(status: str, end: CallEnd, words: str) -> None:
    event = one(read_rows(assistant(SPAWN), LAUNCHED, user(notice(status))), SubagentReturned)
    assert (event.end, event.text) == (end, words)


OLD_NOTICE = (
    "<agent-notification>\n<agent-id>a5</agent-id>\n<output-file>/tmp/a5.output</output-file>\n<status>completed</status>\n"
    '<summary>Agent "Find" completed.</summary>\nRead the output file to retrieve the full result.\n</agent-notification>'
)


def fetched(
    output: str, call: str = "out", *, status: str = "completed", kind: str = "local_agent", **more: object
) -> tuple[Row, Row]:
    task = {"task_id": "a5", "task_type": kind, "status": status, "output": output, "result": output, **more}
    answer = result(f"<output>\n{output}\n</output>", call, raw={"retrieval_status": "success", "task": task})
    return assistant(use("TaskOutput", call, task_id="a5")), answer


def test_the_report_of_a_background_subagent_is_fetched_once() -> None:
    log = '[Tool: Bash] {"command":"ls"}\nLet me look.\n[Tool: Read] {"file_path":"x"}\n## Report\n\nFound it.'
    rows = (assistant(SPAWN), LAUNCHED, *fetched(log), *fetched(log, "again"))
    event = one(read_rows(*rows), SubagentReturned)
    assert (event.call, event.agent, event.text, event.end) == (
        "spawn",
        "a5",
        "## Report\n\nFound it.",
        CallEnd.OK,
    )
    assert [e.call for e in only(read_rows(*rows), ToolReturned)] == ["out", "again"]


def test_a_notice_without_a_report_takes_none_away() -> None:
    rows = (assistant(SPAWN), LAUNCHED, *fetched("Found it."), user(OLD_NOTICE))
    assert one(read_rows(*rows), SubagentReturned).text == "Found it."
    later = (assistant(SPAWN), LAUNCHED, user(OLD_NOTICE), *fetched("Found it."))
    assert [event.text for event in only(read_rows(*later), SubagentReturned)] == ["", "Found it."]


def test_a_subagent_that_the_user_stopped_has_no_report() -> None:
    rows = (assistant(SPAWN), result("[Request interrupted by user for tool use]", "spawn", error=True))
    event = one(read_rows(*rows), SubagentReturned)
    assert (event.end, event.text) == (CallEnd.INTERRUPTED, "")


def test_a_stop_of_a_subagent_after_its_report_is_emitted() -> None:
    rows = (assistant(SPAWN), LAUNCHED, *fetched("Found it."), user(notice("killed")), user(notice("killed")))
    ends = [(event.text, event.end) for event in only(read_rows(*rows), SubagentReturned)]
    assert ends == [("Found it.", CallEnd.OK), ("", CallEnd.INTERRUPTED)]


def test_a_background_task_that_still_runs_or_is_no_subagent_reports_nothing() -> None:
    for rows in (
        fetched("…", status="running"),
        fetched("…", kind="local_bash"),
        fetched("…", task_id="other"),
    ):
        assert not only(read_rows(assistant(SPAWN), LAUNCHED, *rows), SubagentReturned)


def test_a_background_subagent_that_failed_says_why() -> None:
    rows = fetched("", status="failed", error="out of tokens")
    event = one(read_rows(assistant(SPAWN), LAUNCHED, *rows), SubagentReturned)
    assert (event.end, event.text) == (CallEnd.FAILED, "out of tokens")


def test_a_notice_may_name_the_agent_alone() -> None:
    events = read_rows(assistant(SPAWN), LAUNCHED, user(notice(call="", more="<result>again</result>")))
    assert one(events, SubagentReturned).call == "spawn"


def test_a_notice_through_the_queue_is_emitted_once() -> None:
    words = notice(more=REPORT)
    events = read_rows(
        assistant(SPAWN),
        LAUNCHED,
        queue("enqueue", words),
        assistant(use("Bash", "b")),
        queue("remove", words, reason="absorbed_mid_turn"),
        queued(words, commandMode="task-notification", origin={"kind": "task-notification"}),
        result("ok", "b"),
    )
    assert one(events, SubagentReturned).tokens == 77


def test_a_notice_of_a_background_command_is_no_subagent() -> None:
    events = read_rows(user(notice(call="bash-1", task="b1")))
    assert one(events, Injected).kind == "task-notification"
    assert not only(events, SubagentReturned)


def test_rows_of_a_subagent_inside_the_oldest_trunks_get_its_name() -> None:
    events = read_rows(
        assistant(use("Task", "one", prompt="Find it"), use("Task", "two", prompt="Count it")),
        user("Count it", isSidechain=True, uuid="c1"),
        user("Find it", isSidechain=True, uuid="f1"),
        assistant(text("counting"), isSidechain=True, parentUuid="c1", uuid="c2"),
        assistant(text("finding"), isSidechain=True, parentUuid="f1", uuid="f2"),
        assistant(text("counted"), isSidechain=True, parentUuid="c2", uuid="c3"),
        result("counted", "two"),
    )
    assert [(e.text, e.at.agent) for e in only(events, Replied)] == [
        ("counting", "c1"),
        ("finding", "f1"),
        ("counted", "c1"),
    ]
    assert {e.kind for e in only(events, Prompted)} == {PromptKind.TASK}
    named = [(e.call, e.agent, e.at.agent) for e in only(events, SubagentStarted) if e.agent]
    assert named == [("two", "c1", ""), ("one", "f1", "")]
    assert one(events, SubagentReturned).agent == "c1"


def test_subagent_rows_embedded_in_progress_are_emitted_once_as_its_own() -> None:
    inner = assistant(text("Looking"), uuid="inner-1")
    asked = user("Find it", uuid="inner-0")

    def progress(message: object, **data: object) -> dict[str, object]:
        whole = {"type": "agent_progress", "agentId": "a9", "prompt": "", "message": message, **data}
        return envelope("progress", data=whole, parentToolUseID="spawn", toolUseID="agent_msg_1")

    rows = [
        progress(asked),
        progress(inner),
        progress(inner),
        progress("x"),
        progress(inner, type="bash_progress"),
    ]
    events = read_rows(assistant(SPAWN), *rows, envelope("progress", data={"type": "hook_progress"}))
    reply = one(events, Replied)
    assert (reply.at.agent, reply.at.row) == ("a9", "inner-1")
    assert one(events, Prompted).at.agent == "a9"
    assert [(e.agent, e.at.agent) for e in only(events, SubagentStarted)] == [("", ""), ("a9", "")]


def test_a_subagents_own_file_leaves_out_copies_of_the_trunk() -> None:
    rows = (
        user("of the trunk"),
        user("of the agent", isSidechain=True, agentId="a1"),
        user("of a newer one", agentId="a1"),
    )
    prompts = only(read_rows(*rows, agent="a1"), Prompted)
    assert [(e.text, e.at.agent) for e in prompts] == [("of the agent", "a1"), ("of a newer one", "a1")]
