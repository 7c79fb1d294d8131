"""Properties of every log of Gemini CLI, real, damaged or random."""

from __future__ import annotations

from typing import Any

import orjson
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.events import Answered, UsageCounted
from crucible.clients.gemini import logs as gemini
from tests.unit.clients.building import only
from tests.unit.clients.gemini_logs import FIRST, Row, events_of, events_of_bytes
from tests.unit.clients.test_gemini_golden import GEMINI

WORDS = st.text(max_size=5) | st.sampled_from(
    [
        "",
        "go on",
        "/x",
        "<session_context>",
        "<hook_context>",
        "<state_snapshot>",
        "--- Content from referenced files ---",
        "Request cancelled.",
        "Got it. Thanks for the context!",
        "Output: x\nExit Code: 3",
        "Subagent 'x' finished.\nTermination Reason: GOAL\nResult:\n",
        "2026-01-02T03:04:05Z",
        "9999-12-31T23:59:59.999-23:00",
    ]
)
IDS = st.sampled_from(["a", "b", "c", "d"])
LEAF = st.none() | st.booleans() | st.integers(-5, 2**62) | st.floats(allow_nan=False) | WORDS
KEYS = st.sampled_from(
    [
        "text", "thought", "functionCall", "functionResponse", "inlineData", "mimeType", "id", "name", "args", "response",
        "output", "error", "status", "result", "agentId", "resultDisplay", "diffStat", "files", "newContent", "todos",
        "description", "subject", "input", "cached", "thoughts", "tool", "total", "prompt", "agent_name", "messages", "type",
    ]
)  # fmt: skip
JSON: st.SearchStrategy[Any] = st.recursive(
    LEAF, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4), max_leaves=6
)


def _maybe(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    """Mostly what belongs there, now and then anything."""
    return st.integers(0, 9).flatmap(lambda n: JSON if n == 0 else strategy)


PART = st.one_of(
    st.fixed_dictionaries({"text": _maybe(WORDS)}, optional={"thought": _maybe(st.booleans())}),
    st.fixed_dictionaries(
        {
            "functionResponse": _maybe(
                st.fixed_dictionaries({"id": _maybe(IDS), "response": _maybe(st.dictionaries(KEYS, JSON, max_size=2))})
            )
        }
    ),
    st.fixed_dictionaries(
        {"functionCall": _maybe(st.fixed_dictionaries({"id": _maybe(IDS), "name": _maybe(WORDS), "args": JSON}))}
    ),
    JSON,
)
CONTENT = WORDS | PART | st.lists(PART, max_size=3)
NAMES = st.sampled_from(
    [
        "run_shell_command",
        "write_file",
        "replace",
        "invoke_agent",
        "complete_task",
        "write_todos",
        "list_directory",
    ]
)
CALL = st.fixed_dictionaries(
    {"id": _maybe(IDS), "name": _maybe(NAMES), "args": _maybe(st.dictionaries(KEYS, JSON, max_size=3))},
    optional={
        "status": _maybe(st.sampled_from(["success", "error", "cancelled", "executing"])),
        "result": _maybe(CONTENT),
        "resultDisplay": JSON,
        "agentId": _maybe(IDS),
        "timestamp": _maybe(WORDS),
    },
)
MESSAGE: st.SearchStrategy[Row] = st.fixed_dictionaries(
    {"id": IDS, "type": _maybe(st.sampled_from(["user", "gemini", "info", "error"])), "content": CONTENT},
    optional={
        "timestamp": _maybe(WORDS),
        "displayContent": CONTENT,
        "toolCalls": _maybe(st.lists(_maybe(CALL), max_size=2)),
        "thoughts": _maybe(st.lists(JSON, max_size=2)),
        "tokens": _maybe(st.dictionaries(st.sampled_from(["input", "output", "cached", "tool", "total"]), LEAF)),
        "model": _maybe(WORDS),
    },
)
LIST = st.fixed_dictionaries(
    {"messages": _maybe(st.lists(_maybe(MESSAGE), max_size=3))}, optional={"lastUpdated": _maybe(WORDS)}
)
ROW = st.one_of(
    MESSAGE,
    st.fixed_dictionaries({"$rewindTo": _maybe(IDS)}),
    st.fixed_dictionaries({"$set": _maybe(LIST | st.fixed_dictionaries({"summary": _maybe(WORDS)}))}),
    st.just(FIRST),
    JSON,
)
LOG = st.lists(ROW, max_size=12)


@given(LOG, st.sampled_from(["", "k1"]))
def test_no_rows_make_it_raise(rows: list[object], agent: str) -> None:
    for event in events_of_bytes(b"".join(orjson.dumps(row) + b"\n" for row in rows), agent=agent):
        assert event.at.line >= 1
        assert event.at.agent == agent


@given(LOG, st.data())
def test_no_cut_and_no_damage_makes_it_raise(rows: list[object], data: st.DataObject) -> None:
    whole = b"".join(orjson.dumps(row) + b"\n" for row in [FIRST, *rows])
    cut = data.draw(st.integers(0, len(whole)))
    name = data.draw(st.sampled_from(["session-x.json", "session-x.jsonl"]))
    events_of_bytes(whole[:cut] + data.draw(st.binary(max_size=8)) + whole[cut:], name=name)


@given(st.lists(MESSAGE, max_size=10))
def test_a_message_is_counted_once_and_no_record_is_two_answers(rows: list[Row]) -> None:
    events = events_of(FIRST, *rows)
    counted = [event.message for event in only(events, UsageCounted)]
    assert len(counted) == len(set(counted))
    assert len(only(events, Answered)) <= len(rows)


@given(st.data())
def test_a_real_log_that_was_cut_is_a_beginning_of_the_whole(data: st.DataObject) -> None:
    path = data.draw(st.sampled_from(sorted(GEMINI.rglob("session-*.jsonl"))))
    lines = path.read_bytes().splitlines(keepends=True)
    head = lines[: data.draw(st.integers(1, len(lines)))]
    rewound = any(b'"$rewindTo"' in line for line in lines[len(head) :])
    told = [event.at.row for event in events_of_bytes(b"".join(head)) if not isinstance(event, Answered)]
    whole = [event.at.row for event in gemini.read_log(path) if not isinstance(event, Answered)]
    assert rewound or told == whole[: len(told)]
