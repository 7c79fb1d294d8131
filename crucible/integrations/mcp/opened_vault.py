"""Open a server's vault again for each call: settings and notes may change while the server runs."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

from crucible.commands.delete.delete import finish_deletion
from crucible.commands.rename.rename import finish_rename
from crucible.core.errors import CrucibleError, VaultNotFound
from crucible.core.settings.settings import KnowledgeSettings, load_vault_settings
from crucible.documents.knowledge.item_rules import EVERYTHING
from crucible.documents.knowledge.item_rules import Audience as Viewer
from crucible.documents.knowledge.items import ItemScope
from crucible.integrations.mcp.server_context import ServerContext
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Recall
from crucible.search.team.team_address import chosen_address
from crucible.search.team_servers import open_team
from crucible.vault.index.index import Index
from crucible.vault.notes.vault import Vault


def now() -> datetime:
    """Return the current time in UTC."""
    return datetime.now(UTC)


def vault_of(context: ServerContext) -> Vault:
    """Return the vault after finishing an interrupted rename or deletion.  Raises `VaultNotFound` if there is none."""
    root = context.root()
    vault = Vault(Path(root), load_vault_settings(root, context.user))
    with suppress(CrucibleError):  # `cru doctor` reports it
        finish_deletion(vault, now())
        finish_rename(vault)
    return vault


def index_of(vault: Vault) -> Index:
    """Return the vault's index."""
    return Index(vault.root, vault.settings)


def open_recall(context: ServerContext) -> Recall:
    """Open recall: the server from the user's settings, else the vault's own index.

    Searches include the knowledge that is visible from the client's folder.
    """
    settings = context.user.recall
    address = chosen_address(settings.backend, context.env)
    if address is None:
        return open_own(context)
    return open_team(address, seconds=settings.timeout_seconds, viewer=viewer_of(context), knowledge=_weights(context))


def _weights(context: ServerContext) -> KnowledgeSettings:
    """Return the weights of knowledge, from the vault's settings if there is a vault."""
    try:
        return vault_of(context).settings.knowledge
    except VaultNotFound:
        return KnowledgeSettings()


def open_own(context: ServerContext, viewer: Viewer | None = None) -> EmbeddedRecall:
    """Open the vault's own index for a viewer, by default the client's project."""
    vault = vault_of(context)
    shelf = ItemShelf(vault, viewer_of(context) if viewer is None else viewer)
    return EmbeddedRecall(vault.root, vault.settings, items=shelf, near=context.user.recall.near)


def viewer_of(context: ServerContext) -> Viewer:
    """Return the audience whose knowledge is visible; without a project, all knowledge is."""
    project = context.viewer
    return Viewer(ItemScope.PROJECT, project) if project else EVERYTHING
