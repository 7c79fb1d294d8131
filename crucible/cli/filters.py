"""The options that select sessions, and the query that they make."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar

import click

from crucible.cli.options import flag, local_now, since_option, until_option
from crucible.vault.index.column_conditions import named_column, parse_condition
from crucible.vault.index.query import STATUSES, SessionQuery, check_column
from crucible.vault.index.schema import TABLES

_Command = TypeVar("_Command")

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


def session_filters(command: _Command) -> _Command:
    """Adds the options that narrow a query."""
    return _with(_FILTERS, command)


def span_options(command: _Command) -> _Command:
    """Adds `--since`, `--until` and `--where` alone."""
    return _with((*_SPAN, _WHERE), command)


def order_options(command: _Command) -> _Command:
    """Adds `--sort` and `--limit`."""
    return _with(_ORDER, command)


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


def _with(options: tuple[Any, ...], command: _Command) -> _Command:
    # As decorators stand above a function: the last is the first to be called.
    for option in reversed(options):
        command = option(command)
    return command
