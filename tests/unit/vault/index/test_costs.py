from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

from hypothesis import given
from hypothesis import strategies as st

import crucible.vault.index.costs as module
from crucible.core.prices import KINDS, TOKEN_KINDS
from crucible.core.prices.price_list import load_prices
from crucible.vault.index.costs import Cost, costs_of, select_priced, session_usage, total_cost, usage_costs
from crucible.vault.index.query import COST, PRICED, UNPRICED, SessionQuery, parse_condition
from crucible.vault.index.schema import TABLES, Row, View, encode_rows, shard_of
from tests.unit.vault.index.test_stats import listed, session

PRICES = load_prices()
NOW = datetime(2026, 11, 28, tzinfo=UTC)
EVERY = SessionQuery()


def usage(of: str, day: str, model: str, **counts: int) -> dict[str, object]:
    """A row of `usage`; without counts, only the sum is known."""
    known = dict.fromkeys(KINDS, 0) | {key: count for key, count in counts.items() if key in KINDS}
    tokens = sum(known[kind] for kind in TOKEN_KINDS)
    kinds: dict[str, object] = dict(known) if "tokens" not in counts else {}
    row = {"path": f"sessions/{of}.md", "day": day, "model": model, "over": counts.get("over", 0)}
    return {**row, "tokens": counts.get("tokens", tokens), **kinds}


def view(
    sessions: Iterable[Mapping[str, object]],
    used: Iterable[Mapping[str, object]],
    participants: Iterable[Mapping[str, object]] = (),
) -> View:
    sessions = list(sessions)
    shards = {row["path"]: shard_of(row["started"]) for row in sessions}  # type: ignore[arg-type]
    tables: dict[tuple[str, str], list[tuple[object, ...]]] = defaultdict(list)
    for table, rows in (("sessions", sessions), ("usage", used), ("participants", participants)):
        for row in rows:
            tables[table, shards[row["path"]]].append(tuple(row.get(column) for column in TABLES[table]))
    return View([*{*shards.values()}], lambda t, s: b"\n".join(encode_rows(t, tables[t, s])))


SESSIONS = [
    session("root", tokens=100),
    session("root-scout", parent="root", tokens=50, started="2026-12-01T00:10:00Z"),
    session("root-scout-deep", parent="root-scout", tokens=5, started=None),
    session("other", tokens=7),
]
USED = [
    usage("root", "2026-11-21", "claude-opus-4-8", input=1_000_000, output=100_000),
    usage("root", "2026-11-21", "gpt-5", input=1_000_000),
    usage("root-scout", "2026-12-01", "claude-haiku-4-5", cache_write=1_000_000, cache_write_1h=1_000_000),
    usage("root-scout-deep", "2026-12-01", "mystery-1", input=5),
    usage("other", "2026-11-30", "gemini-2.5-pro", input=1_000_000),
    usage("other", "2026-11-30", "gemini-2.5-pro", input=1_000_000, over=200_000),
]
OWN = {"root": 5_000_000 + 2_500_000 + 1_250_000, "root-scout": 1_250_000 + 2_000_000, "other": 1_250_000 + 2_500_000}


def rows_of(view: View, *names: str) -> list[Row]:
    return [row for row in view.rows("sessions") if row["id"] in names]


def test_a_session_costs_what_its_models_and_subagents_cost_each_at_its_own_price() -> None:
    found = view(SESSIONS, USED)
    costs = costs_of(found, PRICES, rows_of(found, "root", "other"))
    assert costs == {
        "sessions/root.md": Cost(OWN["root"] + OWN["root-scout"], {"mystery-1": 5}),
        "sessions/other.md": Cost(OWN["other"], {}),
    }


def test_with_children_a_note_costs_what_it_used_itself() -> None:
    found = view(SESSIONS, USED)
    costs = costs_of(found, PRICES, rows_of(found, "root", "root-scout", "root-scout-deep"), children=True)
    assert [(path, cost.micros) for path, cost in sorted(costs.items())] == [
        ("sessions/root-scout-deep.md", None),
        ("sessions/root-scout.md", OWN["root-scout"]),
        ("sessions/root.md", OWN["root"]),
    ]


def test_tokens_of_an_unknown_kind_and_of_a_subagent_without_a_note_are_unpriced() -> None:
    found = view(
        [session("a", tokens=10)],
        [usage("a", "2026-11-21", "claude-opus-4-8", tokens=10)],
        [listed("a", 30, "gone"), listed("a", 20, "gone"), listed("a", 7)],
    )
    expected = Cost(None, {"claude-opus-4-8 (kinds of tokens unknown)": 10, "unknown model": 37})
    assert costs_of(found, PRICES, rows_of(found, "a")) == {"sessions/a.md": expected}
    assert total_cost(usage_costs(found, PRICES, EVERY)) == expected


def test_a_list_can_be_ordered_and_filtered_by_cost() -> None:
    found = view(SESSIONS, USED)
    priced = select_priced(found, PRICES, SessionQuery(sort="-cost_usd_micros"), by_cost=True)
    assert [(row["id"], row[COST], row[UNPRICED]) for row in priced] == [
        ("root", OWN["root"] + OWN["root-scout"], "mystery-1"),
        ("other", OWN["other"], None),
    ]
    cheap = SessionQuery(where=(parse_condition("cost <= 3.75", NOW, PRICED),))
    assert [row["id"] for row in select_priced(found, PRICES, cheap, by_cost=True)] == ["other"]
    assert [row[COST] for row in select_priced(found, PRICES, EVERY, by_cost=False)] == [12_000_000, OWN["other"]]


def test_the_sum_over_all_sessions_counts_each_note_once() -> None:
    found = view(SESSIONS, USED)
    assert total_cost(usage_costs(found, PRICES, EVERY)) == Cost(sum(OWN.values()), {"mystery-1": 5})
    assert total_cost(usage_costs(found, PRICES, SessionQuery(children=True))).micros == sum(OWN.values())


_NAMES = ("a", "a-b", "a-b-c", "d", "e")
_sessions = st.lists(
    st.tuples(
        st.sampled_from(_NAMES),
        st.sampled_from([None, *_NAMES]),
        st.sampled_from([None, "2026-11-01T10:00:00Z", "2026-12-01T10:00:00Z"]),
        st.sampled_from([None, 5]),
    ),
    min_size=1,
    unique_by=lambda one: one[0],
)


@given(_sessions, st.lists(st.tuples(st.sampled_from(_NAMES), st.sampled_from([None, *_NAMES]), st.integers(1, 99))))
def test_few_sessions_cost_the_same_as_among_many(
    some: list[tuple[str, str | None, str | None, int | None]], subagents: list[tuple[str, str | None, int]]
) -> None:
    # A parent begins before its subagents, and is not its own.
    known = {name: started or "" for name, _, started, _ in some}
    rows = [
        session(
            name, parent=parent if parent and parent < name and known.get(parent, "") else None, started=at, tokens=n
        )
        for name, parent, at, n in some
        if not (parent and known.get(parent, "") > (at or "9"))
    ]
    names = {str(row["id"]) for row in rows}
    used = [usage(name, "2026-11-21", "claude-opus-4-8", input=len(name) * 1000) for name in sorted(names)]
    there = [listed(of, tokens, name) for of, name, tokens in subagents if of in names]
    found = view(rows, used, there)
    top = [row for row in found.rows("sessions") if row["parent"] not in names]
    one_by_one = {str(row["path"]): total_cost(session_usage(found, PRICES, row)) for row in top}
    most, module._MANY = module._MANY, 0
    try:
        together = costs_of(found, PRICES, top)
    finally:
        module._MANY = most
    assert together == one_by_one
