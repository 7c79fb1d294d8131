"""The argument that names a case, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.offering import offered
from crucible.vault.walk import CASES as FOLDER
from crucible.vault.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["CASE", "CASES", "CaseRef"]


class CaseRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A case's id, its note's path, or a beginning of its id that no other case shares."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Ids by the files' names; no note is opened."""
        return offered(ctx, incomplete, _case_ids)


def _case_ids(root: Path) -> Iterator[str]:
    return (note_name(name) for _, names in find_notes(root, root / FOLDER) for name in names)


CASE = CaseRef()


# As much of the commands that take cases as completing an id needs.
CASES = click.Command("cases", params=[click.Argument(["cases"], type=CASE, nargs=-1)])
