"""Small sessions for the tests of detection: entries in one phase, each call and text with a line of its own."""

from __future__ import annotations

from dataclasses import replace

from crucible.analysis.tools.recorded_calls import RecordedCalls, recorded_calls_of
from crucible.commands.capture.candidates import Candidate, CandidateKind
from crucible.commands.capture.detection import NO, detect
from crucible.documents.markdown.source import Lines
from crucible.documents.session.session import (
    Entry,
    FindingItem,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Session,
    ToolCall,
    ToolCalls,
)
from crucible.vault.events.event_reader import EventRecord


def said(text: str) -> Prose:
    """The agent's words."""
    return Prose(text)


def user(words: str) -> Intervention:
    """The user's words."""
    return Intervention(words)


def passed(call: str, result: str = "ok") -> ToolCalls:
    """A call that went well."""
    return ToolCalls((ToolCall(call, result),))


def failed(call: str, result: str) -> ToolCalls:
    """A call that failed."""
    return ToolCalls((ToolCall(call, result, Outcome.FAILED),))


def session_of(*entries: Entry, findings: tuple[FindingItem, ...] = ()) -> Session:
    """One phase whose entries stand ten lines apart, and a findings block behind it."""
    placed = tuple(_placed(entry, 10 * at) for at, entry in enumerate(entries))
    end = 10 * len(entries)
    noted = tuple(replace(one, lines=Lines(end + at, end + at + 1)) for at, one in enumerate(findings))
    phase = Phase("Told", entries=placed, id="phase-1")
    return Session(id="2026-11-21-told", findings=noted, phases=(phase,))


def _placed(entry: Entry, line: int) -> Entry:
    lines = Lines(line, line + 5)
    if isinstance(entry, ToolCalls):
        calls = tuple(replace(call, lines=Lines(line + at, line + at + 1)) for at, call in enumerate(entry.calls))
        return ToolCalls(calls, lines)
    return replace(entry, lines=lines)


def found_in(*entries: Entry, evidence: RecordedCalls = NO) -> list[Candidate]:
    """What is detected in a session of these entries."""
    return detect(session_of(*entries), evidence)


def kinds_of(*entries: Entry) -> list[CandidateKind]:
    """The kinds of what is detected."""
    return [one.kind for one in found_in(*entries)]


def written(path: str, content: str) -> tuple[ToolCalls, RecordedCalls]:
    """A file that was written whole, and the flight recorder's evidence of it."""
    arguments = {"file_path": path, "content": content}
    records = [
        EventRecord(1, "ToolUsed", values={"name": "Write", "call": "a", "arguments": arguments}),
        EventRecord(2, "ToolReturned", values={"call": "a", "end": "ok", "text": "created"}),
    ]
    return passed(f"Write {path}", "created, 3 lines"), recorded_calls_of(records)
