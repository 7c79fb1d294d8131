"""The vault that a watcher follows: whether it is still there, its settings, and events in its sessions folder."""

from __future__ import annotations

import os
import time
from pathlib import Path

from crucible.core.errors import CrucibleError, VaultError
from crucible.core.files import inside
from crucible.core.settings.settings import UserSettings, VaultSettings, load_vault_settings
from crucible.vault.index.watch.file_events import FileEvent, Listener, mounts_of, unheard


class WatchedVault:
    """A vault and the settings that were read last; `fault` is what is wrong with those on the disk, mostly nothing."""

    def __init__(self, root: Path, settings: VaultSettings, user: UserSettings | None = None) -> None:
        self.root = root
        self.settings = settings
        self.fault = ""
        self._user = user
        self._vault = os.stat(root)
        self._config = self._config_now()
        self._listener: Listener | None = None
        self._deaf = ""
        """Why there is no listener."""
        self._place: object = None

    def is_there(self) -> bool:
        """Whether this is still the same folder, and a vault."""
        try:
            return os.path.samestat(self._vault, os.stat(self.root)) and (self.root / ".crucible").is_dir()
        except OSError:
            return False

    # --- settings ----------------------------------------------------------------------------------------------------

    def has_other_settings(self) -> bool:
        """Whether the settings file is another one than was read."""
        return self._config != self._config_now()

    def read_settings(self) -> None:
        """Read the settings again.  A file that is broken, or half written, is looked at again."""
        config = self._config_now()
        try:
            self.settings = load_vault_settings(self.root, self._user)
        except VaultError as error:
            self.fault = str(error)
        else:
            self.fault, self._config = "", config

    def _config_now(self) -> object:
        try:
            status = os.stat(self.root / ".crucible" / "config.toml")
        except OSError:
            return None
        return status.st_size, status.st_mtime_ns, status.st_ctime_ns, status.st_ino

    # --- events ------------------------------------------------------------------------------------------------------

    def listen(self, *, again: bool) -> None:
        """Listen to the sessions folder from now on; begin again if asked to, or if events may have been lost."""
        if self._listener and not again and not self.is_lost():
            return
        self.close()
        try:
            self._listener = Listener(str(inside(self.root, self.root / self.settings.sessions)))
        except (CrucibleError, OSError) as error:
            self._deaf = line_of(error)
        self._place = self._place_now()

    def close(self) -> None:
        """Stop listening."""
        listener, self._listener = self._listener, None
        if listener:
            listener.close()

    def next(self, seconds: float) -> FileEvent | None:
        """The next event; None if there is none within `seconds`, or there can be none."""
        if self._listener:
            return self._listener.next(seconds)
        time.sleep(seconds)
        return None

    def is_lost(self) -> bool:
        """Whether events may have been lost: the queue was full, or the sessions folder lies elsewhere now."""
        unsound = self._listener is not None and not self._listener.is_sound()
        return unsound or self._place != self._place_now()

    def unheard(self) -> str:
        """Why changes may go unreported, "" when none may; looks at the whole folder."""
        return unheard(self._listener.folder) if self._listener else self._deaf

    def relative(self, path: str) -> str:
        """The note or folder as the index names it."""
        below = path[len(self._listener.folder) :] if self._listener else ""
        return os.path.normpath(self.settings.sessions + below).replace(os.sep, "/")

    def _place_now(self) -> object:
        """Where the sessions folder lies, and what is mounted there."""
        folder = os.path.realpath(self.root / self.settings.sessions)
        try:
            status = os.stat(folder)
        except OSError:
            return None
        return folder, status.st_dev, status.st_ino, mounts_of(folder)


def line_of(error: CrucibleError | OSError) -> str:
    """What went wrong, in one line."""
    if isinstance(error, OSError):
        reason = (error.strerror or str(error)).lower()
        return f"{error.filename}: {reason}" if error.filename else reason
    return str(error)
