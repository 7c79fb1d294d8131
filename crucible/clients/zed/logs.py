"""Find Zed's agent threads in its database, and read their events.

The table and the documents in it follow Zed's source code (`crates/agent/src/db.rs`, version 0.3.0 of a thread).  Not tested
with the real client.
"""

from __future__ import annotations

from collections.abc import Iterator

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
from crucible.clients.log_files import Transcript
from crucible.clients.log_values import Row, arguments_of, as_dict, as_list, as_str, as_time, count
from crucible.clients.opencode.database import opened
from crucible.clients.zed.client import CLIENT
from crucible.core.errors import TranscriptError

__all__ = ["beside", "find", "find_some", "reach", "read", "sniff"]

NAME = CLIENT.name

_TABLES = SessionTables(
    NAME,
    {"threads": {"id", "summary", "updated_at", "data_type", "data"}},
    lambda _, condition: f"SELECT id, updated_at, length(data), id FROM threads {condition} ORDER BY updated_at, id",  # noqa: S608  our own names
)
sniff, find, find_some, reach = _TABLES.sniff, _TABLES.find, _TABLES.find_some, _TABLES.reach


def read(transcript: Transcript, agent: str = "") -> Iterator[Event]:  # noqa: ARG001  subagents are threads of their own
    """Yield the events of a thread."""
    thread = transcript.native_id
    with opened(transcript.path) as database:
        places = "folder_paths" if "folder_paths" in database.columns("threads") else "''"
        sql = f"SELECT summary, updated_at, data_type, data, {places} FROM threads WHERE id = ?"  # noqa: S608  our own names
        row = next(iter(list(database.rows(sql, thread))), None)
    if row is None:
        raise TranscriptError(f"{transcript.path}: no thread {thread}", "import the folder, or choose another file")
    summary, updated, kind, data, folders = row
    at = At(1, row_id("thread", thread), as_time(updated))
    yield ContextSeen(at, thread, as_str(folders).partition("\n")[0])
    if as_str(summary).strip():
        yield Titled(At(1, row_id("title", summary)), summary)
    try:
        document = as_dict(orjson.loads(_unpacked(kind, data)))
    except ValueError as error:
        yield Unreadable(at, f"not a thread: {error}")
        return
    yield from _events(thread, document)


def _unpacked(kind: object, data: object) -> bytes:
    """Return the document in a row.  Raises `ValueError` if it does not have the form that the row names."""
    raw = data.encode() if isinstance(data, str) else data if isinstance(data, bytes) else b""
    if kind != "zstd":
        return raw
    from crucible.core.zstd import ZstdError, decompress  # noqa: PLC0415  it loads a C library

    try:
        return decompress(raw)
    except (ZstdError, MemoryError) as error:
        raise ValueError(str(error)) from error


def _events(thread: str, document: Row) -> Iterator[Event]:
    model = as_str(as_dict(document.get("model")).get("model"))
    usages = as_dict(document.get("request_token_usage"))
    for line, message in enumerate(as_list(document.get("messages")), 1):
        at = At(line, row_id(thread, line))
        given = as_dict(message)
        if "User" in given:
            yield from _user(at, as_dict(given["User"]), usages, model)
        elif "Agent" in given:
            yield from _agent(at, thread, as_dict(given["Agent"]), model)
        elif message != "Resume":
            yield Unknown(at, f"message {next(iter(given), as_str(message))}".strip())


def _user(at: At, message: Row, usages: Row, model: str) -> Iterator[Event]:
    texts, images, attached = [], 0, []
    for part in map(as_dict, as_list(message.get("content"))):
        texts += [part["Text"]] if isinstance(part.get("Text"), str) else []
        images += "Image" in part
        attached += [as_str(as_dict(part.get("Mention")).get("content"))]
    if "".join(texts).strip() or images:
        yield Prompted(at, "".join(texts), images=images)
    for text in filter(str.strip, attached):
        yield Injected(at, text, "attached")
    ident = as_str(message.get("id"))
    usage = as_dict(usages.get(ident))
    if usage:
        keys = ("input", "cache_creation_input", "cache_read_input", "output")
        sent, written, cached, said = (count(usage.get(f"{key}_tokens")) for key in keys)
        yield UsageCounted(at, ident or at.row, model, sent + written, cached, said, written)


def _agent(at: At, thread: str, message: Row, model: str) -> Iterator[Event]:
    """Yield the parts of an answer, each with a row of its own: the answer grows in place."""
    results = as_dict(message.get("tool_results"))
    parts = list(map(as_dict, as_list(message.get("content"))))
    called = any("ToolUse" in part for part in parts)
    for number, part in enumerate(parts):
        here = At(at.line, row_id(thread, at.line, number))
        text, use = part.get("Text"), as_dict(part.get("ToolUse"))
        thought = as_str(as_dict(part.get("Thinking")).get("text"))
        if isinstance(text, str) and text.strip():
            yield Replied(here, text, at.row, model, not called)
        elif thought.strip():
            yield Reasoned(here, thought, at.row)
        elif use:
            call = as_str(use.get("id"))
            yield ToolUsed(here, call, as_str(use.get("name")), arguments_of(use.get("input")), at.row, model)
            if call in results:
                result = as_dict(results[call])
                end = CallEnd.FAILED if result.get("is_error") is True else CallEnd.OK
                yield ToolReturned(
                    At(at.line, row_id(thread, at.line, number, "end")), call, _text(result.get("content")), end
                )
        elif not {"Text", "Thinking", "RedactedThinking"} & part.keys():
            yield Unknown(here, f"part {next(iter(part), '')}".strip())
    if parts and not called:
        yield Answered(At(at.line, row_id(thread, at.line, "end")))


def _text(content: object) -> str:
    """Return the text of a result: a string, `{"Text": …}`, or a list of these."""
    if isinstance(content, list):
        return "\n".join(map(_text, content))
    return content if isinstance(content, str) else as_str(as_dict(content).get("Text"))
