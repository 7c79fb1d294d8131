"""`cru doctor`: what was looked at, what was found, and what mends it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from pathlib import Path

import click

from crucible.cli.door import Door
from crucible.cli.indexed import open_index
from crucible.cli.installing import project_here
from crucible.cli.opening import open_vault
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND, clean_line, write, write_json
from crucible.doctor.findings import Finding, State
from crucible.doctor.hooks import check_hooks, check_log
from crucible.doctor.sessions import check_notes, check_sessions, check_spool
from crucible.doctor.transcripts import Native, check_transcripts, find_native, last_written
from crucible.errors import CrucibleError
from crucible.hooks.log import LOG
from crucible.importing.sources import SourceTable, source_name
from crucible.index.query import SessionQuery, select, unreadable_rows
from crucible.index.view import View
from crucible.installing.claude_code import settings_path
from crucible.vault.store import Vault

__all__ = ["doctor"]

_SHOWN = 5
_LOG_AGE = timedelta(days=7)
_MARKS = {State.GOOD: ("ok", "green"), State.NOTE: ("note", "yellow"), State.BAD: ("bad", "red")}


@click.command
@click.option("--all", "whole", is_flag=True, help="Name everything, not the first few.")
@format_option("table", "json")
@click.pass_context
def doctor(ctx: click.Context, *, whole: bool, format_: str) -> None:
    """Look after the vault: hooks, transcripts, spool, sessions, index; each finding with the command that mends it.

    Nothing is changed. The exit code is 3 when something is bad.

    \b
      cru doctor
      cru doctor --all --format json
    """
    door = ctx.ensure_object(Door)
    findings = list(_findings(door, open_vault(door), datetime.now(UTC)))
    if format_ == "json":
        write_json([_exported(finding) for finding in findings])
    else:
        for finding in findings:
            _write(finding, whole=whole, color=door.color if door.color is not None else door.terminal)
    ctx.exit(PROBLEMS_FOUND if any(finding.state is State.BAD for finding in findings) else 0)


def _findings(door: Door, vault: Vault, now: datetime) -> Iterator[Finding]:
    home = Path.home()
    natives = list(find_native(os.environ, home))
    table = SourceTable(vault)
    # The vault's own project counts wherever we are asked.
    projects = dict.fromkeys(settings_path(os.environ, home, at) for at in (project_here(), vault.root))
    places = [("--user", settings_path(os.environ, home, None)), *(("--project", path) for path in projects)]
    mine = [native for native in natives if table.find(_source(native))]
    yield from check_hooks(places, vault.root, last_written(mine, "claude-code"))
    yield from check_log(vault.root / LOG, now - _LOG_AGE)
    archived = {_source(native) for native in mine}
    yield from check_transcripts(
        natives, lambda n: _source(n) in archived, now=now, env=os.environ, home=home
    )
    yield from check_spool(vault.root, ("claude-code",), now)
    yield from _of_notes(door, vault, now)


def _source(native: Native) -> str:
    return source_name(native.transcript.client, native.transcript.native_id)


def _of_notes(door: Door, vault: Vault, now: datetime) -> Iterator[Finding]:
    idle = timedelta(minutes=vault.settings.idle_minutes)

    def question(view: View) -> tuple[Sequence[Mapping[str, object]], Sequence[Mapping[str, object]]]:
        return select(view, SessionQuery(children=True)), unreadable_rows(view)

    try:
        (rows, unreadable), refreshed = open_index(door).ask(question)
    except CrucibleError as error:
        yield Finding("index", State.BAD, str(error), "cru index rebuild")
        return
    yield from check_sessions(rows, now, idle)
    yield from check_notes(vault.root, unreadable, vault.session_ids())
    for reason in refreshed.unwalked:
        yield Finding("index", State.BAD, reason, "give yourself the right to read it")
    if refreshed.unsaved:
        yield Finding(
            "index", State.BAD, f"the index cannot be kept: {refreshed.unsaved}", "cru index rebuild"
        )
    else:
        yield Finding("index", State.GOOD, f"the index is true; it holds {len(rows)} sessions")


def _exported(finding: Finding) -> dict[str, object]:
    return {
        "topic": finding.topic,
        "state": str(finding.state),
        "text": finding.text,
        "mend": finding.mend or None,
        "items": list(finding.items),
    }


def _write(finding: Finding, *, whole: bool, color: bool) -> None:
    word, hue = _MARKS[finding.state]
    mark = click.style(f"{word:<5}", fg=hue) if color else f"{word:<5}"
    write(f"{mark} {finding.topic:<12} {clean_line(finding.text)}")
    shown = (
        finding.items
        if whole or (finding.state is State.GOOD and not finding.items)
        else finding.items[:_SHOWN]
    )
    for item in shown if finding.state is not State.GOOD or whole else ():
        write(f"{'':<18} - {clean_line(item)}")
    left = len(finding.items) - len(shown)
    if left and finding.state is not State.GOOD:
        write(f"{'':<18} - and {left} more: --all")
    if finding.mend:
        write(f"{'':<18} → {clean_line(finding.mend)}")
