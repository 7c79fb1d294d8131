"""One OpenCode session in memory: a head, messages and their parts, from any of its stores.

Rows of `session_message` (2.0) are turned into the older shape here: one row is a whole step of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Protocol

import orjson

from crucible.clients.log_values import Row, as_dict, as_list, as_str


@dataclass(frozen=True, slots=True)
class Head:
    """A session without its messages.  Times are milliseconds since 1970, 0 when unknown.

    `parent` is the session that handed the work out, `agent` the kind of agent.  `by_command` when it was begun by
    `opencode run`, which puts quotes around a prompt that holds a blank.  `reverted_to` is the message before which the
    user went back.
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

    `created` and `updated` say when the client wrote it, 0 when unknown; `data` is None when it cannot be read, for
    `reason`.
    """

    id: str
    created: int
    updated: int
    data: Row | None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Message:
    """A message with its parts in the order of their ids; `data` is None when it cannot be read, for `reason`."""

    id: str
    created: int
    updated: int
    data: Row | None
    parts: tuple[Part, ...] = ()
    reason: str = ""


class Store(Protocol):
    """Sessions in one place.  Every method may raise `TranscriptError`."""

    def heads(self) -> list[Head]:
        """All sessions, the oldest first."""

    def head(self, session: str) -> Head | None:
        """One session, None when it is not here."""

    def messages(self, session: str) -> Iterator[Message]:
        """The messages of a session in their order, one of them in memory at a time."""

    def message(self, session: str, ident: str) -> Message | None:
        """One message again."""

    def size(self, session: str) -> tuple[int, int, str]:
        """The last time that anything was written (0 unknown), the number of messages, and the first one's id."""


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799_000
"""Milliseconds to the end of the year 9999."""


def millis(value: object) -> int:
    """A time in milliseconds since 1970, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LAST:
        return 0
    return int(value)


def utc(time: int) -> datetime | None:
    """A time of `millis`; None for 0, which is no time."""
    return _EPOCH + timedelta(milliseconds=time) if time else None


def parse(text: object) -> Row | None:
    """A JSON object; None for what is none."""
    if not isinstance(text, str | bytes):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None


QUIET_ROLES = frozenset({"agent-switched", "model-switched", "location-switched", "idle"})
"""Rows that say nothing in a note; `idle` may tell of an interruption."""
_STATUS = {"streaming": "pending"}
_EXIT_LINE = "Command exited with code"


def message_of_row(ident: str, kind: str, created: int, updated: int, data: Row) -> Message:
    """`kind` is the row's type, which becomes the message's `role`."""
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
    """A text has no times of its own: it ended when the next piece began, at the latest."""
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
    """What the tool gave; the exit code, which the client tells the model as a text of its own, is in `metadata`."""
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
