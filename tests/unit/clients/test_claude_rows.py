"""The model's rows, rows of state, and properties of every row."""

from __future__ import annotations

import datetime as dt

import pytest

from crucible.clients.claude_code.rows import SILENT_ROWS
from crucible.clients.events import (
    Answered,
    ContextSeen,
    ContinuedIn,
    Event,
    Faulted,
    Injected,
    Prompted,
    PromptKind,
    Reasoned,
    Replied,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from tests.cases import for_each
from tests.unit.clients.building import (
    SESSION,
    Row,
    assistant,
    envelope,
    image,
    one,
    only,
    queue,
    queued,
    read_bytes,
    read_rows,
    result,
    system,
    text,
    use,
    user,
)


def usage(fresh: int = 1, written: int = 2, cached: int = 3, said: int = 4) -> dict[str, object]:
    return {
        "input_tokens": fresh,
        "cache_creation_input_tokens": written,
        "cache_read_input_tokens": cached,
        "output_tokens": said,
    }


# --- every row ---


def test_time_is_utc_and_missing_when_it_cannot_be_read() -> None:
    times = [
        "2026-01-02T03:04:05.678Z",
        "2026-01-02T04:04:05.678+01:00",
        "2026-01-02T03:04:05.678",
        "soon",
        17,
    ]
    events = only(read_rows(*(user("x", timestamp=time) for time in times)), Prompted)
    moment = dt.datetime(2026, 1, 2, 3, 4, 5, 678000, dt.UTC)
    assert [event.at.time for event in events] == [moment, moment, moment, None, None]


def test_a_row_that_was_seen_is_a_copy() -> None:
    row = user("once")
    assert len(only(read_rows(row, row, {**row, "message": {"content": "changed"}}), Prompted)) == 1


def test_an_unknown_type_is_emitted_with_its_name() -> None:
    assert [event.type for event in only(read_rows({"type": "brand-new"}, envelope("newer")), Unknown)] == [
        "brand-new",
        "newer",
    ]


@for_each("kind", sorted(SILENT_ROWS))
def test_state_rows_without_meaning_are_silent(kind: str) -> None:
    assert read_rows({"type": kind, "sessionId": SESSION}) == []


@pytest.mark.parametrize("row", [{}, {"type": None}, {"type": ["user"]}, {"type": {"a": 1}}])
def test_a_row_without_a_type_is_unreadable(row: dict[str, object]) -> None:
    assert one(read_rows(row), Unreadable).at.line == 1


def test_an_unreadable_line_is_named_by_its_number() -> None:
    event = one(read_bytes(b'{"type":"mode"}\n\n{nope}\n', "a1"), Unreadable)
    assert (event.at.line, event.at.agent) == (3, "a1")


def test_context_comes_first_and_again_when_it_changes() -> None:
    rows = [
        user("a"),
        user("b"),
        user("c", gitBranch="other"),
        user("d", gitBranch="other", isSidechain=True, cwd="/x"),
    ]
    seen = only(read_rows(*rows), ContextSeen)
    assert [(event.session, event.cwd, event.branch, event.version) for event in seen] == [
        (SESSION, "/home/dev/project", "main", "2.1.197"),
        (SESSION, "/home/dev/project", "other", "2.1.197"),
    ]
    assert isinstance(read_rows(*rows)[0], ContextSeen)


# --- assistant ---


def test_blocks_of_one_row_are_emitted_in_order() -> None:
    blocks = ({"type": "thinking", "thinking": "Hm."}, text("I look."), use("Read", file_path="x"))
    events = read_rows(assistant(*blocks, message="m"))[1:]
    assert [type(event) for event in events] == [Reasoned, Replied, ToolUsed]
    used = one(events, ToolUsed)
    assert (used.message, used.model, used.arguments) == ("m", "claude-opus-4-8", {"file_path": "x"})


def test_empty_thoughts_and_texts_are_not_emitted() -> None:
    blocks = (
        {"type": "thinking", "thinking": "", "signature": "x"},
        {"type": "redacted_thinking"},
        text(" "),
        text("(no content)"),
    )
    assert read_rows(assistant(*blocks))[1:] == []


def test_content_may_be_a_string() -> None:
    row = assistant(stop="end_turn")
    row["message"]["content"] = "Done."
    assert one(read_rows(row), Replied).text == "Done."


def test_arguments_that_are_no_object_are_kept() -> None:
    for given, told in (([1], {"input": [1]}), ("x", {"input": "x"}), (None, {})):
        block = {"type": "tool_use", "id": "c", "name": "X", "input": given}
        assert one(read_rows(assistant(block)), ToolUsed).arguments == told


def test_the_servers_own_tools_are_calls_too() -> None:
    blocks = (
        {"type": "server_tool_use", "id": "s", "name": "web_search", "input": {"query": "x"}},
        {"type": "web_search_tool_result", "tool_use_id": "s", "content": {"error_code": "unavailable"}},
    )
    events = read_rows(assistant(*blocks))
    assert (one(events, ToolUsed).call, one(events, ToolReturned).text) == ("s", "unavailable")


def test_an_unknown_block_is_emitted_with_its_type() -> None:
    assert [e.type for e in only(read_rows(assistant({"type": "hologram"}, {"type": []})), Unknown)] == [
        "assistant/hologram",
        "assistant/",
    ]


def test_a_message_that_is_no_object_is_unreadable() -> None:
    assert one(read_rows(envelope("assistant", message="x")), Unreadable).reason


def test_usage_is_counted_when_it_changes_and_the_last_row_wins() -> None:
    rows = [
        assistant(text("a"), message="m", usage=usage(said=1)),
        assistant(use("Bash"), message="m", usage=usage(said=1)),
        assistant(text("b"), message="n", usage=usage(said=5)),
        assistant(use("Bash", "c2"), message="m", usage=usage(said=9)),
    ]
    counted = only(read_rows(*rows), UsageCounted)
    assert [(e.message, e.fresh, e.cached, e.said) for e in counted] == [
        ("m", 3, 3, 1),
        ("n", 3, 3, 5),
        ("m", 3, 3, 9),
    ]


def test_cache_writes_may_stand_in_their_parts_alone() -> None:
    nested = {
        "input_tokens": 1,
        "cache_creation": {"ephemeral_5m_input_tokens": 10, "ephemeral_1h_input_tokens": 20},
    }
    event = one(read_rows(assistant(text("x"), usage=nested)), UsageCounted)
    assert (event.fresh, event.written, event.written_1h) == (31, 30, 20)


def test_cache_writes_are_counted_by_how_long_they_are_kept() -> None:
    nested = {"ephemeral_5m_input_tokens": 1, "ephemeral_1h_input_tokens": 6}
    rows = [
        assistant(text("x"), usage=usage(written=7)),
        assistant(text("x"), usage={**usage(written=7), "cache_creation": nested}),
        assistant(text("x"), usage={**usage(written=7), "cache_creation": {"ephemeral_1h_input_tokens": 9}}),
        assistant(text("x"), usage={**usage(written=7), "cache_creation": ["x"]}),
    ]
    counted = only(read_rows(*rows), UsageCounted)
    assert [(e.fresh, e.written, e.written_1h) for e in counted] == [
        (8, 7, 0),
        (8, 7, 6),
        (8, 7, 7),
        (8, 7, 0),
    ]


def test_counts_that_are_no_numbers_are_none() -> None:
    broken = {"input_tokens": "7", "output_tokens": -3, "cache_read_input_tokens": True}
    event = one(read_rows(assistant(text("x"), usage=broken)), UsageCounted)
    assert (event.fresh, event.cached, event.said) == (0, 0, 0)


def test_what_the_client_says_for_the_agent_costs_nothing() -> None:
    row = assistant(text("No response requested."), model="<synthetic>", usage=usage())
    events = read_rows(row)
    assert one(events, Injected).kind == "synthetic"
    assert not only(events, UsageCounted, Replied)


def test_an_error_of_the_api_is_a_fault() -> None:
    rows = [
        assistant(text("API Error: 529 overloaded"), isApiErrorMessage=True, usage=usage()),
        assistant(text("API Error: Connection error."), model="<synthetic>"),
        assistant(isApiErrorMessage=True, error="rate_limit"),
    ]
    events = read_rows(*rows)
    assert [e.text for e in only(events, Faulted)] == [
        "API Error: 529 overloaded",
        "API Error: Connection error.",
        "rate_limit",
    ]
    assert not only(events, UsageCounted, Answered)


# --- the end of a turn ---


def test_a_text_that_ends_the_turn_is_final_and_answers() -> None:
    for stop in ("end_turn", "stop_sequence"):
        events = read_rows(user("x"), assistant(text("Done."), stop=stop))
        assert one(events, Replied).final
        assert isinstance(events[-1], Answered)


def test_a_message_in_several_rows_answers_once_and_not_before_its_text() -> None:
    rows = [
        assistant({"type": "thinking", "thinking": "Hm."}, stop="end_turn", message="m"),
        assistant(text("Do"), stop="end_turn", message="m"),
        assistant(text("ne"), stop="end_turn", message="m"),
    ]
    kinds = [type(event).__name__ for event in read_rows(*rows)]
    assert kinds == ["ContextSeen", "Reasoned", "Replied", "Answered", "Replied"]


@pytest.mark.parametrize("stop", ["tool_use", "max_tokens", "refusal"])
def test_other_stops_do_not_answer(stop: str) -> None:
    assert not only(read_rows(user("x"), assistant(text("and"), stop=stop)), Answered)


def test_old_rows_without_a_stop_reason_answer_by_being_last() -> None:
    asked, reply = user("x"), assistant(text("Done."), stop=None)
    assert one(read_rows(asked, reply), Answered).at.row == reply["uuid"]
    for after in (assistant(use("Bash"), stop=None), user("and?"), user("[Request interrupted by user]")):
        assert not only(read_rows(asked, reply, after), Answered)


def test_the_clients_own_end_of_turn_answers_when_the_agent_had_the_last_word() -> None:
    reply = assistant(text("Done."), stop=None)
    for end in (system("turn_duration", durationMs=5), {"type": "turn_end"}):
        assert len(only(read_rows(user("x"), reply, end, end), Answered)) == 1
        assert not only(read_rows(user("x"), assistant(use("Bash")), result("ok"), end), Answered)
        assert len(only(read_rows(user("x"), assistant(text("Done."), stop="end_turn"), end), Answered)) == 1


# --- steering ---


def told(*rows: Row) -> list[tuple[str, PromptKind]]:
    return [(event.text, event.kind) for event in only(read_rows(*rows), Prompted)]


ASKED = user("Do it")
DONE = assistant(text("Done."), stop="end_turn")


def working(call: str = "w") -> dict[str, object]:
    return assistant(use("Bash", call))


def test_an_ordinary_prompt_through_the_queue_is_typed_once() -> None:
    rows = (queue("enqueue", "Do it"), queue("dequeue"), user("Do it"))
    assert told(*rows) == [("Do it", PromptKind.TYPED)]


def test_a_prompt_that_entered_the_turn_is_steering_once() -> None:
    into = [
        (queue("remove", "Tabs!", reason="absorbed_mid_turn"), queued("Tabs!")),
        (queued("Tabs!", origin={"kind": "human"}), queue("remove", "Tabs!")),
        (queued([text("Tabs!")]),),
        (queue("remove"),),
        (queue("dequeue"), queued("Tabs!")),
        (queue("remove", "Tabs!"), user("Tabs!")),
        (queue("remove", "Tabs!"), queued("Tabs!"), user("Tabs!")),
    ]
    for rows in into:
        found = told(ASKED, working(), queue("enqueue", "Tabs!"), result("ok", "w"), *rows)
        assert found == [("Do it", PromptKind.TYPED), ("Tabs!", PromptKind.STEERING)]


def test_an_image_with_a_queued_prompt_is_counted() -> None:
    event = only(read_rows(ASKED, working(), queued([text("Like this"), image()])), Prompted)[-1]
    assert (event.text, event.images, event.kind) == ("Like this", 1, PromptKind.STEERING)


def test_the_same_text_typed_twice_is_emitted_twice() -> None:
    rows = (
        ASKED,
        working(),
        queue("enqueue", "go"),
        queue("remove", "go"),
        queue("enqueue", "go"),
        queue("remove", "go"),
    )
    assert told(*rows)[1:] == [("go", PromptKind.STEERING)] * 2


def test_the_same_text_in_the_next_turn_is_a_new_prompt() -> None:
    rows = (ASKED, working(), queue("enqueue", "go"), queue("remove", "go"), DONE, user("go"))
    assert told(*rows)[1:] == [("go", PromptKind.STEERING), ("go", PromptKind.TYPED)]


def test_a_prompt_that_waited_for_the_end_of_the_turn_is_typed() -> None:
    rows = (
        ASKED,
        working(),
        queue("enqueue", "Next"),
        result("ok", "w"),
        DONE,
        queue("dequeue"),
        user("Next"),
    )
    assert told(*rows)[1:] == [("Next", PromptKind.TYPED)]


def test_a_queued_prompt_in_a_user_row_amid_the_turn_is_steering() -> None:
    rows = (ASKED, working(), queue("enqueue", "Tabs!"), result("ok", "w"), queue("dequeue"), user("Tabs!"))
    assert told(*rows)[1:] == [("Tabs!", PromptKind.STEERING)]


def test_a_prompt_after_a_crash_is_typed() -> None:
    rows = (ASKED, working(), queue("enqueue", "go on"), queue("dequeue"), user("go on"))
    assert told(*rows)[1:] == [("go on", PromptKind.TYPED)]


def test_a_prompt_returned_to_the_editor_is_not_emitted() -> None:
    for back in (
        (queue("popAll"),),
        (queue("popAll", "one"), queue("popAll", "two")),
        (queue("popAll", "one\ntwo"),),
    ):
        rows = (ASKED, working(), queue("enqueue", "one"), queue("enqueue", "two"), *back, queue("remove"))
        assert told(*rows)[1:] == []


def test_a_prompt_queued_for_a_subagent_is_not_emitted_in_the_trunk() -> None:
    rows = (ASKED, working(), queue("enqueue", "x"), queue("remove", "x", reason="delivered_to_agent"))
    assert told(*rows)[1:] == []


def test_a_notice_that_came_without_leaving_the_queue_does_not_hold_up_the_next_words() -> None:
    notice = "<task-notification>\n<task-id>b1</task-id>\n</task-notification>"
    rows = (
        ASKED,
        working(),
        queue("enqueue", notice),
        user("[Request interrupted by user]"),
        user(notice, permissionMode="default"),
        queue("enqueue", "try again"),
        working("x"),
        queue("remove"),
    )
    assert told(*rows)[1:] == [("try again", PromptKind.STEERING)]


def test_a_command_alone_in_the_queue_is_no_steering() -> None:
    for words in ("/exit", " /docs:plan\n"):
        rows = (ASKED, working(), queue("enqueue", words), queue("remove"))
        assert told(*rows)[1:] == []
        assert one(read_rows(*rows), Injected) == Injected(one(read_rows(*rows), Injected).at, words, "command")
    for words in ("/tmp is full", "/tmp/x", "/"):
        assert told(ASKED, working(), queue("enqueue", words), queue("remove"))[1:] == [(words, PromptKind.STEERING)]


def test_a_notice_of_an_agent_in_the_queue_is_injected() -> None:
    notice = "<agent-notification>\n<agent-id>a1</agent-id>\n<status>completed</status>\n</agent-notification>"
    rows = (ASKED, working(), queue("enqueue", notice), queue("remove"))
    assert told(*rows)[1:] == []
    assert one(read_rows(*rows), Injected).kind == "task-notification"


def test_a_queued_text_of_the_client_is_injected() -> None:
    for extra in ({"origin": {"kind": "coordinator"}}, {"isMeta": True}):
        events = read_rows(ASKED, working(), queued("go on", **extra))
        assert len(only(events, Prompted)) == 1
        assert one(events, Injected).text == "go on"


# --- state and attachments ---


def titles(*rows: Row) -> list[tuple[str, bool]]:
    return [(event.title, event.by_user) for event in only(read_rows(*rows), Titled)]


def test_titles_are_emitted_when_they_change_with_their_author() -> None:
    rows = [
        {"type": "ai-title", "aiTitle": "A"},
        {"type": "ai-title", "aiTitle": "A"},
        {"type": "custom-title", "customTitle": "Mine"},
        {"type": "ai-title", "aiTitle": "B"},
        {"type": "ai-title", "aiTitle": ""},
    ]
    assert titles(*rows) == [("A", False), ("Mine", True), ("B", False)]


def test_a_summary_titles_the_session_that_holds_its_row() -> None:
    row = user("x")
    own = {"type": "summary", "summary": "Own", "leafUuid": row["uuid"]}
    foreign = {"type": "summary", "summary": "Foreign", "leafUuid": "elsewhere"}
    assert titles(foreign, own, row) == titles(foreign, row, own) == [("Own", False)]
    assert titles({"type": "summary", "summary": "No leaf"}) == [("No leaf", False)]


def test_a_session_continued_elsewhere_names_the_other_one() -> None:
    row = {"type": "continued-in", "sessionId": SESSION, "continuedInSessionId": "next"}
    assert one(read_rows(row), ContinuedIn).session == "next"
    assert read_rows({"type": "continued-in"}) == []


def test_a_pull_request_is_kept_as_a_link() -> None:
    assert one(read_rows({"type": "pr-link", "prUrl": "https://x/1"}), Injected).kind == "pr-link"
    assert read_rows({"type": "pr-link"}) == []


@pytest.mark.parametrize(
    ("attachment", "kind", "words"),
    [
        ({"type": "hook_success", "content": "", "stdout": "hello"}, "hook", "hello"),
        ({"type": "hook_additional_context", "content": ["a", "b"]}, "hook", "a\nb"),
        ({"type": "skill_listing", "content": "- x"}, "skill_listing", "- x"),
        ({"type": "file", "content": {"type": "text", "file": {"content": "x = 1"}}}, "file", "x = 1"),
        (
            {"type": "nested_memory", "content": {"path": "p", "content": "Be kind."}},
            "nested_memory",
            "Be kind.",
        ),
        ({"type": "edited_text_file", "snippet": "1→x"}, "edited_text_file", "1→x"),
    ],
)
def test_attachments_with_words_are_kept(attachment: dict[str, object], kind: str, words: str) -> None:
    event = one(read_rows(envelope("attachment", attachment=attachment)), Injected)
    assert (event.kind, event.text) == (kind, words)


@pytest.mark.parametrize(
    "attachment", [{"type": "task_reminder", "content": [], "itemCount": 0}, {"type": "queued_command"}]
)
def test_attachments_without_words_are_silent(attachment: dict[str, object]) -> None:
    assert read_rows(envelope("attachment", attachment=attachment))[1:] == []


def test_a_malformed_attachment_is_unreadable() -> None:
    assert (
        one(read_rows(envelope("attachment", attachment=["x"])), Unreadable).reason
        == "an attachment that is not an object"
    )


def test_system_words_are_kept_with_their_kind() -> None:
    events: list[Event] = read_rows(system("informational", "Switched."), system("stop_hook_summary"))
    assert one(events, Injected) == Injected(one(events, Injected).at, "Switched.", "informational")
