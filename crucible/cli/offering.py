"""Names of notes offered to a shell that completes one, from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.door import Door
from crucible.cli.surroundings import user_settings, vault_root
from crucible.core.errors import CrucibleError
from crucible.vault.notes.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class NoteRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """Of a note in a folder of the vault its id, its path, or a beginning of its id that no other one there shares."""

    name = "id"

    def __init__(self, folder: str) -> None:
        self._folder = folder

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Ids by the files' names; no note is opened."""
        return offered(ctx, incomplete, self._ids)

    def _ids(self, root: Path) -> Iterator[str]:
        return (note_name(name) for _, names in find_notes(root, root / self._folder) for name in names)


def offered(ctx: click.Context, incomplete: str, names_in: Callable[[Path], Iterable[str]]) -> list[CompletionItem]:
    """Those names that begin so, in order; `names_in` tells them all for the vault at a folder.  Nothing where there is no vault."""
    from click.shell_completion import CompletionItem  # noqa: PLC0415  only a shell asks for it

    # Completion parses the options before this one but calls nothing, so there is no Door yet.
    door = Door(vault=ctx.find_root().params.get("vault"))
    try:
        names = {name for name in names_in(Path(vault_root(door, user_settings()))) if name.startswith(incomplete)}
    except (CrucibleError, OSError):
        return []
    # One line is one offer; a name that holds a line end is none that can be typed.
    return [CompletionItem(name) for name in sorted(names) if name.isprintable()]
