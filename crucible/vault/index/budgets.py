"""Limits on spending in the current day, week or month: `week <= 50 USD`."""

from __future__ import annotations

import re
from collections.abc import Sequence
from datetime import date, timedelta

from crucible.core.errors import UsageError
from crucible.core.named_tuples import NamedTuple
from crucible.core.prices.price_list import PriceList
from crucible.vault.index.cost_report import CostFigures, Span, cost_report
from crucible.vault.index.query import SessionQuery
from crucible.vault.index.schema import View

PERIODS = ("day", "week", "month", "total")
_BUDGET = r"\s*(\w+)\s*<=\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*(?:USD|\$)?\s*"


class Budget(NamedTuple):
    """A limit in micro-dollars for one of `PERIODS`."""

    period: str
    limit: int


class CheckedBudget(NamedTuple):
    """A budget, the days it covers, and what was used in them."""

    budget: Budget
    span: Span
    used: CostFigures

    @property
    def spent(self) -> int:
        """The cost in micro-dollars; unpriced models are not in it."""
        return self.used.cost_usd_micros or 0

    @property
    def is_within(self) -> bool:
        """True if the cost does not exceed the limit."""
        return self.spent <= self.budget.limit


def parse_budget(text: str) -> Budget:
    """Parse `PERIOD <= AMOUNT USD`; `UsageError` for anything else."""
    found = re.fullmatch(_BUDGET, text, re.IGNORECASE)
    if not found or found[1].lower() not in PERIODS:
        raise UsageError(
            f"{text!r} is not a budget", f'write "PERIOD <= AMOUNT USD"; PERIOD is one of {", ".join(PERIODS)}'
        )
    return Budget(found[1].lower(), int(found[2]) * 1_000_000 + int((found[3] or "").ljust(6, "0")))


def span_of(period: str, today: date) -> Span:
    """Return the days of the current period: until today, from its first day on; a week begins on Monday."""
    first = {
        "day": today,
        "week": today - timedelta(days=today.weekday()),
        "month": today.replace(day=1),
    }.get(period)
    return Span(first.isoformat(), today.isoformat()) if first else Span()


def check_budgets(
    view: View, prices: PriceList, query: SessionQuery, budgets: Sequence[Budget], today: date
) -> list[CheckedBudget]:
    """Compare budgets with what the selected sessions cost; `today` is the user's day."""
    spans = [span_of(budget.period, today) for budget in budgets]
    return [
        CheckedBudget(budget, span, cost_report(view, prices, query, span).total)
        for budget, span in zip(budgets, spans, strict=True)
    ]
