"""Find the vault that a command works on.

Every command calls this first, so paths are strings: importing `pathlib` takes longer than all of this module's work.
"""

from __future__ import annotations

import os
from collections.abc import Mapping

from crucible.core.errors import VaultNotFound
from crucible.core.settings.settings import UserSettings
from crucible.core.vault_folders import is_vault, nearest_vault

RENAMING = os.path.join(".crucible", "renaming.json")
"""Path of the rename journal in a vault.  See `rename_journal`."""

DELETING = os.path.join(".crucible", "deleting.json")
"""Path of the journal of a deletion in a vault.  See `commands.delete`."""


def is_unfinished(root: str | os.PathLike[str]) -> bool:
    """Return whether a rename or deletion is running in the vault or was interrupted."""
    return any(os.path.lexists(os.path.join(root, journal)) for journal in (RENAMING, DELETING))


def find_vault(explicit: str | None, env: Mapping[str, str], cwd: str, user: UserSettings) -> str:
    """Return the real path of the vault's root.

    Uses the first of these that is set: `--vault`, `CRUCIBLE_VAULT`, the nearest vault in or above `cwd`, the user's
    default.  If that is not a vault, raises `VaultNotFound` without trying the others.
    """
    if explicit:
        return check_vault(os.path.join(cwd, explicit), "--vault")
    if env.get("CRUCIBLE_VAULT"):
        return check_vault(os.path.join(cwd, env["CRUCIBLE_VAULT"]), "CRUCIBLE_VAULT")
    if near := nearest_vault(cwd):
        return os.path.realpath(near)
    if user.default_vault:
        return check_vault(user.default_vault, f"default_vault in {user.path}")
    raise VaultNotFound(
        f"no vault in {cwd} or its parent folders, and no default vault",
        'Run "cru" to create one and import your sessions ("cru init DIR --default" in a script), '
        "or name one with --vault DIR.",
    )


def check_vault(path: str, named_by: str = "") -> str:
    """Return the real path of a vault's root.

    The message of `VaultNotFound` says what `path` is and where it was set.
    """
    if is_vault(path):
        return os.path.realpath(path)
    path = os.path.normpath(path)
    what = "not a vault (it has no .crucible folder)" if os.path.isdir(path) else "no such folder"
    what = "a file, not a vault" if os.path.isfile(path) else what
    above = nearest_vault(path) if os.path.exists(path) else ""
    makes = "name a folder" if os.path.isfile(path) else f'run "cru init {path}" to create one there'
    hint = f"did you mean {above}?" if above else makes
    raise VaultNotFound(f"{path}: {what}{f' (from {named_by})' if named_by else ''}", hint)
