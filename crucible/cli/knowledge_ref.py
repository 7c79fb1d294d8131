"""The argument that names an item of knowledge, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

import click

from crucible.cli.offering import NoteRef
from crucible.vault.notes.walk import KNOWLEDGE

ITEM = NoteRef(KNOWLEDGE)

# As much of the commands that take items as completing an id needs.
ONE_ITEM = click.Command("item", params=[click.Argument(["item"], type=ITEM)])
ITEMS = click.Command("items", params=[click.Argument(["items"], type=ITEM, nargs=-1)])
