"""How much of a running session is told: whole turns."""

from __future__ import annotations

import os
from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

import pytest

from crucible.clients.copilot import logs as copilot
from crucible.clients.events import (
    Answered,
    At,
    ContinuedIn,
    Event,
    Faulted,
    Interrupted,
    PlanSettled,
    Prompted,
    Replied,
    Rewound,
)
from crucible.clients.log_files import Transcript
from crucible.clients.registry import DIALECTS
from crucible.commands.imports.import_report import ImportOptions
from crucible.commands.imports.import_result import Search
from crucible.commands.imports.imports import import_all, import_transcripts
from crucible.commands.imports.known_logs import KnownLogs
from crucible.commands.imports.trunk_events import WholeTurns
from tests.unit.clients.building import assistant, text, user
from tests.unit.commands.imports.places import (
    CLAUDE,
    DATA,
    LATER,
    bytes_of,
    make_vault,
    notes_of,
    session_file,
    write_rows,
)

AT = At(1)
TURN: list[Event] = [Prompted(AT, "Go"), Replied(AT, "I look.")]


@pytest.mark.parametrize(
    "end",
    [Answered(AT), Interrupted(AT), Faulted(AT, "overloaded"), Rewound(AT, 1), ContinuedIn(AT, "s2")],
)
def test_a_turn_is_complete_at_any_kind_of_end(end: Event) -> None:
    turns = WholeTurns()
    assert list(turns.until_last_end(TURN)) == []
    assert turns.cut
    assert list(turns.until_last_end([*TURN, end])) == [*TURN, end]
    assert not turns.cut


def test_an_unfinished_turn_of_the_last_minute_waits_for_the_next_import(tmp_path: Path) -> None:
    vault, path = make_vault(tmp_path / "vault"), session_file(tmp_path / "logs")
    write_rows(path, [user("Count."), assistant(text("One."), stop="end_turn"), user("On."), assistant(text("Two."))])
    os.utime(path, (LATER.timestamp(), LATER.timestamp()))
    for minutes, has_two in ((0.5, False), (2, True)):
        now = LATER + timedelta(minutes=minutes)
        options = ImportOptions(now, growing_since=now - timedelta(minutes=1))
        import_all(vault, [Search(CLAUDE, (path,))], options=options, known=KnownLogs(vault, now, "1"))
        (note,) = notes_of(vault).values()
        assert "\nOne." in note.source.text
        assert ("\nTwo." in note.source.text) is has_two


def test_the_events_of_a_row_are_held_together() -> None:
    settled, asked = PlanSettled(At(2, "b"), "call", "A plan", approved=True), Prompted(At(2, "b"), "Do it")
    before: list[Event] = [Prompted(At(1, "a"), "Go"), Replied(At(1, "a"), "I look."), Answered(At(1, "a"))]
    turns = WholeTurns()
    assert list(turns.until_last_end([*before, settled])) == [*before, settled]
    assert list(turns.until_last_end([*before, settled, asked])) == before
    assert turns.held == [settled, asked]
    rest: list[Event] = [Replied(At(3, "c"), "Done."), Answered(At(4, "d"))]
    assert list(turns.until_last_end(rest, turns.held)) == [settled, asked, *rest]


def test_a_subagent_that_works_while_its_session_is_read_has_its_rows_before_its_report(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The session is found before the subagents begin, and read when their reports are in the log."""
    (log,) = (DATA / "transcripts" / "copilot" / "limiter").rglob("events.jsonl")
    rows = log.read_bytes().splitlines(keepends=True)
    first = next(at for at, row in enumerate(rows) if b'"subagent.started"' in row)
    growing = tmp_path / log.parent.name / log.name
    growing.parent.mkdir()
    growing.write_bytes(b"".join(rows[:first]))
    find = copilot.find

    def find_and_grow(path: Path) -> Iterator[Transcript]:
        found = [*find(path)]
        growing.write_bytes(b"".join(rows))
        return iter(found)

    monkeypatch.setattr(copilot, "find", find_and_grow)
    grown, whole = make_vault(tmp_path / "grown"), make_vault(tmp_path / "whole")
    for vault in (grown, whole):
        import_transcripts(vault, DIALECTS["copilot"], [growing], options=ImportOptions(LATER))
    assert len(grown.session_paths()) == 3
    assert bytes_of(grown) == bytes_of(whole)
