"""`cru session delete` and `cru session archive`: move sessions to the trash or out of the way, and bring them back."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

import click

from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.index_access import query_index
from crucible.cli.options import Door, flag, yes_option
from crucible.cli.output import clean_line, say, write
from crucible.cli.vault_access import index_of, load_note, open_vault
from crucible.commands.delete.delete import (
    Deletion,
    archive_session,
    delete_session,
    find_entry,
    hash_logs,
    plan_deletion,
    restore,
)
from crucible.core.errors import UsageError
from crucible.core.text import counted
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import View, path_of_cell
from crucible.vault.notes.vault import Note, Vault

_SHOWN = 5
"""Maximum notes to name in one line."""


@click.command
@click.argument("sessions", cls=PickedId, kind="session", unless=["undo"], metavar="[ID]...", nargs=-1, type=SESSION)
@flag("--all", "Also delete the history and the learning cases made from the session.", "whole")
@flag("--undo", "Restore the session ID, or the one deleted last.")
@flag("--force", "Delete a session that is still active.")
@yes_option()
@flag("--dry-run", "Show what would be deleted or restored.")
@click.pass_obj
def delete(
    door: Door, sessions: tuple[str, ...], *, whole: bool, undo: bool, force: bool, yes: bool, dry_run: bool
) -> int:
    """Delete sessions: notes, subagents' notes, event log, bookmarks and memory entries.

    Everything goes to the vault's trash, .crucible/trash, and --undo restores it byte for byte. No import brings a
    deleted session back. Histories and learning cases stay unless --all is given, and links in other notes are not
    changed. git keeps what was committed; see docs/delete.md.

    \b
      cru session delete 2026-11-21-add-rate-limiter --dry-run
      cru session delete 2026-11-21-add-rate-limiter
      cru session delete --undo
    """
    vault = open_vault(door)
    if undo:
        return _undo(vault, sessions, dry_run=dry_run)
    plans = [_plan(vault, ref, whole=whole) for ref in dict.fromkeys(sessions)]
    for plan in plans:
        _show(vault, plan)
    if dry_run:
        say("dry run: nothing was deleted")
        return 0
    if not _confirmed(plans, yes=yes):
        say("nothing was deleted")
        return 1
    for plan in plans:
        logs_of = partial(hash_logs, env=os.environ, home=Path.home())
        entry = delete_session(vault, plan, datetime.now(UTC), logs_of=logs_of, force=force)
        write(f"deleted  {clean_line(entry.session)}")
        say(f'Run "cru session delete --undo {clean_line(entry.session)}" to restore it.')
    return 0


def _undo(vault: Vault, sessions: Sequence[str], *, dry_run: bool) -> int:
    for name in sessions or ("",):
        if dry_run:
            entry = find_entry(vault, name)
            for path in entry.files:
                write(clean_line(path))
            say(f"dry run: {clean_line(entry.session)} was not restored")
        else:
            write(f"restored  {clean_line(restore(vault, name, datetime.now(UTC)).session)}")
    return 0


def _plan(vault: Vault, ref: str, *, whole: bool) -> Deletion:
    note = load_note(vault, ref)
    return plan_deletion(vault, note, subagent_paths(vault, note), with_kept=whole)


def subagent_paths(vault: Vault, note: Note) -> list[Path]:
    """Return the notes of all subagents below a session."""
    paths = query_index(index_of(vault), lambda view: _descendants(view, note.name))[0]
    return [vault.root / path for path in paths]


def _descendants(view: View, session: str) -> list[str]:
    """Return the paths of all notes of subagents below a session."""
    rows = [row for row in select(view, SessionQuery(children=True, archived=True)) if row["parent"]]
    names, paths = {session}, dict[str, str]()
    while new := [row for row in rows if row["parent"] in names and str(row["path"]) not in paths]:
        for row in new:
            names.add(str(row["id"]))
            paths[str(row["path"])] = str(row["id"])
    return sorted(path_of_cell(path) for path, name in paths.items() if name != session)


def _show(vault: Vault, plan: Deletion) -> None:
    """Write what goes, what stays, and which links will lead nowhere."""
    write(f"{clean_line(plan.note.name)}  {clean_line(plan.note.session.title)}")
    notes = [vault.relative(note.path) for note in plan.notes]
    write(f"  {counted(len(notes), 'note')}: {_some(notes)}")
    if others := [each for each in plan.files if each not in notes]:
        write(f"  {counted(len(others), 'other file')}: {_some(others)}")
    if plan.lines:
        write(f"  {counted(plan.lines, 'line')} of bookmarks and memory")
    if plan.kept:
        write(f"  kept, made from it: {_some(plan.kept)} (--all deletes them too)")
    if plan.links:
        links = counted(sum(plan.links.values()), "link")
        write(f"  {links} to it will be broken, in {_some([*plan.links])}")


def _some(names: Sequence[str]) -> str:
    more = f" and {len(names) - _SHOWN} more" if len(names) > _SHOWN else ""
    return clean_line(", ".join(names[:_SHOWN])) + more


def _confirmed(plans: Sequence[Deletion], *, yes: bool) -> bool:
    if yes:
        return True
    if not (sys.stdin and sys.stdin.isatty()):
        raise UsageError("deleting needs a confirmation", "Pass --yes to delete without being asked.")
    what = clean_line(plans[0].note.name) if len(plans) == 1 else f"these {len(plans)} sessions"
    return click.confirm(f"Delete {what}?", default=False, err=True)


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
