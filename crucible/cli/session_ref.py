"""The argument that names a session, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.offering import offered
from crucible.core.settings.settings import load_vault_settings
from crucible.vault.notes.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class SessionRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A session's id, its path, or a beginning of its id that no other session shares."""

    name = "id"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Ids by the files' names; no note is opened."""
        return offered(ctx, incomplete, _session_ids)


def _session_ids(root: Path) -> Iterator[str]:
    start = root / load_vault_settings(root).sessions
    return (note_name(name) for _, names in find_notes(root, start) for name in names)


SESSION = SessionRef()


# As much of the commands that take sessions as completing an id needs.
ONE_SESSION = click.Command("session", params=[click.Argument(["session"], type=SESSION)])
SESSIONS = click.Command("sessions", params=[click.Argument(["sessions"], type=SESSION, nargs=-1)])
