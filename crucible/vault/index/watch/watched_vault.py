"""The vault that a watcher came to: whether it is still there, what its settings say, where its sessions lie.

Owns looking at that again, by what the file system says of it.  What follows from a change is `watching`'s.
"""

from __future__ import annotations

import os
from pathlib import Path

from crucible.core.errors import CrucibleError, VaultError
from crucible.core.files import inside
from crucible.core.settings.settings import UserSettings, VaultSettings, load_vault_settings
from crucible.vault.index.watch.file_events import mounts_of


class Place:
    """A vault and the settings that were read last; `fault` is what is wrong with those on the disk, mostly nothing."""

    def __init__(self, root: Path, settings: VaultSettings, user: UserSettings | None = None) -> None:
        self.root = root
        self._user = user
        self.settings = settings
        self.fault = ""
        self._vault = os.stat(root)
        self._config = self._config_now()

    def is_there(self) -> bool:
        """Whether this is still the same folder, and a vault."""
        try:
            return os.path.samestat(self._vault, os.stat(self.root)) and (self.root / ".crucible").is_dir()
        except OSError:
            return False

    def has_its_settings(self) -> bool:
        """Whether the file of settings is the one that was read."""
        return self._config == self._config_now()

    def read_settings(self) -> bool:
        """Whether they say something new.  A file that is broken, or half written, is looked at again."""
        config = self._config_now()
        try:
            settings = load_vault_settings(self.root, self._user)
        except VaultError as error:
            self.fault = str(error)
            return False
        before, self.settings = self.settings, settings
        self.fault, self._config = "", config
        return settings != before

    def sessions(self) -> str:
        """The sessions folder, real.  `OutsideVault` when it is not in the vault."""
        return str(inside(self.root, self.root / self.settings.sessions))

    def lie_of_sessions(self) -> object:
        """What must stay as it is while we listen: where the sessions folder lies and what is mounted there."""
        folder = os.path.realpath(self.root / self.settings.sessions)
        try:
            status = os.stat(folder)
        except OSError:
            return None
        return folder, status.st_dev, status.st_ino, mounts_of(folder)

    def _config_now(self) -> object:
        try:
            status = os.stat(self.root / ".crucible" / "config.toml")
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino


def line_of(error: CrucibleError | OSError) -> str:
    """What went wrong, in one line that may follow another one's "; "."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}" if error.filename else reason
    return str(error)
