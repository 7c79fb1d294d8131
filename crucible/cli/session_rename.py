"""`cru session rename`: give a session a new id."""

from __future__ import annotations

import click

from crucible.cli.environment import human_is_there
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, say_problems, write
from crucible.cli.vault_access import here, open_vault
from crucible.commands.rename.rename import rename_named
from crucible.core.errors import UsageError
from crucible.core.text import counted


@click.command
@click.argument("session", cls=PickedId, kind="session", metavar="[ID]", type=SESSION)
@click.argument("new", metavar="[NEW]", required=False)
@click.pass_obj
def rename(door: Door, session: str, new: str | None) -> int:
    """Rename a session: its file, its session_id, and every link to it.

    \b
    - Aliases and headings in links stay. Code is not changed.
    - Ambiguous links are not changed but listed.
    - The next command finishes an interrupted rename.

    Exit code: 3 if there are ambiguous links.

    \b
      cru session rename 2026-11-21-add-rate-limiter 2026-11-21-token-bucket
    """
    vault = open_vault(door, finish=False)
    report = rename_named(vault, session, new or _asked(door, session), here())
    write(str(report.path))
    for left in report.left:
        say_problems(vault.relative(left.path), [left.problem])
    links, notes = counted(report.links, "link"), counted(len(report.changed), "note")
    say(f"renamed {report.old_id} to {report.new_id}; {links} changed in {notes}")
    return PROBLEMS_FOUND if report.left else 0


def _asked(door: Door, session: str) -> str:
    if not human_is_there(door):
        raise UsageError("no new id given", f'Run "cru session rename {session} NEW".')
    return click.prompt(f"New id of {clean_line(session)}", err=True)
