"""From the root's options to what searches: the embedded engine over this vault and its knowledge, or a team's server.

Imports little: a question is to be answered in the time that its process takes to start.
"""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path
from typing import NamedTuple, Self

import click

from crucible.cli.environment import project_here, user_settings, vault_place
from crucible.cli.options import Door
from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.knowledge.items import EVERYTHING, Place
from crucible.documents.knowledge.novelty import Similar
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.engine import Embedded, open_embedded
from crucible.search.embedded.refresh import Progress
from crucible.search.recall import Recall
from crucible.vault.notes.vault import Vault

VARIABLE = "CRUCIBLE_RECALL_BACKEND"
"""As `recall.postgres_address` has it, which only those load who have a server."""

_OWN = ("", "embedded")
"""What the setting says where there is no server."""


ALL_PROJECTS = click.option(
    "--all-projects",
    "everything",
    is_flag=True,
    help="Of every project, also in a folder that is one's.",
)


class Asker(NamedTuple):
    """Who asks: the `project` that was named, or whoever sees `everything`, or, where neither was said, whose folder we are in."""

    project: str | None = None
    everything: bool = False

    def checked(self) -> Self:
        """The same; `UsageError` when it says both."""
        if self.everything and self.project is not None:
            raise UsageError("--project and --all-projects exclude each other", "leave one of them out")
        return self

    def viewer(self, root: Path) -> Place:
        """Whose knowledge is seen, in the vault at `root`; everything where no project is meant."""
        if self.everything:
            return EVERYTHING
        name = project_here(root) if self.project is None else self.project
        return Place("project", name) if name else EVERYTHING


class Opened(NamedTuple):
    """A vault, what searches it, or the server that is asked instead, and who sees what it finds of knowledge."""

    vault: Vault
    recall: Recall
    viewer: Place = EVERYTHING


def open_asked(door: Door, asker: Asker, progress: Progress, *, embedded: bool) -> Opened:
    """What answers questions: the server of the user's settings, unless there is none or the vault's own index is wanted."""
    own = user_settings().recall
    if not embedded and has_server():
        # Late: few have a server, and its modules take longer to load than a question takes.
        from crucible.search.postgres.address import chosen_address  # noqa: PLC0415  as above
        from crucible.search.postgres.engine import open_postgres  # noqa: PLC0415

        address = chosen_address(own.backend, os.environ)
        if address is not None:
            root, settings = vault_place(door)
            vault = Vault(Path(root), settings)
            viewer = asker.viewer(vault.root)
            asked = open_postgres(address, seconds=own.timeout_seconds, viewer=viewer, knowledge=settings.knowledge)
            return Opened(vault, asked, viewer)
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    viewer = asker.viewer(vault.root)
    return Opened(vault, open_here(vault, viewer, progress), viewer)


def has_server() -> bool:
    """Whether a team's server may have been chosen to answer questions."""
    return user_settings().recall.backend not in _OWN or VARIABLE in os.environ


def open_here(vault: Vault, viewer: Place = EVERYTHING, progress: Progress | None = None) -> Embedded:
    """The embedded engine over a vault."""
    shelf = ItemShelf(vault, viewer)
    return open_embedded(vault.root, vault.settings, shelf=shelf, progress=progress)


def similar_here(vault: Vault) -> Similar:
    """What recall finds alike; nothing where it cannot be asked."""

    def similar(text: str, limit: int) -> list[tuple[str, float]]:
        with suppress(CrucibleError):
            return open_here(vault).similar(text, limit)
        return []

    return similar
