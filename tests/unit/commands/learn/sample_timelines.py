"""Sample sessions, written call by call, and their timelines."""

from __future__ import annotations

from crucible.analysis.tools.recorded_calls import recorded_calls_of
from crucible.commands.learn.case import Case, Puzzle
from crucible.commands.learn.puzzle_cases import find_puzzles
from crucible.commands.learn.timeline import Timeline, build_timeline
from crucible.documents.session.session import (
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)


def says(text: str) -> Prose:
    return Prose(text)


def asked(words: str) -> Intervention:
    return Intervention(words)


def error(text: str, resolution: str | None = None) -> Failure:
    return Failure(text, resolution)


def done(line: str, result: str = "ok") -> ToolCalls:
    return ToolCalls((ToolCall(line, result),))


def failed(line: str, result: str, outcome: Outcome = Outcome.FAILED) -> ToolCalls:
    return ToolCalls((ToolCall(line, result, outcome),))


def timeline_of(*phases: tuple[Entry, ...], id_: str = "s", parent: str | None = None) -> Timeline:
    """A session with these phases; `parent` is set for a subagent's session."""
    made = tuple(Phase(f"Phase {n}", entries=entries, id=f"phase-{n}") for n, entries in enumerate(phases, 1))
    return build_timeline(Session(id_, title="The title", parent=parent, phases=made), recorded_calls_of([]))


def puzzles_of(*phases: tuple[Entry, ...]) -> list[Case]:
    return list(find_puzzles(timeline_of(*phases)))


def body_of(case: Case) -> Puzzle:
    """Return the body of a puzzle's case."""
    assert isinstance(case.body, Puzzle)
    return case.body
