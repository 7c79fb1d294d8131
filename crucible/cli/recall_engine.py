"""Open the search engine of recall: the vault's embedded index, or a team's server.

Keep imports light: most of a query's time is the start of the process.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import Self

from crucible.cli.environment import cwd_and_projects, user_settings, vault_place
from crucible.cli.options import Door, flag
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.named_tuples import NamedTuple
from crucible.documents.knowledge.item_rules import EVERYTHING, Audience, Similar
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.background_update import BACKEND_VARIABLE, EMBEDDED
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.near_words import NearTable, near_table_path, no_near
from crucible.search.recall import Progress, Recall
from crucible.vault.notes.projects import named_project_of
from crucible.vault.notes.vault import Vault

ALL_PROJECTS = flag("--all-projects", "Include all projects' knowledge, also in a project's folder.", "everything")


class RecallScope(NamedTuple):
    """The knowledge that a query can see: of `project`, of every project, or by default of the current project."""

    project: str | None = None
    everything: bool = False

    def checked(self) -> Self:
        """Return the scope; raises `UsageError` if both options are given."""
        if self.everything and self.project is not None:
            raise UsageError("--project and --all-projects cannot be used together", "remove one of them")
        return self

    def viewer(self, root: Path) -> Audience:
        """Return the audience for knowledge in the vault at `root`; everything without a project."""
        if self.everything:
            return EVERYTHING
        name = named_project_of(*cwd_and_projects(root), str(root)) if self.project is None else self.project
        return Audience("project", name) if name else EVERYTHING


class OpenedRecall(NamedTuple):
    """A vault, the engine or server that searches it, and the audience for its knowledge."""

    vault: Vault
    recall: Recall
    viewer: Audience = EVERYTHING


def open_recall(
    door: Door, scope: RecallScope, progress: Progress | None = None, *, embedded: bool = False
) -> OpenedRecall:
    """Open the server from the user's settings or, without one or if `embedded`, the vault's own index."""
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    viewer = scope.viewer(vault.root)
    if not embedded and has_server():
        # Imported late: few users have a server, and its modules take longer to load than a query takes.
        from crucible.search.team.team_address import chosen_address  # noqa: PLC0415  as above
        from crucible.search.team_servers import open_team  # noqa: PLC0415

        own = user_settings().recall
        address = chosen_address(own.backend, os.environ)
        if address is not None:
            near = NearTable(near_table_path(root)).near if own.near else no_near
            team = open_team(
                address, seconds=own.timeout_seconds, viewer=viewer, knowledge=settings.knowledge, near=near
            )
            return OpenedRecall(vault, team, viewer)
    return OpenedRecall(vault, open_own_index(vault, viewer, progress), viewer)


def has_server() -> bool:
    """True if the settings or the environment seem to name a team's server."""
    return user_settings().recall.backend not in EMBEDDED or BACKEND_VARIABLE in os.environ


def open_own_index(vault: Vault, viewer: Audience = EVERYTHING, progress: Progress | None = None) -> EmbeddedRecall:
    """Open the embedded engine of a vault."""
    shelf = ItemShelf(vault, viewer)
    return EmbeddedRecall(vault.root, vault.settings, items=shelf, progress=progress, near=user_settings().recall.near)


def similar_here(vault: Vault) -> Similar:
    """Return a function that finds similar items; it finds none if recall cannot be opened."""

    def similar(text: str, limit: int) -> list[tuple[str, float]]:
        with suppress(CrucibleError):
            return open_own_index(vault).similar(text, limit)
        return []

    return similar
