"""What another log tells of a subagent's work: what it was asked for, and the result that its parent has.

Owns what its own note says of that.  Whose log tells it is `importing`'s.
"""

from __future__ import annotations

from collections.abc import Iterable

from crucible.note.contain import normal
from crucible.session.calling import OpenPlace
from crucible.session.drafts import Stretch
from crucible.session.model import Prose
from crucible.session.standing import CLOSED, Turn
from crucible.session.wording import happening
from crucible.transcript.events import CallEnd, Event, Faulted, SubagentReturned, SubagentStarted

__all__ = ["is_heard", "turn_after"]


def is_heard(event: Event, agent: str) -> bool:
    """Whether an event is about the work of this very subagent."""
    return isinstance(event, SubagentStarted | SubagentReturned) and agent != "" and event.agent == agent


def turn_after(
    event: SubagentReturned, turn: Turn, phases: Iterable[Stretch], place: OpenPlace
) -> Turn | None:
    """How its last turn stands by its parent's word, with what its own log does not tell; None where that tells all."""
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
