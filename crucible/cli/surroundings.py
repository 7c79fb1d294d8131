"""Where `cru` was called: the one place that reads the environment, the home and the working directory.

Imports little, since completing a session's id needs it.
"""

from __future__ import annotations

import os
from pathlib import Path

from crucible.cli.door import Door
from crucible.errors import VaultError
from crucible.settings import UserSettings, load_user_settings, user_settings_path
from crucible.vault.discovery import find_vault

__all__ = ["from_here", "user_settings", "vault_root", "working_directory"]


def user_settings() -> UserSettings:
    """This user's own settings."""
    return load_user_settings(user_settings_path(os.environ, Path.home()), Path.home())


def working_directory() -> Path | None:
    """None when somebody removed the folder that the shell stands in."""
    try:
        return Path.cwd()
    except OSError:
        return None


def from_here(path: Path) -> Path:
    """The path made absolute; in a folder that is gone only an absolute one has a meaning."""
    here = working_directory()
    if here is None and not path.is_absolute():
        raise VaultError(
            "the working directory is gone", "go to a folder that is there, or name an absolute path"
        )
    return path if here is None else here / path


def vault_root(door: Door, user: UserSettings) -> Path:
    """The vault that was named, or is around us, or is the default."""
    named = door.vault or os.environ.get("CRUCIBLE_VAULT") or ""
    here = working_directory() or from_here(Path(named)).parent
    return find_vault(door.vault, os.environ, here, user)
