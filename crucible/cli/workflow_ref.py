"""The argument that names a workflow, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.door import Door
from crucible.cli.surroundings import user_settings, vault_root
from crucible.errors import CrucibleError
from crucible.vault.heads import is_for_rust, read_head
from crucible.vault.walk import WORKFLOWS as FOLDER
from crucible.vault.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ONE_WORKFLOW", "WORKFLOW", "WORKFLOWS", "WorkflowRef"]


class WorkflowRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A workflow's name, its path, its title's slug, or a beginning of its name that no other workflow shares."""

    name = "workflow"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Names of the notes in `workflows/`; where none begins so, the shell's own files.  No note is read whole."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only a shell asks for it

        # Completion parses the options before this one but calls nothing, so there is no Door yet.
        door = Door(vault=ctx.find_root().params.get("vault"))
        try:
            root = Path(vault_root(door, user_settings()))
            found = find_notes(root, root / FOLDER)
            names = {
                note_name(name)
                for folder, names in found
                for name in names
                if name.startswith(incomplete) and not _is_foreign(folder / name)
            }
        except (CrucibleError, OSError):
            names = set()
        # One line is one offer; a name that holds a line end is none that can be typed.
        offered = [name for name in sorted(names) if name.startswith(incomplete) and name.isprintable()]
        return [CompletionItem(name) for name in offered] or [CompletionItem(incomplete, type="file")]


def _is_foreign(path: Path) -> bool:
    try:
        return is_for_rust(read_head(str(path)))
    except OSError:
        return False


WORKFLOW = WorkflowRef()


# As much of the commands that take workflows as completing a name needs.
ONE_WORKFLOW = click.Command("workflow", params=[click.Argument(["workflow"], type=WORKFLOW)])
WORKFLOWS = click.Command("workflows", params=[click.Argument(["workflows"], type=WORKFLOW, nargs=-1)])
