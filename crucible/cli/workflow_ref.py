"""The argument that names a workflow, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.offering import offered
from crucible.vault.notes.walk import WORKFLOWS as FOLDER
from crucible.vault.notes.walk import find_notes, is_for_rust, note_name, read_head

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


class WorkflowRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A workflow's name, its path, its title's slug, or a beginning of its name that no other workflow shares."""

    name = "workflow"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Names of the notes in `workflows/`; where none begins so, the shell's own files.  No note is read whole."""
        from click.shell_completion import CompletionItem  # noqa: PLC0415  only a shell asks for it

        found = offered(ctx, incomplete, lambda root: _names(root, incomplete))
        return found or [CompletionItem(incomplete, type="file")]


def _names(root: Path, start: str) -> Iterator[str]:
    """Only of those that begin so is anything read."""
    for folder, names in find_notes(root, root / FOLDER):
        yield from (note_name(name) for name in names if name.startswith(start) and not _is_foreign(folder / name))


def _is_foreign(path: Path) -> bool:
    try:
        return is_for_rust(read_head(str(path)))
    except OSError:
        return False


WORKFLOW = WorkflowRef()


# As much of the commands that take workflows as completing a name needs.
ONE_WORKFLOW = click.Command("workflow", params=[click.Argument(["workflow"], type=WORKFLOW)])
WORKFLOWS = click.Command("workflows", params=[click.Argument(["workflows"], type=WORKFLOW, nargs=-1)])
