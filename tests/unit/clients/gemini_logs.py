"""Build logs of Gemini CLI, after the client's public types."""

from __future__ import annotations

import itertools
import json
import tempfile
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from crucible.clients.events import Event
from crucible.clients.gemini import logs as gemini

Row = dict[str, Any]
SESSION = "aaaaaaaa-1111-2222-3333-444444444444"
FIRST: Row = {
    "sessionId": SESSION,
    "projectHash": "00ff",
    "startTime": "2026-11-22T10:00:00.000Z",
    "lastUpdated": "2026-11-22T10:00:00.000Z",
    "kind": "main",
}
_seconds = itertools.count(1)


def message(ident: str, kind: str, content: object, **extra: Any) -> Row:
    second = next(_seconds)
    stamp = f"2026-11-22T{10 + second // 3600 % 12:02}:{second // 60 % 60:02}:{second % 60:02}.000Z"
    return {"id": ident, "timestamp": stamp, "type": kind, "content": content, **extra}


def user(ident: str, content: object, **extra: Any) -> Row:
    return message(ident, "user", content, **extra)


def model(ident: str, content: object, **extra: Any) -> Row:
    return message(ident, "gemini", content, model="gemini-3-pro", **extra)


def call(ident: str, name: str, output: object = "done", *, status: str = "success", **extra: Any) -> Row:
    response = output if isinstance(output, dict) else {"output": output}
    part = {"functionResponse": {"id": ident, "name": name, "response": response}}
    args = extra.pop("args", {})
    return {"id": ident, "name": name, "args": args, "result": [part], "status": status, **extra}


def tokens(**counts: int) -> Row:
    return {"input": 0, "output": 0, "cached": 0, "thoughts": 0, "tool": 0, "total": 0, **counts}


def dump(rows: Iterable[object]) -> bytes:
    return b"".join(json.dumps(row).encode() + b"\n" for row in rows)


def events_of(*rows: object, agent: str = "", name: str = "session-x.jsonl") -> list[Event]:
    return events_of_bytes(dump(rows), agent=agent, name=name)


def events_of_bytes(data: bytes, *, agent: str = "", name: str = "session-x.jsonl") -> list[Event]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / name
        path.write_bytes(data)
        return list(gemini.read_log(path, agent))
