"""`cru session stats`."""

from __future__ import annotations

from typing import Any

import click

from crucible.cli.door import Door
from crucible.cli.figures import write_stats
from crucible.cli.filters import columns_of, query_from, session_filters
from crucible.cli.indexed import asked, open_index
from crucible.cli.options import format_option
from crucible.cli.output import PROBLEMS_FOUND
from crucible.vault.index.stats import GROUPINGS, aggregate


@click.command(epilog=f"Columns for --where: {columns_of('sessions')}")
@click.option("--by", type=click.Choice(GROUPINGS), help="A line for each of these, beside the total.")
@session_filters
@format_option("table", "json", "toon")
@click.pass_context
def stats(ctx: click.Context, /, *, by: str | None, format_: str, **options: Any) -> None:
    """Count sessions, tokens, time and failures.

    A session's tokens are its own and its subagents', each once; with --children a subagent's note is a session of its
    own. Averages and the median are over the sessions whose tokens or times are known; "failed" is failed ones of those
    that failed or completed, "tools" failed calls of all calls; "users" are a human's words. By agent or channel a session counts for
    each that it has, in the total once. By agent each has the tokens that it used itself, a subagent's agent too; those whose agent is
    not known are in the line "-". By phase the figures are the phases' own, and "failed" is of all of them.

    On a terminal the table is made to fit: numbers are shortened, and the last line names the columns that had no room.
    All of them, and every digit, are in JSON and TOON.

    The exit code is 3 when sessions may be missing, because a folder could not be read.

    \b
      cru session stats --by agent --since 30d
      cru session stats --by month --project shop --format json
    """
    query, door = query_from(options), ctx.ensure_object(Door)
    figures, now = asked(open_index(door), lambda view: aggregate(view, query, by))
    write_stats(figures, format_, door)
    ctx.exit(PROBLEMS_FOUND if now.unwalked else 0)
