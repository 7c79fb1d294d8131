"""`cru mcp`, `cru statusline` and `cru hook`, which clients start.

`crucible.__main__` handles plain calls of the hook and of the status line before click is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from crucible.cli.environment import working_directory
from crucible.cli.options import Door
from crucible.cli.output import say
from crucible.integrations.hooks.client_hook import CLIENTS, take_payload
from crucible.integrations.hooks.status_line import print_line
from crucible.integrations.install.mcp_servers import check_library
from crucible.integrations.mcp.server_context import ServerContext


@click.command
@click.argument("client", type=click.Choice(CLIENTS))
def hook(client: str) -> None:
    """Internal: called by a client's hooks, with a payload on stdin.

    \b
    - Writes a line with ids and paths, never content, to the vault's spool.
      When a phase has ended, it starts the process that updates the note.
    - Prints nothing and always exits with 0. Errors are in
      .crucible/log/hooks.log.
    - "cru install claude-code", or "cru install CLIENT --hooks", sets it up.
    """
    take_payload(client)


@click.command
def statusline() -> None:
    """Print one line with costs for Claude Code's status line.

    \b
    - Claude Code starts it with the session's state on stdin;
      "cru install claude-code --statusline" sets it up.
    - The session's cost is the client's own estimate. Today and this week
      are list prices of all sessions in the vault, as of the last import.
    - Prints a line for any input and always exits with 0.

    \b
      cru statusline
    """
    print_line()


@click.command
@click.pass_obj
def mcp(door: Door) -> None:
    """Serve agents over the Model Context Protocol, on standard input and output.

    \b
    - Clients start it; "cru install claude-code --mcp" registers it (also
      for codex and opencode).
    - Its tools search and read earlier sessions, add knowledge, and record
      entries in the running session.

    \b
      cru mcp
      cru install claude-code --mcp
    """
    check_library()
    from crucible.integrations.mcp.server import serve  # noqa: PLC0415  an optional dependency

    if sys.stdin and sys.stdin.isatty():
        say(
            'Waiting for a client. Clients start this themselves: see "cru install claude-code --mcp". Ctrl-D stops it.'
        )
    home = Path(os.path.expanduser("~"))
    serve(ServerContext(dict(os.environ), working_directory() or "", home, door.vault))
