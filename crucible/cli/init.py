"""`cru init`."""

from __future__ import annotations

from pathlib import Path

import click

from crucible.cli.agent_offer import offer_to_ask
from crucible.cli.door import Door
from crucible.cli.given import GivenPath
from crucible.cli.output import clean_line, say_lines, write
from crucible.cli.surroundings import from_here, settings_path, user_settings, working_directory
from crucible.core.templates import render_template
from crucible.vault.notes.init_vault import init_vault, set_user_settings


@click.command
@click.argument("directory", metavar="[DIR]", type=GivenPath(file_okay=False, path_type=Path), required=False)
@click.option("--default", is_flag=True, help="Make it the vault that is used where no other one is named or near.")
@click.pass_obj
def init(door: Door, directory: Path | None, default: bool) -> None:
    """Make DIR (or --vault, or this folder) a vault, or complete one; nothing that exists is overwritten.

    Prints the path of everything it makes. On a terminal it offers, once, to ask your agent at each session's end what mattered in
    it, and shows what that costs. The answer goes into your own settings.

    \b
      cru init ~/notes            a folder that Obsidian may already use
      cru init ~/notes --default  and use it from everywhere
    """
    root = Path(from_here(str(directory or door.vault or "."))).resolve()
    config = Path(settings_path())
    if default:
        # Before anything is made: settings that cannot be read cannot be completed either.
        user_settings()
    made = init_vault(root)
    if default:
        set_user_settings(config, {"default_vault": str(root)})
    # All is done before a reader can go away.
    for path in made:
        write(str(path))
    here = working_directory()
    away = not default and not (here and Path(here).is_relative_to(root))
    shown = clean_line(str(config)) if default else None
    said = render_template("init.txt.j2", root=clean_line(str(root)), made=made, config=shown, away=away)
    say_lines(said)
    offer_to_ask(door)
