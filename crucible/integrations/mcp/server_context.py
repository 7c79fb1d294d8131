"""The context of a server process, and how the client identifies itself.

Without a vault, the server runs but tools fail.  Keep imports light: a client may call before a slow server is ready.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import VaultNotFound
from crucible.core.settings.settings import UserSettings, load_user_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.vault.notes.discovery import find_vault
from crucible.vault.notes.known_projects import with_known
from crucible.vault.notes.projects import named_project_of, project_of

_NAMES = {"codex-mcp-client": "codex"}
"""Our names for clients that identify themselves by another name."""


class Caller(NamedTuple):
    """The client as it identified itself."""

    name: str = ""
    version: str = ""

    @property
    def agent(self) -> str:
        """The client's name as used in notes, without the version."""
        return _NAMES.get(self.name, self.name) or "agent"

    @property
    def speaker(self) -> str:
        """The client as `name@version`."""
        return f"{self.agent}@{self.version}" if self.version else self.agent


@dataclass(frozen=True)
class ServerContext:
    """The process's environment, working directory ("" if it was deleted) and home; `named` is the value of `--vault`.

    `asked` is the project that a query names, or "".
    """

    env: Mapping[str, str]
    cwd: str
    home: Path
    named: str | None = None
    asked: str = ""

    @cached_property
    def user(self) -> UserSettings:
        """The user's own settings."""
        return load_user_settings(user_settings_path(self.env, str(self.home)), str(self.home))

    def now(self) -> datetime:
        """Return the current time in the user's time zone."""
        return datetime.now(self.user.zone)

    @property
    def here(self) -> Path | None:
        """The working directory; None if it was deleted."""
        return Path(self.cwd) if self.cwd else None

    @property
    def project(self) -> str:
        """The project of the client's session: from the settings, else by its folder's name; "" for none."""
        return project_of(self.cwd, self._projects(self._root_or_none()))

    @property
    def viewer(self) -> str:
        """The project whose knowledge is visible and that owns new items: `asked`, or else the one from the settings.

        "" without a project and inside the vault, as for `cru recall` and `cru knowledge add`.
        """
        if self.asked:
            return self.asked
        vault = self._root_or_none()
        return named_project_of(self.cwd, self._projects(vault), vault)

    def _root_or_none(self) -> str:
        try:
            return self.root()
        except VaultNotFound:  # a team's server can be queried without a vault
            return ""

    def _projects(self, vault: str) -> Mapping[str, Sequence[str]]:
        return with_known(self.user.projects, Path(vault)) if vault else self.user.projects

    def root(self) -> str:
        """Return the vault's real path.  Raises `VaultNotFound` if there is none."""
        return find_vault(self.named, self.env, self.cwd, self.user)
