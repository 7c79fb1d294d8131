"""Compute what sessions cost by list price: each row of usage in the index, with its price.

A subagent's usage belongs to its session and counts once.  A model without a price is reported as unpriced and never counts as 0.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta

from crucible.core.named_tuples import NamedTuple
from crucible.core.prices import KINDS
from crucible.core.prices.price_list import PriceList
from crucible.vault.index.query import COST, UNPRICED, SessionQuery, select
from crucible.vault.index.schema import UNDATED, Row, View, join_list, shard_of
from crucible.vault.index.subagent_tree import listed_subagents, read_sessions, roots_of

UNKNOWN_MODEL = "unknown model"


class UsageCost(NamedTuple):
    """What one model used on one day in one note, and its list price in micro-dollars; None if unpriced.

    `session` is the path of the session that the note at `path` belongs to.  `day` is like `2026-11-21`, "" if unknown.
    `counts` is empty if the note only has the sum `tokens`.
    """

    session: str
    path: str
    day: str
    model: str
    tokens: int
    counts: Mapping[str, int]
    micros: int | None


class Cost(NamedTuple):
    """A sum of list prices in micro-dollars; None if nothing has a price.

    `unpriced` has the tokens that are not in the sum, by model.
    """

    micros: int | None
    unpriced: Mapping[str, int]


NO_COST = Cost(None, {})


def total_cost(used: Iterable[UsageCost]) -> Cost:
    """Add up costs."""
    micros: int | None = None
    unpriced: Counter[str] = Counter()
    for one in used:
        if one.micros is None:
            unpriced[_name_of(one)] += one.tokens
        else:
            micros = (micros or 0) + one.micros
    return Cost(micros, unpriced)


def _name_of(one: UsageCost) -> str:
    if one.model and not one.counts:
        return f"{one.model} (kinds of tokens unknown)"
    return one.model or UNKNOWN_MODEL


def usage_costs(view: View, prices: PriceList, query: SessionQuery) -> Iterator[UsageCost]:
    """Yield the usage of the sessions that a query selects, with all of their subagents.

    With `query.children`, subagents' notes are separate sessions.
    """
    read = read_sessions(view, query, ("id",))
    roots = {} if query.children else roots_of(read)
    matched = {path for path, *_ in read.matched if roots.get(path, path) == path}
    for row in view.rows("usage"):
        session = roots.get(str(row["path"]), str(row["path"]))
        if session in matched:
            yield _priced(row, session, prices)
    for path, _, tokens in listed_subagents(view, read):
        session = roots.get(path, path)
        if session in matched:
            yield UsageCost(session, path, "", "", tokens, {}, None)


def usage_in(view: View, prices: PriceList, days: Sequence[str]) -> Iterator[UsageCost]:
    """Yield the usage on some days, of sessions that began in their months or in the month before."""
    if not days:
        return
    before = (date.fromisoformat(min(days)).replace(day=1) - timedelta(days=1)).isoformat()[:7]
    shards = [shard for shard in view.shards if shard == UNDATED or shard >= before]
    for day in days:
        for row in view.rows("usage", shards, [day]):
            if row["day"] == day:
                yield _priced(row, str(row["path"]), prices)


def costs_of(view: View, prices: PriceList, rows: Sequence[Row], *, children: bool = False) -> dict[str, Cost]:
    """Return the cost of each of these sessions, by path; with `children`, without their subagents."""
    if len(rows) > _MANY:
        paths = {row["path"] for row in rows}
        query = SessionQuery(children=children, archived=True, where=(lambda row: row["path"] in paths,))
        used: Iterable[UsageCost] = usage_costs(view, prices, query)
    else:
        used = (one for row in rows for one in session_usage(view, prices, row, children=children))
    by_session: dict[str, list[UsageCost]] = {}
    for one in used:
        by_session.setdefault(one.session, []).append(one)
    return {path: total_cost(found) for path, found in by_session.items()}


def select_priced(view: View, prices: PriceList, query: SessionQuery, *, by_cost: bool) -> list[Row]:
    """Return the matching rows with their cost, as `select` does; `by_cost` if conditions or the order depend on it."""
    if not by_cost:
        rows = select(view, query)
        costs = costs_of(view, prices, rows, children=query.children)
        for row in rows:
            _add_cost(row, costs)
        return rows
    by_session: dict[str, list[UsageCost]] = {}
    for one in usage_costs(view, prices, SessionQuery(children=query.children, archived=True)):
        by_session.setdefault(one.session, []).append(one)
    costs = {path: total_cost(found) for path, found in by_session.items()}
    # The first check adds the cost for the others.
    return select(view, query._replace(where=(lambda row: _add_cost(row, costs), *query.where)))


def _add_cost(row: Row, costs: Mapping[str, Cost]) -> bool:
    cost = costs.get(str(row["path"]), NO_COST)
    row[COST], row[UNPRICED] = cost.micros, join_list(sorted(cost.unpriced)) or None
    return True


_MANY = 64
"""From this number of sessions on, reading all usage is faster than a search for each session."""


def session_usage(view: View, prices: PriceList, row: Row, *, children: bool = False) -> Iterator[UsageCost]:
    """Yield the usage of one session, a row of `sessions`, and of its subagents, without reading other sessions."""
    notes = [row] if children else [*_with_subagents(view, row)]
    for note in notes:
        for found in _rows_of(view, "usage", note):
            yield _priced(found, str(row["path"]), prices)
    yield from _only_listed(view, row, notes)


def _only_listed(view: View, row: Row, notes: Sequence[Row]) -> Iterator[UsageCost]:
    """Yield subagents that are listed in a session's notes and have no note with tokens."""
    named: dict[tuple[str, str], int] = {}
    for note in notes:
        for found in _rows_of(view, "participants", note):
            tokens, name = found["tokens"], str(found["session"] or "")
            if found["role"] != "subagent" or not isinstance(tokens, int) or (name and _has_tokens(view, name)):
                continue
            key = (str(note["path"]), name or f"\0{len(named)}")
            named[key] = max(tokens, named.get(key, 0))
    for (path, _), tokens in named.items():
        yield UsageCost(str(row["path"]), path, "", "", tokens, {}, None)


def _has_tokens(view: View, name: str) -> bool:
    rows = view.rows("sessions", needles=[name] if name.isascii() else ())
    return any(row["id"] == name and row["tokens"] is not None for row in rows)


def _rows_of(view: View, table: str, note: Row) -> Iterator[Row]:
    path, shard = str(note["path"]), shard_of(_text(note["started"]))
    rows = view.rows(table, [shard], [path] if path.isascii() and '"' not in path else ())
    return (row for row in rows if row["path"] == path)


def _with_subagents(view: View, row: Row) -> Iterator[Row]:
    """Yield a session and the notes below it.  They begin later, or at an unknown time."""
    first = shard_of(_text(row["started"]))
    shards = [shard for shard in view.shards if shard == UNDATED or first in (UNDATED, "") or shard >= first]
    met, waiting = {row["path"]}, [row]
    while waiting:
        above = waiting.pop()
        yield above
        name = str(above["id"])
        for found in view.rows("sessions", shards, [name] if name.isascii() else ()):
            if found["parent"] == name and found["path"] not in met:
                met.add(found["path"])
                waiting.append(found)


def _text(cell: object) -> str | None:
    return cell if isinstance(cell, str) else None


def _priced(row: Row, session: str, prices: PriceList) -> UsageCost:
    counts = {kind: count for kind in KINDS if isinstance(count := row[kind], int)}
    model, day, over = str(row["model"] or ""), str(row["day"] or ""), row["over"]
    micros = prices.cost(model, day, counts, over if isinstance(over, int) else 0) if counts else None
    tokens = row["tokens"]
    return UsageCost(session, str(row["path"]), day, model, tokens if isinstance(tokens, int) else 0, counts, micros)
