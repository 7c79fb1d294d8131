"""`cru session stats`: sessions, tokens, time and failures, or what they cost, in groups and against a budget."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import click

from crucible.cli.environment import user_settings
from crucible.cli.index_access import (
    columns_of,
    open_index,
    query_from,
    query_index,
    session_filters,
)
from crucible.cli.options import Door, flag, format_option, is_data, local_now
from crucible.cli.output import (
    PROBLEMS_FOUND,
    block_bar,
    can_draw_bars,
    clean_line,
    in_color,
    room_of,
    say,
    short_number,
    write,
    write_data,
)
from crucible.cli.table_output import GAP, aligned, broadest
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.prices.price_list import PriceList, load_prices
from crucible.core.text import dollars, short_duration
from crucible.core.zones import in_zone
from crucible.vault.index.cost_report import GROUPINGS as COST_GROUPINGS
from crucible.vault.index.cost_report import (
    CheckedBudget,
    CostFigures,
    CostReport,
    Span,
    check_budgets,
    cost_report,
    parse_budget,
)
from crucible.vault.index.query import SESSIONS, SessionQuery
from crucible.vault.index.stats import GROUPINGS, Stats, aggregate

_BARS = ("sessions", "tokens")
"""The columns drawn with a bar."""

_BROADEST_BAR, _SHORTEST_BAR = 16, 6
_SHORTEST_NAME, _LONGEST_NAME = 16, 200
"""Maximum lengths of names: on a narrow terminal, and on any."""

_LEAST_FIRST = (
    "users",
    "errors",
    "decisions",
    "duration_average_s",
    "tokens_average",
    "tool_failure_rate",
    "duration_median_s",
    "failure_rate",
)
"""Columns in the order in which a narrow terminal omits them."""

_FOR_NAMES = 4
"""Maximum columns to omit before names are cut."""


class _Column(NamedTuple):
    """A column of numbers: its heading, the cells of the groups and the total, and the width of the widest cell."""

    head: str
    cells: list[str]
    width: int


class _Plan(NamedTuple):
    """The layout of a table: the width of names, the columns, and the width of bars (0: no bars)."""

    names: int
    columns: Mapping[str, _Column]
    bar: int


def _write_stats(stats: Stats, format_: str, door: Door) -> None:
    """Write the statistics as `text`, `json` or `toon`."""
    if is_data(format_):
        write_data(_plain(stats), format_)
    else:
        click.echo("\n".join(_table(stats, room_of(door), color=in_color(door))))


def _plain(stats: Stats) -> dict[str, Any]:
    total = stats.total._asdict()
    del total["name"]
    return {"by": stats.by, "groups": [group._asdict() for group in stats.groups], "total": total}


def _table(stats: Stats, room: int | None, *, color: bool) -> list[str]:
    """Return the lines of the table: heading, groups and total; the last line names columns that did not fit."""
    names = [stats.by or "", *(clean_line(group.name or "-") for group in stats.groups), "total"]
    longest = min(broadest(names), _LONGEST_NAME)
    plan = _Plan(longest, _columns(stats, exact=True), 0) if room is None else _plan(stats, longest, room)
    columns = [_drawn(stats, key, plan, color=color) for key in plan.columns]
    table = [GAP.join(cells).rstrip() for cells in zip(aligned(names, plan.names), *columns, strict=True)]
    ends = (0, len(table) - 1)
    lines = [click.style(line, bold=True) if color and at in ends else line for at, line in enumerate(table)]
    left_out = [looks.head for key, looks in _LOOKS.items() if key not in plan.columns]
    if not left_out or room is None:
        return lines
    note = click.wrap_text(f"… columns omitted: {', '.join(left_out)}; see --format json", room)
    return [*lines, *(click.style(line, dim=True) if color else line for line in note.split("\n"))]


def _plan(stats: Stats, longest: int, room: int) -> _Plan:
    """Choose the first layout that fits; names get the remaining width, then bars."""
    for plan in _plans(stats, longest):
        left = room - plan.names - sum(len(GAP) + _width(key, plan) for key in plan.columns)
        if left >= 0:
            break
    names = min(longest, plan.names + max(left, 0))
    left -= names - plan.names
    longer = min(plan.bar + max(left, 0) // len(_BARS), _BROADEST_BAR) if plan.bar else 0
    return plan._replace(names=names, bar=longer)


def _plans(stats: Stats, longest: int) -> Iterable[_Plan]:
    """Yield layouts from widest to narrowest: shorten numbers, omit columns, cut names, then drop the bars."""
    exact, short = _columns(stats, exact=True), _columns(stats, exact=False)
    cut = min(longest, _SHORTEST_NAME)
    for length in (_SHORTEST_BAR, 0) if stats.groups and can_draw_bars() else (0,):
        yield _Plan(longest, exact, length)
        for names, most in ((longest, _FOR_NAMES), (cut, len(_LEAST_FIRST))):
            for count in range(most + 1):
                kept = {key: column for key, column in short.items() if key not in _LEAST_FIRST[:count]}
                yield _Plan(names, kept, length)


def _columns(stats: Stats, *, exact: bool) -> Mapping[str, _Column]:
    lines = (*stats.groups, stats.total)
    columns = {}
    for key, looks in _LOOKS.items():
        show = looks.exact if exact else looks.short
        cells = ["-" if (value := getattr(line, key)) is None else show(value) for line in lines]
        columns[key] = _Column(looks.head if exact else looks.short_head, cells, max(map(len, cells)))
    return columns


def _width(key: str, plan: _Plan) -> int:
    """Return the width of a column, including its bar."""
    column = plan.columns[key]
    return max(len(column.head), column.width + (1 + plan.bar if plan.bar and key in _BARS else 0))


def _drawn(stats: Stats, key: str, plan: _Plan, *, color: bool) -> list[str]:
    """Return the heading and cells of a column, padded to the same width; the total has no bar."""
    head, cells, width = plan.columns[key]
    wide = _width(key, plan)
    if not plan.bar or key not in _BARS:
        return [text.rjust(wide) for text in (head, *cells)]
    values = [getattr(group, key) for group in stats.groups]
    largest = max(values)
    bars = [block_bar(value, largest, plan.bar) for value in values]
    padded = [text.ljust(wide - width - 1) for text in (*bars, "")]
    # Spaces are not styled, as in the total: the end of their style would end the style of the line.
    drawn = [click.style(text, fg="cyan") if color and text.strip() else text for text in padded]
    return [head.ljust(wide), *(f"{cell:>{width}} {text}" for cell, text in zip(cells, drawn, strict=True))]


def _count(value: float) -> str:
    return f"{round(value):,}"


def _rate(value: float) -> str:
    return f"{value * 100:.1f} %"


def _short_rate(value: float) -> str:
    return f"{value * 100:.1f}%"


class _Looks(NamedTuple):
    """The headings of a column, and the format of its numbers."""

    head: str
    exact: Callable[[float], str]
    short_head: str
    short: Callable[[float], str]


_LOOKS: Mapping[str, _Looks] = {
    "sessions": _Looks("sessions", _count, "sessions", short_number),
    "tokens": _Looks("tokens", _count, "tokens", short_number),
    "tokens_average": _Looks("avg tokens", _count, "avg tok", short_number),
    "duration_average_s": _Looks("avg time", short_duration, "avg time", short_duration),
    "duration_median_s": _Looks("median", short_duration, "median", short_duration),
    "failure_rate": _Looks("failed", _rate, "failed", _short_rate),
    "tool_failure_rate": _Looks("tools", _rate, "tools", _short_rate),
    "decisions": _Looks("decisions", _count, "decided", short_number),
    "errors": _Looks("errors", _count, "errors", short_number),
    "users": _Looks("users", _count, "users", short_number),
}


# --- costs -----------------------------------------------------------------------------------------------------------

_BAR = 20
_OVER, _ERROR = 1, 2
_KINDS: Mapping[str, str] = {
    "sessions": "sessions",
    "input": "input",
    "output": "output",
    "cache_write": "cache write",
    "cache_write_1h": "cache 1h",
    "cache_read": "cache read",
}
"""The columns of counts with their headings; a narrow terminal omits the last ones first."""


def _write_costs(door: Door, query: SessionQuery, by: str | None, format_: str) -> int:
    """Write what the selected sessions cost; `since` and `until` are days of use."""
    prices = load_prices(user_settings().prices)
    span = Span(*(_day(moment) for moment in (query.since, query.until)))
    selected = query._replace(since=None, until=None)
    report, now = query_index(open_index(door), lambda view: cost_report(view, prices, selected, span, by))
    if is_data(format_):
        head = {"by": by, "currency": "USD", "basis": "list price", "prices_date": prices.date}
        groups, total = [_plain_costs(one) for one in report.groups], _plain_costs(report.total)
        write_data({**head, "groups": groups, "total": {key: total[key] for key in total if key != "name"}}, format_)
    else:
        click.echo("\n".join(_cost_table(report, room_of(door), color=in_color(door))))
        _say_basis(report.total, prices)
    return PROBLEMS_FOUND if now.unwalked else 0


def _check_spending(door: Door, query: SessionQuery, checks: Sequence[str], format_: str) -> int:
    """Compare what was spent with budgets: exit code 0 if none is exceeded, 1 if one is, 2 if that is unknown."""
    try:
        budgets = [parse_budget(text) for text in checks]
        prices, today = load_prices(user_settings().prices), local_now().date()
        found, _ = query_index(open_index(door), lambda view: check_budgets(view, prices, query, budgets, today))
    except CrucibleError as error:
        # A budget that cannot be checked must not look like one that is exceeded.
        error.exit_code = _ERROR
        raise
    if is_data(format_):
        write_data({"currency": "USD", "basis": "list price", "checks": [_plain_check(one) for one in found]}, format_)
    else:
        for one in found:
            write(_line_of(one))
            _say_unpriced(one.used)
    return 0 if all(one.is_within for one in found) else _OVER


def _day(moment: Any) -> str:
    return in_zone(moment, local_now().tzinfo).date().isoformat() if moment else ""


def _plain_costs(one: CostFigures) -> dict[str, Any]:
    row = one._asdict()
    del row["unpriced"]
    return row | {"unpriced_models": [{"model": name, "tokens": count} for name, count in sorted(one.unpriced.items())]}


def _plain_check(one: CheckedBudget) -> dict[str, Any]:
    return {
        "period": one.budget.period,
        "first_day": one.span.first or None,
        "last_day": one.span.last or None,
        "cost_usd_micros": one.spent,
        "limit_usd_micros": one.budget.limit,
        "is_within": one.is_within,
        "unpriced_models": _plain_costs(one.used)["unpriced_models"],
    }


def _line_of(one: CheckedBudget) -> str:
    period, limit = one.budget
    days = f" ({one.span.first} to {one.span.last})" if one.span.first != one.span.last else ""
    share = f", {100 * one.spent / limit:.0f} %" if limit else ""
    return f"{'within' if one.is_within else 'over'}  {period}{days}: {dollars(one.spent)} of {dollars(limit)}{share}"


def _say_basis(total: CostFigures, prices: PriceList) -> None:
    say(f"List prices of {prices.date} ({prices.source}), in US dollars. Subscriptions are not considered.")
    _say_unpriced(total)


def _say_unpriced(used: CostFigures) -> None:
    for model, tokens in sorted(used.unpriced.items()):
        say(f"unpriced: {clean_line(model)}, {tokens:,} tokens", style="yellow")


def _cost_table(report: CostReport, room: int | None, *, color: bool) -> list[str]:
    """Return the heading, the groups with bars, and the total."""
    lines = (*report.groups, report.total)
    names = [report.by or "", *(clean_line(one.name or "-") for one in report.groups), "total"]
    amounts = ["cost", *("-" if (cost := one.cost_usd_micros) is None else dollars(cost) for one in lines)]
    shown = [key for key in _KINDS if key == "sessions" or any(getattr(one, key) for one in lines)]
    counts = [[_KINDS[key], *(f"{getattr(one, key):,}" for one in lines)] for key in shown]
    width = broadest(names) + len(GAP) + broadest(amounts)
    while room is not None and counts and width + sum(len(GAP) + broadest(cells) for cells in counts) > room:
        counts.pop()
    width += sum(len(GAP) + broadest(cells) for cells in counts)
    left = 0 if room is None or not report.groups else min(_BAR, room - width - len(GAP))
    columns = [aligned(names, broadest(names)), *map(_right, (*counts, amounts)), _cost_bars(report, left)]
    table = [GAP.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return [
        click.style(line, bold=True) if color and at in (0, len(table) - 1) else line for at, line in enumerate(table)
    ]


def _right(cells: Sequence[str]) -> list[str]:
    return [cell.rjust(broadest(cells)) for cell in cells]


def _cost_bars(report: CostReport, length: int) -> list[str]:
    costs = [one.cost_usd_micros or 0 for one in report.groups]
    drawn = (
        [block_bar(cost, max(costs), length) for cost in costs] if length > 0 and can_draw_bars() else [""] * len(costs)
    )
    return ["", *drawn, ""]


# --- the command -----------------------------------------------------------------------------------------------------


@click.command(epilog=f"Columns for --where: {columns_of(SESSIONS)}")
@click.option(
    "--by",
    type=click.Choice([*GROUPINGS, *(name for name in COST_GROUPINGS if name not in GROUPINGS)]),
    help="Show one line per group, and the total. Day, week and project imply --cost.",
)
@flag("--cost", "Show costs, by day, week, month, project, model or agent.")
@click.option("--check", "checks", multiple=True, metavar="BUDGET", help="Compare the cost with a budget; repeatable.")
@session_filters
@format_option()
@click.pass_obj
def stats(door: Door, /, *, by: str | None, cost: bool, checks: Sequence[str], format_: str, **options: Any) -> int:
    """Count sessions, tokens, time and failures, or what they cost.

    \b
    - A session's tokens include its subagents'. --children counts subagents
      as separate sessions.
    - Averages and medians ignore sessions with unknown values.
    - "failed" is the share of ended sessions that failed, "tools" the share
      of tool calls that failed, "users" the number of user messages.
    - By agent or channel, a session counts once in each group and once in
      the total. By phase, the figures are the phases' own.
    - A terminal omits columns that do not fit; JSON and TOON have all.

    \b
    With --cost:
    - Each message counts on its day, at its own model's price. --since and
      --until are days of use.
    - The cost is the list price in US dollars, even with a subscription.
      Unpriced models are listed.
    - --check "week <= 50 USD" checks the current week, from Monday. Other
      periods are day, month and total. Exit code: 0 within the budget,
      1 if it is exceeded, 2 if it cannot be checked.

    Exit code: 3 if sessions may be missing because a folder could not be read.

    \b
      cru session stats --by agent --since 30d
      cru session stats --by month --project shop --format json
      cru session stats --cost --by day --since 7d
      cru session stats --check "week <= 50 USD" --check "day <= 20 USD"
    """
    query = query_from(options)
    if checks:
        return _check_spending(door, query, checks, format_)
    if cost or by in {"day", "week", "project"}:
        if by and by not in COST_GROUPINGS:
            raise UsageError(f"--cost cannot be grouped by {by}", f"use one of {', '.join(COST_GROUPINGS)}")
        return _write_costs(door, query, by, format_)
    figures, now = query_index(open_index(door), lambda view: aggregate(view, query, by))
    _write_stats(figures, format_, door)
    return PROBLEMS_FOUND if now.unwalked else 0
