"""`cru session rename`: give a session a new id."""

from __future__ import annotations

import click

from crucible.cli.command_agent import human_is_there
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, say_problems, write
from crucible.cli.vault_access import here, open_vault
from crucible.commands.rename.rename import rename_named
from crucible.core.errors import UsageError


@click.command
@click.argument("session", cls=PickedId, kind="session", metavar="[ID]", type=SESSION)
@click.argument("new", metavar="[NEW]", required=False)
@click.pass_obj
def rename(door: Door, session: str, new: str | None) -> int:
    """Give a session the id NEW: its file, its `session_id`, and every link in the vault to it.

    Aliases and headings of the links stay, and code is left alone. A link that could mean another note too is left as
    it is and named; the exit code is 3 then. The next command finishes a rename that was interrupted.

    \b
      cru session rename 2026-11-21-add-rate-limiter 2026-11-21-token-bucket
    """
    vault = open_vault(door, finish=False)
    report = rename_named(vault, session, new or _asked(door, session), here())
    write(str(report.path))
    for left in report.left:
        say_problems(vault.relative(left.path), [left.problem])
    links, notes = _counted(report.links, "link"), _counted(len(report.changed), "note")
    say(f"{report.old_id} is {report.new_id} now: {links} changed, in {notes}")
    return PROBLEMS_FOUND if report.left else 0


def _asked(door: Door, session: str) -> str:
    if not human_is_there(door):
        raise UsageError("no new id given", f'Run "cru session rename {session} NEW".')
    return click.prompt(f"New id of {clean_line(session)}", err=True)


def _counted(number: int, thing: str) -> str:
    return f"{number} {thing}" if number == 1 else f"{number} {thing}s"
