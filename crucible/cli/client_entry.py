"""`cru mcp` and `cru hook claude-code`, which clients start.

`crucible.__main__` handles plain calls of the hook before click is imported.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path

import click

from crucible.cli.environment import working_directory
from crucible.cli.options import Door
from crucible.cli.output import say
from crucible.integrations.hooks.claude_code_hook import take_payload
from crucible.integrations.install.mcp_servers import check_library
from crucible.integrations.mcp.server_context import ServerContext


@click.command("claude-code")
def claude_code() -> None:
    """Take one of Claude Code's hook payloads from stdin; `cru install claude-code` sets it up.

    Puts a line with ids and paths, never content, into the vault's spool, and starts the process that writes the note
    when a phase has ended. Prints nothing and always exits with 0; its faults are in .crucible/log/hooks.log.
    """
    take_payload()


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
    check_library()
    from crucible.integrations.mcp.server import serve  # noqa: PLC0415  an optional dependency

    if sys.stdin and sys.stdin.isatty():
        say(
            "`cru mcp` waits for a client's messages; a client starts it: cru install claude-code --mcp. Ctrl-D ends it"
        )
    home = Path(os.path.expanduser("~"))
    serve(ServerContext(dict(os.environ), working_directory() or "", home, door.vault))
