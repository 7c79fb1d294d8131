"""What an import does beside its transcripts: it takes what waits in the hooks' spool."""

from __future__ import annotations

from crucible.commands.imports.imports import ImportOptions
from crucible.integrations.hooks.sync import has_backlog, write_down
from crucible.vault.notes.vault import Vault

__all__ = ["drain"]


def drain(vault: Vault, options: ImportOptions) -> None:
    """Write down what hooks were told of and nobody has looked at yet: how a session ended, say, stands in no transcript."""
    if not options.dry_run and has_backlog(vault.root):
        write_down(vault.root)
