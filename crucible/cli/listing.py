"""`cru session list`."""

from __future__ import annotations

from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.filters import columns_of, named_columns, order_options, query_from, session_filters
from crucible.cli.indexed import asked, open_index
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND, in_color, room_of
from crucible.cli.tables import write_paths, write_rows
from crucible.core.errors import UsageError
from crucible.vault.index.query import COLUMNS, select

_TABLE = ("id", "status", "started", "participants")


@click.command("list", epilog=f"Columns for --where and --sort: {columns_of('sessions')}")
@session_filters
@order_options
@format_option("table", "json", "toon", "paths")
@click.option("-0", "--null", is_flag=True, help="With --format paths: end each with a NUL, for xargs -0.")
@click.pass_context
def list_sessions(ctx: click.Context, /, *, format_: str, null: bool, **options: Any) -> None:
    """List sessions, newest first.

    On a terminal long texts are cut to its width, and the titles are there where they have room; a pipe gets texts whole.
    What --sort and --where name is shown as well, in every format but paths. A condition is COLUMN OPERATOR VALUE: = != < <= > >=, or ~
    and !~ for a text that it contains; each --where must hold. An unknown value fits only '= null'.

    A note that cannot be read is a row with a problem, never absent; `cru session check` says what is wrong. The exit
    code is 3 when sessions may be missing: a folder could not be read, or a path had to be left out.

    \b
      cru session list --since 7d --agent claude-code
      cru session list --status failed --format json
      cru session list --where 'tokens_used > 5000' --sort -tokens_used -n 20
      cru session list --project shop --format paths -0 | xargs -0r rg -l limiter
      cru session list --since today --format paths -0 | xargs -0r git add --
    """
    if null and format_ != "paths":
        raise UsageError("--null goes with --format paths", "the other formats are no lists of files")
    query, named = query_from(options), named_columns(options)
    door = ctx.ensure_object(Door)
    index = open_index(door)
    rows, now = asked(index, lambda view: select(view, query))
    complete = True
    if format_ == "paths":
        complete = write_paths(index.root, index.settings.sessions, rows, null=null, terminal=door.terminal)
    else:
        columns = dict.fromkeys([*(_TABLE if format_ == "table" else COLUMNS), *named])
        color, room = in_color(door), room_of(door)
        write_rows(rows, [*columns], format_, "sessions", color=color, room=room, more="title")
    ctx.exit(0 if complete and not now.unwalked else PROBLEMS_FOUND)
