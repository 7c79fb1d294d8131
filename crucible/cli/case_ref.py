"""The argument that names a case, and completing one from the names of the files alone.

Imports little: a shell waits for this while somebody types.
"""

from __future__ import annotations

import click

from crucible.cli.offering import NoteRef
from crucible.vault.notes.walk import CASES as FOLDER

CASE = NoteRef(FOLDER)

# As much of the commands that take cases as completing an id needs.
CASES = click.Command("cases", params=[click.Argument(["cases"], type=CASE, nargs=-1)])
