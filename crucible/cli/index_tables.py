"""`cru index show` and `cru index rebuild`."""

from __future__ import annotations

from typing import Any

import click

from crucible.cli.index_access import (
    columns_of,
    open_index,
    order_options,
    query_from,
    query_index,
    rebuild_index,
    say_unreadable,
    span_options,
)
from crucible.cli.options import WORKERS, Door, flag, format_option, with_options, workers_of
from crucible.cli.output import PROBLEMS_FOUND, ReadingLine, write
from crucible.cli.recall_engine import open_own_index
from crucible.cli.table_output import write_index_rows
from crucible.cli.vault_access import open_vault
from crucible.core.errors import UsageError
from crucible.core.text import counted
from crucible.vault.index.query import Columns, find_row, select_rows, unreadable_rows
from crucible.vault.index.schema import TABLES, Row, View

_LONG = 500
"""Minimum number of notes for a progress line."""
_COLUMNS = "\n\n".join(f"Columns of {table}: {columns_of(Columns(table, TABLES[table]))}" for table in TABLES)


@click.command("show", epilog=f"{_COLUMNS}\n\nSee docs/session-index.md for their meaning.")
@click.argument("table", type=click.Choice([*TABLES]))
@click.option("--session", metavar="ID", help="Only rows of this session: its id or a unique prefix.")
@span_options
@order_options
@format_option()
@click.pass_obj
def show_table(door: Door, /, *, table: str, session: str | None, format_: str, **options: Any) -> int:
    """Print a table of the index, the source of "cru session list" and "stats".

    \b
    - --since and --until apply to the start of the row's session; --where
      and --sort apply to the table's columns.
    - Rows are sorted by month, newest first, then by session. Subagents'
      sessions are included.

    \b
      cru index show sessions --since 7d
      cru index show phases --where 'tokens > 5000' --sort -tokens -n 20
      cru index show callouts --where 'kind = error' --since 30d --format json
      cru index show links --session 2026-11-21-add
    """
    query = query_from(options, Columns(table, TABLES[table]))

    def question(view: View) -> list[Row]:
        return select_rows(view, table, query, None if session is None else find_row(view, session))

    rows, now = query_index(open_index(door), question)
    write_index_rows(rows, TABLES[table], format_, table, door)
    return PROBLEMS_FOUND if now.unwalked else 0


@click.command
@flag("--recall", "Also rebuild the index that recall searches.")
@with_options(WORKERS)
@click.pass_obj
def rebuild(door: Door, *, recall: bool, jobs: int | None, scheduler: str | None, copy: str | None) -> int:
    """Rebuild the index from the notes.

    \b
    - Rarely needed: every command updates the index, and rebuilds it if it
      cannot be read.
    - Notes are not changed.
    - --jobs and --on require --recall.

    \b
      cru index rebuild
      cru index rebuild --recall --jobs 4
    """
    workers = workers_of(jobs, scheduler, copy)
    if workers and not recall:
        raise UsageError("--jobs and --on require --recall", "cru index rebuild --recall --jobs 4")
    now = rebuild_index(open_index(door))
    say_unreadable(unreadable_rows(now.view))
    count = sum(1 for _ in now.view.rows("sessions"))
    if recall:
        with ReadingLine(_LONG) as progress:
            open_own_index(open_vault(door)).rebuild(progress.show, workers)
    write(counted(count, "session"))
    return PROBLEMS_FOUND if now.unwalked else 1 if now.unsaved else 0
