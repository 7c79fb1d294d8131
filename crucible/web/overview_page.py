"""The first page: activity, tokens and cost by day, project, model and agent, what is paused, what waits for the user."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from functools import cache
from itertools import islice
from typing import NamedTuple
from urllib.parse import urlencode

from markupsafe import Markup, escape

from crucible.core.prices import TOKEN_KINDS
from crucible.core.zones import in_zone
from crucible.memory.pending_questions import PendingItem, notes_with_items, read_items, without_repeats
from crucible.vault.index.costs import Cost, UsageCost, total_cost, usage_costs
from crucible.vault.index.query import COST, UNPRICED, SessionQuery
from crucible.vault.index.schema import Row, View, split_list
from crucible.vault.index.time_filters import time_of
from crucible.web.session_lines import session_line
from crucible.web.web_vault import SESSION_PAGES, WebVault, cost_note, show_cost

_DAYS = 30
_TOP = 8
_PAUSED, _WAITING, _RECENT = 6, 6, 6


class Group(NamedTuple):
    """What a project, a model or an agent used: tokens, and their list price; None if unpriced."""

    name: str
    tokens: int
    micros: int | None


class Totals(NamedTuple):
    """Sums over all sessions of a vault.  Subagents' usage counts once.  Days are in the user's time zone."""

    sessions: int
    days: Mapping[date, int]
    tokens: int
    cost: Cost
    tokens_of_day: Mapping[str, int]
    micros_of_day: Mapping[str, int]
    groups: Mapping[str, Sequence[Group]]
    paused: tuple[Row, ...]
    recent: tuple[Row, ...]


def overview_values(web: WebVault) -> Mapping[str, object]:
    """Return what the template shows, except for what waits for the user."""
    totals = web.remember("overview", lambda view: sum_up(view, web))
    today = in_zone(web.now(), web.zone).date()
    days = [(today - timedelta(days=back)).isoformat() for back in reversed(range(_DAYS))]
    span = f"on each of the last {_DAYS} days"
    cents = [(day, totals.micros_of_day.get(day, 0) // 10_000) for day in days]
    return {
        "totals": totals,
        "cost": show_cost(totals.cost),
        "cost_note": cost_note(totals.cost),
        "heat": heat_map(totals.days, today),
        "charts": [
            ("Tokens a day", column_chart([(day, totals.tokens_of_day.get(day, 0)) for day in days], f"Tokens {span}")),
            ("Cost a day, in cents", column_chart(cents, f"Cost in cents {span}")),
        ],
        "first_day": days[0],
        "last_day": days[-1],
        "groups": [(name, shares(_bars(name, found))) for name, found in totals.groups.items() if found],
        "paused": [session_line(row, web) for row in totals.paused],
        "recent": [session_line(row, web) for row in totals.recent],
        "waiting": None,
        "session_pages": SESSION_PAGES,
    }


def waiting_values(web: WebVault) -> Mapping[str, object]:
    """Return what waits for the user."""
    return {"waiting": list(islice(waiting_items(web), _WAITING))}


def sum_up(view: View, web: WebVault) -> Totals:
    """Sum up all sessions (newest first) and their usage."""
    days: Counter[date] = Counter()
    rows: dict[str, Row] = {}
    tops: list[Row] = []
    day_of = cache(lambda hour: _local_day(hour, web))

    def keep(row: Row) -> bool:
        """Note a session.  Costs and the page are computed from one pass over the sessions."""
        if row["archived"] is None:
            rows[str(row["path"])] = row
            if row["parent"] is None:
                tops.append(row)
        return True

    used = list(usage_costs(view, web.prices, SessionQuery(where=(keep,))))
    days.update(day for row in tops if (day := day_of(_hour_of(row))))
    micros_of_day: Counter[str] = Counter()
    for one in used:
        micros_of_day[one.day] += one.micros or 0
    paused = (row for row in tops if row["status"] == "paused")
    tokens = {path: cell if isinstance(cell := row["tokens"], int) else 0 for path, row in rows.items()}
    return Totals(
        len(tops),
        days,
        sum(tokens.values()),
        total_cost(used),
        _tokens_of_day(used, tokens, rows, day_of),
        micros_of_day,
        _groups(used, tokens, rows),
        tuple(islice(paused, _PAUSED)),
        _with_costs(tops[:_RECENT], used),
    )


def _with_costs(rows: Iterable[Row], used: Sequence[UsageCost]) -> tuple[Row, ...]:
    """Return rows with what they cost."""
    costs = [(row, total_cost(one for one in used if one.session == row["path"])) for row in rows]
    return tuple({**row, COST: cost.micros, UNPRICED: ", ".join(cost.unpriced) or None} for row, cost in costs)


def _tokens_of_day(
    used: Iterable[UsageCost],
    tokens: Mapping[str, int],
    rows: Mapping[str, Row],
    day_of: Callable[[str], date | None],
) -> Mapping[str, int]:
    """Return the tokens of each day, without cache reads; all on its first day for a note with only their sum."""
    found: Counter[str] = Counter()
    dated = set()
    for one in used:
        if one.counts and one.path in rows:
            dated.add(one.path)
            found[one.day] += sum(count for kind, count in one.counts.items() if kind in _COUNTED)
    for path, count in tokens.items():
        if path not in dated and (day := day_of(_hour_of(rows[path]))):
            found[day.isoformat()] += count
    return found


_COUNTED = frozenset(TOKEN_KINDS) - {"cache_read"}


class _Names(NamedTuple):
    """The groups that usage belongs to."""

    project: str
    model: str
    agent: str


def _names(row: Row, above: Row) -> _Names:
    """Return the groups that a note's usage belongs to; `above` is the session that it is part of."""
    agents = split_list(str(row.get("participants") or ""))
    return _Names(
        str(above.get("project") or row.get("project") or "(none)"),
        str(row.get("model") or "(unknown)"),
        agents[0].partition("@")[0] if agents else "(unknown)",
    )


def _groups(
    used: Iterable[UsageCost], tokens: Mapping[str, int], rows: Mapping[str, Row]
) -> Mapping[str, Sequence[Group]]:
    """Return the largest projects, models and agents."""
    counts: Counter[_Names] = Counter()
    micros: Counter[_Names] = Counter()
    for path, count in tokens.items():
        counts[_names(rows[path], {})] += count
    for one in used:
        if one.micros is not None:
            names = _names(rows.get(one.path, {}), rows.get(one.session, {}))
            micros[names._replace(model=one.model) if one.model else names] += one.micros
    return {group: _largest(_sums(counts, micros, at)) for at, group in enumerate(_Names._fields)}


def _sums(counts: Mapping[_Names, int], micros: Mapping[_Names, int], at: int) -> Iterator[Group]:
    """Add up by the name at an index."""
    tokens_of: Counter[str] = Counter()
    micros_of: Counter[str] = Counter()
    for names, count in counts.items():
        tokens_of[names[at]] += count
    for names, price in micros.items():
        micros_of[names[at]] += price
    for name in {**tokens_of, **micros_of}:
        yield Group(name, tokens_of[name], micros_of.get(name))


def _largest(groups: Iterable[Group]) -> Sequence[Group]:
    return sorted((one for one in groups if one.tokens or one.micros), key=lambda one: (-one.tokens, one.name))[:_TOP]


def _hour_of(row: Row) -> str:
    return str(row["started"] or "")[:13]


def _local_day(hour: str, web: WebVault) -> date | None:
    """Return the day, in the user's time zone, of an hour in UTC such as `2026-11-21T20`."""
    moment: datetime | None = time_of(f"{hour}:00:00Z") if hour else None
    return in_zone(moment, web.zone).date() if moment else None


def _bars(kind: str, groups: Iterable[Group]) -> Iterable[Bar]:
    for group in groups:
        is_name = not group.name.startswith("(")
        price = show_cost(Cost(group.micros, {}))
        href = f"/sessions?{urlencode({kind: group.name})}" if is_name else ""
        yield Bar(group.name, group.tokens, f"{group.tokens:,}", price or "unpriced", href)


def waiting_items(web: WebVault, since: str = "") -> Iterable[PendingItem]:
    """Yield what waits for the user, newest session first; `since` skips what older sessions left open."""
    notes = web.remember("waiting", lambda view: [*notes_with_items(view)])
    found = (one for one in notes if not one.ended or one.ended >= since)
    items = read_items(web.vault, found, lambda _: None)
    return without_repeats(item for item in items if not item.answered)


_CELL = 13
_WEEKS = 53
_LEFT, _TOP = 30, 18
_SHADES = 4


def heat_map(counts: Mapping[date, int], today: date) -> Markup:
    """Draw the sessions of each day of the last year, one column per week."""
    first = today - timedelta(days=today.weekday() + 7 * (_WEEKS - 1))
    days = [first + timedelta(days=at) for at in range((today - first).days + 1)]
    largest = max((counts.get(day, 0) for day in days), default=0)
    total = sum(counts.get(day, 0) for day in days)
    cells = (_cell(at, day, counts.get(day, 0), largest) for at, day in enumerate(days))
    width, height = _LEFT + _WEEKS * _CELL, _TOP + 7 * _CELL
    label = f"{total:,} sessions in the last year"
    return Markup(  # noqa: S704  every text is escaped
        f'<svg class=heat viewBox="0 0 {width} {height}" preserveAspectRatio="xMaxYMid slice" role=img aria-label="{label}">{_month_names(days)}{"".join(cells)}</svg>'
    )


def _cell(at: int, day: date, count: int, largest: int) -> str:
    x, y = _LEFT + at // 7 * _CELL, _TOP + at % 7 * _CELL
    shade = 0 if not count else 1 + min(_SHADES - 1, _SHADES * (count - 1) // max(largest, 1))
    title = f"<title>{day.isoformat()}: {count}</title>" if count else ""
    return f"<rect class=h{shade} x={x} y={y} width=11 height=11 rx=2>{title}</rect>"


def _month_names(days: Sequence[date]) -> str:
    months = [
        f"<text x={_LEFT + at // 7 * _CELL} y=11>{day:%b}</text>"
        for at, day in enumerate(days)
        if at % 7 == 0 and day.day <= 7
    ]
    rows = [f"<text x=0 y={_TOP + at * _CELL + 10}>{name}</text>" for at, name in ((0, "Mon"), (2, "Wed"), (4, "Fri"))]
    return "".join((*months, *rows))


class Bar(NamedTuple):
    """A bar: its name, value, the value as text, a text beside it, and the address that it leads to."""

    name: str
    value: int
    text: str
    more: str = ""
    href: str = ""


def column_chart(values: Sequence[tuple[str, int]], label: str) -> Markup:
    """Draw a column for each value; names are shown on hover, the first and the last below."""
    largest = max((value for _, value in values), default=0)
    if not largest:
        return Markup()
    step = 600 / len(values)
    bars = []
    for at, (name, value) in enumerate(values):
        tall = max(1, round(100 * value / largest)) if value else 0
        title = f"<title>{escape(name)}: {value:,}</title>"
        bars.append(
            f"<rect x={at * step:.1f} y={100 - tall} width={max(1.0, step - 2):.1f} height={tall} rx=1>{title}</rect>"
        )
    return Markup(  # noqa: S704  every text is escaped
        f'<svg class=columns viewBox="0 0 600 102" preserveAspectRatio=none role=img aria-label="{escape(label)}">'
        f"{''.join(bars)}</svg>"
    )


def shares(bars: Iterable[Bar]) -> list[tuple[Bar, int]]:
    """Return bars with their lengths in percent of the largest."""
    found = list(bars)
    largest = max((bar.value for bar in found), default=0) or 1
    return [(bar, max(1, round(100 * bar.value / largest)) if bar.value else 0) for bar in found]
