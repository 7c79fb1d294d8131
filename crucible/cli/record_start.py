"""`cru record start`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from crucible.cli.environment import user_settings, working_directory
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import TEXT, Door, format_option, is_data, local_now
from crucible.cli.output import write, write_data
from crucible.cli.record_options import at_option, noted_time, say_warnings
from crucible.cli.vault_access import find_note, open_vault
from crucible.commands import record
from crucible.vault.notes.walk import note_name


@click.command
@click.argument("title", default="")
@click.option("--agent", metavar="AGENT", default="", help="The agent: name or name@version.")
@click.option("--model", metavar="NAME", default="", help="The model.")
@click.option("--channel", metavar="NAME", default="", help="The session's channel.")
@click.option("--project", metavar="NAME", help="The project; by default the current directory's.")
@click.option("--parent", metavar="ID", type=SESSION, default="", help="The session that delegated this one.")
@click.option("--continues", metavar="ID", type=SESSION, default="", help="The session that this one continues.")
@click.option("--goal", metavar="TEXT", type=TEXT, default="", help="The session's goal; - for stdin.")
@at_option
@format_option()
@click.pass_obj
def start(door: Door, /, title: str, project: str | None, at: datetime | None, format_: str, **given: Any) -> None:
    """Start a session, create its note, and print its id.

    \b
      export CRU_SESSION=$(cru record start "Fix the retry" --agent my-agent@1.0)
      cru record phase Research
      cru session end --summary "It backs off now."
    """
    vault = open_vault(door, looks=False)
    for other in ("parent", "continues"):
        given[other] = given[other] and note_name(find_note(vault, given[other]).name)
    begun = (noted_time(at) or local_now()).astimezone(user_settings().zone)
    recorder = record.session(
        title,
        vault=vault,
        project=project,
        cwd=working_directory() or "",
        projects=user_settings().projects,
        now=lambda: begun,
        **given,
    )
    if is_data(format_):
        write_data({"id": recorder.id, "path": str(recorder.path)}, format_)
    else:
        write(recorder.id)
    say_warnings(recorder)
