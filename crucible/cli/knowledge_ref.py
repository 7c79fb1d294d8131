"""The argument that names an item of knowledge, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from crucible.cli.offering import offered
from crucible.vault.walk import KNOWLEDGE as FOLDER
from crucible.vault.walk import find_notes, note_name

if TYPE_CHECKING:
    from click.shell_completion import CompletionItem

__all__ = ["ITEM", "ITEMS", "ONE_ITEM", "ItemRef"]


class ItemRef(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """An item's id, its note's path, or a beginning of its id that no other item shares."""

    name = "id"

    def shell_complete(
        self, ctx: click.Context, param: click.Parameter, incomplete: str
    ) -> list[CompletionItem]:
        """Ids by the files' names; no note is opened."""
        return offered(ctx, incomplete, _item_ids)


def _item_ids(root: Path) -> Iterator[str]:
    return (note_name(name) for _, names in find_notes(root, root / FOLDER) for name in names)


ITEM = ItemRef()


# As much of the commands that take items as completing an id needs.
ONE_ITEM = click.Command("item", params=[click.Argument(["item"], type=ITEM)])
ITEMS = click.Command("items", params=[click.Argument(["items"], type=ITEM, nargs=-1)])
