"""Options of commands that record events: which session, and when the event happened.

Keep imports light: agents wait for these commands.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import click

from crucible.cli.environment import cwd_and_projects
from crucible.cli.id_arguments import SESSION
from crucible.cli.options import BEGIN
from crucible.cli.output import warn
from crucible.commands.record import Recorder
from crucible.core.errors import UsageError
from crucible.documents.session.properties import format_time

session_option = click.option(
    "--session",
    metavar="ID",
    envvar="CRU_SESSION",
    type=SESSION,
    help="The session [environment: CRU_SESSION].",
)
at_option = click.option(
    "--at", metavar="WHEN", type=BEGIN, help="When it happened: 2026-11-21T20:26, or 5m ago as 5m; by default now."
)


def recording_place() -> dict[str, Any]:
    """Return keyword arguments for a recorder: where a bookmark finds git and the project's files."""
    cwd, projects = cwd_and_projects()
    return {"cwd": cwd, "projects": projects}


def named_session(session: str | None) -> str:
    """Return the named session; raises `UsageError` if neither the option nor CRU_SESSION names one."""
    if not session:
        raise UsageError(
            "no session: set CRU_SESSION or use --session",
            'export CRU_SESSION=$(cru record start "Fix it")',
        )
    return session


def noted_time(at: datetime | None, recorder: Recorder | None = None) -> datetime | None:
    """Return `--at` in UTC; None means now.

    A time without seconds counts as the session's start if the session began in that minute.  Raises `UsageError` for
    an earlier time, or one more than a day in the future.
    """
    if at is None:
        return None
    if at > datetime.now(UTC) + _AHEAD:
        raise UsageError(f"--at {format_time(at)}: more than a day in the future", "use a time in the past")
    begun = recorder.read_head().started if recorder else None
    if begun is None or at >= begun:
        return at.astimezone(UTC)
    if at + _MINUTE > begun:
        return begun.astimezone(UTC)
    raise UsageError(
        f"--at {format_time(at)}: the session started later, {format_time(begun)}",
        'omit --at for now; "cru record start --at" starts a session earlier',
    )


_AHEAD = timedelta(days=1)
"""How far in the future a time may be: clocks and time zones of two machines differ by less."""
_MINUTE = timedelta(minutes=1)


def say_warnings(recorder: Recorder) -> None:
    """Report all failures except those of writing the note."""
    for warning in recorder.warnings:
        warn(warning)
