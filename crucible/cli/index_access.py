"""Update and query a vault's index, and define the options for such queries."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from typing import Any, TypeVar

import click

from crucible.cli.environment import cwd_and_projects, vault_place
from crucible.cli.options import Door, flag, local_now, since_option, until_option, with_options
from crucible.cli.output import ReadingLine, say, warn
from crucible.commands.idle.idle_check import look_at
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.query import (
    COST,
    SESSIONS,
    STATUSES,
    UNPRICED,
    Columns,
    SessionQuery,
    check_column,
    named_column,
    parse_condition,
    unreadable_rows,
)
from crucible.vault.index.schema import Row, View, path_of_cell

Answer = TypeVar("Answer")

_LONG = 500
"""Minimum number of notes for which progress is shown; fewer are read quickly enough."""


def open_index(door: Door) -> Index:
    """Return the index of the vault that `vault_root` finds."""
    root, settings = vault_place(door)
    return Index(root, settings)


def query_index(index: Index, question: Callable[[View], Answer]) -> tuple[Answer, Refreshed]:
    """Update the index and answer a question about its tables; `question` may be called twice.

    Sessions that have been idle too long are paused first, if a check is due.  A terminal shows the progress of long
    updates.  Unreadable folders and notes, and an index that cannot be saved, are reported on stderr.
    """

    def both(view: View) -> tuple[list[Row], Answer]:
        return unreadable_rows(view), question(view)

    with ReadingLine(_LONG) as progress:
        (unreadable, answer), now = index.ask(both, progress.show)
        if look_at(now.view, index, datetime.now(UTC), cwd_and_projects):
            (unreadable, answer), now = index.ask(both, progress.show)
    _complain(now)
    say_unreadable(unreadable)
    return answer, now


def say_unreadable(rows: Sequence[Row]) -> None:
    """Report each unreadable note on stderr."""
    for row in rows:
        say(f"{path_of_cell(str(row['path']))}:1: unreadable-note: {row['unreadable']}", style="yellow")


def rebuild_index(index: Index) -> Refreshed:
    """Rebuild the index and report problems."""
    with ReadingLine(_LONG) as progress:
        now = index.rebuild(progress.show)
    _complain(now)
    return now


def update_index(root: PathLike[str], settings: VaultSettings, paths: Collection[PathLike[str]]) -> None:
    """Update the index rows of these notes.  Errors are ignored, since the next query tries again."""
    if not paths:
        return
    with suppress(CrucibleError), ReadingLine(_LONG) as progress:
        Index(root, settings).refresh(paths, progress.show)


def _complain(now: Refreshed) -> None:
    for reason in now.unwalked:
        warn(reason)
    if now.unsaved:
        warn(f"the index cannot be saved: {now.unsaved}")
        say("     the answer is complete, but the next command must read the notes again")


_SPAN = (
    since_option("Only sessions started since: 2026-11-21, today, 12h, 7d, 2w."),
    until_option("Only sessions started until this time; a date includes the whole day."),
)
_WHERE = click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Only rows that match, on any column: 'tokens > 5000', 'title ~ limiter', 'branch != null'.",
)
_FILTERS = (
    click.option("--status", type=click.Choice(STATUSES), help="Only sessions with this status."),
    click.option(
        "--agent", metavar="NAME[@VERSION]", help="Only sessions with this agent, in any version or this one."
    ),
    click.option("--channel", metavar="NAME", help="Only sessions with this channel, also in a phase."),
    click.option(
        "--model", metavar="MODEL", help="Only sessions with this model: its full name, or words of it (opus)."
    ),
    click.option("--persona", metavar="NAME", help="Only sessions of this persona."),
    click.option("--project", metavar="NAME", help="Only sessions of this project."),
    *_SPAN,
    flag("--children", "Include subagents' sessions."),
    _WHERE,
)
_ORDER = (
    click.option("--sort", metavar="COLUMN", help="Sort by this column; -COLUMN sorts in descending order."),
    click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N rows."),
)


session_filters = with_options(_FILTERS)
"""The options that narrow a query of sessions."""
span_options = with_options((*_SPAN, _WHERE))
"""Only `--since`, `--until` and `--where`."""
order_options = with_options(_ORDER)
"""`--sort` and `--limit`."""


def query_from(options: Mapping[str, Any], columns: Columns = SESSIONS) -> SessionQuery:
    """Build the query from a command's options; missing options do not filter.

    Raises `UsageError` for an invalid condition, or one on another column.
    """
    now = local_now()
    known = {name: options[name] for name in SessionQuery._fields if options.get(name) is not None}
    known["where"] = tuple(parse_condition(text, now, columns) for text in options.get("where", ()))
    if options.get("sort") is not None:
        column = check_column(options["sort"].removeprefix("-"), columns)
        column = COST if column == "cost" else column
        known["sort"] = f"-{column}" if options["sort"].startswith("-") else column
    return SessionQuery(**known)


def named_columns(options: Mapping[str, Any], columns: Columns = SESSIONS) -> list[str]:
    """Return the columns named by `--sort` and `--where`, which the table should show."""
    sort = [options["sort"].removeprefix("-").lower()] if options.get("sort") else []
    return [*sort, *(named_column(text, columns) for text in options.get("where", ()))]


def columns_of(columns: Columns) -> str:
    """Return the columns that `--where` and `--sort` accept, for help texts."""
    return ", ".join(name for name in columns.names if name not in (COST, UNPRICED))
