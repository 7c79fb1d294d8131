"""Standard input and output for the MCP library, with an error reply to every invalid message.

The library drops messages that do not fit its models, and the client then waits forever.  This module picks the JSON-RPC error,
and keeps everything else in the process from reading the client's input.
"""

from __future__ import annotations

import json
import os
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import TextIOWrapper
from typing import TYPE_CHECKING, Any, Self

import anyio
from mcp.server.stdio import stdio_server
from mcp.shared.message import SessionMessage
from mcp_types import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    PARSE_ERROR,
    ErrorData,
    JSONRPCError,
    JSONRPCNotification,
)

if TYPE_CHECKING:
    from types import TracebackType

    from mcp.shared._stream_protocols import ReadStream, WriteStream

__all__ = ["refusal_of", "standard_streams"]


@asynccontextmanager
async def standard_streams() -> AsyncIterator[tuple[ReadStream[Any], WriteStream[SessionMessage]]]:
    """The streams that the server reads from and writes to while the block runs."""
    lines = _Lines(_own_input())
    async with stdio_server(stdin=lines) as (read, write):
        yield _Answering(read, write, lines.waiting), write


def refusal_of(line: str) -> JSONRPCError | None:
    """The error for a line that the library refused or took for a notification; None if no reply is due."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: each line must be one JSON object")
    if not isinstance(message, dict):
        return _error(None, INVALID_REQUEST, "Invalid request: send one message per line, no batches")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    asked, method = message.get("id"), message.get("method")
    known = asked if _is_id(asked) else None
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _is_unicode(method):
        return _error(known, INVALID_REQUEST, 'Invalid request: "jsonrpc": "2.0" and a method are required')
    if "id" not in message:
        return None
    if known is None:
        return _error(None, INVALID_REQUEST, "Invalid request: an id must be a string or an integer")
    return _error(known, INVALID_PARAMS, "Invalid params: an object with valid Unicode strings is required")


def _is_id(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and _is_unicode(value))


def _is_unicode(text: str) -> bool:
    """Whether the text has no lone surrogate."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _error(asked: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=asked, error=ErrorData(code=code, message=message))


def _own_input() -> TextIOWrapper:
    """The client's input.  Handlers and their subprocesses find an empty standard input instead."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return TextIOWrapper(os.fdopen(wire, "rb", closefd=False), encoding="utf-8", errors="replace")


class _Lines(anyio.AsyncFile[str]):
    """The client's lines.  `waiting` holds those for which the library has passed on no message yet."""

    def __init__(self, file: TextIOWrapper) -> None:
        super().__init__(file)
        self.waiting: deque[str] = deque()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self.readline():
            self.waiting.append(line)
            yield line


class _Answering:
    """The library's stream of messages, one per line, without those that are answered here."""

    def __init__(self, inner: ReadStream[Any], replies: WriteStream[SessionMessage], lines: deque[str]) -> None:
        self._inner, self._replies, self._lines = inner, replies, lines

    @property
    def last_context(self) -> object:
        """The sender's context, which the library reads."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        """The next valid message."""
        while True:
            item = await self._inner.receive()
            line = self._lines.popleft()
            refusal = None
            if isinstance(item, Exception) or isinstance(item.message, JSONRPCNotification):
                refusal = refusal_of(line)
            if refusal is not None:
                await self._replies.send(SessionMessage(refusal))
            elif not isinstance(item, Exception):
                return item

    def __aiter__(self) -> _Answering:
        return self

    async def __anext__(self) -> Any:
        try:
            return await self.receive()
        except anyio.EndOfStream:
            raise StopAsyncIteration from None

    async def aclose(self) -> None:
        """Close the library's stream."""
        await self._inner.aclose()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()
