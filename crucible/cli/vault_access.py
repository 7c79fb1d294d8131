"""From the root's options to an open vault, and from what a user calls a session to its note."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path, PurePosixPath

import click

from crucible.cli.environment import vault_place, whence, working_directory
from crucible.cli.index_access import keep_index
from crucible.cli.options import Door
from crucible.commands.idle.idle_check import look
from crucible.core.errors import UsageError
from crucible.vault.index.index import Index
from crucible.vault.index.watch.vouching import ask
from crucible.vault.notes.vault import Note, Vault


def open_vault(door: Door, *, looks: bool = True, finish: bool = True) -> Vault:
    """The vault that was named, or is around us, or is the default; unknown settings are named on stderr.

    When the command ends, however it ends, the index learns of the notes that it wrote.  A session that has been quiet for
    long is paused first; not by a dry run, nor by a command that `looks` at its own session only, since an agent waits for it.
    """
    root, settings = vault_place(door, finish=finish)
    vault = Vault(Path(root), settings)
    context = click.get_current_context()
    if looks and not context.params.get("dry_run"):
        look(Index(vault.root, settings, ask), datetime.now(UTC), whence)
    context.call_on_close(lambda: keep_index(vault.root, settings, vault.touched))
    return vault


def here() -> Path | None:
    """The working directory, or None when it is gone."""
    folder = working_directory()
    return None if folder is None else Path(folder)


def find_note(vault: Vault, ref: str) -> Path:
    """A session by id, by path seen from here, or by a unique prefix; nothing that Obsidian hides."""
    path = vault.find(ref, here())
    if any(part.startswith(".") for part in PurePosixPath(vault.relative(path)).parts):
        raise UsageError(f"{ref}: hidden, no session", f"sessions are the notes in {vault.sessions}")
    return path


def load_note(vault: Vault, ref: str) -> Note:
    """Find and read."""
    return vault.read(find_note(vault, ref))
