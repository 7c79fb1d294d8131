"""`cru init` and `cru trust`: set up a vault, and accept what it asks for."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import click

from crucible.cli.command_agent import offer_to_ask
from crucible.cli.environment import absolute_path, settings_path, user_settings, vault_root, working_directory
from crucible.cli.options import Door, GivenPath, flag, yes_option
from crucible.cli.output import clean_line, say, say_lines, write
from crucible.core.errors import UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import load_vault_settings
from crucible.core.settings.trust import Ask, accepted_in
from crucible.core.templates import render_template
from crucible.vault.notes.init_vault import init_vault, keep_accepted, set_user_settings
from crucible.vault.notes.persona_notes import persona_notes


@click.command
@click.argument("directory", metavar="[DIR]", type=GivenPath(file_okay=False, path_type=Path), required=False)
@flag("--default", "Make it your default vault.")
@flag("--no-obsidian", "Do not create the tables, start note and CSS snippet for Obsidian.")
@click.pass_obj
def init(door: Door, directory: Path | None, *, default: bool, no_obsidian: bool) -> None:
    """Create a vault in DIR, --vault or this folder, or complete one. Nothing is overwritten.

    \b
    - Prints every path that it creates.
    - On a terminal, it offers once to ask your agent at each session's end
      what mattered, and shows the cost. The answer goes into your settings.

    \b
      cru init ~/notes            in a folder that Obsidian may already use
      cru init ~/notes --default  and use it everywhere
    """
    root = Path(absolute_path(str(directory or door.vault or "."))).resolve()
    config = Path(settings_path())
    if default:
        # Checked first: unreadable settings cannot be updated and must stop the command before it writes anything.
        user_settings()
    made = init_vault(root, obsidian=not no_obsidian)
    if default:
        set_user_settings(config, {"default_vault": str(root)})
    # Paths are printed last, so that a closed pipe cannot interrupt the work.
    for path in made:
        write(str(path))
    here = working_directory()
    away = not default and not (here and Path(here).is_relative_to(root))
    shown = clean_line(str(config)) if default else None
    message = render_template("init.txt.j2", root=clean_line(str(root)), made=made, config=shown, away=away)
    say_lines(message)
    offer_to_ask(door)


@click.command
@yes_option("Accept everything without confirmation.")
@flag("--remove", "Revoke everything that you accepted.")
@click.pass_obj
def trust(door: Door, *, yes: bool, remove: bool) -> None:
    """Review what a vault requests, and accept it.

    \b
    - A vault can come from someone else. Settings that weaken safety, the
      vault's templates and its personas are ignored until you accept them.
    - You accept each as it is now. After any change it is ignored until you
      accept it again.
    - Your answers are stored in the file "trusted" beside your settings.

    \b
      cru trust
      cru trust --yes       in a script
      cru trust --remove
    """
    user = user_settings()
    root = vault_root(door, user)
    if remove:
        taken = keep_accepted(user, root, ())
        say("revoked everything accepted for this vault" if taken else "nothing to revoke for this vault")
        return
    known = accepted_in(user.trusted, root)
    everything = load_vault_settings(root, accepts=lambda _: True)
    personas = list(persona_notes(root, known, redact_of(everything.secrets)))
    asks = [ask._replace(accepted=known(ask)) for ask in everything.asks] + [one.ask for one in personas]
    texts = {f".crucible/templates/{one.name}": one.data for one in everything.templates}
    _show(asks, texts | {one.ask.name: one.data for one in personas})
    if not asks:
        say("this vault has no requests to accept")
    elif all(ask.accepted or ask.fault for ask in asks):
        say("nothing new to accept")
    elif yes or _is_wanted():
        keep_accepted(user, root, asks)
        say('accepted; revoke it with "cru trust --remove"')
    else:
        say("nothing was accepted")


def _show(asks: Sequence[Ask], texts: Mapping[str, bytes]) -> None:
    for ask in asks:
        state = f"cannot be accepted: {ask.fault}" if ask.fault else "accepted" if ask.accepted else "ignored"
        write(f"{ask.name} ({state}): {ask.effect}")
        text = texts.get(ask.name, b"").decode("utf-8", "replace")
        for line in (*ask.lines, *(ascii(row)[1:-1] for row in text.split("\n") if row)):
            write(f"  {line}")


def _is_wanted() -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("cannot ask for confirmation without a terminal", "use --yes to accept all of the above")
    return click.confirm("Accept all of this?", err=True)
