"""Accept what a vault asks for, as the user of a test."""

from __future__ import annotations

import os
from pathlib import Path

from crucible.core.settings.settings import UserSettings, VaultSettings, load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.vault.notes.init_vault import keep_accepted


def user_of_test() -> UserSettings:
    """The settings of the test's user, as commands find them."""
    home = os.environ["HOME"]
    return load_user_settings(user_settings_path(os.environ, home), home)


def trust(root: Path) -> UserSettings:
    """Accept everything that the vault asks for now, broken or not."""
    user = user_of_test()
    real = os.path.realpath(root)
    keep_accepted(user, real, load_vault_settings(real).asks)
    return user


def trusted(root: Path) -> VaultSettings:
    """The vault's settings after accepting everything that it asks for now."""
    return load_vault_settings(root, trust(root))
