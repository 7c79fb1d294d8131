"""Where a recorded session stands: the status rule of `format.md` section 2, as a pure function.

Owns the words for how a transcript ends.  Which events end a turn is `recording`'s.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from crucible.session.model import Status

__all__ = ["CLOSED", "Client", "Turn", "session_status"]


class Turn(Enum):
    """How the last turn of a transcript stands."""

    UNASKED = auto()
    """A prompt, and no word of the agent's yet."""
    OPEN = auto()
    ANSWERED = auto()
    """Nothing asked is waiting for an answer: there was one, or the user took the words back."""
    INTERRUPTED = auto()
    FAULTED = auto()
    MOVED = auto()
    """The client went on in another native session."""


CLOSED = (Turn.ANSWERED, Turn.FAULTED, Turn.MOVED)
"""The agent is at rest, and not because somebody stopped it."""


class Client(Enum):
    """What is known of the client beside its transcript."""

    UNKNOWN = auto()
    """Nothing: a transcript that is quiet for long is taken as ended."""
    RUNNING = auto()
    ENDED = auto()
    """It said so."""
    DIED = auto()
    """It is gone and did not say so."""


def session_status(
    turn: Turn, last: datetime | None, now: datetime, idle: timedelta, client: Client = Client.UNKNOWN
) -> Status:
    """`last` is the time of the last event; a transcript younger than `idle` is active, however it ends."""
    young = last is not None and now - last < idle
    if client is Client.RUNNING or (client is Client.UNKNOWN and young):
        return Status.ACTIVE
    match turn:
        case Turn.FAULTED:
            return Status.FAILED
        case Turn.ANSWERED | Turn.MOVED if client is not Client.DIED:
            return Status.COMPLETED
        case _:
            return Status.PAUSED
