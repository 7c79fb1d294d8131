"""`cru session archive`: put finished sessions out of the way, and bring them back."""

from __future__ import annotations

from datetime import UTC, datetime

import click

from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import Door, flag
from crucible.cli.output import clean_line, say, write
from crucible.cli.session_delete import subagent_paths
from crucible.cli.vault_access import load_note, open_vault
from crucible.commands.delete.archive import archive_session


class _Sessions(PickedId):
    """The sessions; without an ID, a terminal offers those that can be archived or, with --undo, brought back."""

    def _choose(self, ctx: click.Context, param: click.Parameter, value: tuple[str, ...]) -> tuple[str, ...]:
        self._kind = "archived session" if ctx.params.get("undo") else "session"
        return tuple(super()._choose(ctx, param, value))


@click.command
@click.option("--undo", is_flag=True, is_eager=True, help="Restore archived sessions.")
@click.argument("sessions", cls=_Sessions, kind="session", metavar="[ID]...", nargs=-1, type=SESSION)
@flag("--force", "Archive a session that is still active.")
@click.pass_obj
def archive(door: Door, sessions: tuple[str, ...], *, undo: bool, force: bool) -> int:
    """Archive finished sessions, or restore archived ones.

    \b
    - Nothing is moved or deleted: the notes of the session and its
      subagents get the property "archived: true".
    - Lists, pickers, briefings, recall, tasks, the inbox and the status
      page skip archived sessions. --archived of "session list" and "recall"
      includes them.
    - Statistics and reports still count them.

    \b
      cru session archive 2026-11-21-add-rate-limiter
      cru session list --until 90d --format paths | xargs cru session archive
      cru session archive --undo 2026-11-21-add-rate-limiter
    """
    vault = open_vault(door)
    for ref in dict.fromkeys(sessions):
        note = load_note(vault, ref)
        subagents = [vault.read(path) for path in subagent_paths(vault, note)]
        changed = archive_session(vault, note, subagents, datetime.now(UTC), undo=undo, force=force)
        name = clean_line(note.name)
        if changed:
            write(f"{'restored' if undo else 'archived'}  {name}")
        else:
            say(f"{name} is {'not' if undo else 'already'} archived")
    if sessions and not undo:
        say('Run "cru session archive --undo ID" to bring one back.')
    return 0
