from __future__ import annotations

from datetime import date

import pytest

from crucible.core.errors import UsageError
from crucible.vault.index.cost_report import Budget, Span, parse_budget, span_of, week_of


@pytest.mark.parametrize(
    ("text", "budget"),
    [
        ("week <= 50 USD", Budget("week", 50_000_000)),
        ("Day<=$2.5", Budget("day", 2_500_000)),
        ("month <= 0.000001 usd", Budget("month", 1)),
        ("total <= 0", Budget("total", 0)),
    ],
)
def test_a_budget_is_a_period_and_an_amount(text: str, budget: Budget) -> None:
    assert parse_budget(text) == budget


def test_a_budget_in_another_form_is_refused() -> None:
    with pytest.raises(UsageError, match="is not a budget"):
        parse_budget("week <= 1.2.3")


def test_a_period_ends_today_and_a_week_begins_on_monday() -> None:
    sunday = date(2026, 11, 1)
    assert span_of("day", sunday) == Span("2026-11-01", "2026-11-01")
    assert span_of("week", sunday) == Span("2026-10-26", "2026-11-01")
    assert span_of("month", sunday) == Span("2026-11-01", "2026-11-01")
    assert span_of("total", sunday) == Span()
    assert week_of("2026-11-01") == "2026-W44"
    assert week_of("2027-01-01") == "2026-W53"


def test_an_unknown_day_counts_only_in_the_total() -> None:
    assert Span().holds("")
    assert not Span("2026-11-01", "").holds("")
