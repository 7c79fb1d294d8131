"""`cru session resume`: print a session's context, or continue it in a client."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import click

from crucible.cli.environment import cwd_and_projects, user_settings
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.options import TEXT, Door, PassingOn, client_arguments, flag, format_option, is_data
from crucible.cli.output import say, warn, write_data, write_document
from crucible.cli.vault_access import here, load_note, open_vault
from crucible.clients.registry import RESUMABLE
from crucible.commands.resume.choose_session import newest_first, newest_rows, paused_rows
from crucible.commands.resume.material_gathering import Workplace, check_goes_on, find_folder, find_material
from crucible.commands.resume.resume_context import context_from_settings
from crucible.commands.resume.resume_material import Context, Material, find_extent
from crucible.core.errors import SessionNotFound, UsageError
from crucible.documents.session.session import Status
from crucible.memory.bookmarks.bookmark import load_bookmarks
from crucible.vault.index.index import Index
from crucible.vault.index.schema import Row, path_of_cell
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.session_lock import is_held
from crucible.vault.notes.vault import Note, Vault


@click.command(cls=PassingOn)
@click.argument("session", cls=PickedId, kind="session to resume", optional=True, metavar="[ID]", type=SESSION)
@click.option(
    "--with",
    "named",
    metavar="CLIENT",
    help=f"The client: {', '.join(RESUMABLE)} or a command line; by default the last one.",
)
@flag("--native", "Continue only in the client's own conversation, or fail.", "native")
@flag("--fresh", "Start a new conversation, with the context.", "fresh")
@flag("--print", "Print the context; start and change nothing.", "printed")
@click.option(
    "--budget",
    type=click.IntRange(min=1),
    metavar="TOKENS",
    help="Maximum tokens of the context; the default is in the settings.",
)
@click.option("--goal", metavar="TEXT", type=TEXT, default="", help="The goal; - for stdin.")
@flag("--force", "Resume a session that has ended or seems active.")
@format_option()
@click.pass_context
def resume(
    ctx: click.Context,
    /,
    session: str | None,
    named: str | None,
    printed: bool,
    format_: str,
    **given: Any,
) -> None:
    """Resume a session, in its own client or another one.

    \b
    - Without ID, resumes the last paused session of this project; a
      terminal shows a picker. Ended sessions need ID and --force.
    - A client that still has the conversation continues it and gets what
      changed since. Other clients start with a context. All work goes into
      the same note.
    - A command line gets the context in place of {context}, or on its
      standard input, and CRU_SESSION for "cru record".
    - With --print, or if stdout is not a terminal and there is no --with,
      the context is printed and nothing changes.
    - Without a terminal, clients run non-interactively; set permissions
      with their own arguments.

    Exit code: 1 if the client failed; the session stays paused.

    \b
      cru session resume
      cru session resume 2026-11-21-add --with codex
      cru session resume 2026-11-21-add --with claude -- --model opus
      cru session resume 2026-11-21-add --with 'my-agent --prompt {context}'
      cru session resume 2026-11-21-add --goal "Make the tests pass on Windows"
      cru session resume 2026-11-21-add --print --budget 4000
    """
    door = ctx.ensure_object(Door)
    prints = printed or (named is None and not door.terminal)
    if given["native"] and given["fresh"]:
        raise UsageError("--native and --fresh cannot be used together", "use one of them, or neither")
    if is_data(format_) and not prints:
        raise UsageError("--format requires --print", "clients write their own output")
    vault = open_vault(door, looks=not prints)
    note = load_note(vault, session) if session is not None else _last_paused(vault)
    check_goes_on(note.session, force=given["force"])
    if session is None:
        say(f"{note.session.id}: the last paused session of this project")
    place = Workplace(os.environ, Path(os.path.expanduser("~")), here(), user_settings())
    if prints:
        folder, tokenizer = find_folder(note.session, place), place.user.agents.tokenizer
        material = find_material(vault, note.session, folder, datetime.now(UTC), goal=given["goal"])
        context = context_from_settings(vault.settings, material, budget=given["budget"], tokenizer=tokenizer)
        _write_context(material, context, format_, door)
        return
    # Imported late: printing a context does not start a client.
    from crucible.cli.session_continue import ResumeOptions, continue_in_client  # noqa: PLC0415

    continue_in_client(vault, note, place, ResumeOptions(named=named, more=client_arguments(ctx), **given))


def _write_context(material: Material, context: Context, format_: str, door: Door) -> None:
    session, extent = material.session, find_extent(material.session)
    if extent.problem:
        warn(f"{session.id}: {extent.problem}")
    if format_ == "text":
        write_document(context.text.removesuffix("\n") + "\n", door)
        return
    write_data(
        {
            "session": session.id,
            "phase": extent.phase.id if extent.phase else None,
            "tokens": context.tokens,
            "tight": context.is_tight,
            "left_out": [asdict(each) for each in context.left_out],
            "drift": asdict(material.drift) if material.drift else None,
            "text": context.text,
        },
        format_,
    )


def _last_paused(vault: Vault) -> Note:
    """Load the session of the working directory's project that was paused most recently."""
    cwd = here()
    project = project_of(str(cwd or ""), cwd_and_projects(vault.root)[1])
    index = Index(vault.root, vault.settings)
    rows, _ = index.ask(lambda view: paused_rows(view, project))
    if rows:
        return vault.read(vault.root / newest_first(rows, load_bookmarks(vault.root).found)[0].path)
    others, _ = index.ask(lambda view: newest_rows(view, project))
    for row in others:
        if row["status"] == "active" and is_held(vault.root, str(row["id"])):
            return vault.read(vault.root / path_of_cell(str(row["path"])))  # the error names the lock's holder
    raise _none_paused(project, others)


def _none_paused(project: str, others: Sequence[Row]) -> SessionNotFound:
    of = f" of project {project!r}" if project else ""
    last = next((row for row in others if row["status"] in (Status.COMPLETED, Status.FAILED)), None)
    hint = '"cru session list --status paused" shows all; name one: cru session resume ID'
    if last:
        hint = f"the last one is {last['status']}: cru session resume {last['id']} --force"
    return SessionNotFound(f"no paused session{of}", hint)
