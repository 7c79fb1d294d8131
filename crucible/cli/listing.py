"""`cru session list`."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from pathlib import Path

import click

from crucible.cli.arguments import BEGIN, END, format_option
from crucible.cli.door import Door
from crucible.cli.opening import open_vault
from crucible.cli.output import PROBLEMS_FOUND, clean_line, say, write, write_json, write_text
from crucible.errors import CrucibleError
from crucible.session.model import Status
from crucible.toon import dump_rows
from crucible.vault.query import SessionQuery, SessionRow, row_of, select, unreadable_row
from crucible.vault.store import Vault

__all__ = ["list_sessions"]

_STYLES = {"active": "cyan", "paused": "yellow", "completed": "green", "failed": "red"}
_TABLE = ("id", "status", "started", "participants")


@click.command("list")
@click.option("--status", type=click.Choice([s.value for s in Status]), help="Only sessions that stand so.")
@click.option(
    "--agent", metavar="NAME[@VERSION]", help="Only with this agent, in any version or in this one."
)
@click.option("--channel", metavar="NAME", help="Only on this channel, the session's or a phase's.")
@click.option(
    "--model", metavar="MODEL", help="Only with this model: all of its name, or words of it (opus)."
)
@click.option("--project", metavar="NAME", help="Only of this project.")
@click.option(
    "--since", type=BEGIN, metavar="WHEN", help="Only started since: 2026-11-21, today, 12h, 7d, 2w."
)
@click.option("--until", type=END, metavar="WHEN", help="Only started until then; a day counts to its end.")
@click.option("--limit", type=click.IntRange(min=0), metavar="N", help="Only the first N.")
@click.option("--children", is_flag=True, help="Subagents' sessions too.")
@format_option("table", "json", "toon", "paths")
@click.pass_context
def list_sessions(
    ctx: click.Context,
    *,
    status: str | None,
    agent: str | None,
    channel: str | None,
    model: str | None,
    project: str | None,
    since: datetime | None,
    until: datetime | None,
    limit: int | None,
    children: bool,
    format_: str,
) -> None:
    """List sessions, newest first.

    A note that cannot be read is a row with a problem, never absent; `cru session check` says what is wrong. The exit
    code is 3 when sessions may be missing: a folder could not be read, or one line cannot hold a path.

    \b
      cru session list --since 7d --agent claude-code
      cru session list --status failed --format json
      cru session list --project shop --format paths | xargs grep -l limiter
    """
    vault = open_vault(ctx.ensure_object(Door))
    query = SessionQuery(status, agent, channel, model, since, until, project, children, limit)
    unwalked: list[CrucibleError] = []
    paths = vault.session_paths(unwalked.append)
    for error in unwalked:
        say(f"cru: {error}", style="yellow")
    complete = _WRITERS[format_](vault, select(_rows(vault, paths), query))
    ctx.exit(0 if complete and not unwalked else PROBLEMS_FOUND)


def _rows(vault: Vault, paths: Iterable[Path]) -> Iterator[SessionRow]:
    for path in paths:
        shown = vault.relative(path)
        try:
            yield row_of(vault.read(path), shown)
        except CrucibleError as error:
            say(f"{shown}:1: unreadable-note: {error}", style="yellow")
            yield unreadable_row(shown)


def _write_table(_: Vault, rows: Sequence[SessionRow]) -> bool:
    """The last column is not padded, so that a line is as long as it must be."""
    cells = [[clean_line(_cell(row, name)) for name in _TABLE] for row in rows]
    widths = [max(len(line[at]) for line in [_TABLE, *cells]) for at in range(len(_TABLE))]
    click.secho(_line(_TABLE, widths), bold=True)
    for line in cells:
        styled = [*line]
        styled[1] = click.style(line[1].ljust(widths[1]), fg=_STYLES.get(line[1]))
        click.echo(_line(styled, widths))
    return True


def _cell(row: SessionRow, name: str) -> str:
    value = getattr(row, name)
    return (", ".join(value) if isinstance(value, tuple) else value) or "-"


def _line(cells: Sequence[str], widths: Sequence[int]) -> str:
    return "  ".join(cell.ljust(width) for cell, width in zip(cells, widths, strict=True)).rstrip()


def _write_json(_: Vault, rows: Sequence[SessionRow]) -> bool:
    write_json([row.columns() for row in rows])
    return True


def _write_toon(_: Vault, rows: Sequence[SessionRow]) -> bool:
    write_text(dump_rows([row.columns() for row in rows], "sessions"))
    return True


def _write_paths(vault: Vault, rows: Sequence[SessionRow]) -> bool:
    """A path that a line cannot hold as it is would name another file, or two; it is left out and named."""
    whole = True
    for row in rows:
        path = str(vault.root / row.path)
        if path == clean_line(path):
            write(path)
        else:
            say(f"{row.path}:1: unprintable-path: left out, a line cannot hold it", style="yellow")
            whole = False
    return whole


_WRITERS: Mapping[str, Callable[[Vault, Sequence[SessionRow]], bool]] = {
    "table": _write_table,
    "json": _write_json,
    "toon": _write_toon,
    "paths": _write_paths,
}
"""Each writes the rows and says whether it could write them all."""
