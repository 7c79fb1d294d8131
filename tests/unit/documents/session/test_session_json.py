from __future__ import annotations

import json
from datetime import UTC, datetime, timedelta, timezone

from crucible.documents.markdown.source import Lines, Problem
from crucible.documents.session.session import (
    AgentRef,
    Callout,
    Decision,
    Failure,
    FindingItem,
    Grounds,
    Intervention,
    Mode,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    Subagent,
    SubagentRef,
    Task,
    ToolCall,
    ToolCalls,
)
from crucible.documents.session.session_json import export_phase, export_problem, export_session, export_time

STARTED = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)
EMPTY_PHASE: dict[str, object] = {
    "id": "",
    "agent": None,
    "channel": None,
    "started": None,
    "ended": None,
    "tokens": None,
    "status": "success",
    "lines": None,
    "entries": [],
    "phases": [],
}


def test_a_full_session_is_exported_whole() -> None:
    session = Session(
        id="2026-11-21-a",
        started=STARTED,
        status=Status.FAILED,
        ended=STARTED + timedelta(seconds=90),
        project="shop",
        branch="main",
        channel="dev",
        participants=(AgentRef("claude-code", "2.1"), AgentRef("helper")),
        model="opus",
        tokens_used=1,
        tokens_cached=2,
        subagents=(SubagentRef("b", "explorer", "haiku", 3),),
        parent="p",
        continues="c",
        continued_by="d",
        resume_point="phase-1",
        pause_reason="lunch",
        sources=("claude-code:1",),
        synced_to=("claude-code:2",),
        redactions=4,
        redacted=("jwt: 4",),
        tags=("session",),
        aliases=("other",),
        title="A",
        preamble=(Prose("before"),),
        tasks=(Task("1", "do", "pending", "high", ("0",), "s", "c", {"owner": "me"}),),
        findings=(
            FindingItem("outcome", "It works", "since noon", Grounds("reply", 1.0, ("a",)), ("at last",), Lines(2, 4)),
        ),
        phases=(Phase("One"),),
        summary="done",
        properties={"type": "session", "n": 1},
        problems=(Problem("odd", 7, "it is odd"),),
    )
    exported = export_session(session)
    assert exported == {
        "id": "2026-11-21-a",
        "title": "A",
        "status": "failed",
        "archived": False,
        "project": "shop",
        "branch": "main",
        "channel": "dev",
        "started": "2026-11-21T20:26:47Z",
        "ended": "2026-11-21T20:28:17Z",
        "duration_s": 90,
        "participants": ["claude-code@2.1", "helper"],
        "model": "opus",
        "tokens": 1,
        "tokens_cached": 2,
        "usage": [],
        "subagents": [{"session": "b", "agent": "explorer", "model": "haiku", "tokens": 3}],
        "parent": "p",
        "continues": "c",
        "continued_by": "d",
        "resume_point": "phase-1",
        "pause_reason": "lunch",
        "sources": ["claude-code:1"],
        "synced_to": ["claude-code:2"],
        "redactions": 4,
        "redacted": ["jwt: 4"],
        "tags": ["session"],
        "aliases": ["other"],
        "properties": {"type": "session", "n": 1},
        "tasks": [
            {
                "owner": "me",
                "id": "1",
                "content": "do",
                "status": "pending",
                "priority": "high",
                "depends_on": ["0"],
                "started": "s",
                "completed": "c",
            }
        ],
        "findings": [
            {
                "kind": "outcome",
                "text": "It works",
                "details": "since noon",
                "points": ["at last"],
                "also": None,
                "evidence": None,
                "source": "reply",
                "confidence": 1.0,
                "rows": ["a"],
                "lines": [3, 4],
            }
        ],
        "preamble": [{"type": "prose", "text": "before", "lines": None}],
        "phases": [{"name": "One", **EMPTY_PHASE}],
        "summary": "done",
        "problems": [{"code": "odd", "line": 7, "message": "it is odd"}],
    }
    assert json.loads(json.dumps(exported)) == exported


def test_what_is_unknown_is_null() -> None:
    exported = export_session(Session("a", status=None))
    for key in (
        "status",
        "started",
        "ended",
        "duration_s",
        "model",
        "tokens",
        "parent",
        "summary",
        "redactions",
    ):
        assert exported[key] is None, key


def test_an_unknown_task_key_never_hides_a_known_one() -> None:
    exported = export_session(Session("a", tasks=(Task("1", "do", extra={"id": "2", "x": 1}),)))
    assert exported["tasks"] == [
        {
            "id": "1",
            "x": 1,
            "content": "do",
            "status": "pending",
            "priority": "medium",
            "depends_on": [],
            "started": None,
            "completed": None,
        }
    ]


def test_every_kind_of_entry_has_its_type_and_its_parts() -> None:
    here = Lines(4, 6)
    call = ToolCall("Bash ls -l", "two", Outcome.FAILED, Lines(5, 6))
    inner = Prose("inside")
    phase = Phase(
        "One",
        agent=AgentRef("x", "1"),
        channel="dev",
        started=STARTED,
        ended=STARTED,
        tokens=5,
        entries=(
            Prose("text", here),
            ToolCalls((call,), here),
            Decision("chosen", "why", "others", "user", Grounds("reply", 0.5, ("a", "b")), lines=here),
            Failure("broke", "mended", "cause", lines=here),
            Intervention("words", "made of it", here),
            Subagent(AgentRef("y"), "haiku", Mode.INLINE, "b", "said", "sum", "task", (inner,), here),
            Callout("milestone", "Title", "text", here, "-"),
        ),
        subphases=(Phase("Sub", id="phase-1.1"),),
        id="phase-1",
        lines=Lines(3, 9),
    )
    assert export_phase(phase) == {
        "id": "phase-1",
        "name": "One",
        "agent": "x@1",
        "channel": "dev",
        "started": "2026-11-21T20:26:47Z",
        "ended": "2026-11-21T20:26:47Z",
        "tokens": 5,
        "status": "failed",
        "lines": [4, 9],
        "entries": [
            {"type": "prose", "text": "text", "lines": [5, 6]},
            {
                "type": "tool_calls",
                "calls": [
                    {
                        "tool": "Bash",
                        "call": "Bash ls -l",
                        "result": "two",
                        "outcome": "failed",
                        "lines": [6, 6],
                    }
                ],
                "lines": [5, 6],
            },
            {
                "type": "decision",
                "text": "chosen",
                "rationale": "why",
                "alternatives": "others",
                "by": "user",
                "source": "reply",
                "confidence": 0.5,
                "rows": ["a", "b"],
                "lines": [5, 6],
            },
            {
                "type": "error",
                "text": "broke",
                "cause": "cause",
                "resolution": "mended",
                "source": None,
                "confidence": None,
                "rows": [],
                "lines": [5, 6],
            },
            {"type": "user", "words": "words", "note": "made of it", "lines": [5, 6]},
            {
                "type": "subagent",
                "agent": "y",
                "model": "haiku",
                "mode": "inline",
                "link": "b",
                "text": "said",
                "summary": "sum",
                "task": "task",
                "entries": [{"type": "prose", "text": "inside", "lines": None}],
                "lines": [5, 6],
            },
            {
                "type": "callout",
                "kind": "milestone",
                "title": "Title",
                "fold": "-",
                "text": "text",
                "lines": [5, 6],
            },
        ],
        "phases": [{"name": "Sub", **EMPTY_PHASE, "id": "phase-1.1"}],
    }


def test_times_are_in_utc() -> None:
    assert export_time(STARTED.astimezone(timezone(timedelta(hours=2)))) == "2026-11-21T20:26:47Z"
    assert export_time(None) is None


def test_a_problem_keeps_its_line() -> None:
    assert export_problem(Problem("c", 3, "m")) == {"code": "c", "line": 3, "message": "m"}
