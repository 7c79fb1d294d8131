"""Where a recorded session stands: the status rule of `format.md` section 2, as a pure function.

Owns the words for how a transcript ends.  Which events end a turn is `recording`'s.
"""

from __future__ import annotations

from datetime import datetime, timedelta
from enum import Enum, auto

from crucible.session.model import Status
from crucible.session.titles import shortened

__all__ = [
    "CLOSED",
    "CLOSED_REASON",
    "DIED_REASON",
    "IDLE_REASON",
    "Client",
    "Turn",
    "pause_reason",
    "session_status",
]

CLOSED_REASON = "the client was closed"
"""Why a session is paused whose client ended after a finished answer: whoever closed it may want to go on."""

DIED_REASON = "the client ended without a word"
"""What the reason of a session begins with whose client is gone."""

IDLE_REASON = "nothing happened for the idle time"
"""Why a session is paused that was active and is quiet."""


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
    turn: Turn,
    last: datetime | None,
    now: datetime,
    idle: timedelta,
    client: Client = Client.UNKNOWN,
    *,
    goes_on: bool = False,
) -> Status:
    """`last` is the last sign of life; a transcript younger than `idle` is active, however it ends, while nothing is known.

    A client's end only pauses a session that is younger than that, or `goes_on`: has a task that is open.
    """
    young = last is not None and now - last < idle
    if client is Client.RUNNING or (client is Client.UNKNOWN and young):
        return Status.ACTIVE
    match turn:
        case Turn.FAULTED:
            return Status.FAILED
        case Turn.MOVED if client is not Client.DIED:
            return Status.COMPLETED
        case Turn.ANSWERED if client is Client.UNKNOWN or (
            client is Client.ENDED and not young and not goes_on
        ):
            return Status.COMPLETED
        case _:
            return Status.PAUSED


def pause_reason(turn: Turn, waiting: str, client: Client) -> str:
    """Why a paused session stopped; `waiting` is a call without a result, "" for none."""
    missing = f"no result of {shortened(waiting, 80)}" if waiting else ""
    if client is Client.DIED:
        return f"{DIED_REASON}, {missing}" if missing else DIED_REASON
    match turn:
        case Turn.ANSWERED:
            return CLOSED_REASON
        case Turn.INTERRUPTED:
            return "interrupted by the user"
        case Turn.UNASKED:
            return "the prompt was not answered"
        case _:
            return missing or "stopped in the middle of a turn"
