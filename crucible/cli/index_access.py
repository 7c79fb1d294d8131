"""Open the index of a vault and query it when it is up to date; problems go to stderr."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from os import PathLike
from typing import Any, TypeVar

import click

from crucible.cli.environment import vault_place, whence
from crucible.cli.options import Door, flag, local_now, since_option, until_option, with_options
from crucible.cli.output import ReadingLine, say, warn
from crucible.commands.idle.idle_check import look_at
from crucible.core.errors import CrucibleError
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index, Refreshed
from crucible.vault.index.query import (
    STATUSES,
    SessionQuery,
    check_column,
    named_column,
    parse_condition,
    unreadable_rows,
)
from crucible.vault.index.schema import TABLES, Row, View, path_of_cell

Answer = TypeVar("Answer")

_LONG = 500
"""Notes to read; fewer are read before anybody wonders."""


def open_index(door: Door) -> Index:
    """The index of the vault that was named, or is around us, or is the default."""
    root, settings = vault_place(door)
    return Index(root, settings)


def asked(index: Index, question: Callable[[View], Answer]) -> tuple[Answer, Refreshed]:
    """The answer to a question about the tables as they are now; it may be asked more than once.

    Long reading shows progress on a terminal.  What cannot be walked, what keeps the index from being kept, and each
    note that could not be read is a line on stderr, whatever the question was.  A session that has been quiet for long is
    paused first, when it is time to look.
    """

    def both(view: View) -> tuple[list[Row], Answer]:
        return unreadable_rows(view), question(view)

    with ReadingLine(_LONG) as progress:
        (unreadable, answer), now = index.ask(both, progress.show)
        if look_at(now.view, index, datetime.now(UTC), whence):
            (unreadable, answer), now = index.ask(both, progress.show)
    _complain(now)
    say_unreadable(unreadable)
    return answer, now


def say_unreadable(rows: Sequence[Row]) -> None:
    """A line on stderr for each."""
    for row in rows:
        say(f"{path_of_cell(str(row['path']))}:1: unreadable-note: {row['unreadable']}", style="yellow")


def rebuilt(index: Index) -> Refreshed:
    """Built anew."""
    with ReadingLine(_LONG) as progress:
        now = index.rebuild(progress.show)
    _complain(now)
    return now


def keep_index(root: PathLike[str], settings: VaultSettings, paths: Collection[PathLike[str]]) -> None:
    """Bring the rows of these notes up to date.  What cannot be done now is done by the next query, so nothing is said."""
    if not paths:
        return
    with suppress(CrucibleError), ReadingLine(_LONG) as progress:
        Index(root, settings).refresh(paths, progress.show)


def _complain(now: Refreshed) -> None:
    for reason in now.unwalked:
        warn(reason)
    if now.unsaved:
        warn(f"the index cannot be kept: {now.unsaved}")
        say("     the answer is whole; the next command has to read again what this one read")


_SPAN = (
    since_option("Only started since: 2026-11-21, today, 12h, 7d, 2w."),
    until_option("Only started until then; a day counts to its end."),
)
_WHERE = click.option(
    "--where",
    multiple=True,
    metavar="CONDITION",
    help="Only where this holds, on any column: 'tokens_used > 5000', 'title ~ limiter', 'branch != null'.",
)
_FILTERS = (
    click.option("--status", type=click.Choice(STATUSES), help="Only sessions that stand so."),
    click.option("--agent", metavar="NAME[@VERSION]", help="Only with this agent, in any version or in this one."),
    click.option("--channel", metavar="NAME", help="Only on this channel, the session's or a phase's."),
    click.option("--model", metavar="MODEL", help="Only with this model: all of its name, or words of it (opus)."),
    click.option("--project", metavar="NAME", help="Only of this project."),
    *_SPAN,
    flag("--children", "Subagents' sessions too."),
    _WHERE,
)
_ORDER = (
    click.option("--sort", metavar="COLUMN", help="By this column, the smallest first; -COLUMN the largest first."),
    click.option("-n", "--limit", type=click.IntRange(min=1), metavar="N", help="Only the first N."),
)


session_filters = with_options(_FILTERS)
"""The options that narrow a query of sessions."""
span_options = with_options((*_SPAN, _WHERE))
"""`--since`, `--until` and `--where` alone."""
order_options = with_options(_ORDER)
"""`--sort` and `--limit`."""


def query_from(options: Mapping[str, Any], table: str = "sessions") -> SessionQuery:
    """What the options ask for; one that a command does not have narrows nothing.

    Raises `UsageError` for a column that `table` does not have and for what is no condition.
    """
    now = local_now()
    known = {name: options[name] for name in SessionQuery._fields if options.get(name) is not None}
    known["where"] = tuple(parse_condition(text, now, table) for text in options.get("where", ()))
    if options.get("sort") is not None:
        column = check_column(options["sort"].removeprefix("-"), table)
        known["sort"] = f"-{column}" if options["sort"].startswith("-") else column
    return SessionQuery(**known)


def named_columns(options: Mapping[str, Any], table: str = "sessions") -> list[str]:
    """The columns that `--sort` and `--where` name, which a reader wants to see."""
    sort = [options["sort"].removeprefix("-").lower()] if options.get("sort") else []
    return [*sort, *(named_column(text, table) for text in options.get("where", ()))]


def columns_of(table: str) -> str:
    """All that `--where` and `--sort` can name, for a help."""
    return ", ".join(TABLES[table])
