"""The vault of a server, opened for each call: settings and notes may change while the server runs."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from crucible.commands.rename.rename import finish_rename
from crucible.core.errors import CrucibleError, VaultNotFound
from crucible.core.settings.settings import KnowledgeSettings, load_vault_settings
from crucible.documents.knowledge.item_weight import EVERYTHING
from crucible.documents.knowledge.item_weight import Audience as Viewer
from crucible.documents.knowledge.items import ItemScope
from crucible.integrations.mcp.server_context import ServerContext
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.postgres.address import chosen_address
from crucible.search.postgres.team_recall import open_postgres
from crucible.search.recall import Recall
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault


def now() -> datetime:
    """The time, in UTC."""
    return datetime.now(UTC)


def vault_of(place: ServerContext) -> Vault:
    """The vault, after finishing an interrupted rename.  Raises `VaultNotFound` if there is none."""
    root = place.root()
    vault = Vault(Path(root), load_vault_settings(root, place.user))
    with suppress(CrucibleError):  # `cru doctor` reports it
        finish_rename(vault)
    return vault


def index_of(vault: Vault) -> Index:
    """Its index."""
    return Index(vault.root, vault.settings)


def open_recall(place: ServerContext) -> Recall:
    """What answers: the server of the user's settings, else the vault's own index, with the knowledge that is seen from where the client works."""
    own = place.user.recall
    address = chosen_address(own.backend, place.env)
    if address is None:
        return open_own(place)
    return open_postgres(address, seconds=own.timeout_seconds, viewer=viewer_of(place), knowledge=_weights(place))


def _weights(place: ServerContext) -> KnowledgeSettings:
    """How knowledge is weighed: as the vault says, where there is one."""
    try:
        return vault_of(place).settings.knowledge
    except VaultNotFound:
        return KnowledgeSettings()


def open_own(place: ServerContext, viewer: Viewer | None = None) -> EmbeddedRecall:
    """The vault's own index, as it is seen from where the client works, or by that viewer."""
    vault = vault_of(place)
    shelf = ItemShelf(vault, viewer_of(place) if viewer is None else viewer)
    return EmbeddedRecall(vault.root, vault.settings, items=shelf)


def viewer_of(place: ServerContext) -> Viewer:
    """Whose knowledge is seen; everything where there is no project."""
    project = place.viewer
    return Viewer(ItemScope.PROJECT, project) if project else EVERYTHING
