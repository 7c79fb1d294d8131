"""Determine the status of a recorded session, as defined in `format.md` (Status), and its `pause_reason`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import datetime, timedelta
from enum import Enum, auto

from crucible.core.patterns import late_pattern
from crucible.core.text import CLAUSE_END, counted, cut_at_word, split_sentences
from crucible.documents.session.session import Status

CLOSED_REASON = "the client was closed"
"""Pause reason if `cru` started the client and only sees that it has exited."""

DIED_REASON = "the client stopped unexpectedly"
"""Pause reason if `cru` started the client and the client failed."""

IDLE_REASON = "nothing happened for the idle time"
"""Pause reason of an active session without events for the idle time."""

_QUESTION_LIMIT, _TASK_LIMIT, _TASKS = 160, 60, 3
_QUESTION = late_pattern(r"[?？][\s*_\"'`)\]]*\Z")
_OUR_REASONS = late_pattern(
    rf"{CLOSED_REASON}|{DIED_REASON}|the client ended without a word|{IDLE_REASON}|interrupted by the user|the prompt was not answered|no result of "
    r"|stopped in the middle of a turn|asked: |\d+ open tasks?: "
)


class Turn(Enum):
    """The state of a transcript's last turn."""

    UNASKED = auto()
    """The prompt has no answer yet."""
    OPEN = auto()
    ANSWERED = auto()
    """No prompt waits for an answer: the last one was answered, or the user withdrew it."""
    INTERRUPTED = auto()
    FAULTED = auto()
    MOVED = auto()
    """The client continued in another native session."""


CLOSED = (Turn.ANSWERED, Turn.FAULTED, Turn.MOVED)
"""States in which the agent has finished and was not stopped by the user."""


class Client(Enum):
    """The state of the client, as far as it is known apart from the transcript."""

    UNKNOWN = auto()
    """Unknown: a transcript without events for the idle time counts as ended."""
    RUNNING = auto()
    ENDED = auto()
    """The client reported its end."""
    DIED = auto()
    """The client ended without reporting it."""


def session_status(
    turn: Turn,
    last: datetime | None,
    now: datetime,
    idle: timedelta,
    client: Client = Client.UNKNOWN,
    *,
    waits: bool = False,
) -> Status:
    """Return the status of a session whose last event was at `last`.

    If the state of the client is unknown, a transcript with events within `idle` is active.  A session whose last turn
    was answered is paused only if it `waits` for something.
    """
    young = last is not None and now - last < idle
    if client is Client.RUNNING or (client is Client.UNKNOWN and young):
        return Status.ACTIVE
    match turn:
        case Turn.FAULTED:
            return Status.FAILED
        case Turn.MOVED:
            return Status.COMPLETED
        case Turn.ANSWERED if not waits:
            return Status.COMPLETED
        case _:
            return Status.PAUSED


def open_end(question: str, tasks: Sequence[str]) -> str:
    """Describe what an answered session waits for: a reply to the agent's question, or open tasks; "" for nothing."""
    if question:
        return f"asked: {cut_at_word(question, _QUESTION_LIMIT)}"
    if not tasks:
        return ""
    named = [cut_at_word(task, _TASK_LIMIT) for task in tasks[:_TASKS]]
    more = ["…"] if len(tasks) > _TASKS else []
    return f"{counted(len(tasks), 'open task')}: {'; '.join([*named, *more])}"


def pause_reason(turn: Turn, waiting: str, open_end: str) -> str:
    """The reason why a session is paused.  `waiting` is a call without a result, "" for none."""
    match turn:
        case Turn.INTERRUPTED:
            return "interrupted by the user"
        case Turn.UNASKED:
            return "the prompt was not answered"
        case _ if open_end:
            return open_end
        case _:
            return f"no result of {cut_at_word(waiting, 80)}" if waiting else "stopped in the middle of a turn"


def is_our_reason(reason: str | None) -> bool:
    """True if an import may have written this pause reason."""
    return _OUR_REASONS.match(reason or "") is not None


def closing_question(text: str) -> str:
    """The question at the end of an agent's last message, "" for none."""
    if not _QUESTION.search(text):
        return ""
    last = text.rstrip().rpartition("\n")[2]
    return re.sub(r"^[\s>#*_-]+|[\s*_]+$", "", split_sentences(last, CLAUSE_END)[-1])
