"""Pi's entries that no recording has: forks, the tree, failures and what extensions add."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from crucible.clients.events import (
    CallEnd,
    Event,
    Faulted,
    Injected,
    Interrupted,
    Prompted,
    Replied,
    Rewound,
    Titled,
    ToolReturned,
)
from crucible.clients.pi import logs as pi
from tests.unit.clients.building import only

Row = dict[str, Any]


def entry(kind: str, ident: str, parent: str | None = None, minute: int = 0, **more: Any) -> Row:
    return {"type": kind, "id": ident, "parentId": parent, "timestamp": f"2026-11-28T10:{minute:02}:00.000Z", **more}


def message(ident: str, parent: str | None, role: str, text: str, minute: int = 0, **more: Any) -> Row:
    content = [{"type": "text", "text": text}]
    return entry("message", ident, parent, minute, message={"role": role, "content": content, **more})


def head(ident: str, minute: int = 0, **more: Any) -> Row:
    return {"type": "session", "version": 3, "id": ident, "timestamp": f"2026-11-28T10:{minute:02}:00.000Z", **more}


def events_of(path: Path, *rows: Row) -> list[Event]:
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))
    (transcript,) = pi.find(path)
    return list(pi.read(transcript))


def test_a_fork_leaves_out_its_parents_messages_while_that_file_is_there(tmp_path: Path) -> None:
    said = [message("a", None, "user", "Old"), message("b", "a", "assistant", "Older", stopReason="stop")]
    fork = [head("two", 5, parentSession="/x/t_one.jsonl"), *said, message("c", "b", "user", "New", 6)]
    alone = events_of(tmp_path / "t_two.jsonl", *fork)
    assert [event.text for event in only(alone, Prompted)] == ["Old", "New"]
    events_of(tmp_path / "t_one.jsonl", head("one"), *said)
    beside = events_of(tmp_path / "t_two.jsonl", *fork)
    assert [event.text for event in only(beside, Prompted)] == ["New"]
    assert not only(beside, Rewound)


def test_another_branch_of_the_tree_says_how_many_messages_were_left(tmp_path: Path) -> None:
    rows = [
        message("a", None, "user", "One"),
        message("b", "a", "assistant", "Two", stopReason="stop"),
        message("c", "b", "user", "Wrong"),
        message("d", "c", "assistant", "Wronger", stopReason="stop"),
        entry("branch_summary", "e", "b", summary="It was wrong."),
        message("f", "e", "user", "Right"),
    ]
    events = events_of(tmp_path / "t_x.jsonl", head("x"), *rows)
    assert [event.text for event in only(events, Rewound)] == ["2 messages"]
    assert [event.text for event in only(events, Injected)] == ["It was wrong."]
    assert [event.text for event in only(events, Prompted)] == ["One", "Wrong", "Right"]


def test_the_first_version_of_the_format_has_no_ids(tmp_path: Path) -> None:
    rows = [
        {"type": "message", "timestamp": "2026-01-01T00:00:00Z", "message": {"role": "user", "content": text}}
        for text in "ab"
    ]
    events = events_of(tmp_path / "t_x.jsonl", {**head("x"), "version": 1}, *rows)
    assert [(event.text, event.at.row) for event in only(events, Prompted)] == [("a", "00000002"), ("b", "00000003")]


def test_failures_names_and_commands_of_the_user(tmp_path: Path) -> None:
    rows = [
        message("a", None, "bashExecution", "", command="ls", output="app.py"),
        entry("session_info", "b", "a", name="Look around"),
        message("c", "b", "toolResult", "Command aborted", toolCallId="k", isError=True),
        message("d", "c", "assistant", "", stopReason="aborted"),
        message("e", "d", "assistant", "", stopReason="error", errorMessage="529 overloaded"),
        message("f", "e", "assistant", "Cut off", stopReason="length"),
    ]
    events = events_of(tmp_path / "t_x.jsonl", head("x"), *rows)
    assert [event.text for event in only(events, Prompted)] == ["!ls"]
    assert [event.text for event in only(events, Injected)] == ["app.py"]
    assert [(event.title, event.by_user) for event in only(events, Titled)] == [("Look around", True)]
    assert [event.end for event in only(events, ToolReturned)] == [CallEnd.INTERRUPTED]
    assert len(only(events, Interrupted)) == 1
    assert [event.text for event in only(events, Faulted)] == ["529 overloaded"]
    assert [event.final for event in only(events, Replied)] == [True]
