"""Build rows of Codex in both generations, and read the events of rows and files."""

from __future__ import annotations

import itertools
import json
from collections.abc import Iterable
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any, TypeVar

from crucible.clients.codex import logs as codex
from crucible.clients.events import Event
from tests.unit.clients.building import DATA

Row = dict[str, Any]
E = TypeVar("E")
CODEX = DATA / "codex"
START = datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)
_number = itertools.count(1)


def row(kind: str, payload: Row, at: float = 0.0, **extra: Any) -> Row:
    """A row, `at` seconds after the start."""
    stamp = (START + timedelta(seconds=at)).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"timestamp": stamp, "type": kind, "payload": payload, **extra}


def uuid7(seconds: float, tail: int = 1) -> str:
    """An id as the client makes them, `seconds` after the start."""
    time = f"{int((START.timestamp() + seconds) * 1000):012x}"
    return f"{time[:8]}-{time[8:]}-7000-8000-{tail:012x}"


def meta(ident: str = "session-1", at: float = 0.0, **extra: Any) -> Row:
    head = {"id": ident, "timestamp": START.isoformat(), "cwd": "/home/dev/project", "cli_version": "0.99.0"}
    return row("session_meta", {**head, "source": "cli", "git": {"branch": "main"}, **extra}, at)


def event(kind: str, /, at: float = 0.0, **payload: Any) -> Row:
    return row("event_msg", {"type": kind, **payload}, at)


def response(kind: str, /, at: float = 0.0, **payload: Any) -> Row:
    return row("response_item", {"type": kind, **payload}, at)


def said(role: str, text: str, at: float = 0.0, **extra: Any) -> Row:
    kind = "output_text" if role == "assistant" else "input_text"
    return response("message", at, role=role, content=[{"type": kind, "text": text}], **extra)


def item(kind: str, /, at: float = 0.0, **fields: Any) -> Row:
    return event("item_completed", at, item={"type": kind, **fields})


def completed(**extra: Any) -> Row:
    return event("task_complete", last_agent_message="x", **extra)


def output(text: object, call: str = "call-1", kind: str = "function_call_output") -> Row:
    return response(kind, call_id=call, output=text)


def tokens(total: tuple[int, int, int], last: tuple[int, int, int] | None = None, at: float = 0.0) -> Row:
    keys = ("input_tokens", "cached_input_tokens", "output_tokens")
    info = {"total_token_usage": dict(zip(keys, total, strict=True))}
    if last:
        info["last_token_usage"] = dict(zip(keys, last, strict=True))
    return event("token_count", at, info=info, rate_limits={})


def write(path: Path, rows: Iterable[Row]) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("".join(json.dumps(each) + "\n" for each in rows), encoding="utf-8")
    return path


def events_of(folder: Path, *rows: Row, agent: str = "") -> list[Event]:
    """The events of rows, in a file of their own."""
    path = write(folder / f"rollout-2026-01-02T03-04-05-{next(_number)}.jsonl", rows)
    return list(codex.read_log(path, agent))


def only(events: Iterable[Event], kind: type[E]) -> list[E]:
    return [each for each in events if isinstance(each, kind)]
