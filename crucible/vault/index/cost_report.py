"""What sessions cost in groups (by the day, week or month of use, by project, model or agent) and against a budget."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta

from crucible.core.errors import UsageError
from crucible.core.named_tuples import NamedTuple
from crucible.core.prices import KINDS
from crucible.core.prices.price_list import PriceList
from crucible.vault.index.costs import UsageCost, total_cost, usage_costs
from crucible.vault.index.query import SessionQuery
from crucible.vault.index.schema import View
from crucible.vault.index.stats import agents_in

GROUPINGS = ("day", "week", "month", "project", "model", "agent")
PERIODS = ("day", "week", "month", "total")
_BUDGET = r"\s*(\w+)\s*<=\s*\$?\s*(\d{1,9})(?:\.(\d{1,6}))?\s*(?:USD|\$)?\s*"


class CostFigures(NamedTuple):
    """What a group used and cost.  `name` is None for usage without one, and for notes in which several agents worked.

    `sessions` counts the sessions with usage in the group.  `tokens` is the sum of all kinds.
    """

    name: str | None
    sessions: int
    tokens: int
    input: int
    output: int
    cache_write: int
    cache_write_1h: int
    cache_read: int
    web_search: int
    cost_usd_micros: int | None
    unpriced: Mapping[str, int]


class CostReport(NamedTuple):
    """The groups (times: newest first; others: most expensive first) and the total."""

    by: str | None
    groups: tuple[CostFigures, ...]
    total: CostFigures


class Span(NamedTuple):
    """Days of use such as `2026-11-21`, first and last; "" for no limit."""

    first: str = ""
    last: str = ""

    def holds(self, day: str) -> bool:
        """True if a day is in the span; an unknown day only if there are no limits."""
        return self == Span() or (day != "" and self.first <= day and (not self.last or day <= self.last))


def cost_report(view: View, prices: PriceList, query: SessionQuery, span: Span, by: str | None = None) -> CostReport:
    """Return what the selected sessions cost in a span of days; `by` is one of `GROUPINGS`."""
    used = [one for one in usage_costs(view, prices, query) if span.holds(one.day)]
    named = _naming(view, by)
    groups: dict[str | None, list[UsageCost]] = {}
    for one in used if by else ():
        groups.setdefault(named(one), []).append(one)
    figures = [_figures(name, some) for name, some in groups.items()]
    return CostReport(by, tuple(_ordered(figures, by)), _figures(None, used))


def week_of(day: str) -> str:
    """Return the ISO week of a day, such as `2026-W47`; it begins on Monday."""
    year, week, _ = date.fromisoformat(day).isocalendar()
    return f"{year}-W{week:02}"


def _naming(view: View, by: str | None) -> Callable[[UsageCost], str | None]:
    if by == "project":
        projects = {str(row["path"]): row["project"] for row in view.rows("sessions")}
        return lambda one: str(projects.get(one.session) or "") or None
    if by == "agent":
        agents = _agents(view)
        return lambda one: agents.get(one.path)
    return {
        "day": lambda one: one.day or None,
        "week": lambda one: _week(one.day),
        "month": lambda one: one.day[:7] or None,
        "model": lambda one: one.model or None,
    }.get(by or "", lambda _: None)


def _week(day: str) -> str | None:
    try:
        return week_of(day)
    except ValueError:  # users may write anything as a day
        return None


def _agents(view: View) -> dict[str, str]:
    """Return the agent of each note in which one agent worked, without versions."""
    found = {str(row["path"]): agents_in(row["agents"]) for row in view.rows("sessions")}
    several = {path for path, names in found.items() if len(names) > 1}
    # A subagent's note names the client beside the subagent; its phases say who worked.
    worked: dict[str, set[str]] = {path: set() for path in several}
    for row in view.rows("phases") if several else ():
        if row["path"] in several and row["agent"]:
            worked[str(row["path"])].add(str(row["agent"]).partition("@")[0].lower())
    named = {path: names[0] for path, names in found.items() if len(names) == 1}
    return named | {path: names.pop() for path, names in worked.items() if len(names) == 1}


def _figures(name: str | None, used: Sequence[UsageCost]) -> CostFigures:
    counts: Counter[str] = Counter()
    for one in used:
        counts.update(one.counts)
    cost = total_cost(used)
    return CostFigures(
        name=name,
        sessions=len({one.session for one in used}),
        tokens=sum(one.tokens for one in used),
        cost_usd_micros=cost.micros,
        unpriced=dict(cost.unpriced),
        **{kind: counts[kind] for kind in KINDS},
    )


def _ordered(figures: Iterable[CostFigures], by: str | None) -> list[CostFigures]:
    if by in ("day", "week", "month"):
        return sorted(figures, key=lambda group: group.name or "", reverse=True)
    return sorted(figures, key=lambda group: (-(group.cost_usd_micros or 0), group.name is None, group.name or ""))


# --- budgets ---------------------------------------------------------------------------------------------------------


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
        """The cost in micro-dollars, without unpriced models."""
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
    """Return the days of the current period, from its first day until today; a week begins on Monday."""
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
