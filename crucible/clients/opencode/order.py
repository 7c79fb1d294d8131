"""In which order a session's rows are told: by when they were written, so that a session only grows at its end.

OpenCode rewrites rows in place: a call gets its result, a text its words, a message its end.  An importer that goes on
where it stopped needs a log that is only added to, so each row is split into moments, and a moment has the time at which
it was written.  Owns these moments and nothing of what is told of them.

What is still being written is left out until it is whole: a text that streams, a call whose arguments do, and what
stands behind them in their message.  A message is over when it says so, or when the agent began a later one; then what
is unfinished in it will not be finished any more.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from enum import Enum, auto
from math import inf
from typing import NamedTuple

from crucible.clients.log_values import Row, as_dict, as_str
from crucible.clients.opencode.stored import Message, Part, millis

_NEAR = 60_000
"""Milliseconds within which a row's own column tells better than its data when it was written.  Later, the row was
written again (a result that was pruned, a database that was carried over)."""
_ENDED = ("completed", "error")
_OF_AGENT = frozenset({"step-start", "step-finish", "tool", "reasoning"})


class Kind(Enum):
    """What of a row happened."""

    MESSAGE = auto()
    """A row that is told as a whole."""
    USER = auto()
    """A user's words."""
    STEERING = auto()
    """The same, while the agent was in the middle of a turn."""
    PART = auto()
    RESULT = auto()
    """A call's result; or that there will be none."""
    END = auto()
    """A message is whole."""


class Moment(NamedTuple):
    """One step of a session.

    `time` is in milliseconds; `message`, `part` and `step` keep the order of what has one time.  `id` is the message's.
    """

    time: int
    message: int
    part: int
    step: int
    kind: Kind
    id: str


def moments(messages: Iterable[Message]) -> list[Moment]:
    """The moments of a session in order."""
    found: list[Moment] = []
    steps: list[_Step] = []
    last: tuple[int, Message] | None = None
    for number, message in enumerate(messages):
        if role_of(message) != "assistant":
            found += _whole(number, message, role_of(message))
            continue
        if last:
            found += _answer(*last, created_at(message))
            steps.append(_step(last[1], message))
        last = number, message
    if last:
        found += _answer(*last, 0)
        steps.append(_step(last[1], None))
    return sorted((_steered(moment, steps) for moment in found), key=lambda moment: moment[:4])


class _Step(NamedTuple):
    """From when to when the agent was in a turn."""

    begin: int
    end: float


def _step(message: Message, following: Message | None) -> _Step:
    """A message of the agent's that has no end and was followed by another one is what a dead client left behind."""
    begin, end = created_at(message), _end(message)
    if following is None:
        return _Step(begin, end or inf)
    parents = {(each.data or {}).get("parentID") for each in (message, following)}
    same_turn = end and len(parents) == 1 and None not in parents
    return _Step(begin, created_at(following) if same_turn else end)


def _steered(moment: Moment, steps: list[_Step]) -> Moment:
    if moment.kind is not Kind.USER:
        return moment
    place = bisect_right(steps, moment.time, key=lambda step: step.begin) - 1
    in_turn = place >= 0 and moment.time < steps[place].end
    return moment._replace(kind=Kind.STEERING) if in_turn else moment


def created_at(message: Message) -> int:
    """When a message was begun, in milliseconds; 0 unknown."""
    return message.created or millis(as_dict((message.data or {}).get("time")).get("created"))


def _written(told: int, column: int) -> int:
    return column if 0 <= column - told <= _NEAR else told or column


def role_of(message: Message) -> str:
    """Whose message it is; where its own row cannot be read, its parts tell."""
    if message.data is not None:
        return as_str(message.data.get("role"))
    kinds = {as_str((part.data or {}).get("type")) for part in message.parts}
    return "assistant" if kinds & _OF_AGENT else "user"


def _whole(number: int, message: Message, role: str) -> Iterator[Moment]:
    """A row that is told at once; a shell command of the user's has a result."""
    data, time = message.data or {}, created_at(message)
    if role == "user" and message.parts:
        time = max(_written(time, part.created) for part in message.parts)
    elif role == "user" and message.data is not None:
        return  # its words are still to come
    elif role == "compaction" and data.get("status") == "running":
        return
    elif role == "compaction":
        time = message.updated or time
    yield Moment(time, number, 0, 0, Kind.USER if role == "user" else Kind.MESSAGE, message.id)
    done = millis(as_dict(data.get("time")).get("completed"))
    if role == "shell" and done:
        yield Moment(max(time, done), number, 0, 1, Kind.RESULT, message.id)


def _answer(number: int, message: Message, later: int) -> Iterator[Moment]:
    """The agent's message; `later` is when it began another one, 0 when it did not."""
    end = _end(message)
    over = end or later
    time = last = created_at(message)
    if message.data is None:
        yield Moment(time, number, 0, -1, Kind.MESSAGE, message.id)
    for place, part in enumerate(message.parts):
        began = _began(part, over)
        if began is None:
            return
        # A step ends after its calls; the tree of files does not say when.
        time = max(time, began, last if (part.data or {}).get("type") == "step-finish" else 0)
        yield Moment(time, number, place, 0, Kind.PART, message.id)
        returned = _returned(part, over)
        if returned is not None:
            yield Moment(max(time, returned), number, place, 1, Kind.RESULT, message.id)
        last = max(last, time, returned or 0)
    if end:
        yield Moment(max(last, end), number, len(message.parts), 0, Kind.END, message.id)


def _end(message: Message) -> int:
    """When a message was whole, 0 when it is not."""
    data = message.data or {}
    completed = millis(as_dict(data.get("time")).get("completed"))
    return completed or ((message.updated or created_at(message)) if data.get("error") else 0)


def _began(part: Part, over: int) -> int | None:
    """When a part stood there as it is; None while it is being written."""
    data = part.data or {}
    kind = data.get("type")
    if kind == "tool":
        state = as_dict(data.get("state"))
        if state.get("status") == "pending" and not over:
            return None
        return millis(as_dict(state.get("time")).get("start")) or part.created
    if kind not in ("text", "reasoning"):
        return part.created
    times = as_dict(data.get("time"))
    end = millis(times.get("end"))
    if end:
        return _written(end, part.updated)
    if over or ("end" not in times and as_str(data.get("text")).strip()):
        return part.updated or part.created
    return None


def _returned(part: Part, over: int) -> int | None:
    """When a call had its result, or can have none any more; None when it is no call, or runs."""
    data = part.data or {}
    if data.get("type") != "tool":
        return None
    state: Row = as_dict(data.get("state"))
    if state.get("status") in _ENDED:
        return _written(millis(as_dict(state.get("time")).get("end")), part.updated)
    return over or None
