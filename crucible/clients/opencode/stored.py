"""An OpenCode session from any store: its head, its messages and their parts, and its moments in order.

Rows of `session_message` (2.0), each of which is an entire step of the model, are converted to the older shape.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from enum import Enum, auto
from math import inf
from typing import NamedTuple, Protocol

import orjson

from crucible.clients.log_values import Row, as_dict, as_list, as_str


@dataclass(frozen=True, slots=True)
class Head:
    """A session without its messages.  Times are milliseconds since 1970, 0 if unknown.

    `parent` is the session that started this one, `agent` the kind of agent.  `by_command` is True if `opencode run`
    started it, which puts quotes around a prompt with a space.  `reverted_to` is the first message that the user
    reverted.
    """

    id: str
    parent: str = ""
    title: str = ""
    directory: str = ""
    version: str = ""
    agent: str = ""
    created: int = 0
    updated: int = 0
    by_command: bool = False
    reverted_to: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a message.

    `created` and `updated` are the times it was written, 0 if unknown.  If the part cannot be read, `data` is None and
    `reason` says why.
    """

    id: str
    created: int
    updated: int
    data: Row | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its parts in the order of their ids.

    If the message cannot be read, `data` is None and `reason` says why.
    """

    id: str
    created: int
    updated: int
    data: Row | None
    parts: tuple[Part, ...] = ()
    reason: str = ""


class Store(Protocol):
    """The sessions in one store.  All methods may raise `TranscriptError`."""

    def heads(self) -> list[Head]:
        """Return all sessions, oldest first."""

    def head(self, session: str) -> Head | None:
        """Return one session, or None if it is not in this store."""

    def messages(self, session: str) -> Iterator[Message]:
        """Yield the messages of a session in order, with one in memory at a time."""

    def message(self, session: str, ident: str) -> Message | None:
        """Read one message."""

    def size(self, session: str) -> tuple[int, int, str]:
        """Return the time of the last change (0 if unknown), the number of messages, and the id of the first one."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799_000
"""The end of the year 9999 in milliseconds."""


def millis(value: object) -> int:
    """Return a time in milliseconds since 1970, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LAST:
        return 0
    return int(value)


def utc(time: int) -> datetime | None:
    """Convert milliseconds to a time; None for 0, which means unknown."""
    return _EPOCH + timedelta(milliseconds=time) if time else None


def parse(text: object) -> Row | None:
    """Parse a JSON object; None for anything else."""
    if not isinstance(text, str | bytes):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


QUIET_ROLES = frozenset({"agent-switched", "model-switched", "location-switched", "idle"})
"""Roles of rows without content for a note, except that `idle` may report an interruption."""
_STATUS = {"streaming": "pending"}
_EXIT_LINE = "Command exited with code"


def message_of_row(ident: str, kind: str, created: int, updated: int, data: Row) -> Message:
    """Convert a row of `session_message`; its type, `kind`, becomes the message's `role`."""
    role, parts = _SHAPES.get(kind, _other)(ident, kind, data)
    if role == "assistant":
        model = as_dict(data.get("model"))
        more = {"modelID": model.get("id"), "providerID": model.get("providerID"), "error": _error(data)}
        data = {**data, **more}
    return Message(ident, created, updated, {**data, "role": role}, tuple(parts))


def _error(data: Row) -> Row | None:
    error = data.get("error")
    return {"name": as_str(error.get("type")), "data": error} if isinstance(error, dict) else None


def _other(_ident: str, kind: str, _data: Row) -> tuple[str, list[Part]]:
    return kind or "?", []


def _user(ident: str, _kind: str, data: Row) -> tuple[str, list[Part]]:
    rows: list[Row] = [{"type": "text", "text": as_str(data.get("text"))}]
    rows += [{**as_dict(file), "type": "file"} for file in as_list(data.get("files"))]
    return "user", _parts(ident, rows)


def _synthetic(ident: str, kind: str, data: Row) -> tuple[str, list[Part]]:
    text = {"type": "text", "text": as_str(data.get("text")), "synthetic": True, "kind": kind}
    return "user", _parts(ident, [text])


def _parts(ident: str, rows: list[Row]) -> list[Part]:
    return [Part(f"{ident}.{number}", 0, 0, row) for number, row in enumerate(rows)]


def _assistant(ident: str, _kind: str, data: Row) -> tuple[str, list[Part]]:
    content = as_list(data.get("content"))
    times = as_dict(data.get("time"))
    ended = millis(times.get("streamed")) or millis(times.get("completed"))
    return "assistant", list(_content(ident, content, ended))


def _content(ident: str, content: list[object], ended: int) -> Iterator[Part]:
    """Yield the parts of a row.  Text without an end time ended, at the latest, when the next piece began."""
    for number, raw in enumerate(content):
        item = as_dict(raw)
        times = as_dict(item.get("time"))
        created, name = millis(times.get("created")), f"{ident}.{number}"
        if item.get("type") == "tool":
            yield Part(name, created, 0, _tool(item, times))
        else:
            later = (millis(as_dict(as_dict(each).get("time")).get("created")) for each in content[number + 1 :])
            end = millis(times.get("completed")) or next(filter(None, later), ended)
            yield Part(name, created, 0, {**item, "time": {"start": created, "end": end}})


def _tool(item: Row, times: Row) -> Row:
    state = as_dict(item.get("state"))
    status = as_str(state.get("status"))
    error = state.get("error")
    return {
        "type": "tool",
        "tool": item.get("name"),
        "callID": item.get("id"),
        "state": {
            "status": _STATUS.get(status, status),
            "input": state.get("input"),
            "output": _output(state),
            "error": as_dict(error).get("message") if isinstance(error, dict) else error,
            "metadata": state.get("metadata") or state.get("structured"),
            "time": {"start": times.get("ran") or times.get("created"), "end": times.get("completed")},
        },
    }


def _output(state: Row) -> str:
    """Return a tool's output without the exit code, which the client appends and also stores in `metadata`."""
    texts = [as_str(as_dict(item).get("text")) for item in as_list(state.get("content"))]
    if len(texts) > 1 and texts[-1].startswith(_EXIT_LINE) and "exit" in as_dict(state.get("metadata")):
        texts.pop()
    return "\n".join(filter(None, texts))


_SHAPES: dict[str, Callable[[str, str, Row], tuple[str, list[Part]]]] = {
    "user": _user,
    "synthetic": _synthetic,
    "system": _synthetic,
    "skill": _synthetic,
    "assistant": _assistant,
}


_NEAR = 60_000
"""Maximum difference in milliseconds for using the row's column as the time of writing instead of the time in its data.
With a larger difference, the row was rewritten (a result was pruned, or the database migrated)."""
_ENDED = ("completed", "error")
_OF_AGENT = frozenset({"step-start", "step-finish", "tool", "reasoning"})


class Kind(Enum):
    """The kind of a moment."""

    MESSAGE = auto()
    """A message that is a single step."""
    USER = auto()
    """A user's prompt."""
    STEERING = auto()
    """A prompt from the user in the middle of the agent's turn."""
    PART = auto()
    RESULT = auto()
    """A call's result, or that there will be none."""
    END = auto()
    """The end of a message."""


class Moment(NamedTuple):
    """One step of a session.

    `time` is in milliseconds; `message`, `part` and `step` order moments with the same time.  `id` is the message's id.
    """

    time: int
    message: int
    part: int
    step: int
    kind: Kind
    id: str


def moments(messages: Iterable[Message]) -> list[Moment]:
    """Return the moments of a session in order.

    OpenCode rewrites rows: a call gets its result, text grows, a message ends.  Importers need an append-only log, so
    each row is split into moments with the time they were written, and a session only grows at its end.  Parts that are
    still being streamed are skipped, with all parts after them in the message.  They become final when the message is
    complete or the agent begins another one.
    """
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
    """A period in which the agent was working on a turn."""

    begin: int
    end: float


def _step(message: Message, following: Message | None) -> _Step:
    """Return the period of an agent's message.

    If a message has no end but another one follows, the client crashed, and the period is empty.
    """
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
    """Return when a message was created, in milliseconds; 0 if unknown."""
    return message.created or millis(as_dict((message.data or {}).get("time")).get("created"))


def _written(data_time: int, column: int) -> int:
    return column if 0 <= column - data_time <= _NEAR else data_time or column


def role_of(message: Message) -> str:
    """Return the role of a message; if the message cannot be read, its parts show the role."""
    if message.data is not None:
        return as_str(message.data.get("role"))
    kinds = {as_str((part.data or {}).get("type")) for part in message.parts}
    return "assistant" if kinds & _OF_AGENT else "user"


def _whole(number: int, message: Message, role: str) -> Iterator[Moment]:
    """Yield the moment of a row and, for a user's shell command, that of the result."""
    data, time = message.data or {}, created_at(message)
    if role == "user" and message.parts:
        time = max(_written(time, part.created) for part in message.parts)
    elif role == "user" and message.data is not None:
        return  # the prompt has not been written yet
    elif role == "compaction" and data.get("status") == "running":
        return
    elif role == "compaction":
        time = message.updated or time
    yield Moment(time, number, 0, 0, Kind.USER if role == "user" else Kind.MESSAGE, message.id)
    done = millis(as_dict(data.get("time")).get("completed"))
    if role == "shell" and done:
        yield Moment(max(time, done), number, 0, 1, Kind.RESULT, message.id)


def _answer(number: int, message: Message, later: int) -> Iterator[Moment]:
    """Yield the moments of an agent's message.  `later` is when the agent began another message, 0 if it did not."""
    end = _end(message)
    over = end or later
    time = last = created_at(message)
    if message.data is None:
        yield Moment(time, number, 0, -1, Kind.MESSAGE, message.id)
    for place, part in enumerate(message.parts):
        began = _began(part, over)
        if began is None:
            return
        # A step ends after its calls, but the file tree has no time for the end.
        time = max(time, began, last if (part.data or {}).get("type") == "step-finish" else 0)
        yield Moment(time, number, place, 0, Kind.PART, message.id)
        returned = _returned(part, over)
        if returned is not None:
            yield Moment(max(time, returned), number, place, 1, Kind.RESULT, message.id)
        last = max(last, time, returned or 0)
    if end:
        yield Moment(max(last, end), number, len(message.parts), 0, Kind.END, message.id)


def _end(message: Message) -> int:
    """Return when a message was completed, 0 if it is incomplete."""
    data = message.data or {}
    completed = millis(as_dict(data.get("time")).get("completed"))
    return completed or ((message.updated or created_at(message)) if data.get("error") else 0)


def _began(part: Part, over: int) -> int | None:
    """Return when a part other than a call was complete, or when a call began; None while it is being written."""
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
    """Return when a call got its result, or no longer could; None for a running call and for other parts."""
    data = part.data or {}
    if data.get("type") != "tool":
        return None
    state: Row = as_dict(data.get("state"))
    if state.get("status") in _ENDED:
        return _written(millis(as_dict(state.get("time")).get("end")), part.updated)
    return over or None
