"""From a place to its vault, as it is now, and to what searches it: settings and notes may change while a server runs.

Owns what a client sees of knowledge: what its project sees.
"""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

from crucible.index.store import Index
from crucible.index.vouching import ask
from crucible.knowledge.items import Scope
from crucible.knowledge.scopes import EVERYTHING
from crucible.knowledge.scopes import Place as Viewer
from crucible.knowledge.shelving import ItemShelf
from crucible.mcp.place import Place
from crucible.recall.embedded import Embedded, open_embedded
from crucible.recall.model import Recall
from crucible.recall.postgres import open_postgres
from crucible.recall.postgres_address import chosen_address
from crucible.vault.store import Vault

__all__ = ["index_of", "now", "open_own", "open_recall", "vault_of"]


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def vault_of(place: Place) -> Vault:
    """The vault; `VaultNotFound` where there is none."""
    return Vault(Path(place.root()))


def index_of(vault: Vault) -> Index:
    """Its index."""
    return Index(vault.root, vault.settings, ask)


def open_recall(place: Place) -> Recall:
    """What answers: the server of the user's settings, else the vault's own index, with the knowledge that is seen from where the client works."""
    own = place.user.recall
    address = chosen_address(own.backend, place.env)
    return open_postgres(address, seconds=own.timeout_seconds) if address else open_own(place)


def open_own(place: Place) -> Embedded:
    """The vault's own index."""
    vault, project = vault_of(place), place.project
    viewer = Viewer(Scope.PROJECT, project) if project else EVERYTHING
    return open_embedded(vault.root, vault.settings, vouched=ask, shelf=ItemShelf(vault, viewer))
