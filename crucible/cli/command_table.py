"""The table of commands in `command_table.txt`: names, places and lines of help, without importing a command."""

from __future__ import annotations

import os
from collections.abc import Mapping
from typing import NamedTuple


class Entry(NamedTuple):
    """Where a command is, `module:name`, and its line of help.

    `completed` takes its place, and imports less, while a shell completes ids.
    """

    target: str
    help: str
    completed: str = ""


def _read() -> tuple[Mapping[str, str], Mapping[str, Entry]]:
    groups: dict[str, str] = {}
    commands: dict[str, Entry] = {}
    with open(os.path.join(os.path.dirname(__file__), "command_table.txt"), encoding="utf-8") as file:
        lines = [line.rstrip("\n") for line in file if not line.startswith("#")]
    group = ""
    for line in lines:
        if line.startswith(" "):
            groups[group] += f"\n{line}"
            continue
        name, target, help_line, *completed = (cell.strip() for cell in line.split("|"))
        if not target:
            group = name
            groups[name] = help_line
        else:
            ids = f"crucible.cli.id_arguments:{completed[0]}" if completed else ""
            commands[name] = Entry(f"crucible.cli.{target}", help_line, ids)
    return groups, commands


GROUPS, COMMANDS = _read()
"""Each group's line of help, below it its examples; each command by its whole name."""
