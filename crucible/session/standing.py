"""Where a recorded session stands: the status rule of `format.md` section 2, as a pure function.

Owns the words for how a transcript ends.  Which events end a turn is `recording`'s.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from crucible.session.model import Status

__all__ = ["CLOSED", "Turn", "session_status"]


class Turn(Enum):
    """How the last turn of a transcript stands."""

    UNASKED = auto()
    """A prompt, and no word of the agent's yet."""
    OPEN = auto()
    ANSWERED = auto()
    INTERRUPTED = auto()
    FAULTED = auto()
    MOVED = auto()
    """The client went on in another native session."""


CLOSED = (Turn.ANSWERED, Turn.FAULTED, Turn.MOVED)
"""The agent is at rest, and not because somebody stopped it."""


def session_status(turn: Turn, last: datetime | None, now: datetime, idle: timedelta) -> Status:
    """`last` is the time of the last event; a transcript younger than `idle` is active, however it ends."""
    if last is not None and now - last < idle:
        return Status.ACTIVE
    match turn:
        case Turn.ANSWERED | Turn.MOVED:
            return Status.COMPLETED
        case Turn.FAULTED:
            return Status.FAILED
        case _:
            return Status.PAUSED
