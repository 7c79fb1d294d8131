"""`cru trust`: what a vault asks for, and whether its user accepts it."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from crucible.cli.door import Door
from crucible.cli.output import say, write
from crucible.cli.surroundings import user_settings, vault_root
from crucible.errors import UsageError
from crucible.settings import load_vault_settings
from crucible.trust import Ask, accepted_in
from crucible.vault.trusting import keep_accepted

__all__ = ["trust"]


@click.command
@click.option("--yes", is_flag=True, help="Accept all of it without a question.")
@click.option("--remove", is_flag=True, help="Take back what you accepted.")
@click.pass_obj
def trust(door: Door, *, yes: bool, remove: bool) -> None:
    """Show what the vault asks for, and accept it.

    A vault may come from somebody else. Settings that weaken safety (which secrets stay, what else is redacted, which files
    agents are shown, whether events are deleted) and the vault's own templates are ignored until you accept them here.

    Each is accepted as it is now: when it changes, by git or in an editor, it is ignored until you accept it again. What you
    accepted is kept in a file beside your own settings, `trusted`.

    \b
      cru trust
      cru trust --yes       in a script
      cru trust --remove
    """
    user = user_settings()
    root = vault_root(door, user)
    if remove:
        taken = keep_accepted(user, root, ())
        say("nothing of this vault is accepted any more" if taken else "nothing of this vault was accepted")
        return
    known = accepted_in(user.trusted, root)
    everything = load_vault_settings(root, accepts=lambda _: True).asks
    asks = [ask._replace(accepted=known(ask)) for ask in everything]
    _show(asks)
    if not asks:
        say("this vault asks for nothing that has to be accepted")
    elif all(ask.accepted or ask.fault for ask in asks):
        say("there is nothing new to accept")
    elif yes or _is_wanted():
        keep_accepted(user, root, asks)
        say("accepted; `cru trust --remove` takes it back")
    else:
        say("nothing was accepted")


def _show(asks: Sequence[Ask]) -> None:
    for ask in asks:
        state = f"cannot be accepted: {ask.fault}" if ask.fault else "accepted" if ask.accepted else "ignored"
        write(f"{ask.name} ({state}): {ask.effect}")
        for line in ask.lines:
            write(f"  {line}")


def _is_wanted() -> bool:
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("without a terminal nobody can be asked", "--yes accepts all of the above")
    return click.confirm("Accept all of this?", err=True)
