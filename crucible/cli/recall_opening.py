"""From the root's options to what searches: the embedded engine over this vault and its knowledge, or a team's server.

Imports little: a question is to be answered in the time that its process takes to start.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import click

from crucible.cli.door import Door
from crucible.cli.surroundings import user_settings, vault_place, whence
from crucible.index.vouching import ask
from crucible.knowledge.scopes import EVERYTHING, Place
from crucible.knowledge.shelving import ItemShelf
from crucible.recall.embedded import Embedded, Progress, open_embedded
from crucible.recall.model import Recall
from crucible.vault.projects import named_project_of
from crucible.vault.store import Vault

__all__ = ["Opened", "Reading", "open_asked", "open_here", "viewer_here"]

VARIABLE = "CRUCIBLE_RECALL_BACKEND"
"""As `recall.postgres_address` has it, which only those load who have a server."""

_LONG = 100
"""Notes to read; fewer are read before anybody wonders."""


class Opened(NamedTuple):
    """A vault, and what searches it, or the server that is asked instead."""

    vault: Vault
    recall: Recall


def open_asked(door: Door, viewer: Place, progress: Progress, *, embedded: bool) -> Opened:
    """What answers questions: the server of the user's settings, unless there is none or the vault's own index is wanted."""
    own = user_settings().recall
    if not embedded and (own.backend or VARIABLE in os.environ):
        # Late: few have a server, and its modules take longer to load than a question takes.
        from crucible.recall.postgres import open_postgres  # noqa: PLC0415
        from crucible.recall.postgres_address import chosen_address  # noqa: PLC0415  as above

        address = chosen_address(own.backend, os.environ)
        if address is not None:
            root, settings = vault_place(door)
            return Opened(Vault(Path(root), settings), open_postgres(address, seconds=own.timeout_seconds))
    vault, recall = open_here(door, viewer, progress)
    return Opened(vault, recall)


def open_here(
    door: Door, viewer: Place = EVERYTHING, progress: Progress | None = None
) -> tuple[Vault, Embedded]:
    """The embedded engine over the vault that was named, or is around us, or is the default."""
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    shelf = ItemShelf(vault, viewer)
    return vault, open_embedded(vault.root, settings, vouched=ask, shelf=shelf, progress=progress)


def viewer_here(project: str | None) -> Place:
    """Whose knowledge is seen: the project's that was named, or that the working directory belongs to; everything where there is none."""
    cwd, projects = whence()
    name = project if project is not None else named_project_of(cwd, projects)
    return Place("project", name) if name else EVERYTHING


class Reading:
    """One line on a terminal's stderr while notes are read, gone in the end."""

    def __init__(self) -> None:
        self._shown = False

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self._shown:
            click.echo("\r\x1b[K", err=True, nl=False)

    def show(self, done: int, total: int) -> None:
        """Told after each note, or some of them."""
        if total >= _LONG and sys.stderr.isatty():
            self._shown = True
            click.echo(f"\rreading notes: {done:,} of {total:,}", err=True, nl=False)
