"""`cru hook claude-code` when it comes this way: `crucible.__main__` takes the plain call before click is imported."""

from __future__ import annotations

import click

from crucible.integrations.hooks.claude_code_hook import take_payload


@click.command("claude-code")
def claude_code() -> None:
    """Take one of Claude Code's hook payloads from stdin; `cru install claude-code` sets it up.

    Puts a line with ids and paths, never content, into the vault's spool, and starts the process that writes the note
    when a phase has ended. Prints nothing and always exits with 0; its faults are in .crucible/log/hooks.log.
    """
    take_payload()
