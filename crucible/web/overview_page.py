"""The first page: activity, tokens by day, project, model and agent, what is paused, and what waits for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from crucible.core.zones import in_zone
from crucible.memory.pending_questions import PendingItem, notes_with_items, read_items, without_repeats
from crucible.vault.index.schema import Row, View, split_list
from crucible.vault.index.time_filters import time_of
from crucible.web.charts import Bar, column_chart, heat_map, shares
from crucible.web.session_list import SessionLine, session_line
from crucible.web.web_vault import SESSION_PAGES, WebVault

_DAYS = 30
_TOP = 8
_PAUSED, _WAITING, _RECENT = 6, 6, 6


class Totals(NamedTuple):
    """Sums over all sessions of a vault.  Subagents count towards tokens, by their own sessions, once."""

    sessions: int
    days: Mapping[date, int]
    tokens: int
    tokens_of_day: Mapping[date, int]
    tokens_of: Mapping[str, Mapping[str, int]]
    paused: tuple[Row, ...]
    recent: tuple[Row, ...]


def overview_values(web: WebVault) -> Mapping[str, object]:
    """Return what the template shows."""
    totals = web.remember("overview", lambda view: sum_up(view.rows("sessions"), web))
    today = in_zone(web.now(), web.zone).date()
    days = [today - timedelta(days=back) for back in reversed(range(_DAYS))]
    columns = [(day.isoformat(), totals.tokens_of_day.get(day, 0)) for day in days]
    return {
        "totals": totals,
        "heat": heat_map(totals.days, today),
        "columns": column_chart(columns, f"Tokens on each of the last {_DAYS} days"),
        "first_day": days[0],
        "last_day": days[-1],
        "groups": [(name, shares(_bars(name, counts))) for name, counts in totals.tokens_of.items() if counts],
        "paused": _lines(totals.paused, web),
        "recent": _lines(totals.recent, web),
        "waiting": list(islice(waiting_items(web), _WAITING)),
        "session_pages": SESSION_PAGES,
        "cost": "",
    }


def _lines(rows: Iterable[Row], web: WebVault) -> list[SessionLine]:
    return [session_line(row, web) for row in rows]


def sum_up(rows: Iterable[Row], web: WebVault) -> Totals:
    """Sum up all rows, newest first."""
    days: Counter[date] = Counter()
    day_tokens: Counter[date] = Counter()
    groups: dict[str, Counter[str]] = {"project": Counter(), "model": Counter(), "agent": Counter()}
    paused: list[Row] = []
    recent: list[Row] = []
    count = 0
    local: dict[str, date | None] = {}
    for row in rows:
        if row["archived"] is not None:
            continue
        hour = str(row["started"] or "")[:13]
        if hour not in local:
            local[hour] = _local_day(hour, web)
        day, tokens = local[hour], row["tokens"] if isinstance(row["tokens"], int) else 0
        _count_tokens(row, tokens, groups)
        if day:
            day_tokens[day] += tokens
        if row["parent"] is None:
            count += 1
            if day:
                days[day] += 1
            if len(recent) < _RECENT:
                recent.append(row)
            if row["status"] == "paused" and len(paused) < _PAUSED:
                paused.append(row)
    tokens_of = {name: dict(counts.most_common(_TOP)) for name, counts in groups.items()}
    return Totals(count, days, day_tokens.total(), day_tokens, tokens_of, tuple(paused), tuple(recent))


def _count_tokens(row: Row, tokens: int, groups: Mapping[str, Counter[str]]) -> None:
    if tokens:
        groups["project"][str(row["project"] or "(none)")] += tokens
        groups["model"][str(row["model"] or "(unknown)")] += tokens
        agents = split_list(str(row["participants"] or ""))
        groups["agent"][agents[0].partition("@")[0] if agents else "(unknown)"] += tokens


def _local_day(hour: str, web: WebVault) -> date | None:
    """Return the user's day of an hour in UTC, such as `2026-11-21T20`."""
    moment: datetime | None = time_of(f"{hour}:00:00Z") if hour else None
    return in_zone(moment, web.zone).date() if moment else None


def _bars(group: str, counts: Mapping[str, int]) -> Iterable[Bar]:
    for name, tokens in counts.items():
        is_name = not name.startswith("(")
        yield Bar(name, tokens, f"{tokens:,}", f"/sessions?{urlencode({group: name})}" if is_name else "")


def waiting_items(web: WebVault, since: str = "") -> Iterable[PendingItem]:
    """Yield what waits for the user, newest session first; `since` leaves out what older sessions have left behind."""

    def places(view: View) -> list[object]:
        return [one for one in notes_with_items(view) if not one.ended or one.ended >= since]

    found = web.ask(places)
    items = read_items(web.vault, found, lambda _: None)  # type: ignore[arg-type]
    return without_repeats(item for item in items if not item.answered)
