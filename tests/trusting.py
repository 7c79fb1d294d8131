"""A user who accepts what a vault asks for."""

from __future__ import annotations

import os
from pathlib import Path

from crucible.settings import UserSettings, VaultSettings, load_user_settings, load_vault_settings
from crucible.tidy_toml import user_settings_path
from crucible.vault.trusting import keep_accepted

__all__ = ["trust", "trusted", "user_of_test"]


def user_of_test() -> UserSettings:
    """The settings of the test's own user, as every command finds them."""
    home = os.environ["HOME"]
    return load_user_settings(user_settings_path(os.environ, home), home)


def trust(root: Path) -> UserSettings:
    """Accept all that the vault asks for now, broken or not, as this test's user."""
    user = user_of_test()
    real = os.path.realpath(root)
    keep_accepted(user, real, load_vault_settings(real).asks)
    return user


def trusted(root: Path) -> VaultSettings:
    """The settings of the vault, once all that it asks for now was accepted."""
    return load_vault_settings(root, trust(root))
