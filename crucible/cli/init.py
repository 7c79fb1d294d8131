"""`cru init`."""

from __future__ import annotations

import os
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.output import say, write
from crucible.settings import user_settings_path
from crucible.templates import render_template
from crucible.vault.init import init_vault, set_default_vault

__all__ = ["init"]


@click.command
@click.argument(
    "directory", metavar="[DIR]", type=click.Path(path_type=Path, file_okay=False), required=False
)
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
    root = (Path.cwd() / (directory or door.vault or Path())).resolve()
    made = init_vault(root)
    for path in made:
        write(str(path))
    config = user_settings_path(os.environ, Path.home())
    if default:
        set_default_vault(config, root)
    say(render_template("init.txt.j2", root=root, made=made, config=config if default else None).rstrip("\n"))
