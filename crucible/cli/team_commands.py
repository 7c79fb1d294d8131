"""`cru team push`, `sync`, `status`, `setup` and `prune`, for a team's server."""

from __future__ import annotations

import os
from collections.abc import Sequence
from datetime import datetime

import click

from crucible.cli.environment import user_settings
from crucible.cli.options import BEGIN, Door, flag, format_option, is_data
from crucible.cli.output import PROBLEMS_FOUND, bar, clean_line, say, warn, write_data
from crucible.cli.vault_access import open_vault
from crucible.core.errors import UsageError
from crucible.core.text import counted
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.background_update import BACKEND_VARIABLE
from crucible.search.team.push import Pushed
from crucible.search.team.team_address import chosen_address
from crucible.search.team.vault_rows import VaultDocuments, identities
from crucible.search.team_servers import (
    grant_example,
    open_pusher,
    open_team,
    prune_server,
    server_place,
    set_up_server,
)

_FORCE = flag("--force", "Push even if another copy pushed a later state, or this vault is empty.")
_SHOWN = 5


@click.command("push")
@_FORCE
@format_option()
@click.pass_context
def push(ctx: click.Context, /, format_: str, *, force: bool) -> None:
    """Send new and changed notes to the team's server.

    \b
    - The server is recall.backend in your settings, or
      CRUCIBLE_RECALL_BACKEND.
    - After an interruption, run it again: it sends what is missing.

    Exit code: 3 if something was not accepted.

    \b
      cru team push
      CRUCIBLE_RECALL_BACKEND=postgresql://ann@db.example.org/team cru team push
    """
    _send(ctx, format_, force=force, removing=False)


@click.command("sync")
@_FORCE
@format_option()
@click.pass_context
def sync(ctx: click.Context, /, format_: str, *, force: bool) -> None:
    """Push, and remove from the server what was deleted in this copy of the vault.

    \b
      cru team sync
      cru team sync --format json
    """
    _send(ctx, format_, force=force, removing=True)


def _send(ctx: click.Context, format_: str, *, force: bool, removing: bool) -> None:
    address = _address()
    vault = open_vault(ctx.ensure_object(Door))
    ids = identities(vault.root)
    source = VaultDocuments(vault.root, vault.settings, ItemShelf(vault))
    pusher = open_pusher(address, ids.vault, ids.clone, connecting=user_settings().recall.timeout_seconds)
    try:
        with bar("pushing") as show:
            send = pusher.sync if removing else pusher.push
            pushed = send(source, force=force, progress=show)
    finally:
        pusher.close()
    _write_pushed(pushed, format_)
    ctx.exit(PROBLEMS_FOUND if pushed.refused or pushed.older or pushed.unread or pushed.failed else 0)


def _address() -> str:
    address = chosen_address(user_settings().recall.backend, os.environ)
    if address is None:
        raise UsageError(
            "no server is configured", f"set recall.backend in your settings, or {BACKEND_VARIABLE}; see docs/teams.md"
        )
    return address


def _write_pushed(pushed: Pushed, format_: str) -> None:
    if is_data(format_):
        write_data({**pushed._asdict(), "refused": dict(pushed.refused)}, format_)
        return
    counts = f"{pushed.new} new, {pushed.replaced} replaced, {pushed.same} unchanged"
    say(counts + (f", {pushed.removed} removed" if pushed.removed else ""))
    if pushed.expired:
        say(f"{counted(pushed.expired, 'note')}: older than what the server keeps")
    for project, count in pushed.refused.items():
        notes = f"{counted(count, 'note')} of {f'project {project}' if project else 'no project'}"
        say(f"{notes}: not permitted; ask the server's administrator", style="yellow")
    _say_paths("another copy of the vault pushed a later state of", pushed.older)
    _say_paths("cannot be read", pushed.unread)
    _say_paths("not accepted by the server", pushed.failed)


def _say_paths(what: str, paths: Sequence[str]) -> None:
    if paths:
        more = f" and {len(paths) - _SHOWN} more" if len(paths) > _SHOWN else ""
        say(f"{what}: {', '.join(paths[:_SHOWN])}{more}", style="yellow")


@click.command("status")
@format_option()
def status(format_: str) -> None:
    """Show your role on the server, the projects you may read and write, and how much they contain.

    \b
      cru team status
    """
    address = _address()
    place = server_place(address)
    team = open_team(address, seconds=user_settings().recall.timeout_seconds)
    try:
        found = team.state()
    finally:
        team.close()
    if is_data(format_):
        write_data({"server": str(place), **found._asdict()}, format_)
        return
    lines = [
        f"{place}, as {found.role}",
        f"may read: {', '.join(found.readable) or 'nothing'}",
        f"may write: {', '.join(found.writable) or 'nothing'}",
        f"{found.sessions:,} sessions, {found.events:,} events",
    ]
    for line in lines:
        click.echo(clean_line(line))
    if found.unbound:
        warn("this role is a superuser or similar: it sees everything, regardless of grants")


@click.command
def setup() -> None:
    """Create or update the server's tables. For the server's owner, once and after updates.

    \b
      export CRUCIBLE_RECALL_BACKEND=postgresql://owner@db.example.org/team
      cru team setup
    """
    address = _address()
    made = set_up_server(address, connecting=user_settings().recall.timeout_seconds)
    if not made:
        say("nothing to do")
        return
    say("set up. Next, as the owner, grant access to each person in SQL (see docs/teams.md):")
    for line in grant_example(address):
        say(f"  {line}")


@click.command
@click.option("--older-than", type=BEGIN, metavar="WHEN", help="Remove the months before this time, for everyone.")
def prune(older_than: datetime | None) -> None:
    """Merge the rows of many pushes, and remove old months. For the server's owner.

    \b
    - Without --older-than, nothing is removed.
    - Removed months cannot be pushed again. Your vaults keep their notes.
    - Sessions without a date are kept.

    \b
      cru team prune
      cru team prune --older-than 730d
    """
    merged, removed = prune_server(_address(), older_than, connecting=user_settings().recall.timeout_seconds)
    say(f"{counted(merged, 'row')} merged, {counted(removed, 'note')} removed")
