"""What the server's process was given, and what its client says of itself.

A folder without a vault is a tool's error, not the server's end: a client starts us wherever its user works.  This
imports little, since a client's first call may come before a slow server is there.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import VaultNotFound
from crucible.core.settings.settings import UserSettings, load_user_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.vault.notes.discovery import find_vault
from crucible.vault.notes.projects import named_project_of, project_of

_NAMES = {"codex-mcp-client": "codex"}
"""Clients that call themselves otherwise than their sessions' notes do."""


class Caller(NamedTuple):
    """The client as it introduced itself."""

    name: str = ""
    version: str = ""

    @property
    def agent(self) -> str:
        """As a note names it, without its version."""
        return _NAMES.get(self.name, self.name) or "agent"

    @property
    def speaker(self) -> str:
        """`name@version`."""
        return f"{self.agent}@{self.version}" if self.version else self.agent


@dataclass(frozen=True)
class ServerContext:
    """What the process was given: its environment, working directory ("" when that is gone) and home; `named` is `--vault`'s.

    `asked` is the project of which a question is, "" when it names none.
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

    @property
    def here(self) -> Path | None:
        """The working directory."""
        return Path(self.cwd) if self.cwd else None

    @property
    def project(self) -> str:
        """What a session of the client belongs to, by its folder's name if by no other; "" for none."""
        return project_of(self.cwd, self.user.projects)

    @property
    def viewer(self) -> str:
        """The project whose knowledge is seen, and to which what is learned here belongs: `asked`'s, else the one that somebody named.

        "" where there is none, and in the vault itself, as for `cru recall` and `cru knowledge add`.
        """
        if self.asked:
            return self.asked
        try:
            vault = self.root()
        except VaultNotFound:  # a team's server is asked without one
            vault = ""
        return named_project_of(self.cwd, self.user.projects, vault)

    def root(self) -> str:
        """The vault's real path; `VaultNotFound` where there is none."""
        return find_vault(self.named, self.env, self.cwd, self.user)
