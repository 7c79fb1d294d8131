"""From a place to its vault, as it is now: settings and notes may change while a server runs."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from crucible.index.store import Index
from crucible.index.vouching import ask
from crucible.mcp.place import Place
from crucible.vault.store import Vault

__all__ = ["index_of", "now", "vault_of"]


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def vault_of(place: Place) -> Vault:
    """The vault; `VaultNotFound` where there is none."""
    return Vault(Path(place.root()))


def index_of(vault: Vault) -> Index:
    """Its index."""
    return Index(vault.root, vault.settings, ask)
