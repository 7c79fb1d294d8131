"""From a note to its rows: what each column of a session says."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from crucible.index.deriving import rows_of, rows_of_unreadable
from crucible.index.schema import TABLES, Row, decode_lines
from crucible.note.source import Problem, Source
from crucible.session.model import (
    AgentRef,
    Decision,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    Status,
    SubagentRef,
    ToolCall,
    ToolCalls,
)
from crucible.vault.files import Stamp
from crucible.vault.store import Note

BEGAN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)

SESSION = Session(
    id="in-the-frontmatter",
    started=BEGAN,
    ended=BEGAN + timedelta(seconds=5),
    status=Status.COMPLETED,
    project="Shop",
    channel="dev",
    participants=(AgentRef("claude-code", "2.1.197"), AgentRef("codex")),
    model="claude-opus-4-8",
    tokens_used=1944,
    tokens_cached=6000,
    subagents=(SubagentRef("child", "general-purpose", "claude-haiku-4", 5),),
    parent="[[parent-session|shown]]",
    title="A title",
    phases=(
        Phase(
            "One",
            AgentRef("Reviewer", "3"),
            "qa",
            entries=(
                Intervention("do it"),
                Prose("text"),
                ToolCalls((ToolCall("Bash x"), ToolCall("Bash y", outcome=Outcome.FAILED))),
                ToolCalls((ToolCall("Bash z", outcome=Outcome.REJECTED),)),
                Decision("this"),
            ),
            subphases=(Phase("Deeper", channel="ops", entries=(Failure("bad"), Failure("worse", "mended"))),),
        ),
        Phase("Two"),
    ),
    problems=(Problem("x", 1, "y"),),
)


def row_of(session: Session, path: str = "sessions/the-file.md") -> Row:
    note = Note(Path("/v/sessions/the-file.md"), Source(""), Stamp(0, 0, 0, 0, ""))
    note.__dict__["session"] = session  # as if it had been read already
    (row,) = decode_lines("sessions", [rows_of(note, path).tables[0]])
    return row


def test_a_session_is_one_row_of_these_columns() -> None:
    assert row_of(SESSION) == {
        "started": "2026-11-21T20:26:47Z",
        "id": "the-file",
        "path": "sessions/the-file.md",
        "title": "A title",
        "project": "Shop",
        "status": "completed",
        "ended": "2026-11-21T20:26:52Z",
        "duration_s": 5,
        "participants": "claude-code@2.1.197, codex",
        "channel": "dev",
        "model": "claude-opus-4-8",
        "tokens_used": 1944,
        "tokens_cached": 6000,
        "phases": 2,
        "tool_calls": 3,
        "failures": 1,
        "decisions": 1,
        "errors": 2,
        "users": 1,
        "parent": "parent-session",
        "branch": None,
        "tags": None,
        "problems": 1,
        "agents": "claude-code@2.1.197, codex, reviewer@3",
        "channels": "dev, ops, qa",
        "models": "claude-haiku-4, claude-opus-4-8",
        "unreadable": None,
    }


def test_an_empty_session_is_a_row_of_unknowns() -> None:
    counted = {"phases", "tool_calls", "failures", "decisions", "errors", "users", "problems"}
    known = {"id": "the-file", "title": "", "path": "p.md", **dict.fromkeys(counted, 0)}
    assert row_of(Session(id="x", status=None), "p.md") == {**dict.fromkeys(TABLES["sessions"]), **known}


@pytest.mark.parametrize(
    ("said", "shown"), [("weird", "weird"), ("Failed", "failed"), (3, None), ("", "")], ids=repr
)
def test_a_status_that_is_none_is_shown_as_a_human_wrote_it(said: str | int, shown: str | None) -> None:
    assert row_of(Session(id="x", status=None, properties={"status": said}))["status"] == shown


def test_an_unreadable_note_is_a_row_with_a_problem() -> None:
    rows = rows_of_unreadable("sessions/deep/x.md", "sessions/deep/x.md: no text")
    (row,) = decode_lines("sessions", [rows.tables[0]])
    assert (row["id"], row["path"], row["problems"]) == ("x", "sessions/deep/x.md", 1)
    assert row["unreadable"] == "sessions/deep/x.md: no text"
    assert rows.shard == "undated"
    assert not any(rows.tables[1:])
