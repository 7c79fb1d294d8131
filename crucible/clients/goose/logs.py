"""Find Goose's sessions in its database, and read their events.

The tables and the content of messages follow Goose's source code (`session_manager.rs`, `message.rs`).  Not tested with
the real client.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime

import orjson

from crucible.clients.database_logs import SessionTables, beside
from crucible.clients.events import (
    Answered,
    At,
    CallEnd,
    ContextSeen,
    Event,
    Injected,
    Prompted,
    Reasoned,
    Replied,
    Titled,
    ToolReturned,
    ToolUsed,
    Unknown,
    Unreadable,
    UsageCounted,
)
from crucible.clients.gemini.texts import row_id
from crucible.clients.goose.client import CLIENT
from crucible.clients.log_files import Transcript
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count, number
from crucible.clients.opencode.database import Database, opened

__all__ = ["beside", "find", "find_some", "reach", "read", "sniff"]

NAME = CLIENT.name
_SESSIONS = {"id", "working_dir"}
_MESSAGES = {"id", "session_id", "role", "content_json"}
_HEAD = ("name", "description", "user_set_name", "working_dir", "created_at", "updated_at")
_COUNTS = ("accumulated_input_tokens", "accumulated_output_tokens", "input_tokens", "output_tokens")
_SILENT = frozenset({"toolConfirmationRequest", "actionRequired", "redactedThinking", "conversationCompacted"})


def _query(database: Database, condition: str) -> str:
    changed = "updated_at" if "updated_at" in database.columns("sessions") else "''"
    wanted = f"WHERE session_id IN (SELECT id FROM sessions {condition})" if condition else ""  # noqa: S608  our own names
    return (
        f"SELECT id, {changed}, coalesce(number, 0), coalesce(first, '') FROM sessions LEFT JOIN"  # noqa: S608  our own names
        f" (SELECT session_id, count(*) AS number, min(id) AS first FROM messages {wanted} GROUP BY session_id)"
        f" ON session_id = id {condition} ORDER BY created_at, id"
    )


_TABLES = SessionTables(NAME, {"sessions": _SESSIONS, "messages": _MESSAGES}, _query)
sniff, find, find_some, reach = _TABLES.sniff, _TABLES.find, _TABLES.find_some, _TABLES.reach


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:  # noqa: ARG001  subagents are sessions of their own
    """Yield the events of a session, with one message in memory at a time."""
    session = transcript.native_id
    with opened(transcript.path) as database:
        head = _head(database, session)
        at = At(1, row_id("session", session), as_time(head.get("created_at")))
        yield ContextSeen(at, session, as_str(head.get("working_dir")))
        title = as_str(head.get("name")) or as_str(head.get("description"))
        if title.strip():
            yield Titled(At(1, row_id("title", title)), title, bool(head.get("user_set_name")))
        reader = _Reader(_usage(head, session))
        names = ("id", "role", "content_json", *(("created_timestamp",) if _is_timed(database) else ()))
        sql = f"SELECT {', '.join(names)} FROM messages WHERE session_id = ? ORDER BY id"  # noqa: S608  our own names
        rows = database.rows(sql, session)
        for line, row in enumerate(rows, 1):
            yield from reader.read(line, session, dict(zip(names, row, strict=True)))


def _is_timed(database: Database) -> bool:
    return "created_timestamp" in database.columns("messages")


def _head(database: Database, session: str) -> Row:
    """Return a session's row; columns that a version lacks are skipped."""
    names = [name for name in (*_HEAD, *_COUNTS) if name in database.columns("sessions")]
    sql = f"SELECT {', '.join(names)} FROM sessions WHERE id = ?"  # noqa: S608  our own names
    rows = database.rows(sql, session)
    return next((dict(zip(names, row, strict=True)) for row in rows), {})


def _usage(head: Row, session: str) -> UsageCounted | None:
    """Return the tokens of a session: the client does not count single messages."""
    sent, said = (
        count(head.get(f"accumulated_{kind}_tokens")) or count(head.get(f"{kind}_tokens"))
        for kind in ("input", "output")
    )
    return UsageCounted(At(1), f"session {session}", "", sent, 0, said) if sent or said else None


class _Reader:
    """Reads messages in order; `usage` is counted with the first prompt, since it grows with the session."""

    def __init__(self, usage: UsageCounted | None) -> None:
        self._usage = usage

    def read(self, line: int, session: str, row: Row) -> Iterator[Event]:
        at = At(line, row_id(session, row.get("id")), _time(row.get("created_timestamp")))
        try:
            content = orjson.loads(as_str(row.get("content_json")))
        except ValueError:
            yield Unreadable(at, "content that is not JSON")
            return
        blocks = [as_dict(block) for block in as_list(content)]
        called = any(block.get("type") in ("toolRequest", "frontendToolRequest") for block in blocks)
        said = False
        for block in blocks:
            for event in self._block(at, row.get("role") == "user", block, final=not called):
                said = said or (isinstance(event, Replied) and event.final)
                yield event
        if said:
            yield Answered(at)

    def _block(self, at: At, by_user: bool, block: Row, *, final: bool) -> Iterator[Event]:
        text = as_str(block.get("text"))
        match block.get("type"):
            case "text" if by_user and text.strip():
                yield Prompted(at, text)
                if self._usage:
                    usage, self._usage = self._usage, None
                    yield UsageCounted(at, usage.message, "", usage.fresh, 0, usage.said)
            case "text" if text.strip():
                yield Replied(at, text, at.row, "", final)
            case "thinking" if as_str(block.get("thinking")).strip():
                yield Reasoned(at, block["thinking"], at.row)
            case "toolRequest" | "frontendToolRequest":
                call = as_dict(as_dict(block.get("toolCall")).get("value"))
                yield ToolUsed(
                    at, as_str(block.get("id")), as_str(call.get("name")), arguments_of(call.get("arguments")), at.row
                )
            case "toolResponse":
                yield _result(at, block)
            case "systemNotification":
                yield Injected(at, as_str(block.get("msg")), "notice")
            case "text" | "thinking" | "image":
                pass
            case kind if as_str(kind) not in _SILENT:
                yield Unknown(at, f"block {as_str(kind)}".strip())


def _result(at: At, block: Row) -> ToolReturned:
    result = as_dict(block.get("toolResult"))
    value = result.get("value")
    parts = as_list(value) or as_list(as_dict(value).get("content"))
    text = "\n".join(as_str(as_dict(part).get("text")) for part in parts) or as_str(result.get("error"))
    failed = result.get("status") == "error" or as_dict(value).get("isError") is True
    return ToolReturned(at, as_str(block.get("id")), text, CallEnd.FAILED if failed else CallEnd.OK)


def _time(seconds: object) -> datetime | None:
    value = number(seconds)
    try:
        return datetime.fromtimestamp(value, UTC) if value else None
    except (ValueError, OverflowError, OSError):
        return None
