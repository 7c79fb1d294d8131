"""Properties of every transcript, real, damaged or random."""

from __future__ import annotations

import dataclasses
import random
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.claude_code.rows import ROWS, SILENT_ROWS
from crucible.clients.events import Event, Unreadable, UsageCounted
from tests.unit.clients.building import REAL, Row, assistant, dump, only, read_bytes, read_rows, text

WORDS = st.sampled_from(
    [
        "",
        "go on",
        "[Request interrupted by user]",
        "<command-name>/x</command-name>",
        "<command-name>",
        "<bash-input>ls</bash-input>",
        "<task-notification><task-id>a1</task-id><result></task-notification>",
        "<task-notification>",
        "<system-reminder>x</system-reminder>",
        "<system-reminder>",
        "agentId: a1 (x)\n<usage>total_tokens: 5</usage>",
        "Async agent launched",
        "The user doesn't want to proceed with this tool use. To tell you how to proceed, the user said:\nno",
        "This session is being continued from a previous conversation that ran out of context",
        "Exit code 3\nx",
        "<persisted-output>\nOutput too large (9KB). Full output saved to: /x/tool-results/../../transcript.jsonl\n\nPreview:\nx",
        "<agent-notification><agent-id>a1</agent-id></agent-notification>",
        "local_agent",
        "x.md",
        "enqueue",
        "dequeue",
        "remove",
        "popAll",
        "compact_boundary",
        "turn_duration",
        "local_command",
        "queued_command",
        "agent_progress",
        "end_turn",
        "completed",
        "2026-01-02T03:04:05Z",
        "9999-12-31T23:59:59.999-23:00",
    ]
) | st.text(max_size=6)
NAMES = st.sampled_from(
    [
        "Bash", "Read", "Write", "Edit", "Grep", "Agent", "Task", "TodoWrite", "TaskCreate", "TaskUpdate", "TaskOutput",
        "AskUserQuestion", "ExitPlanMode",
    ]
)  # fmt: skip
IDS = st.sampled_from(["c1", "c2", "a1"])
LEAF = st.none() | st.booleans() | st.integers(-5, 2**62) | st.floats(allow_nan=False, allow_infinity=False) | WORDS
KEYS = st.sampled_from(
    [
        "type", "id", "text", "content", "input", "name", "tool_use_id", "is_error", "message", "uuid", "model", "usage",
        "stop_reason", "thinking", "prompt", "subagent_type", "todos", "subject", "taskId", "addBlocks", "addBlockedBy",
        "file", "numLines", "structuredPatch", "lines", "task", "status", "agentId", "isAsync", "numFiles", "cache_creation",
        "stdout", "kind", "new_string", "edits", "success", "interrupted", "totalTokens", "reason", "questions", "answers",
        "question", "options", "label", "annotations", "plan", "file_path", "old_string", "task_id", "task_type", "isAgent",
    ]
)  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=6
)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what belongs there, now and then anything."""
    return st.integers(0, 9).flatmap(lambda n: JSON if n == 0 else strategy)


BLOCKS = st.one_of(
    st.fixed_dictionaries({"type": st.just("text"), "text": _maybe(WORDS)}),
    st.fixed_dictionaries({"type": st.just("thinking"), "thinking": _maybe(WORDS)}),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_use"),
            "id": _maybe(IDS),
            "name": _maybe(NAMES),
            "input": _maybe(st.dictionaries(KEYS, JSON, max_size=4)),
        }
    ),
    st.fixed_dictionaries(
        {
            "type": st.just("tool_result"),
            "tool_use_id": _maybe(IDS),
            "content": _maybe(WORDS),
            "is_error": _maybe(st.booleans()),
        }
    ),
    JSON,
)
MESSAGES = st.fixed_dictionaries(
    {"content": _maybe(WORDS | st.lists(BLOCKS, max_size=3))},
    optional={
        "id": _maybe(IDS),
        "model": _maybe(st.sampled_from(["m", "<synthetic>"])),
        "stop_reason": _maybe(st.sampled_from([None, "end_turn", "tool_use"])),
        "usage": _maybe(st.dictionaries(st.sampled_from(["input_tokens", "output_tokens", "cache_creation"]), JSON)),
    },
)
ROW: st.SearchStrategy[Row] = st.fixed_dictionaries(
    {"type": _maybe(st.sampled_from([*ROWS, *sorted(SILENT_ROWS)[:2], "new"]))},
    optional={
        "message": _maybe(MESSAGES),
        "uuid": _maybe(st.sampled_from(["u1", "u2", "u3", "u4"])),
        "parentUuid": _maybe(st.sampled_from(["u1", "u2"])),
        "timestamp": _maybe(WORDS),
        "isSidechain": _maybe(st.booleans()),
        "isMeta": _maybe(st.just(False)),
        "isCompactSummary": _maybe(st.just(False)),
        "agentId": _maybe(IDS),
        "cwd": JSON,
        "toolUseResult": _maybe(st.dictionaries(KEYS, JSON, max_size=4)),
        "attachment": _maybe(st.dictionaries(KEYS, JSON, max_size=3)),
        "operation": _maybe(WORDS),
        "content": _maybe(WORDS),
        "subtype": _maybe(WORDS),
        "compactMetadata": JSON,
        "data": _maybe(st.fixed_dictionaries({"type": WORDS, "agentId": IDS, "message": MESSAGES})),
        "parentToolUseID": _maybe(IDS),
        "leafUuid": _maybe(st.sampled_from(["u1", "u2"])),
        "summary": WORDS,
        "origin": JSON,
        "reason": JSON,
        "planContent": JSON,
    },
)


def placeless(events: list[Event]) -> list[Event]:
    """The same events wherever their lines stand."""
    return [dataclasses.replace(event, at=dataclasses.replace(event.at, line=0)) for event in events]


@given(st.lists(ROW, max_size=12), st.sampled_from(["", "a1"]))
def test_random_rows_give_events_and_never_raise(rows: list[Row], agent: str) -> None:
    events = read_rows(*rows, agent=agent)
    assert all(1 <= event.at.line <= len(rows) for event in events)


@given(st.binary(max_size=300))
def test_random_bytes_give_events_and_never_raise(data: bytes) -> None:
    read_bytes(data)


@given(st.lists(ROW, max_size=10), st.data())
def test_a_duplicate_row_changes_nothing(rows: list[Row], data: st.DataObject) -> None:
    for number, row in enumerate(rows):
        row["uuid"] = f"row-{number}"
        row.pop("data", None)
    chain = [row for row in rows if isinstance(row.get("type"), str)]
    doubled = [copy for row in chain for copy in [row] * data.draw(st.integers(1, 2))]
    assert placeless(read_rows(*doubled)) == placeless(read_rows(*chain))


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_doubling_rows_of_a_real_file_changes_nothing(path: Path) -> None:
    rows = [orjson.loads(line) for line in path.read_bytes().splitlines()]
    doubled = [copy for row in rows for copy in [row] * (2 if "uuid" in row else 1)]
    replayed = [*rows, *(row for row in rows if "uuid" in row)]
    expected = placeless(read_rows(*rows))
    assert placeless(read_rows(*doubled)) == expected
    assert placeless(read_rows(*replayed)) == expected


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_a_real_file_cut_anywhere_gives_a_prefix_of_its_events(path: Path) -> None:
    data = path.read_bytes()
    whole = read_bytes(data)
    dice = random.Random(7)
    ends = [at + 1 for at, byte in enumerate(data) if byte == 10]
    for cut in {
        0,
        1,
        len(data) - 1,
        *ends,
        *(end - 1 for end in ends),
        *(dice.randrange(len(data)) for _ in range(60)),
    }:
        events = read_bytes(data[:cut])
        broken = only(events, Unreadable)
        assert len(broken) <= 1
        assert all(event is events[-1] and event.reason.startswith("incomplete") for event in broken)
        kept = events[: len(events) - len(broken)]
        assert kept == whole[: len(kept)]


@pytest.mark.parametrize("path", REAL, ids=lambda path: path.stem)
def test_a_real_file_that_grows_adds_events_and_changes_none(path: Path) -> None:
    lines = path.read_bytes().splitlines(keepends=True)
    before: list[Event] = []
    for count in range(len(lines) + 1):
        events = read_bytes(b"".join(lines[:count]))
        assert events[: len(before)] == before
        before = events


COUNTS = st.fixed_dictionaries(
    {key: st.integers(0, 1000) for key in ("input_tokens", "cache_read_input_tokens", "output_tokens")}
)


@given(st.lists(st.tuples(st.sampled_from(["m1", "m2", "m3"]), COUNTS), max_size=12))
def test_tokens_are_those_of_each_messages_last_row(rows: list[tuple[str, dict[str, int]]]) -> None:
    events = read_rows(*(assistant(text("x"), message=ident, usage=counts) for ident, counts in rows))
    counted = {event.message: event for event in only(events, UsageCounted)}
    last = dict(rows)
    assert {ident: (e.fresh, e.cached, e.said) for ident, e in counted.items()} == {
        ident: (c["input_tokens"], c["cache_read_input_tokens"], c["output_tokens"]) for ident, c in last.items()
    }


def test_a_large_result_is_not_kept_after_its_row(tmp_path: Path) -> None:
    import tracemalloc

    from crucible.clients.claude_code import logs as claude_code
    from tests.unit.clients.building import result, use

    path = tmp_path / "big.jsonl"
    with path.open("wb") as out:
        for number in range(200):
            call = f"c{number}"
            rows = [assistant(use("Write", call, content="x" * 50_000)), result("y" * 100_000, call)]
            out.write(dump(rows))
    tracemalloc.start()
    assert sum(1 for _ in claude_code.read_log(path)) > 400
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 4_000_000
