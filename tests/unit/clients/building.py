"""Build rows of Claude Code, and read the events of rows, bytes and files."""

from __future__ import annotations

import itertools
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any, TypeVar

import orjson

from crucible.clients.claude_code import logs as claude_code
from crucible.clients.events import Event
from tests.paths import TESTS

Row = dict[str, Any]
E = TypeVar("E")
SESSION = "11111111-2222-3333-4444-555555555555"
DATA = TESTS / "data" / "transcripts"
REAL = sorted((DATA / "claude-code").rglob("*.jsonl"))
_number = itertools.count(1)


def envelope(kind: str, **extra: Any) -> Row:
    number = next(_number)
    row: Row = {
        "parentUuid": None,
        "isSidechain": False,
        "type": kind,
        "uuid": f"row-{number}",
        "timestamp": "2026-01-02T03:04:05.678Z",
        "cwd": "/home/dev/project",
        "sessionId": SESSION,
        "version": "2.1.197",
        "gitBranch": "main",
    }
    return {**row, **extra}


def user(content: object, **extra: Any) -> Row:
    return envelope("user", message={"role": "user", "content": content}, **extra)


def text(words: str) -> Row:
    return {"type": "text", "text": words}


def image() -> Row:
    return {"type": "image", "source": {"type": "base64", "data": "AAAA"}}


def use(name: str, call: str = "call-1", **arguments: Any) -> Row:
    return {"type": "tool_use", "id": call, "name": name, "input": arguments}


def assistant(*blocks: Row, stop: str | None = "tool_use", message: str = "", **extra: Any) -> Row:
    usage = extra.pop("usage", None)
    model = extra.pop("model", "claude-opus-4-8")
    ident = message or f"msg-{next(_number)}"
    inner = {"id": ident, "role": "assistant", "model": model, "content": list(blocks), "stop_reason": stop}
    return envelope("assistant", message=inner if usage is None else {**inner, "usage": usage}, **extra)


def result(
    content: object, call: str = "call-1", *, error: bool | None = None, raw: object = None, **extra: Any
) -> Row:
    block = {"type": "tool_result", "tool_use_id": call, "content": content}
    if error is not None:
        block["is_error"] = error
    if raw is not None:
        extra["toolUseResult"] = raw
    return user([block], **extra)


def queue(operation: str, content: str | None = None, **extra: Any) -> Row:
    row = {"type": "queue-operation", "operation": operation, "sessionId": SESSION, **extra}
    return row if content is None else {**row, "content": content}


def queued(prompt: object, **extra: Any) -> Row:
    return envelope("attachment", attachment={"type": "queued_command", "prompt": prompt, **extra})


def system(subtype: str, content: str = "", **extra: Any) -> Row:
    return envelope("system", subtype=subtype, content=content, **extra)


def dump(rows: Iterable[Row]) -> bytes:
    return b"".join(orjson.dumps(row) + b"\n" for row in rows)


def read_bytes(data: bytes, agent: str = "") -> list[Event]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "transcript.jsonl"
        path.write_bytes(data)
        return list(claude_code.read_log(path, agent))


def read_rows(*rows: Row, agent: str = "") -> list[Event]:
    return read_bytes(dump(rows), agent)


def only(events: Iterable[Event], *kinds: type[E]) -> list[E]:
    return [event for event in events if isinstance(event, kinds)]


def one(events: Iterable[Event], kind: type[E]) -> E:
    (found,) = only(events, kind)
    return found
