"""The clients that we know, without the code that reads their logs (`clients.dialects`)."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from crucible.clients.claude_code.client import CLIENT as CLAUDE_CODE
from crucible.clients.client import ClientProfile, McpSettings
from crucible.clients.codex.client import CLIENT as CODEX
from crucible.clients.gemini.client import CLIENT as GEMINI
from crucible.clients.opencode.client import CLIENT as OPENCODE

CLIENTS: Mapping[str, ClientProfile] = MappingProxyType(
    {client.program: client for client in (CLAUDE_CODE, CODEX, OPENCODE, GEMINI)}
)
"""All of them, by the name that a user calls them."""

RESUMABLE: Mapping[str, ClientProfile] = MappingProxyType(
    {name: client for name, client in CLIENTS.items() if client.piped}
)
"""Those that can continue a session and answer a prompt."""

MCP_SETTINGS: Mapping[str, McpSettings] = MappingProxyType({one.name: one.mcp for one in CLIENTS.values() if one.mcp})
"""How those learn of our MCP server that can start it, by their name in `sources`."""

TITLES: Mapping[str, str] = MappingProxyType({client.name: client.title for client in CLIENTS.values()})
"""As their makers call them."""

FILE_TOOLS = frozenset().union(*(client.file_tools for client in CLIENTS.values()))
"""Tools of any client that read or change files."""


def client_of(name: str, clients: Mapping[str, ClientProfile] = RESUMABLE) -> ClientProfile | None:
    """The client with this name, a user's or that of a note's `sources`."""
    return next((client for client in clients.values() if name in (client.program, client.name)), None)
