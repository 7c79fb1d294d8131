"""What every `cru log` command shares: which session, when it happened, texts from standard input, and what is said after.

Imports little, and leaves the index alone: an agent waits for each of these commands, and the next query reads the note.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from functools import wraps
from pathlib import Path
from typing import Any, NamedTuple

import click

from crucible import record
from crucible.cli.door import Door
from crucible.cli.options import BEGIN
from crucible.cli.output import say, write
from crucible.cli.session_ref import SESSION
from crucible.cli.surroundings import vault_place
from crucible.errors import UsageError
from crucible.record import Recorder
from crucible.vault.store import Vault

__all__ = [
    "SAID",
    "Logged",
    "at_option",
    "logs",
    "named_session",
    "say_warnings",
    "session_option",
    "standard_input",
]


class _Said(click.ParamType):  # type: ignore[type-arg]  # older clicks take none
    """A text; `-` reads it from standard input."""

    name = "text"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        return standard_input() if value == "-" else value


SAID = _Said()


def standard_input() -> str:
    """All of it, without the line end that a shell's `echo` adds."""
    data = sys.stdin.buffer.read() if sys.stdin else b""
    return data.decode("utf-8", "replace").removesuffix("\n")


session_option = click.option(
    "--session",
    metavar="ID",
    envvar="CRU_SESSION",
    type=SESSION,
    help="The session [environment: CRU_SESSION].",
)
at_option = click.option(
    "--at", metavar="WHEN", type=BEGIN, help="When it happened: 2026-11-21T20:26, 5m; by default now."
)


def named_session(session: str | None) -> str:
    """The session that was named, or the environment's."""
    if not session:
        raise UsageError(
            "no session: neither --session nor CRU_SESSION names one",
            'export CRU_SESSION=$(cru session start "Fix it")',
        )
    return session


def say_warnings(recorder: Recorder) -> None:
    """What went wrong beside the note."""
    for warning in recorder.warnings:
        say(f"cru: {warning}", style="yellow")


class Logged(NamedTuple):
    """The session that a command logs to, and when that happened (UTC)."""

    recorder: Recorder
    at: datetime


def logs(
    command: Callable[..., str | None], *, verbose: Sequence[str] = ("-v", "--verbose")
) -> Callable[..., Any]:
    """A command that is called with `Logged` and its own parameters; what it returns is a phase's id."""

    @click.option(*verbose, "verbose", is_flag=True, help="Print the id of the phase.")
    @at_option
    @session_option
    @click.pass_obj
    @wraps(command)
    def called(door: Door, /, session: str | None, at: datetime | None, verbose: bool, **given: Any) -> None:
        name = named_session(session)
        root, settings = vault_place(door)
        recorder = record.open(name, vault=Vault(Path(root), settings))
        phase = command(Logged(recorder, at.astimezone(UTC) if at else datetime.now(UTC)), **given)
        if verbose and phase:
            write(phase)
        say_warnings(recorder)

    return called
