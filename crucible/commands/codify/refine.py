"""Describe a phase for an agent that refines a workflow."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import assert_never

from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.quoting import hang, shorten
from crucible.documents.session.note_entries import MARKS
from crucible.documents.session.session import (
    Callout,
    Decision,
    Entry,
    Failure,
    Intervention,
    Outcome,
    Phase,
    Prose,
    Subagent,
    ToolCall,
    ToolCalls,
)

__all__ = ["phase_text"]

_PHASE, _TEXT, _RESULT = 6000, 1500, 200
"""The most code points of a phase, of one text in it, and of a call's result."""


def phase_text(phase: Phase, seen: Callable[[str], str]) -> str:
    """What happened in a phase; only our own words begin a line.  `seen` is applied to each text before it is cut: half a secret is not found."""
    told = "\n".join(line for entry in phase.all_entries() for line in _entry_lines(entry, seen) if line)
    return f"PHASE {normal_line(seen(phase.name))[:200]}:\n{shorten(told, _PHASE)}"


def _entry_lines(entry: Entry, seen: Callable[[str], str]) -> Iterator[str]:
    def told(what: str, text: str, more: str | None = None, label: str = "") -> str:
        said = f"{what}: {hang(shorten(seen(text), _TEXT))}"
        return f"{said}\n{label}: {hang(shorten(seen(more), _TEXT))}" if more else said

    match entry:
        case Prose():
            yield told("AGENT", entry.text)
        case ToolCalls():
            yield told("TOOLS", "\n".join(_call_line(call, seen) for call in entry.calls))
        case Decision():
            yield told("DECISION", entry.text, entry.rationale, "BECAUSE")
        case Failure():
            yield told("ERROR", entry.text, entry.resolution, "MENDED BY")
        case Intervention():
            yield told("USER", entry.words)
        case Subagent():
            name = normal_line(seen(entry.agent.name))
            yield told(f"SUBAGENT {name}", entry.task or entry.text, entry.summary, "CAME BACK WITH")
        case Callout():
            yield told(normal_line(seen(entry.kind)).upper(), f"{entry.title} {entry.text}".strip())
        case _:
            assert_never(entry)


def _call_line(call: ToolCall, seen: Callable[[str], str]) -> str:
    mark = "" if call.outcome is Outcome.OK else f"{MARKS[call.outcome]} "
    return f"{call.call} → {mark}{shorten(seen(call.result), _RESULT)}"
