"""`cru mcp`: what an agent's client starts to speak with."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import say
from crucible.cli.surroundings import working_directory
from crucible.integrations.mcp.server import serve
from crucible.integrations.mcp.server_context import Place


@click.command
@click.pass_obj
def mcp(door: Door) -> None:
    """Answer an agent's client over the Model Context Protocol, on standard input and output.

    A client starts it; `cru install claude-code --mcp`, and the same for codex and opencode, tells the client to. Its tools
    find and read what earlier sessions and knowledge say, keep knowledge, and write into the running session's note.

    \b
      cru mcp
      cru install claude-code --mcp
    """
    if sys.stdin and sys.stdin.isatty():
        say(
            "`cru mcp` waits for a client's messages; a client starts it: cru install claude-code --mcp. Ctrl-D ends it"
        )
    home = Path(os.path.expanduser("~"))
    serve(Place(dict(os.environ), working_directory() or "", home, door.vault))
