"""From the root's options to what searches: the embedded engine over this vault and its knowledge, or a team's server.

Imports little: a question is to be answered in the time that its process takes to start.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Self

import click

from crucible.cli.door import Door
from crucible.cli.surroundings import vault_place, whence
from crucible.index.vouching import ask
from crucible.knowledge.scopes import EVERYTHING, Place
from crucible.knowledge.shelving import ItemShelf
from crucible.recall.embedded import Embedded, open_embedded
from crucible.vault.projects import named_project_of
from crucible.vault.store import Vault

__all__ = ["Opened", "open_here", "viewer_here"]

_LONG = 100
"""Notes to read; fewer are read before anybody wonders."""


class Opened(NamedTuple):
    """A vault, and what searches it."""

    vault: Vault
    recall: Embedded


def open_here(
    door: Door, viewer: Place = EVERYTHING, progress: Callable[[int, int], None] | None = None
) -> Opened:
    """The embedded engine over the vault that was named, or is around us, or is the default."""
    root, settings = vault_place(door)
    vault = Vault(Path(root), settings)
    shelf = ItemShelf(vault, viewer)
    return Opened(vault, open_embedded(vault.root, settings, vouched=ask, shelf=shelf, progress=progress))


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
