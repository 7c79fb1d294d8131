"""What a parent's transcript adds to a subagent's note: the task and the result."""

from __future__ import annotations

from collections.abc import Iterable

from crucible.clients.events import CallEnd, Event, Faulted, SubagentReturned, SubagentStarted
from crucible.documents.markdown.containment import normal
from crucible.documents.recording.entry_texts import happening
from crucible.documents.recording.pending_calls import OpenPlace
from crucible.documents.recording.session_draft import Stretch
from crucible.documents.session.session import Prose
from crucible.documents.session.status_rules import CLOSED, Turn

__all__ = ["is_heard", "turn_after"]


def is_heard(event: Event, agent: str) -> bool:
    """True if an event is about this subagent's work."""
    return isinstance(event, SubagentStarted | SubagentReturned) and agent != "" and event.agent == agent


def turn_after(event: SubagentReturned, turn: Turn, phases: Iterable[Stretch], place: OpenPlace) -> Turn | None:
    """The state of the subagent's last turn according to its parent; adds a result that its own transcript lacks.  None if nothing changes."""
    if turn in CLOSED or event.end is CallEnd.REJECTED:
        return None
    text = normal(event.text)
    if event.end is CallEnd.FAILED:
        place().add(happening(Faulted(event.at, text)))
        return Turn.FAULTED
    if event.end is CallEnd.INTERRUPTED:
        return Turn.INTERRUPTED
    if text and not any(phase.has_said(text) for phase in phases):
        place().add(Prose(text))
    return Turn.ANSWERED
