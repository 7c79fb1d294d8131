"""`cru session pause` and `end`."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click
from click.core import ParameterSource

from crucible.cli.command_agent import agent_at_end, agent_named, as_agent, say_spent, with_option
from crucible.cli.environment import cwd_and_projects
from crucible.cli.id_arguments import SESSION, PickedId
from crucible.cli.index_access import open_index
from crucible.cli.knowledge_capture import terminal_ask
from crucible.cli.options import TEXT, Door, flag
from crucible.cli.output import say, write
from crucible.cli.record_options import (
    at_option,
    noted_time,
    recording_place,
    say_warnings,
)
from crucible.cli.session_stop import finish, finish_quietly, say_problems_of
from crucible.cli.vault_access import find_note, open_vault
from crucible.commands import record
from crucible.commands.capture.after_stop import StopResult
from crucible.commands.record import Recorder
from crucible.commands.record.note_writer import SessionEnded
from crucible.core.errors import UsageError
from crucible.core.text import counted
from crucible.documents.session.session import Status
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name


@click.command
@click.argument("ident", metavar="[ID]", type=SESSION, default="", envvar="CRU_SESSION")
@click.option("--reason", metavar="TEXT", type=TEXT, default="", help="The reason; - for stdin.")
@click.option(
    "--note", metavar="TEXT", type=TEXT, default="", help="A note for the person or agent who resumes it; - for stdin."
)
@click.option(
    "--blocker",
    "blockers",
    metavar="TEXT",
    type=TEXT,
    multiple=True,
    help="What blocks the work; repeatable.",
)
@at_option
@click.pass_context
def pause(ctx: click.Context, /, ident: str, at: datetime | None, reason: str, **details: Any) -> None:
    """Pause a session: record where and why it stops, and save a bookmark.

    \b
    - Without ID, pauses the session in CRU_SESSION, else the newest active
      one of this project. Sessions that are not active need their ID.
    - Recording to the session makes it active again.

    \b
      cru session pause --reason "waiting for the API keys"
      cru session pause --note "start with the tests" --blocker "no API key"
      cru session pause 2026-11-21-add-rate-limiter
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door, looks=False)
    typed = ctx.get_parameter_source("ident") is ParameterSource.COMMANDLINE
    name = note_name(find_note(vault, ident).name) if ident else _newest_active(door)
    recorder = record.open(name, vault=vault, **recording_place())
    phase = recorder.pause(reason, at=noted_time(at, recorder), reopens=typed, **details)
    say(f'paused {recorder.id}{f" at {phase}" if phase else ""}; resume it with "cru session resume {recorder.id}"')
    say_warnings(recorder)
    finish_quietly(vault, recorder.path)


def _newest_active(door: Door) -> str:
    """Return the newest active session of the working directory's project."""
    index = open_index(door)
    project = project_of(*cwd_and_projects(index.root))
    if project:
        query = SessionQuery(status="active", project=project, limit=1)
        rows, _ = index.ask(lambda view: select(view, query))
        if rows:
            return note_name(str(rows[0]["path"]).rpartition("/")[2])
    raise UsageError(
        f"no session is active in the project {project!r}" if project else "no session given",
        'give an id; run "cru session list" to see ids',
    )


_OVER = (Status.COMPLETED, Status.FAILED)


@click.command
@click.argument("ident", cls=PickedId, kind="session to end", metavar="[ID]", type=SESSION, envvar="CRU_SESSION")
@click.option("--summary", metavar="TEXT", type=TEXT, default="", help="A summary of the result; - for stdin.")
@flag("--failed", "Mark it as failed instead of completed.")
@flag("--no-model", "Ask no agent, even if `agents.at_end` is set in your settings.")
@with_option
@at_option
@click.pass_obj
def end(
    door: Door,
    /,
    ident: str,
    summary: str,
    failed: bool,
    no_model: bool,
    named: str | None,
    at: datetime | None,
) -> None:
    """End a session, completed or failed, and write its history.

    \b
    - The history lists what was done, decided and left open, and what comes
      next. Its path is printed, and a subagent's parent is updated.
    - With --with, or agents.at_end in your settings, an agent is first
      asked what mattered.
    - Clear cases of useful knowledge are kept, as with "cru knowledge
      capture". On a terminal you are asked about the rest.
    - A paused or idle session ends at its last event; --at sets another
      time.
    - Without ID, ends the session in CRU_SESSION. If it has already ended,
      only its history is updated, and your edits stay.

    \b
      cru session end --summary "It backs off now, with tests."
      cru session end 2026-11-21-add-rate-limiter --with claude
    """
    vault = open_vault(door, looks=False)
    if no_model and named is not None:
        raise UsageError("--no-model and --with cannot be used together", "remove one of them")
    program = None if named is None else agent_named(named, "--with", "say what mattered")
    name = note_name(find_note(vault, ident).name)
    recorder = record.open(name, vault=vault, **recording_place())
    is_again = not _end(recorder, summary, at, failed=failed)
    say_warnings(recorder)
    agent = as_agent(program, vault.root, "findings", recorder.id) if program else None
    agent = agent if agent or no_model else agent_at_end(vault.root, recorder.id)
    if agent:
        say("asking what mattered …")
    ended = finish(vault, recorder.path, asker=agent, ask=terminal_ask(door, vault))
    say_spent(agent)
    if is_again:
        say(f"{recorder.id} has already ended{_history_outcome(ended)}")
    _report_end(vault, ended)


def _end(recorder: Recorder, summary: str, at: datetime | None, *, failed: bool) -> bool:
    """End the session and report the result; returns False if it had already ended, perhaps in another process."""
    try:
        if not _is_over(recorder) or summary or failed or at:
            for line in recorder.end(summary, failed=failed, at=noted_time(at, recorder)):
                say(f"{recorder.id}: {line}")
            return True
    except SessionEnded:
        if summary or failed or at:
            raise
    return False


def _history_outcome(ended: StopResult) -> str:
    """Describe what happened to the history of a session that had already ended; "" if a problem already says so."""
    made = ended.history
    if made is None:
        return ""
    if made.is_left:
        return "; kept its history, which you wrote"
    return "; wrote its history" if made.is_new else "; updated its history"


def _is_over(recorder: Recorder) -> bool:
    return recorder.read_head().status in _OVER


def _report_end(vault: Vault, ended: StopResult) -> None:
    """Write problems and news to stderr, and the history's path to stdout."""
    say_problems_of(ended)
    for line in ended.done:
        say(line)
    if ended.captured and ended.captured.kept:
        say(f"captured {counted(len(ended.captured.kept), 'knowledge item')}")
    if ended.captured and ended.captured.suggested:
        what = counted(len(ended.captured.suggested), "thing")
        say(f'{what} may be worth keeping: "cru knowledge capture {ended.captured.session}"')
    if ended.history:
        write(vault.relative(ended.history.path))
