"""`cru session stats --cost` and `--check`: what sessions cost, in groups and against a budget."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import click

from crucible.cli.bars import bar, can_draw
from crucible.cli.environment import user_settings
from crucible.cli.index_access import open_index, query_index
from crucible.cli.options import Door, is_data, local_now
from crucible.cli.output import PROBLEMS_FOUND, clean_line, in_color, room_of, say, write, write_data
from crucible.cli.table_output import aligned, broadest
from crucible.core.errors import CrucibleError
from crucible.core.prices.price_list import PriceList, load_prices
from crucible.core.text import dollars
from crucible.core.zones import in_zone
from crucible.vault.index.budgets import CheckedBudget, check_budgets, parse_budget
from crucible.vault.index.cost_report import CostFigures, CostReport, Span, cost_report
from crucible.vault.index.query import SessionQuery

_GAP = "  "
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


def write_costs(door: Door, query: SessionQuery, by: str | None, format_: str) -> int:
    """Write what the selected sessions cost; `since` and `until` are days of use."""
    prices = load_prices(user_settings().prices)
    span = Span(*(_day(moment) for moment in (query.since, query.until)))
    selected = query._replace(since=None, until=None)
    report, now = query_index(open_index(door), lambda view: cost_report(view, prices, selected, span, by))
    if is_data(format_):
        head = {"by": by, "currency": "USD", "basis": "list price", "prices_date": prices.date}
        groups, total = [_plain(one) for one in report.groups], _plain(report.total)
        write_data({**head, "groups": groups, "total": {key: total[key] for key in total if key != "name"}}, format_)
    else:
        click.echo("\n".join(_table(report, room_of(door), color=in_color(door))))
        _say_basis(report.total, prices)
    return PROBLEMS_FOUND if now.unwalked else 0


def check_spending(door: Door, query: SessionQuery, checks: Sequence[str], format_: str) -> int:
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


def _plain(one: CostFigures) -> dict[str, Any]:
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
        "unpriced_models": _plain(one.used)["unpriced_models"],
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


# --- the table -------------------------------------------------------------------------------------------------------


def _table(report: CostReport, room: int | None, *, color: bool) -> list[str]:
    """Return the heading, the groups with bars, and the total."""
    lines = (*report.groups, report.total)
    names = [report.by or "", *(clean_line(one.name or "-") for one in report.groups), "total"]
    amounts = ["cost", *("-" if (cost := one.cost_usd_micros) is None else dollars(cost) for one in lines)]
    shown = [key for key in _KINDS if key == "sessions" or any(getattr(one, key) for one in lines)]
    counts = [[_KINDS[key], *(f"{getattr(one, key):,}" for one in lines)] for key in shown]
    width = broadest(names) + len(_GAP) + broadest(amounts)
    while room is not None and counts and width + sum(len(_GAP) + broadest(cells) for cells in counts) > room:
        counts.pop()
    width += sum(len(_GAP) + broadest(cells) for cells in counts)
    left = 0 if room is None or not report.groups else min(_BAR, room - width - len(_GAP))
    columns = [aligned(names, broadest(names)), *map(_right, (*counts, amounts)), _bars(report, left)]
    table = [_GAP.join(cells).rstrip() for cells in zip(*columns, strict=True)]
    return [
        click.style(line, bold=True) if color and at in (0, len(table) - 1) else line for at, line in enumerate(table)
    ]


def _right(cells: Sequence[str]) -> list[str]:
    return [cell.rjust(broadest(cells)) for cell in cells]


def _bars(report: CostReport, length: int) -> list[str]:
    costs = [one.cost_usd_micros or 0 for one in report.groups]
    drawn = [bar(cost, max(costs), length) for cost in costs] if length > 0 and can_draw() else [""] * len(costs)
    return ["", *drawn, ""]
