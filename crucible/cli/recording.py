"""`cru session start`, `cru session pause` and `cru session end`: a recording's two ends, and a stop between them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

import click

from crucible import record
from crucible.cli.door import Door
from crucible.cli.log_options import (
    SAID,
    at_option,
    named_session,
    noted_time,
    say_warnings,
    session_option,
)
from crucible.cli.opening import open_vault
from crucible.cli.options import format_option
from crucible.cli.output import say, write, write_json
from crucible.cli.session_ref import SESSION
from crucible.cli.surroundings import user_settings, working_directory

__all__ = ["end", "pause", "start"]


@click.command
@click.argument("title", default="")
@click.option("--agent", metavar="AGENT", default="", help="Who works: name or name@version.")
@click.option("--model", metavar="NAME", default="", help="The model.")
@click.option("--channel", metavar="NAME", default="", help="The session's channel.")
@click.option("--project", metavar="NAME", help="The project; by default that of the working directory.")
@click.option("--parent", metavar="ID", type=SESSION, default="", help="The session that delegated this one.")
@click.option(
    "--continues", metavar="ID", type=SESSION, default="", help="The session that this one goes on from."
)
@click.option("--goal", metavar="TEXT", type=SAID, default="", help="What it is for; - for stdin.")
@at_option
@format_option("text", "json")
@click.pass_obj
def start(
    door: Door, /, title: str, project: str | None, at: datetime | None, format_: str, **given: Any
) -> None:
    """Begin a session: its note is made at once, and its id is all that is printed.

    \b
      export CRU_SESSION=$(cru session start "Fix the retry" --agent my-agent@1.0)
      cru log phase Research
      cru session end --summary "It backs off now."
    """
    vault = open_vault(door)
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
@click.option("--reason", metavar="TEXT", type=SAID, default="", help="Why; - for stdin.")
@session_option
@at_option
@click.pass_obj
def pause(door: Door, reason: str, session: str | None, at: datetime | None) -> None:
    """Stop for now: the note tells where and why. Logging to it again makes it active again.

    \b
      cru session pause --reason "waiting for the API keys"
    """
    name = named_session(session)
    recorder = record.open(name, vault=open_vault(door))
    recorder.pause(reason, at=noted_time(at, recorder))
    say_warnings(recorder)


@click.command
@click.option("--summary", metavar="TEXT", type=SAID, default="", help="What came of it; - for stdin.")
@click.option("--failed", is_flag=True, help="It has failed, not completed.")
@session_option
@at_option
@click.pass_obj
def end(door: Door, summary: str, failed: bool, session: str | None, at: datetime | None) -> None:
    """End the session: completed or failed, with a summary. A subagent's parent is told.

    \b
      cru session end --summary "It backs off now, with tests."
    """
    name = named_session(session)
    recorder = record.open(name, vault=open_vault(door))
    for line in recorder.end(summary, failed=failed, at=noted_time(at, recorder)):
        say(f"{recorder.id}: {line}")
    say_warnings(recorder)
