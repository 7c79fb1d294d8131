"""Standard input and output as the library serves them, where a message that is no valid request is answered as well.

The library drops what does not fit its models, and a client waits for its answer for ever.  Owns which error of JSON-RPC such a message gets,
and that nothing else in this process reads from the client.
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
    """What the server reads from and writes to, as long as the block runs."""
    lines = _Lines(_own_input())
    async with stdio_server(stdin=lines) as (read, write):
        yield _Answering(read, write, lines.waiting), write


def refusal_of(line: str) -> JSONRPCError | None:
    """The answer to a line that the library refused, or took for a notification: None where nobody waits for one."""
    if not line.strip():
        return None
    try:
        message = json.loads(line)
    except (ValueError, RecursionError):
        return _error(None, PARSE_ERROR, "Parse error: a line holds one JSON object")
    if not isinstance(message, dict):
        return _error(None, INVALID_REQUEST, "Invalid request: one message a line, and no batches")
    if "method" not in message and ("result" in message or "error" in message):
        return None
    asked, method = message.get("id"), message.get("method")
    known = asked if _is_id(asked) else None
    if message.get("jsonrpc") != "2.0" or not isinstance(method, str) or not _is_unicode(method):
        return _error(known, INVALID_REQUEST, 'Invalid request: it has "jsonrpc": "2.0" and a method')
    if "id" not in message:
        return None
    if known is None:
        return _error(None, INVALID_REQUEST, "Invalid request: an id is a text or a whole number")
    return _error(known, INVALID_PARAMS, "Invalid params: an object whose texts are Unicode")


def _is_id(value: object) -> bool:
    return type(value) is int or (isinstance(value, str) and _is_unicode(value))


def _is_unicode(text: str) -> bool:
    """Whether no half of a surrogate pair is in it."""
    return not any("\ud800" <= char <= "\udfff" for char in text)


def _error(asked: str | int | None, code: int, message: str) -> JSONRPCError:
    return JSONRPCError(jsonrpc="2.0", id=asked, error=ErrorData(code=code, message=message))


def _own_input() -> TextIOWrapper:
    """What the client writes; for handlers, and for what they start, there is nothing to be read."""
    wire = os.dup(0)
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return TextIOWrapper(os.fdopen(wire, "rb", closefd=False), encoding="utf-8", errors="replace")


class _Lines(anyio.AsyncFile[str]):
    """The client's lines; `waiting` are those for which the library has handed on nothing yet."""

    def __init__(self, file: TextIOWrapper) -> None:
        super().__init__(file)
        self.waiting: deque[str] = deque()

    async def __aiter__(self) -> AsyncIterator[str]:
        while line := await self.readline():
            self.waiting.append(line)
            yield line


class _Answering:
    """The library's stream of messages, one for each line, without those that are answered here."""

    def __init__(
        self, inner: ReadStream[Any], replies: WriteStream[SessionMessage], lines: deque[str]
    ) -> None:
        self._inner, self._replies, self._lines = inner, replies, lines

    @property
    def last_context(self) -> object:
        """The sender's context, for which the library asks."""
        return getattr(self._inner, "last_context", None)

    async def receive(self) -> Any:
        """The next message that is one."""
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
        """As the library's own."""
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
