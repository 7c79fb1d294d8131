"""Gemini CLI's messages: who spoke, results of calls, tokens."""

from __future__ import annotations

import pytest

from crucible.clients.events import (
    Answered,
    CallEnd,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    SubagentReturned,
    SubagentStarted,
    TasksListed,
    ToolReturned,
    ToolUsed,
    Unknown,
    UsageCounted,
)
from tests.unit.clients.building import one, only
from tests.unit.clients.gemini_logs import FIRST, Row, call, events_of, message, model, tokens, user


def returned(*calls: Row) -> list[ToolReturned]:
    return only(events_of(FIRST, model("m", "", toolCalls=list(calls))), ToolReturned)


def test_a_log_of_a_subagent_whose_parent_is_gone_was_asked_by_an_agent() -> None:
    (prompt,) = only(events_of({**FIRST, "kind": "subagent"}, user("u", "Look around")), Prompted)
    assert prompt.kind is PromptKind.TASK


@pytest.mark.parametrize("content", ["go on", {"text": "go on"}, [{"text": "go "}, {"text": "on"}], ["go on"]])
def test_words_are_found_in_every_shape_of_content(content: object) -> None:
    (prompt,) = only(events_of(FIRST, user("u", content)), Prompted)
    assert (prompt.text, prompt.kind) == ("go on", PromptKind.TYPED)
    (reply,) = only(events_of(FIRST, model("m", content)), Replied)
    assert reply.text == "go on"


def test_the_typed_text_is_the_prompt_if_the_client_sent_more() -> None:
    events = events_of(FIRST, user("u", [{"text": "see @a"}, {"text": "content of a"}], displayContent="see @a"))
    assert [event.text for event in only(events, Prompted)] == ["see @a"]
    assert [event.text for event in only(events, Injected)] == ["see @acontent of a"]


def test_files_and_hook_texts_after_a_prompt_are_injected() -> None:
    parts = [
        "look",
        "\n--- Content from referenced files ---",
        "\nsecret plan",
        "<hook_context>x</hook_context>",
    ]
    events = events_of(FIRST, user("u", [{"text": part} for part in parts]))
    assert [event.text for event in only(events, Prompted)] == ["look"]
    assert [event.kind for event in only(events, Injected)] == ["files", "hook"]


@pytest.mark.parametrize(
    ("text", "kind", "told"),
    [
        ("/compress", PromptKind.COMMAND, "/compress"),
        ("/home/me is full", PromptKind.TYPED, "/home/me is full"),
        ("? what", PromptKind.TYPED, "? what"),
        (
            "I ran the following shell command:\n```sh\nls -l\n```\n\nThis produced the following result:\n```\na\n```",
            PromptKind.SHELL,
            "!ls -l",
        ),
    ],
)
def test_the_kinds_of_prompts(text: str, kind: PromptKind, told: str) -> None:
    (prompt,) = only(events_of(FIRST, user("u", text)), Prompted)
    assert (prompt.kind, prompt.text) == (kind, told)


def test_pictures_are_counted() -> None:
    picture = {"inlineData": {"mimeType": "image/png", "data": "AAAA"}}
    (prompt,) = only(events_of(FIRST, user("u", [picture, {"text": "this"}])), Prompted)
    assert (prompt.text, prompt.images) == ("this", 1)
    (bare,) = only(events_of(FIRST, user("u", [picture])), Prompted)
    assert (bare.text, bare.images) == ("", 1)


def test_results_handed_to_the_model_are_no_prompts() -> None:
    part = call("c", "glob")["result"]
    assert not only(events_of(FIRST, user("u", part)), Prompted)


def test_calls_and_results_only_in_parts_are_emitted() -> None:
    said = [{"text": "I look."}, {"functionCall": {"id": "c", "name": "glob", "args": {"pattern": "*"}}}]
    events = events_of(FIRST, model("m", said), user("u", call("c", "glob", "a.py")["result"]))
    (used,), (back,) = only(events, ToolUsed), only(events, ToolReturned)
    assert (used.call, used.arguments, back.call, back.text) == ("c", {"pattern": "*"}, "c", "a.py")
    assert not only(events, Answered)


def test_thoughts_come_before_the_words() -> None:
    events = events_of(FIRST, model("m", "two", thoughts=[{"subject": "A plan", "description": "of two"}]))
    assert [type(event) for event in events[1:]] == [Reasoned, Replied, Answered]
    assert only(events, Reasoned)[0].text == "A plan\n\nof two"


def test_thoughts_among_the_parts_are_no_words() -> None:
    events = events_of(FIRST, model("m", [{"text": "hm", "thought": True}, {"text": "yes"}]))
    assert [event.text for event in only(events, Reasoned)] == ["hm"]
    assert [event.text for event in only(events, Replied)] == ["yes"]


@pytest.mark.parametrize(
    ("given", "counts"),
    [
        ({"input": 600, "cached": 500, "output": 42, "thoughts": 7, "total": 649}, (100, 500, 49)),
        ({"input": 600, "cached": 500, "output": 42, "tool": 8, "total": 642}, (100, 500, 42)),
        ({"input": 600, "cached": 500, "output": 42, "tool": 8, "total": 650}, (108, 500, 42)),
        ({"input": -1, "cached": 500, "output": None}, (0, 500, 0)),
    ],
)
def test_cached_tokens_are_part_of_the_input(given: Row, counts: tuple[int, int, int]) -> None:
    (usage,) = only(events_of(FIRST, model("m", "x", tokens={**tokens(), **given})), UsageCounted)
    assert (usage.fresh, usage.cached, usage.said) == counts
    assert (usage.message, usage.model) == ("m", "gemini-3-pro")


@pytest.mark.parametrize(
    ("status", "output", "end"),
    [
        ("success", "fine", CallEnd.OK),
        ("success", {"error": "File not found"}, CallEnd.FAILED),
        ("error", {"error": "no"}, CallEnd.FAILED),
        (
            "cancelled",
            {"error": "[Operation Cancelled] Reason: Operation cancelled by user"},
            CallEnd.INTERRUPTED,
        ),
        ("cancelled", {"error": "[Operation Cancelled] Reason: User denied execution."}, CallEnd.REJECTED),
    ],
)
def test_how_a_call_ended(status: str, output: object, end: CallEnd) -> None:
    (back,) = returned(call("c", "glob", output, status=status))
    assert back.end is end
    assert "[Operation Cancelled]" not in back.text


@pytest.mark.parametrize("status", ["executing", "scheduled", "awaiting_approval", "validating"])
def test_a_running_call_has_no_result(status: str) -> None:
    assert not returned(call("c", "glob", status=status))


@pytest.mark.parametrize(
    "text",
    [
        "<untrusted_context>\nOutput: 1 failed\nExit Code: 1\nProcess Group PGID: 5\n</untrusted_context>",
        "Command: x\nDirectory: (root)\nOutput: 1 failed\nError: (none)\nExit Code: 1\nSignal: (none)",
    ],
)
def test_a_command_fails_by_its_exit_code(text: str) -> None:
    (back,) = returned(call("c", "run_shell_command", text))
    assert (back.end, back.text) == (CallEnd.FAILED, "Exit code 1\n1 failed")
    assert back.details == {"exit_code": 1, "lines": 1}


def test_a_result_is_found_among_those_of_all_calls_of_a_message() -> None:
    first, second = call("a", "glob", "of a"), call("b", "glob", "of b")
    both = first["result"] + second["result"]
    backs = returned({**first, "result": both}, {**second, "result": both})
    assert [back.text for back in backs] == ["of a", "of b"]


def test_what_an_edit_and_a_write_did_is_counted() -> None:
    stat = {"model_added_lines": 3, "model_removed_lines": 1, "user_added_lines": 1, "user_removed_lines": 0}
    edit = call("a", "replace", resultDisplay={"fileDiff": "", "diffStat": stat})
    write = call("b", "write_file", resultDisplay={"isNewFile": True, "newContent": "a\nb\n"})
    assert [back.details for back in returned(edit, write)] == [
        {"kind": "update", "added": 4, "removed": 1},
        {"kind": "create", "lines": 2},
    ]


def test_the_task_list_is_the_one_that_was_written_last() -> None:
    todos = [{"description": "one", "status": "completed"}, {"description": "two", "status": "cancelled"}]
    (listed,) = only(
        events_of(FIRST, model("m", "", toolCalls=[call("c", "write_todos", args={"todos": todos})])),
        TasksListed,
    )
    assert [(task.content, task.status) for task in listed.tasks] == [
        ("one", "completed"),
        ("two", "cancelled"),
    ]


def test_a_subagent_is_known_by_the_agent_id_of_its_call() -> None:
    report = "Subagent 'helper' finished.\nTermination Reason: GOAL\nResult:\nIt is safe."
    args = {"agent_name": "helper", "prompt": "Is it safe?\nLook."}
    events = events_of(FIRST, model("m", "", toolCalls=[call("c", "invoke_agent", report, args=args, agentId="k1")]))
    (started,), (back,) = only(events, SubagentStarted), only(events, SubagentReturned)
    assert (started.kind, started.task, started.title, started.agent) == (
        "helper",
        "Is it safe?\nLook.",
        "Is it safe?",
        "k1",
    )
    assert (back.agent, back.text, back.end) == ("k1", "It is safe.", CallEnd.OK)
    assert not only(events, ToolReturned)


def test_a_subagent_that_gave_up_failed() -> None:
    report = "Subagent 'helper' finished.\nTermination Reason: TIMEOUT\nResult:\nNot done."
    events = events_of(FIRST, model("m", "", toolCalls=[call("c", "invoke_agent", report, agentId="k1")]))
    assert only(events, SubagentReturned)[0].end is CallEnd.FAILED


def test_prompts_in_a_subagents_log_are_tasks() -> None:
    notice = "You have stopped calling tools without finishing. You have one final chance"
    rows = [
        FIRST,
        user("u", "Is it safe?"),
        user("v", notice),
        model("m", "", toolCalls=[call("c", "complete_task", args={"result": {"answer": "Yes."}})]),
    ]
    events = events_of(*rows, agent="k1")
    assert [(event.text, event.kind) for event in only(events, Prompted)] == [("Is it safe?", PromptKind.TASK)]
    assert [event.kind for event in only(events, Injected)] == ["notice"]
    assert [(event.text, event.final) for event in only(events, Replied)] == [("Yes.", True)]
    assert isinstance(events[-1], Answered)
    assert {event.at.agent for event in events} == {"k1"}


def test_notices_of_the_client() -> None:
    rows = [
        FIRST,
        message("a", "info", "Request cancelled."),
        message("b", "error", "[API Error: overloaded]"),
        message("c", "error", "Unknown command: /x"),
        message("d", "warning", "Slow"),
        message("e", "info", ""),
        message("f", "later", "?"),
    ]
    told = [type(event) for event in events_of(*rows)[1:]]
    assert told == [Interrupted, Faulted, Injected, Injected, Unknown]


def test_answered_comes_after_all_parts_of_the_answer() -> None:
    events = events_of(FIRST, user("u", "go"), model("m", "done", tokens=tokens(output=1)))
    assert [type(event) for event in events[-3:]] == [Replied, UsageCounted, Answered]


# --- commands: the client's lines after their output -----------------------------------------------------------------


def _ran(output: str) -> ToolReturned:
    wrapped = f"<untrusted_context>\n{output}\n</untrusted_context>"
    events = events_of(FIRST, model("m1", "", toolCalls=[call("c1", "run_shell_command", wrapped)]))
    return one(events, ToolReturned)


@pytest.mark.parametrize(
    ("output", "end", "code", "text"),
    [
        ("Output: 3 passed\nProcess Group PGID: 7", CallEnd.OK, 0, "3 passed"),
        ("Output: 1 failed\nExit Code: 1\nProcess Group PGID: 7", CallEnd.FAILED, 1, "Exit code 1\n1 failed"),
        (
            "Output: job ended\nExit Code: 3\nall 12 jobs retried\nProcess Group PGID: 7",
            CallEnd.OK,
            0,
            "job ended\nExit Code: 3\nall 12 jobs retried",
        ),
        (
            "Output: before\nError: no such table\nafter\nExit Code: 2\nProcess Group PGID: 7",
            CallEnd.FAILED,
            2,
            "Exit code 2\nbefore\nError: no such table\nafter",
        ),
        ("Output: (empty)\nBackground PIDs: 8, 9\nProcess Group PGID: 7", CallEnd.OK, 0, ""),
        ("Output: half\nSignal: 9\nProcess Group PGID: 7", CallEnd.FAILED, None, "half"),
    ],
)
def test_a_commands_exit_code_is_read_after_its_output(output: str, end: CallEnd, code: int | None, text: str) -> None:
    returned = _ran(output)
    assert (returned.end, (returned.details or {}).get("exit_code"), returned.text) == (end, code, text)


def test_a_command_that_ran_out_of_time_failed_and_one_that_the_user_stopped_was_interrupted() -> None:
    late = _ran("Command was automatically cancelled because it exceeded the timeout of 5.0 minutes without output.")
    stopped = _ran(
        "Command was cancelled by user before it could complete. There was no output before it was cancelled."
    )
    assert (late.end, stopped.end) == (CallEnd.FAILED, CallEnd.INTERRUPTED)


def test_a_finished_background_task_is_no_prompt() -> None:
    inner = "[Background command completed with exit code 0. Output saved to x]"
    wrapped = f"User steering update:\n<user_input>\n{inner}\n</user_input>\nInternal instruction: Go on."
    events = events_of(FIRST, user("u1", [{"text": wrapped}]))
    assert not only(events, Prompted)
    assert [event.kind for event in only(events, Injected)] == ["steering"]


@pytest.mark.parametrize(
    "words",
    [
        "System: Potential loop detected. Details: the same call. Please take a step back.",
        "Here is the user's editor context as a JSON object. This is for your information only.\n{}",
        "Here is a summary of changes in the user's editor context, in JSON format.\n{}",
    ],
)
def test_texts_that_the_client_sends_to_the_model_are_injected(words: str) -> None:
    events = events_of(FIRST, user("u", words))
    assert not only(events, Prompted)
    assert [event.text for event in only(events, Injected)] == [words]


# --- history that is written down again ------------------------------------------------------------------------------

CONTEXT = "<session_context>\nThis is the Gemini CLI.\n</session_context>"


def _again() -> list[Row]:
    """Two turns, and what the client writes when a request is cancelled: all of it once more, under new ids."""
    asked = {"functionCall": {"id": "c", "name": "glob", "args": {}}}
    return [
        user("u1", "look"),
        model("m1", "I look.", toolCalls=[call("c", "glob")]),
        user("u2", "look"),
        message("i1", "info", "Request cancelled."),
        user("x0", [{"text": CONTEXT}]),
        user("x1", [{"text": "look"}]),
        message("x2", "gemini", [{"text": "I look."}, asked], thoughts=[], tokens=None),
        user("x3", call("c", "glob")["result"]),
    ]


def test_history_under_new_ids_is_emitted_once() -> None:
    events = events_of(FIRST, *_again())
    assert [event.text for event in only(events, Prompted)] == ["look", "look"]
    assert [event.text for event in only(events, Replied)] == ["I look."]
    assert len(only(events, ToolUsed)) == len(only(events, ToolReturned)) == 1


def test_the_same_text_after_that_is_a_new_prompt() -> None:
    listed = {"$set": {"messages": [], "lastUpdated": "2026-11-22T10:00:00.000Z"}}
    events = events_of(FIRST, *_again(), listed, user("u3", "look"), model("m3", "I look."))
    assert len(only(events, Prompted)) == 3
    assert len(only(events, Replied)) == 2
