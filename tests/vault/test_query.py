"""Rows, filters and times."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.errors import UsageError
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
from crucible.vault.query import (
    COLUMNS,
    SessionQuery,
    SessionRow,
    matches,
    parse_when,
    row_of,
    select,
    unreadable_row,
)
from crucible.vault.store import Note

BEGAN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)


def note(session: Session) -> Note:
    found = Note(Path("/v/sessions/the-file.md"), Source(""), Stamp(0, 0, 0, 0, ""))
    found.__dict__["session"] = session  # as if it had been read already
    return found


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


def test_a_row_has_exactly_the_columns_of_the_list() -> None:
    assert row_of(note(SESSION), "sessions/the-file.md").columns() == {
        "id": "the-file",
        "title": "A title",
        "project": "Shop",
        "status": "completed",
        "started": "2026-11-21T20:26:47Z",
        "ended": "2026-11-21T20:26:52Z",
        "duration_s": 5,
        "participants": ["claude-code@2.1.197", "codex"],
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
        "path": "sessions/the-file.md",
        "problems": 1,
    }
    assert tuple(row_of(note(SESSION), "p").columns()) == COLUMNS


def test_an_empty_session_is_a_row_of_unknowns() -> None:
    row = row_of(note(Session(id="x", status=None, properties={"status": "weird"})), "p.md")
    assert row == SessionRow("the-file", status="weird", path="p.md")
    assert row_of(note(Session(id="x", status=None, properties={"status": 3})), "p.md").status is None


def test_an_unreadable_note_is_a_row_with_a_problem() -> None:
    assert unreadable_row("sessions/deep/x.md") == SessionRow("x", path="sessions/deep/x.md", problems=1)


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05Z"),  # noqa: DTZ001  a human left the zone out
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=2))), "0001-01-01T00:00:00Z"),
    ],
)
def test_times_are_told_in_utc(moment: datetime, text: str) -> None:
    assert row_of(note(Session(id="x", started=moment)), "p").started == text


ROW = row_of(note(SESSION), "p")


@pytest.mark.parametrize(
    ("query", "wanted"),
    [
        (SessionQuery(), False),
        (SessionQuery(children=True), True),
        (SessionQuery(children=True, status="completed"), True),
        (SessionQuery(children=True, status="active"), False),
        (SessionQuery(children=True, project="shop"), True),
        (SessionQuery(children=True, project="sho"), False),
        (SessionQuery(children=True, agent="claude-code"), True),
        (SessionQuery(children=True, agent="@claude-code@2.1.197"), True),
        (SessionQuery(children=True, agent="claude-code@2.1"), False),
        (SessionQuery(children=True, agent="claude"), False),
        (SessionQuery(children=True, agent="reviewer"), True),
        (SessionQuery(children=True, agent="general-purpose"), False),
        (SessionQuery(children=True, channel="dev"), True),
        (SessionQuery(children=True, channel="#qa"), True),
        (SessionQuery(children=True, channel="ops"), True),
        (SessionQuery(children=True, channel="de"), False),
        (SessionQuery(children=True, model="claude-opus-4-8"), True),
        (SessionQuery(children=True, model="Opus"), True),
        (SessionQuery(children=True, model="claude-opus-4"), True),
        (SessionQuery(children=True, model="haiku"), True),
        (SessionQuery(children=True, model="opus-8"), False),
        (SessionQuery(children=True, model="op"), False),
        (SessionQuery(children=True, since=BEGAN), True),
        (SessionQuery(children=True, since=BEGAN + timedelta(seconds=1)), False),
        (SessionQuery(children=True, until=BEGAN), True),
        (SessionQuery(children=True, until=BEGAN - timedelta(seconds=1)), False),
        (SessionQuery(children=True, status="completed", channel="nope"), False),
    ],
)
def test_a_query_wants_what_it_says(query: SessionQuery, wanted: bool) -> None:
    assert matches(ROW, query) is wanted


def test_a_session_without_a_start_is_in_no_span_of_time() -> None:
    row = SessionRow("x")
    assert matches(row, SessionQuery())
    assert not matches(row, SessionQuery(since=BEGAN))
    assert not matches(row, SessionQuery(until=BEGAN))


def test_the_newest_comes_first_then_by_id_and_the_unknown_last() -> None:
    rows = [
        SessionRow("none"),
        SessionRow("b", started="2026-01-01T00:00:00Z"),
        SessionRow("new", started="2026-02-01T00:00:00Z"),
        SessionRow("a", started="2026-01-01T00:00:00Z"),
    ]
    assert [row.id for row in select(rows, SessionQuery())] == ["new", "a", "b", "none"]
    assert [row.id for row in select(rows, SessionQuery(limit=2))] == ["new", "a"]
    assert select(rows, SessionQuery(limit=0)) == []


NOW = datetime(2026, 11, 21, 22, 30, 15, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("text", "moment"),
    [
        ("now", "2026-11-21T22:30:15+01:00"),
        ("today", "2026-11-21T00:00:00+01:00"),
        ("Yesterday", "2026-11-20T00:00:00+01:00"),
        ("7d", "2026-11-14T22:30:15+01:00"),
        ("2w", "2026-11-07T22:30:15+01:00"),
        ("12h", "2026-11-21T10:30:15+01:00"),
        ("90 M", "2026-11-21T21:00:15+01:00"),
        ("15s", "2026-11-21T22:30:00+01:00"),
        ("2026-01-02", "2026-01-02T00:00:00+01:00"),
        ("20260102", "2026-01-02T00:00:00+01:00"),
        (" 2026-01-02T03:04 ", "2026-01-02T03:04:00+01:00"),
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05+01:00"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05-05:00", "2026-01-02T03:04:05-05:00"),
    ],
)
def test_a_moment_is_read_as_people_write_it(text: str, moment: str) -> None:
    assert parse_when(text, NOW).isoformat() == moment


def test_until_a_day_means_its_end() -> None:
    assert parse_when("2026-01-02", NOW, end=True).isoformat() == "2026-01-02T23:59:59+01:00"
    assert parse_when("yesterday", NOW, end=True).isoformat() == "2026-11-20T23:59:59+01:00"
    assert parse_when("2026-01-02T03:04", NOW, end=True).isoformat() == "2026-01-02T03:04:00+01:00"


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "7x", "-7d", "999999w", "12:30"])
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_when(text, NOW)
    assert "7d" in caught.value.hint


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
@settings(max_examples=100)
def test_since_and_until_divide_all_sessions(started: datetime, edge: datetime) -> None:
    row = row_of(note(Session(id="x", started=started)), "p")
    edge = edge.replace(microsecond=0)
    later = matches(row, SessionQuery(since=edge))
    assert later or matches(row, SessionQuery(until=edge))
    if 1 < started.year < 9999 and 1 < edge.year < 9999:
        assert later == (started.replace(microsecond=0) >= edge)
