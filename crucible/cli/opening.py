"""From the root's options to an open vault: the one place that reads the environment and the working directory."""

from __future__ import annotations

import os
from pathlib import Path

from crucible.cli.door import Door
from crucible.cli.output import say
from crucible.settings import UserSettings, load_user_settings, user_settings_path
from crucible.vault.discovery import find_vault
from crucible.vault.store import Note, Vault

__all__ = ["load_note", "open_vault", "user_settings"]


def user_settings() -> UserSettings:
    """This user's own settings."""
    return load_user_settings(user_settings_path(os.environ, Path.home()), Path.home())


def open_vault(door: Door, *, quiet: bool = False) -> Vault:
    """The vault that was named, or is around us, or is the default; unknown settings are named on stderr."""
    user = user_settings()
    vault = Vault(find_vault(door.vault, os.environ, Path.cwd(), user))
    for warning in () if quiet else (*user.warnings, *vault.settings.warnings):
        say(f"cru: {warning}", style="yellow")
    return vault


def load_note(vault: Vault, ref: str) -> Note:
    """A session by id, by path seen from here, or by a unique prefix."""
    return vault.load(ref, Path.cwd())
