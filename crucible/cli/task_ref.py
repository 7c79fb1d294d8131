"""The argument that names a task, and completing one from the index as it was last kept.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.offering import offered
from crucible.core.errors import IndexBroken
from crucible.vault.index.index_draft import Draft
from crucible.vault.index.index_files import IndexFolder
from crucible.vault.index.schema import View

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem


_OVER = ("completed", "cancelled", "deleted")


class TaskRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """Of a task `SESSION.TASK`, or a beginning of that which fits no other; in a session of one's own its id alone."""

    name = "id"

    def shell_complete(self, ctx: click.Context, param: click.Parameter, incomplete: str) -> list[CompletionItem]:
        """Tasks that are not over; nothing is brought up to date for it."""
        return offered(ctx, incomplete, _task_ids)


def _task_ids(root: Path) -> Iterator[str]:
    folder = IndexFolder(str(root))
    draft = Draft(folder, folder.load())
    with suppress(IndexBroken):  # a writer was faster
        for row in View(draft.shards(), draft.read).rows("tasks"):
            if row["status"] not in _OVER:
                name = str(row["path"]).rpartition("/")[2].removesuffix(".md")
                yield f"{name}.{row['task_id']}"


TASK = TaskRef()

# As much of the commands that take a task as completing an id needs.
ONE_TASK = click.Command("task", params=[click.Argument(["task"], type=TASK)])
