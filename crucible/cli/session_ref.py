"""The argument that names a session, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.door import Door
from crucible.cli.surroundings import user_settings, vault_root
from crucible.errors import CrucibleError
from crucible.settings import load_vault_settings
from crucible.vault.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ONE_SESSION", "SESSION", "SESSIONS", "SessionRef"]


class SessionRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A session's id, its path, or a beginning of its id that no other session shares."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Ids by the files' names; no note is opened."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only a shell asks for it

        # Completion parses the options before this one but calls nothing, so there is no Door yet.
        door = Door(vault=ctx.find_root().params.get("vault"))
        try:
            ids = _session_ids(door)
        except (CrucibleError, OSError):
            return []
        # One line is one offer; a name that holds a line end is none that can be typed.
        offered = (name for name in sorted(ids) if name.startswith(incomplete) and name.isprintable())
        return [CompletionItem(name) for name in offered]


def _session_ids(door: Door) -> set[str]:
    root = Path(vault_root(door, user_settings()))
    start = root / load_vault_settings(root).sessions
    return {note_name(name) for _, names in find_notes(root, start) for name in names}


SESSION = SessionRef()


# As much of the commands that take sessions as completing an id needs.
ONE_SESSION = click.Command("session", params=[click.Argument(["session"], type=SESSION)])
SESSIONS = click.Command("sessions", params=[click.Argument(["sessions"], type=SESSION, nargs=-1)])
