"""A client of the server: in this process, or with a real `cru mcp` over its standard streams."""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import anyio
from mcp import Client, ClientSession, StdioServerParameters, stdio_client
from mcp_types import CallToolResult, TextContent

from crucible.integrations.mcp.server import build_server
from crucible.integrations.mcp.server_context import ServerContext
from crucible.search.recall import Recall
from crucible.vault.notes.vault import Vault
from tests.conftest import ROOT

Call = tuple[str, Mapping[str, Any]]


class Answer(NamedTuple):
    text: str
    failed: bool


def place_of(vault: Vault, cwd: Path | None = None, **env: str) -> ServerContext:
    return ServerContext(env, str(cwd or vault.root), Path.home(), str(vault.root))


def talk(
    place: ServerContext, calls: Sequence[Call], opener: Callable[[ServerContext], Recall] | None = None
) -> list[Answer]:
    """The answers of one server in this process to these calls, one after the other."""

    async def run() -> list[Answer]:
        server, close = build_server(place, opener)
        try:
            async with Client(server) as client:
                return [_answer(await client.call_tool(name, dict(given))) for name, given in calls]
        finally:
            close()

    return anyio.run(run)


def call(place: ServerContext, name: str, **given: Any) -> Answer:
    return talk(place, [(name, given)])[0]


def with_process(
    vault: Vault, use: Callable[[ClientSession], Awaitable[None]], cwd: Path, *, errors: Path, **env: str
) -> None:
    """A session with a real process; what it says on standard error is in the file `errors` afterwards."""

    async def run() -> None:
        given = {**os.environ, "PYTHONPATH": str(ROOT), **env}
        command = StdioServerParameters(
            command=sys.executable,
            args=["-P", "-m", "crucible", "--vault", str(vault.root), "mcp"],
            env=given,
            cwd=cwd,
        )
        with errors.open("w") as log:
            async with (
                stdio_client(command, errlog=log) as (read, write),
                ClientSession(read, write) as session,
            ):
                await use(session)

    anyio.run(run)


def _answer(result: Any) -> Answer:
    assert isinstance(result, CallToolResult)
    (content,) = result.content
    assert isinstance(content, TextContent)
    assert result.structured_content is None, "what is quoted is quoted in a fence, and nowhere else"
    return Answer(content.text, bool(result.is_error))
