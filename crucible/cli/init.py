"""`cru init`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.given import GivenPath
from crucible.cli.output import clean_line, say_lines, write
from crucible.cli.surroundings import from_here, working_directory
from crucible.settings import load_user_settings, user_settings_path
from crucible.templates import render_template
from crucible.vault.init import init_vault, set_default_vault

__all__ = ["init"]


@click.command
@click.argument("directory", metavar="[DIR]", type=GivenPath(file_okay=False), required=False)
@click.option(
    "--default", is_flag=True, help="Make it the vault that is used where no other one is named or near."
)
@click.pass_obj
def init(door: Door, directory: Path | None, default: bool) -> None:
    """Make DIR (or --vault, or this folder) a vault, or complete one; nothing that exists is overwritten.

    Writes the path of everything that was made.

    \b
      cru init ~/notes            a folder that Obsidian may already use
      cru init ~/notes --default  and use it from everywhere
    """
    root = from_here(directory or door.vault or Path()).resolve()
    config = user_settings_path(os.environ, Path.home())
    if default:
        # Before anything is made: settings that cannot be read cannot be completed either.
        load_user_settings(config, Path.home())
    made = init_vault(root)
    for path in made:
        write(str(path))
    if default:
        set_default_vault(config, root)
    here = working_directory()
    away = not default and not (here and here.is_relative_to(root))
    shown = clean_line(str(config)) if default else None
    said = render_template("init.txt.j2", root=clean_line(str(root)), made=made, config=shown, away=away)
    say_lines(said)
