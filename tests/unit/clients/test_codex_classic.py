"""Codex's first generation of rollouts: events beside items of the API, one rule per test."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crucible.clients.events import (
    Answered,
    CallEnd,
    Compacted,
    ContextSeen,
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
    TaskState,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from tests.unit.clients.codex_building import (
    Row,
    completed,
    event,
    events_of,
    item,
    meta,
    only,
    output,
    response,
    row,
    said,
    tokens,
)


def call(name: str, call_id: str = "call-1", **arguments: object) -> Row:
    return response("function_call", name=name, arguments=json.dumps(arguments), call_id=call_id)


def ended(folder: Path, *rows: Row) -> ToolReturned:
    (returned,) = only(events_of(folder, meta(), *rows), ToolReturned)
    return returned


# --- who spoke -------------------------------------------------------------------------------------------------------


def test_a_prompt_and_an_answer_logged_twice_are_emitted_once(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        said("user", "Fix it"),
        event("user_message", message="Fix it"),
        event("agent_message", message="Fixed."),
        said("assistant", "Fixed."),
    )
    assert [e.text for e in only(events, Prompted)] == ["Fix it"]
    assert [e.text for e in only(events, Replied)] == ["Fixed."]


def test_the_same_prompt_typed_twice_stays_twice(tmp_path: Path) -> None:
    twice = [said("user", "go on"), event("user_message", message="go on"), said("assistant", "Yes.")]
    assert len(only(events_of(tmp_path, meta(), *twice, *twice), Prompted)) == 2
    turn = [event("task_started"), *twice, event("agent_message", message="Yes."), completed()]
    events = events_of(tmp_path, meta(), *turn, *turn)
    assert (len(only(events, Prompted)), len(only(events, Replied))) == (2, 2)


def test_either_side_alone_is_enough(tmp_path: Path) -> None:
    api = events_of(tmp_path, meta(), said("user", "Fix it"), said("assistant", "Fixed."))
    ui = events_of(tmp_path, meta(), event("user_message", message="Fix it"), event("agent_message", message="Fixed."))
    for events in (api, ui):
        assert [e.text for e in only(events, Prompted)] == ["Fix it"]
        assert [e.text for e in only(events, Replied)] == ["Fixed."]
        assert len(only(events, Answered)) == 1


def test_a_one_sided_message_of_one_turn_does_not_swallow_the_next_turns(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("task_started"),
        said("user", "yes"),
        completed(),
        event("task_started"),
        event("user_message", message="yes"),
    )
    assert len(only(events, Prompted)) == 2


def test_text_that_the_client_adds_is_injected(tmp_path: Path) -> None:
    texts = (
        "<environment_context>\n  <cwd>/x</cwd>\n</environment_context>",
        "<user_instructions>\nBe kind\n</user_instructions>",
        "# AGENTS.md instructions for /home/dev\n\n<INSTRUCTIONS>\nBe kind\n</INSTRUCTIONS>",
        "<permissions instructions>\nall\n</permissions instructions>",
        "<skill>\n<name>x</name>\n</skill>",
    )
    events = events_of(
        tmp_path,
        meta(),
        *(said("user", text) for text in texts),
        said("developer", "Obey."),
        said("system", "Obey."),
        row("event_msg", {"type": "user_message", "message": texts[0], "kind": "environment_context"}),
        event("user_message", message=texts[1]),
    )
    assert not only(events, Prompted)
    assert len(only(events, Injected)) == 9


def test_a_human_may_begin_with_a_tag(tmp_path: Path) -> None:
    events = events_of(tmp_path, meta(), said("user", "<div> is broken, fix it"))
    assert [e.text for e in only(events, Prompted)] == ["<div> is broken, fix it"]
    told = {"content_item_kinds": ["user.text"]}
    quoted = said("user", "<skill> what is this?", internal_chat_message_metadata_passthrough=told)
    assert len(only(events_of(tmp_path, meta(), quoted), Prompted)) == 1


def test_what_is_typed_while_the_agent_works_is_steering(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("task_started"),
        event("user_message", message="Fix it"),
        call("exec_command", cmd="ls"),
        event("user_message", message="But quickly"),
        completed(),
        event("task_started"),
        event("user_message", message="Thanks"),
    )
    assert [e.kind for e in only(events, Prompted)] == [
        PromptKind.TYPED,
        PromptKind.STEERING,
        PromptKind.TYPED,
    ]


def test_pictures_are_counted_on_either_side(tmp_path: Path) -> None:
    parts = [
        {"type": "input_text", "text": "<image name=[Image #1]>"},
        {"type": "input_image", "image_url": "data:"},
        {"type": "input_text", "text": "</image>"},
        {"type": "input_text", "text": "See"},
    ]
    api = response("message", role="user", content=parts)
    ui = event("user_message", message="See", images=[], local_images=["/x.png"])
    for rows in ([api, ui], [ui, api], [api], [ui]):
        assert [(e.text, e.images) for e in only(events_of(tmp_path, meta(), *rows), Prompted)] == [("See", 1)]


def test_a_command_that_the_user_ran_is_theirs(tmp_path: Path) -> None:
    text = "<user_shell_command>\n<command>\nls -l\n</command>\n<result>\nx\n</result>\n</user_shell_command>"
    ui = event("exec_command_end", call_id="c", command=["bash", "-lc", "ls -l"], source="user_shell")
    for rows in ([said("user", text)], [ui], [ui, said("user", text)]):
        events = events_of(tmp_path, meta(), *rows)
        assert [(e.kind, e.text) for e in only(events, Prompted)] == [(PromptKind.SHELL, "!ls -l")]
        assert not only(events, ToolUsed)


def test_thoughts_are_taken_once_and_encrypted_ones_not_at_all(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("agent_reasoning", text="**Look**"),
        response("reasoning", summary=[{"type": "summary_text", "text": "**Look**"}], encrypted_content="x"),
        response("reasoning", summary=[], encrypted_content="gAAAA"),
    )
    assert [e.text for e in only(events, Reasoned)] == ["**Look**"]


def test_a_plan_that_is_shown_apart_is_taken_once(tmp_path: Path) -> None:
    whole = "Here it is.\n<proposed_plan>\n# Plan\nDo it\n</proposed_plan>"
    events = events_of(
        tmp_path,
        meta(),
        event("agent_message", message="Here it is.\n"),
        item("Plan", id="p", text="# Plan\nDo it"),
        said("assistant", whole),
    )
    assert [e.text for e in only(events, Replied)] == ["Here it is.\n", "# Plan\nDo it"]


# --- calls -----------------------------------------------------------------------------------------------------------


def test_results_say_how_a_command_ended(tmp_path: Path) -> None:
    old = json.dumps({"output": "boom\n", "metadata": {"exit_code": 2, "duration_seconds": 0.1}})
    new = "Chunk ID: 1\nWall time: 0.1 seconds\nProcess exited with code 2\nOriginal token count: 1\nOutput:\nboom\n"
    plain = "Exit code: 2\nWall time: 0.1 seconds\nTotal output lines: 1\nOutput:\nboom\n"
    for text in (old, new, plain):
        returned = ended(tmp_path, call("shell", command=["bash", "-lc", "x"]), output(text))
        assert (returned.end, returned.text) == (CallEnd.FAILED, "boom\n")
        assert returned.details == {"lines": 1, "exit_code": 2}
    good = ended(tmp_path, call("shell", command=["ls"]), output(old.replace("2", "0", 1)))
    assert (good.end, good.text) == (CallEnd.OK, "boom\n")


def test_sentences_of_the_client_say_how_a_call_ended(tmp_path: Path) -> None:
    ends = {
        "exec command rejected by user": CallEnd.REJECTED,
        "aborted by user after 2.3s": CallEnd.INTERRUPTED,
        "Wall time: 2.6 seconds\naborted by user": CallEnd.INTERRUPTED,
        "unsupported call: x": CallEnd.FAILED,
        "apply_patch verification failed: no such line": CallEnd.FAILED,
        "failed to parse function arguments: missing field": CallEnd.FAILED,
        "The docs say: rejected by user is a state": CallEnd.OK,
        "": CallEnd.OK,
    }
    for text, end in ends.items():
        assert ended(tmp_path, call("exec_command", cmd="x"), output(text)).end is end, text


def test_a_commands_own_output_is_not_mistaken_for_the_clients_message(tmp_path: Path) -> None:
    text = "Process exited with code 0\nOutput:\nError: this is only the text of a log\n"
    assert ended(tmp_path, call("exec_command", cmd="cat log"), output(text)).end is CallEnd.OK


def test_an_answer_that_is_json_of_a_tools_own_stays_as_it_is(tmp_path: Path) -> None:
    text = '{"output": "mine", "count": 3}'
    assert ended(tmp_path, call("mcp__a__b"), output(text)).text == text


def test_the_result_of_both_sides_is_taken_once_and_the_exit_code_kept(tmp_path: Path) -> None:
    seen = event("exec_command_end", call_id="call-1", command=["ls"], exit_code=1, aggregated_output="no")
    api = output("Exit code: 1\nOutput:\nno")
    for rows in ([seen, api], [api, seen]):
        returned = ended(tmp_path, call("shell", command=["ls"]), *rows)
        assert (returned.end, returned.text) == (CallEnd.FAILED, "no")


def test_a_command_that_runs_on_ends_later(tmp_path: Path) -> None:
    running = output("Wall time: 1 seconds\nProcess running with session ID 7\nOutput:\n")
    done = item("CommandExecution", id="call-1", command=["make"], exit_code=0, aggregated_output="made")
    events = events_of(tmp_path, meta(), call("exec_command", cmd="make"), running, done)
    assert [(e.text, e.details) for e in only(events, ToolReturned)] == [
        ("", {"background": "7"}),
        ("made", {"lines": 1, "exit_code": 0}),
    ]


@pytest.mark.parametrize("told", ["by the look alone", "by the interface too"])
def test_a_poll_returns_the_commands_end_and_succeeds_itself(told: str, tmp_path: Path) -> None:
    done = item("CommandExecution", id="call-1", command=["make"], exit_code=2, aggregated_output="begun\nno")
    events = events_of(
        tmp_path,
        meta(),
        call("exec_command", cmd="make"),
        output("Process running with session ID 7\nOutput:\nbegun\n"),
        response("function_call", name="write_stdin", arguments='{"session_id": 7, "chars": ""}', call_id="call-2"),
        *([done] if told == "by the interface too" else []),
        output("Process exited with code 2\nOutput:\nno\n", "call-2"),
    )
    _, make, look = only(events, ToolReturned)
    assert (make.call, make.end, (make.details or {})["exit_code"]) == ("call-1", CallEnd.FAILED, 2)
    assert (look.call, look.end, look.details) == ("call-2", CallEnd.OK, {"lines": 1})
    assert make.text.strip() in ("no", "begun\nno")


def test_a_command_that_ends_after_the_answer_does_not_reopen_the_turn(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("task_started"),
        call("exec_command", cmd="make"),
        output("Process running with session ID 7\nOutput:\n"),
        said("assistant", "Running."),
        completed(),
        item("CommandExecution", id="call-1", command=["make"], exit_code=-1, status="failed"),
    )
    assert only(events, ToolReturned)[-1].end is CallEnd.INTERRUPTED
    assert isinstance(events[-1], Answered)


def test_a_script_of_the_code_mode_and_each_command_it_ran_are_calls(tmp_path: Path) -> None:
    script = 'text(await tools.exec_command({cmd:"a"})); await tools.exec_command({cmd:"b"})'
    events = events_of(
        tmp_path,
        meta(),
        response("custom_tool_call", name="exec", input=script, call_id="call-1"),
        item("CommandExecution", id="e1", command=["/bin/sh", "-lc", "a"], exit_code=0, stdout="A"),
        item("CommandExecution", id="e2", command=["/bin/sh", "-lc", "b"], exit_code=5, stderr="B"),
        output(
            [{"type": "input_text", "text": "Script completed\nWall time 0.2 seconds\nOutput:\n"}],
            kind="custom_tool_call_output",
        ),
    )
    used = [(e.name, e.arguments) for e in only(events, ToolUsed)]
    assert used == [
        ("exec", {"input": script}),
        ("exec_command", {"cmd": "a"}),
        ("exec_command", {"cmd": "b"}),
    ]
    ends = {e.call: (e.end, e.text) for e in only(events, ToolReturned)}
    assert ends == {"e1": (CallEnd.OK, "A"), "e2": (CallEnd.FAILED, "B"), "call-1": (CallEnd.OK, "")}


def test_a_patch_has_the_number_of_changed_lines(tmp_path: Path) -> None:
    changes = {
        "/p/new.py": {"type": "add", "content": "a\nb\n"},
        "/p/old.py": {"type": "update", "unified_diff": "@@ -1 +1 @@\n-x\n+y\n+z\n"},
    }
    returned = ended(
        tmp_path,
        response("custom_tool_call", name="apply_patch", input="*** Begin Patch", call_id="call-1"),
        event("patch_apply_end", call_id="call-1", stdout="Success.", success=True, changes=changes),
        output('{"output":"Success.","metadata":{"exit_code":0}}', kind="custom_tool_call_output"),
    )
    assert returned.details == {"kind": "update", "files": 2, "added": 4, "removed": 1}
    old_form = {"/p/new.py": {"add": {"content": "a\n"}}}
    event_ = event("patch_apply_end", call_id="c", success=True, changes=old_form)
    assert ended(tmp_path, event_).details == {"kind": "create", "files": 1, "added": 1, "removed": 0}


def test_tools_of_servers_have_the_servers_name(tmp_path: Path) -> None:
    api = response("function_call", name="find", namespace="mcp__docs", arguments="{}", call_id="call-1")
    (used,) = only(events_of(tmp_path, meta(), api), ToolUsed)
    assert used.name == "mcp__docs__find"
    invocation = {"server": "docs", "tool": "find", "arguments": {"q": "x"}}
    seen = event("mcp_tool_call_end", call_id="m", invocation=invocation, result={"Err": "no server"})
    events = events_of(tmp_path, meta(), seen)
    assert [(e.name, e.arguments) for e in only(events, ToolUsed)] == [("mcp__docs__find", {"q": "x"})]
    assert [(e.end, e.text) for e in only(events, ToolReturned)] == [(CallEnd.FAILED, "no server")]


def test_other_calls_are_calls_too(tmp_path: Path) -> None:
    shell = {"type": "exec", "command": ["ls"], "working_directory": None}
    events = events_of(
        tmp_path,
        meta(),
        response("local_shell_call", call_id="a", action=shell),
        response("web_search_call", id="b", action={"type": "search", "query": "retry"}),
        event("web_search_end", call_id="b", query="retry", action={"type": "search", "query": "retry"}),
        response("tool_search_call", call_id="c", arguments={"query": "files"}),
        response("tool_search_output", call_id="c", tools=[{}, {}]),
        response("image_generation_call", id="d", revised_prompt="a cat", result="AAAA"),
    )
    assert [(e.name, e.arguments) for e in only(events, ToolUsed)] == [
        ("local_shell", {"command": ["ls"]}),
        ("web_search", {"query": "retry"}),
        ("tool_search", {"query": "files"}),
        ("image_generation", {"prompt": "a cat"}),
    ]
    assert [e.text for e in only(events, ToolReturned)] == ["", "2 tools", ""]


def test_a_plan_is_the_task_list_once_it_is_accepted(tmp_path: Path) -> None:
    plan = [{"step": "Look", "status": "completed"}, {"step": "Mend", "status": "in_progress"}]
    made = call("update_plan", plan=plan)
    tasks = (TaskState("1", "Look", "completed"), TaskState("2", "Mend", "in_progress"))
    events = events_of(tmp_path, meta(), made, output("Plan updated"))
    assert [e.tasks for e in only(events, TasksListed)] == [tasks]
    assert not only(events_of(tmp_path, meta(), made, output("unsupported call: update_plan")), TasksListed)
    script = "await tools.update_plan({plan:[{step:'Look',status:'completed'},{\"step\":\"Mend\",status:`x`}]})"
    script = script.replace("`x`", '"in_progress"')
    coded = response("custom_tool_call", name="exec", input=script, call_id="call-1")
    done = output("Script completed\nOutput:\n", kind="custom_tool_call_output")
    assert [e.tasks for e in only(events_of(tmp_path, meta(), coded, done), TasksListed)] == [tasks]


# --- tokens ----------------------------------------------------------------------------------------------------------


def test_a_running_total_is_counted_by_its_steps_and_a_repeated_one_is_nothing_new(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        row("turn_context", {"model": "gpt-5", "cwd": "/home/dev/project"}),
        event("token_count", info=None, rate_limits={}),
        tokens((600, 500, 42), (600, 500, 42)),
        tokens((600, 500, 42), (600, 500, 42)),
        tokens((1200, 1000, 84), (600, 500, 42)),
        tokens((1900, 1000, 94)),
        tokens((1900, 1000, 94), (700, 0, 10)),
    )
    counted = only(events, UsageCounted)
    assert [(e.fresh, e.cached, e.said) for e in counted] == [(100, 500, 42), (100, 500, 42), (700, 0, 10)]
    assert len({e.message for e in counted}) == 3
    assert {e.model for e in counted} == {"gpt-5"}


def _record(response_id: str, total: int) -> Row:
    use = {
        "input_tokens": 600,
        "cached_input_tokens": 500,
        "output_tokens": 42,
        "reasoning_output_tokens": 7,
    }
    sums = {key: value * total for key, value in use.items()}
    return row("token_usage_record", {"response_id": response_id, "usage": use, "thread_token_usage": sums})


def test_a_client_killed_between_both_kinds_of_counts_is_counted_once(tmp_path: Path) -> None:
    """Its running total, when it continues, lacks the last response."""
    events = events_of(
        tmp_path,
        meta(),
        event("task_started", turn_id="t1"),
        _record("r1", 1),
        tokens((600, 500, 42), (600, 500, 42)),
        _record("r2", 2),
        event("task_started", turn_id="t2"),
        _record("r3", 3),
        tokens((1200, 1000, 84), (600, 500, 42)),
        _record("r4", 4),
        tokens((1800, 1500, 126), (600, 500, 42)),
    )
    assert [e.message for e in only(events, UsageCounted)] == ["r1", "r2", "r3", "r4"]


def test_a_file_with_both_kinds_of_counts_counts_once(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        tokens((600, 500, 42), (600, 500, 42)),
        _record("r2", 2),
        tokens((1200, 1000, 84), (600, 500, 42)),
        _record("r3", 3),
        tokens((1800, 1500, 126), (600, 500, 42)),
    )
    assert [(e.fresh, e.cached, e.said) for e in only(events, UsageCounted)] == [(100, 500, 42)] * 3


# --- what happens to a session ---------------------------------------------------------------------------------------


def test_the_context_is_emitted_first_and_when_it_changes(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        row("turn_context", {"cwd": "/home/dev/project", "model": "m"}),
        row("turn_context", {"cwd": "/home/dev/other", "model": "m"}),
    )
    told = [(e.session, e.cwd, e.branch, e.version, e.entrypoint) for e in only(events, ContextSeen)]
    assert told == [
        ("session-1", "/home/dev/project", "main", "0.99.0", "cli"),
        ("session-1", "/home/dev/other", "main", "0.99.0", "cli"),
    ]


def test_an_interruption_is_emitted_once_and_says_whether_a_call_was_running(tmp_path: Path) -> None:
    marker = said("user", "<turn_aborted>\nThe user interrupted\n</turn_aborted>")
    event_ = event("turn_aborted", reason="interrupted")
    for rows in ([marker, event_], [event_, marker], [event_], [marker]):
        events = events_of(tmp_path, meta(), event("task_started"), *rows)
        assert [e.in_tool for e in only(events, Interrupted)] == [False]
    cut = [call("exec_command", cmd="sleep 9"), output("aborted by user after 2s"), event_]
    assert [e.in_tool for e in only(events_of(tmp_path, meta(), *cut), Interrupted)] == [True]


def test_a_fault_is_emitted_once_and_is_no_answer(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("task_started"),
        event("error", message="High demand", codex_error_info="overloaded"),
        event("task_complete", last_agent_message=None, error={"message": "High demand"}),
    )
    assert [e.text for e in only(events, Faulted)] == ["High demand"]
    assert not only(events, Answered)


def test_a_compaction_is_emitted_once_with_its_summary(tmp_path: Path) -> None:
    row_ = row("compacted", {"message": "What we did"})
    events = events_of(tmp_path, meta(), row_, event("context_compacted"), item("ContextCompaction", id="x"))
    assert [e.summary for e in only(events, Compacted)] == ["What we did"]
    other = events_of(tmp_path, meta(), event("context_compacted"), said("assistant", "On."), row_)
    assert len(only(other, Compacted)) == 2


def test_turns_that_were_taken_back_stay_and_are_marked(tmp_path: Path) -> None:
    events = events_of(tmp_path, meta(), said("user", "Fix it"), event("thread_rolled_back", num_turns=2))
    assert [e.text for e in only(events, Prompted)] == ["Fix it"]
    assert [e.turns for e in only(events, Rewound)] == [2]
    unsaid = events_of(tmp_path, meta(), said("user", "Fix it"), event("thread_rolled_back"))
    assert [e.turns for e in only(unsaid, Rewound)] == [None]


def test_a_review_is_the_clients_words(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        event("entered_review_mode", user_facing_hint="current changes"),
        event("exited_review_mode", review_output={"findings": [], "overall_explanation": "Good."}),
    )
    assert [e.kind for e in only(events, Injected)] == ["review", "review"]
    assert "Good." in only(events, Injected)[1].text


def test_an_answer_logged_only_at_a_turns_end_is_not_lost(tmp_path: Path) -> None:
    events = events_of(tmp_path, meta(), event("task_started"), event("task_complete", last_agent_message="Done."))
    assert [(e.text, e.final) for e in only(events, Replied)] == [("Done.", True)]
    assert len(only(events, Answered)) == 1


def test_unknown_rows_are_emitted_and_irrelevant_ones_are_not(tmp_path: Path) -> None:
    events = events_of(
        tmp_path,
        meta(),
        row("world_state", {"state": {}}),
        row("new_thing", {}),
        event("new_event"),
        response("new_item"),
        item("NewItem"),
        event("background_event", message="x"),
        {"timestamp": "2026-01-02T03:04:05Z"},
    )
    assert [e.type for e in only(events, Unknown)] == [
        "new_thing",
        "event_msg/new_event",
        "response_item/new_item",
        "item_completed/NewItem",
    ]
    assert len(only(events, Unreadable)) == 1


def test_rows_of_the_oldest_versions_have_no_envelope(tmp_path: Path) -> None:
    head = {"id": "old-1", "timestamp": "2025-06-01T10:00:00Z", "instructions": None, "git": {"branch": "b"}}
    message = {"type": "message", "role": "user", "content": [{"type": "input_text", "text": "Hi"}]}
    answer = {"type": "message", "role": "assistant", "content": [{"type": "output_text", "text": "Hello"}]}
    events = events_of(tmp_path, head, {"record_type": "state"}, message, {"record_type": "state"}, answer)
    assert [e.text for e in only(events, Prompted) + only(events, Replied)] == ["Hi", "Hello"]
    assert only(events, ContextSeen)[0].session == "old-1"
    assert len(only(events, Answered)) == 1


def test_a_rows_id_does_not_depend_on_its_position(tmp_path: Path) -> None:
    one, two = said("user", "one", 1), said("user", "two", 2)
    alone = events_of(tmp_path, two)[0]
    behind = events_of(tmp_path, meta(), one, two)[2]
    assert (alone.at.row, alone.at.line) == (behind.at.row, 1)
    numbered = events_of(tmp_path, {**one, "ordinal": 17})
    assert numbered[0].at.row == "17"


# --- subagents -------------------------------------------------------------------------------------------------------


def test_a_subagent_is_started_named_and_comes_back_once(tmp_path: Path) -> None:
    notice = '{"agent_path":"agent-9","status":{"completed":"Found it."}}'
    events = events_of(
        tmp_path,
        meta(),
        call("spawn_agent", message="Look for it\nand report", agent_type="explorer"),
        output('{"agent_id":"agent-9","nickname":"Ada"}'),
        call("wait_agent", "call-2", targets=["agent-9"]),
        output('{"status":{"agent-9":{"completed":"Found it."}},"timed_out":false}', "call-2"),
        said("user", f"<subagent_notification>\n{notice}\n</subagent_notification>"),
    )
    started = [(e.call, e.kind, e.title, e.agent) for e in only(events, SubagentStarted)]
    assert started == [("call-1", "explorer", "Look for it", ""), ("call-1", "", "", "agent-9")]
    came_back = [(e.call, e.agent, e.text, e.end) for e in only(events, SubagentReturned)]
    assert came_back == [("call-1", "agent-9", "Found it.", CallEnd.OK)]
    assert [e.call for e in only(events, ToolReturned)] == ["call-2"]
    assert not only(events, Prompted)


def test_a_subagent_that_could_not_be_started_or_failed_says_so(tmp_path: Path) -> None:
    refused = events_of(tmp_path, meta(), call("spawn_agent", message="x"), output("unsupported call: spawn_agent"))
    assert [(e.end, e.text) for e in only(refused, SubagentReturned)] == [
        (CallEnd.FAILED, "unsupported call: spawn_agent")
    ]
    notice = '<subagent_notification>\n{"agent_path":"a","status":{"errored":"no model"}}\n</subagent_notification>'
    (back,) = only(events_of(tmp_path, meta(), said("user", notice)), SubagentReturned)
    assert (back.end, back.text) == (CallEnd.FAILED, "no model")


def test_a_subagents_prompts_come_from_an_agent(tmp_path: Path) -> None:
    events = events_of(tmp_path, meta(), event("user_message", message="Look"), agent="session-1")
    assert [(e.kind, e.at.agent) for e in only(events, Prompted)] == [(PromptKind.TASK, "session-1")]


def test_a_second_agent_speaks_to_another_by_messages(tmp_path: Path) -> None:
    """The second generation of subagents: paths for names, and a report as a message between agents."""
    rows = [
        call("spawn_agent", message="gAAAAABsealed", task_name="do_a"),
        item(
            "SubAgentActivity",
            id="call-1",
            kind="started",
            agent_thread_id="agent-9",
            agent_path="/root/do_a",
        ),
        output('{"task_name":"/root/do_a"}'),
        response(
            "agent_message",
            author="/root/do_a",
            recipient="/root",
            content=[
                {
                    "type": "input_text",
                    "text": "Message Type: FINAL_ANSWER\nTask name: /root\nSender: /root/do_a\nPayload:\nDone: a.",
                }
            ],
        ),
    ]
    events = events_of(tmp_path, meta(), *rows)
    assert [(e.task, e.title, e.agent) for e in only(events, SubagentStarted)] == [
        ("", "do a", ""),
        ("", "", "agent-9"),
    ]
    assert [(e.call, e.agent, e.text) for e in only(events, SubagentReturned)] == [("call-1", "agent-9", "Done: a.")]
    head = "Message Type: NEW_TASK\nTask name: /root/do_a\nSender: /root\nPayload:\n"
    parts = [{"type": "input_text", "text": head}, {"type": "encrypted_content", "encrypted_content": "Do A"}]
    task = response("agent_message", author="/root", recipient="/root/do_a", content=parts)
    (prompt,) = only(events_of(tmp_path, meta("agent-9"), task, agent="agent-9"), Prompted)
    assert (prompt.text, prompt.kind) == ("Do A", PromptKind.TASK)


def test_a_command_that_ends_after_a_rollback_opens_no_turn(tmp_path: Path) -> None:
    rows = [event("task_started"), said("user", "Go"), call("exec_command", cmd="sleep 9")]
    rows += [event("turn_aborted", reason="interrupted"), event("thread_rolled_back", num_turns=1)]
    events = events_of(tmp_path, meta(), *rows, output("killed"))
    assert [type(e) for e in events[-3:]] == [Rewound, ToolReturned, Answered]
