"""`cru session list`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import click

from crucible.cli.environment import user_settings
from crucible.cli.index_access import (
    columns_of,
    named_columns,
    open_index,
    order_options,
    query_from,
    query_index,
    session_filters,
)
from crucible.cli.options import NULL_OPTION, Door, check_null, flag, format_option
from crucible.cli.output import PROBLEMS_FOUND, room_of, say
from crucible.cli.table_output import write_index_rows, write_paths
from crucible.core.text import dollars
from crucible.vault.index.query import COLUMNS, COST, PRICED, UNPRICED, SessionQuery, select
from crucible.vault.index.schema import Row, View

_TABLE = ("id", "status", "started", "participants")
_BROAD = 110
"""The width of a terminal that has room for participants beside titles."""


@click.command("list", epilog=f"Columns for --where and --sort: {columns_of(PRICED)}")
@session_filters
@flag("--archived", "Include archived sessions.")
@order_options
@flag("--cost", "Show what each session cost, with its subagents.")
@format_option("paths")
@NULL_OPTION
@click.pass_obj
def list_sessions(door: Door, /, *, format_: str, null: bool, cost: bool, **options: Any) -> int:
    """List sessions, newest first.

    \b
    - Long texts are cut to the terminal's width; a pipe gets them in full.
    - A condition is COLUMN OPERATOR VALUE. The operators are = != < <= > >=
      ~ (contains) and !~. Every --where must match. An unknown value
      matches only "= null".
    - Columns of --sort and --where are shown too, except in the format
      paths.
    - Unreadable notes are listed with a problem.
    - The cost is the list price in US dollars (also in --where), even with a
      subscription. Unpriced models are listed. With --children,
      a session's cost is that of its own note.

    Exit code: 3 if sessions may be missing because a folder could not be read.

    \b
      cru session list --since 7d --agent claude-code
      cru session list --status failed --format json
      cru session list --where 'tokens > 5000' --sort -tokens -n 20
      cru session list --since 7d --sort -cost -n 10
      cru session list --project shop --format paths -0 | xargs -0r rg -l limiter
      cru session list --since today --format paths -0 | xargs -0r git add --
    """
    check_null(format_, null=null)
    query, named = query_from(options, PRICED), named_columns(options, PRICED)
    index = open_index(door)
    by_cost = not _COSTS.isdisjoint(named)
    find = _select_with_costs(query, by_cost=by_cost) if cost or by_cost else lambda view: select(view, query)
    rows, now = query_index(index, find)
    complete = True
    if format_ == "paths":
        complete = write_paths(index.root, index.settings.sessions, rows, null=null, terminal=door.terminal)
    else:
        priced = _priced_columns(rows, format_) if cost or by_cost else []
        named = [*priced, *(name for name in named if name not in _COSTS)]
        columns = dict.fromkeys([*(_TABLE if format_ == "text" else COLUMNS), *named])
        if door.terminal and format_ == "text":
            # A narrow terminal leaves out the last columns.
            rest = _TABLE if (room_of(door) or _BROAD) >= _BROAD else _TABLE[:-1]
            columns = dict.fromkeys(["id", "status", *named, *rest])
        write_index_rows(rows, [*columns], format_, "sessions", door, more=("title", "project"))
        if format_ == "text" and not (rows or now.unwalked):
            _say_none(is_filtered=any(options.values()))
    return 0 if complete and not now.unwalked else PROBLEMS_FOUND


_COSTS = {"cost", COST, UNPRICED}


def _select_with_costs(query: SessionQuery, *, by_cost: bool) -> Callable[[View], list[Row]]:
    """Return a question for the rows with their cost."""
    # Late: most lists show no costs.
    from crucible.core.prices.price_list import load_prices  # noqa: PLC0415  as above
    from crucible.vault.index.costs import select_priced  # noqa: PLC0415  as above

    prices = load_prices(user_settings().prices)
    return lambda view: select_priced(view, prices, query, by_cost=by_cost)


def _priced_columns(rows: Sequence[Row], format_: str) -> list[str]:
    """Return the columns of costs; a table shows dollars, and models without a price only if there are some."""
    if format_ != "text":
        return [COST, UNPRICED]
    for row in rows:
        row["cost"] = "-" if (micros := row[COST]) is None else dollars(int(micros))
    return ["cost", UNPRICED] if any(row[UNPRICED] for row in rows) else ["cost"]


def _say_none(*, is_filtered: bool) -> None:
    say(
        "No sessions match."
        if is_filtered
        else 'No sessions yet. Run "cru import" to import the sessions on this machine.'
    )
