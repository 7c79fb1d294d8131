"""`cru session start` and `cru session pause`: a recording's beginning, and a stop."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click
from click.core import ParameterSource

from crucible.cli.door import Door
from crucible.cli.indexed import open_index
from crucible.cli.log_options import (
    SAID,
    at_option,
    noted_time,
    recording_place,
    say_warnings,
    session_option,
)
from crucible.cli.opening import find_note, open_vault
from crucible.cli.options import format_option
from crucible.cli.output import say, write, write_json
from crucible.cli.session_ref import SESSION
from crucible.cli.session_stop import follow
from crucible.cli.surroundings import user_settings, working_directory
from crucible.commands import record
from crucible.core.errors import UsageError
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.walk import note_name


@click.command
@click.argument("title", default="")
@click.option("--agent", metavar="AGENT", default="", help="Who works: name or name@version.")
@click.option("--model", metavar="NAME", default="", help="The model.")
@click.option("--channel", metavar="NAME", default="", help="The session's channel.")
@click.option("--project", metavar="NAME", help="The project; by default that of the working directory.")
@click.option("--parent", metavar="ID", type=SESSION, default="", help="The session that delegated this one.")
@click.option("--continues", metavar="ID", type=SESSION, default="", help="The session that this one goes on from.")
@click.option("--goal", metavar="TEXT", type=SAID, default="", help="What it is for; - for stdin.")
@at_option
@format_option("text", "json")
@click.pass_obj
def start(door: Door, /, title: str, project: str | None, at: datetime | None, format_: str, **given: Any) -> None:
    """Begin a session: its note is made at once, and its id is all that is printed.

    \b
      export CRU_SESSION=$(cru session start "Fix the retry" --agent my-agent@1.0)
      cru log phase Research
      cru session end --summary "It backs off now."
    """
    vault = open_vault(door, looks=False)
    for other in ("parent", "continues"):
        given[other] = given[other] and note_name(find_note(vault, given[other]).name)
    begun = noted_time(at) or datetime.now(UTC)
    recorder = record.session(
        title,
        vault=vault,
        project=project,
        cwd=working_directory() or "",
        projects=user_settings().projects,
        now=lambda: begun,
        **given,
    )
    if format_ == "json":
        write_json({"id": recorder.id, "path": str(recorder.path)})
    else:
        write(recorder.id)
    say_warnings(recorder)


@click.command
@click.argument("ident", metavar="[ID]", type=SESSION, default="")
@click.option("--reason", metavar="TEXT", type=SAID, default="", help="Why; - for stdin.")
@click.option("--note", metavar="TEXT", type=SAID, default="", help="What to know when it goes on; - for stdin.")
@click.option(
    "--blocker",
    "blockers",
    metavar="TEXT",
    type=SAID,
    multiple=True,
    help="What is in the way; may be given several times.",
)
@session_option
@at_option
@click.pass_context
def pause(
    ctx: click.Context, /, ident: str, session: str | None, at: datetime | None, reason: str, **said: Any
) -> None:
    """Stop for now: the note tells where and why, a bookmark what else to know. Logging to it again makes it active.

    Without an ID it is the session that CRU_SESSION names, else the newest active one of the project that you stand in.
    One that is paused, completed or failed already is paused when you name it, and stays so until somebody goes on with it.

    \b
      cru session pause --reason "waiting for the API keys"
      cru session pause --note "start with the tests" --blocker "no API key"
      cru session pause 2026-11-21-add-rate-limiter
    """
    door = ctx.ensure_object(Door)
    vault = open_vault(door, looks=False)
    typed = ctx.get_parameter_source("session") is ParameterSource.COMMANDLINE
    if ident and typed:
        raise UsageError("two sessions are named", "an ID, or --session")
    name = note_name(find_note(vault, ident).name) if ident else session or _newest_active(door)
    recorder = record.open(name, vault=vault, **recording_place())
    phase = recorder.pause(reason, at=noted_time(at, recorder), reopens=bool(ident) or typed, **said)
    say(f"paused {recorder.id}{f' at {phase}' if phase else ''}; `cru session resume {recorder.id}` goes on")
    say_warnings(recorder)
    follow(vault, recorder.path)


def _newest_active(door: Door) -> str:
    """The newest session of the project around us that is active."""
    project = project_of(working_directory() or "", user_settings().projects)
    if project:
        query = SessionQuery(status="active", project=project, limit=1)
        rows, _ = open_index(door).ask(lambda view: select(view, query))
        if rows:
            return note_name(str(rows[0]["path"]).rpartition("/")[2])
    raise UsageError(
        f"no session is active in the project {project!r}" if project else "no session is named",
        "name one, paused ones too: `cru session list` shows what is there",
    )
