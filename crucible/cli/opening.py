"""From the root's options to an open vault, and from what a user calls a session to its note."""

from __future__ import annotations

from pathlib import Path, PurePosixPath

from crucible.cli.door import Door
from crucible.cli.output import say
from crucible.cli.surroundings import user_settings, vault_root, working_directory
from crucible.errors import UsageError
from crucible.vault.store import Note, Vault

__all__ = ["find_note", "load_note", "open_vault"]


def open_vault(door: Door) -> Vault:
    """The vault that was named, or is around us, or is the default; unknown settings are named on stderr."""
    user = user_settings()
    vault = Vault(vault_root(door, user))
    for warning in (*user.warnings, *vault.settings.warnings):
        say(f"cru: {warning}", style="yellow")
    return vault


def find_note(vault: Vault, ref: str) -> Path:
    """A session by id, by path seen from here, or by a unique prefix; nothing that Obsidian hides."""
    path = vault.find(ref, working_directory())
    if any(part.startswith(".") for part in PurePosixPath(vault.relative(path)).parts):
        raise UsageError(f"{ref}: hidden, no session", f"sessions are the notes in {vault.sessions}")
    return path


def load_note(vault: Vault, ref: str) -> Note:
    """Find and read."""
    return vault.read(find_note(vault, ref))
