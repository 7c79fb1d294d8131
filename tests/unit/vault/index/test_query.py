"""Filters, order, and how much of the index a query reads."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import AmbiguousSession, SessionNotFound, UsageError
from crucible.vault.index.query import (
    Columns,
    SessionQuery,
    check_column,
    find_row,
    matching,
    select,
    select_rows,
    unreadable_rows,
)
from crucible.vault.index.schema import TABLES, UNDATED, Row, View, encode_rows, join_list, shard_of, split_list
from crucible.vault.index.time_filters import utc
from tests.cases import for_each

BEGAN = datetime(2026, 11, 21, 20, 26, 47, tzinfo=UTC)


def row(session_id: str, **cells: str | int | None) -> Row:
    """A row of `sessions`, as a tidy note gives it."""
    counts = dict.fromkeys(("phases", "tool_calls", "failures", "decisions", "errors", "users", "problems"), 0)
    known = {"id": session_id, "path": f"sessions/{session_id}.md", "title": ""}
    return {**dict.fromkeys(TABLES["sessions"]), **counts, **known, **cells}


class Shelf:
    """Rows in shards, as the index keeps them, and which shards somebody read."""

    def __init__(self, rows: list[Row], others: Mapping[str, list[Row]] | None = None) -> None:
        self.read: list[tuple[str, str]] = []
        self._lines: dict[tuple[str, str], bytes] = {}
        of_path = {one["path"]: _shard(one) for one in rows}
        newest = sorted(sorted(rows, key=lambda one: str(one["id"])), key=_started, reverse=True)
        for shard in {*of_path.values()}:
            self._keep("sessions", shard, [one for one in newest if _shard(one) == shard])
            for table, held in (others or {}).items():
                self._keep(table, shard, [one for one in held if of_path[one["path"]] == shard])
        self.view = View(sorted({*of_path.values()}), self._read)

    def _keep(self, table: str, shard: str, rows: list[Row]) -> None:
        self._lines[table, shard] = b"\n".join(encode_rows(table, [tuple(one.values()) for one in rows]))

    def _read(self, table: str, shard: str) -> bytes:
        self.read.append((table, shard))
        return self._lines[table, shard]


def _started(one: Row) -> str:
    return str(one["started"] or "")


def _shard(one: Row) -> str:
    return shard_of(_started(one))


ROW = row(
    "2026-11-21-a",
    started=utc(BEGAN),
    status="completed",
    project="Shop",
    agents="claude-code@2.1.197, codex, reviewer@3",
    channels="dev, ops, qa",
    models="claude-haiku-4, claude-opus-4-8",
    parent="parent-session",
)


@for_each(
    ("query", "wanted"),
    [
        (SessionQuery(), False),
        (SessionQuery(children=True), True),
        (SessionQuery(children=True, status="completed"), True),
        (SessionQuery(children=True, status="active"), False),
        (SessionQuery(children=True, project="shop"), True),
        (SessionQuery(children=True, project="sho"), False),
        (SessionQuery(children=True, agent="claude-code"), True),
        (SessionQuery(children=True, agent="@Claude-Code@2.1.197"), True),
        (SessionQuery(children=True, agent="claude-code@2.1"), False),
        (SessionQuery(children=True, agent="claude"), False),
        (SessionQuery(children=True, agent="reviewer"), True),
        (SessionQuery(children=True, agent="general-purpose"), False),
        (SessionQuery(children=True, channel="dev"), True),
        (SessionQuery(children=True, channel="#qa"), True),
        (SessionQuery(children=True, channel="ops"), True),
        (SessionQuery(children=True, channel="de"), False),
        (SessionQuery(children=True, model="claude-opus-4-8"), True),
        (SessionQuery(children=True, model="Opus"), True),
        (SessionQuery(children=True, model="claude-opus-4"), True),
        (SessionQuery(children=True, model="haiku"), True),
        (SessionQuery(children=True, model="opus-8"), False),
        (SessionQuery(children=True, model="op"), False),
        (SessionQuery(children=True, since=BEGAN), True),
        (SessionQuery(children=True, since=BEGAN + timedelta(seconds=1)), False),
        (SessionQuery(children=True, until=BEGAN), True),
        (SessionQuery(children=True, until=BEGAN - timedelta(seconds=1)), False),
        (SessionQuery(children=True, status="completed", channel="nope"), False),
        (SessionQuery(children=True, where=(lambda one: one["phases"] == 0, bool)), True),
        (SessionQuery(children=True, where=(bool, lambda one: one["phases"] != 0)), False),
    ],
)
def test_a_query_wants_what_it_says(query: SessionQuery, wanted: bool) -> None:
    assert bool(select(Shelf([ROW]).view, query)) is wanted


def test_a_session_without_a_start_is_in_no_span_of_time() -> None:
    view = Shelf([row("x")]).view
    assert select(view, SessionQuery())
    assert not select(view, SessionQuery(since=datetime(1, 1, 1, tzinfo=UTC)))
    assert not select(view, SessionQuery(until=datetime(9999, 12, 31, tzinfo=UTC)))


def test_odd_names_are_found_as_plain_ones_are() -> None:
    """What stands escaped or in another case in the file must not be looked for as plain bytes."""
    odd = row(
        "x",
        project="\u212aiosk \u00c4",  # a Kelvin sign, which is a k in lower case
        status="in Progress",
        agents=join_list(['a, "b"', "\u00fcber"]),
        channels=join_list(["q a"]),
        models=join_list(["Model, X".lower()]),
    )
    view = Shelf([odd]).view
    for query in (
        SessionQuery(project="kiosk \u00e4"),
        SessionQuery(status="IN progress"),
        SessionQuery(status="in progress"),
        SessionQuery(agent='A, "B"'),
        SessionQuery(agent="\u00dcBER"),
        SessionQuery(channel="#Q A"),
        SessionQuery(model="Model, X"),
    ):
        assert select(view, query), query
    assert select(Shelf([row("x", project="\u212aik\u212a")]).view, SessionQuery(project="kikk"))


DATED = [
    row("none"),
    row("b", started="2026-01-01T00:00:00Z", tokens=5, title="Zebra"),
    row("new", started="2026-02-01T00:00:00Z", tokens=40, title="ant"),
    row("a", started="2026-01-01T00:00:00Z", title="Bee"),
    row("old", started="2025-02-01T00:00:00Z", tokens=5),
]


def ids(rows: list[Row]) -> list[str]:
    return [str(one["id"]) for one in rows]


def test_the_newest_comes_first_then_by_id_and_the_unknown_last() -> None:
    view = Shelf(DATED).view
    assert ids(select(view, SessionQuery())) == ["new", "a", "b", "old", "none"]
    assert ids(select(view, SessionQuery(limit=2))) == ["new", "a"]
    assert select(view, SessionQuery(limit=0)) == []


@pytest.mark.parametrize(
    ("sort", "found"),
    [
        ("tokens", ["b", "old", "new", "a", "none"]),
        ("-tokens", ["new", "b", "old", "a", "none"]),
        ("title", ["new", "a", "b", "old", "none"]),
        ("-title", ["b", "a", "new", "old", "none"]),
        ("started", ["old", "a", "b", "new", "none"]),
        ("id", ["a", "b", "new", "none", "old"]),
        ("parent", ["new", "a", "b", "old", "none"]),
    ],
)
def test_equal_rows_stay_newest_first_and_the_unknown_come_last_either_way(sort: str, found: list[str]) -> None:
    view = Shelf(DATED).view
    assert ids(select(view, SessionQuery(sort=sort))) == found
    assert ids(select(view, SessionQuery(sort=sort, limit=2))) == found[:2]


def test_an_unknown_column_is_named_with_the_near_ones() -> None:
    with pytest.raises(UsageError, match="did you mean tokens"):
        check_column("token_used")
    with pytest.raises(UsageError, match="no column 'zzz'") as caught:
        select(Shelf(DATED).view, SessionQuery(sort="-zzz"))
    assert "tokens" in caught.value.hint
    assert check_column("Kind", Columns("callouts", TABLES["callouts"])) == "kind"


def test_a_limit_reads_no_shard_beyond_the_last_row() -> None:
    shelf = Shelf(DATED)
    assert len(select(shelf.view, SessionQuery(limit=3))) == 3
    assert shelf.read == [("sessions", "2026-02"), ("sessions", "2026-01")]


def test_a_limit_in_a_long_month_is_a_beginning_of_it() -> None:
    many = Shelf([row(f"{n:05}", started="2026-01-01T00:00:00Z") for n in range(5000)])
    found = matching(many.view, SessionQuery())
    assert ids([next(found), next(found)]) == ["00000", "00001"]
    assert ids(select(many.view, SessionQuery(limit=3))) == ["00000", "00001", "00002"]


def test_a_span_reads_only_its_months() -> None:
    shelf = Shelf(DATED)
    query = SessionQuery(since=datetime(2026, 1, 1, tzinfo=UTC), until=datetime(2026, 1, 31, 23, 59, 59, tzinfo=UTC))
    assert ids(select(shelf.view, query)) == ["a", "b"]
    assert shelf.read == [("sessions", "2026-01")]


NAMES = st.sampled_from(["a", "b", "claude-code@2", "Shop", "k", "x y"])
ROWS = st.lists(
    st.builds(
        lambda n, started, status, project, agents, tokens: row(
            f"s{n}",
            started=utc(started) if started else None,
            status=status,
            project=project,
            agents=join_list(agents) or None,
            tokens=tokens,
        ),
        st.integers(0, 10_000),
        st.none() | st.integers(0, 120).map(lambda days: datetime(2025, 11, 1, tzinfo=UTC) + timedelta(days)),
        st.sampled_from([None, "failed", "active", "Failed again"]),
        st.none() | NAMES,
        st.lists(NAMES.map(str.lower), max_size=2),
        st.none() | st.integers(0, 9),
    ),
    max_size=12,
    unique_by=lambda one: one["id"],
)


@given(ROWS, st.none() | st.just("failed"), st.none() | NAMES, st.none() | NAMES, st.none() | st.integers(0, 5))
def test_the_index_finds_what_reading_every_row_finds(
    rows: list[Row], status: str | None, agent: str | None, project: str | None, limit: int | None
) -> None:
    found = select(Shelf(rows).view, SessionQuery(status, agent, project=project, limit=limit))
    plain = [
        one
        for one in rows
        if (status is None or one["status"] == status)
        and (project is None or str(one["project"] or "").lower() == project.lower())
        and (agent is None or agent.lower() in _names(one))
    ]
    plain = sorted(sorted(plain, key=lambda one: str(one["id"])), key=_started, reverse=True)
    assert ids(found) == ids(plain)[:limit]


def _names(one: Row) -> set[str]:
    agents = split_list(str(one["agents"] or ""))
    return {name for agent in agents for name in (agent, agent.partition("@")[0])}


@given(
    st.datetimes(timezones=st.timezones()),
    st.datetimes(timezones=st.timezones()),
)
def test_since_and_until_divide_all_sessions(started: datetime, edge: datetime) -> None:
    edge = edge.replace(microsecond=0)
    view = Shelf([row("x", started=utc(started))]).view
    later = bool(select(view, SessionQuery(since=edge)))
    assert later or select(view, SessionQuery(until=edge))
    if 1 < started.year < 9999 and 1 < edge.year < 9999:
        assert later == (started.replace(microsecond=0) >= edge)


def link(session_id: str, line: int, target: str) -> Row:
    path = f"sessions/{session_id}.md"
    return {**dict.fromkeys(TABLES["links"]), "path": path, "line": line, "kind": "link", "target": target}


LINKS = [link("a", 3, "x"), link("b", 9, "y"), link("b", 10, "x"), link("new", 1, "z"), link("none", 2, "x")]


def targets(rows: list[Row]) -> list[str]:
    return [f"{one['path']}:{one['line']}".removeprefix("sessions/").replace(".md", "") for one in rows]


def test_rows_of_another_table_are_chosen_by_their_session() -> None:
    shelf = Shelf(DATED, {"links": LINKS})
    assert targets(select_rows(shelf.view, "links", SessionQuery())) == [
        "new:1",
        "a:3",
        "b:9",
        "b:10",
        "none:2",
    ]
    january = SessionQuery(until=datetime(2026, 1, 15, tzinfo=UTC))
    assert targets(select_rows(shelf.view, "links", january)) == ["a:3", "b:9", "b:10"]
    ordered = SessionQuery(where=(lambda one: one["target"] == "x",), sort="-line", limit=2)
    assert targets(select_rows(shelf.view, "links", ordered)) == ["b:10", "a:3"]


def test_one_sessions_rows_come_from_its_shard_alone() -> None:
    shelf = Shelf(DATED, {"links": LINKS})
    session = find_row(shelf.view, "b")
    shelf.read.clear()
    assert targets(select_rows(shelf.view, "links", SessionQuery(), session)) == ["b:9", "b:10"]
    assert shelf.read == [("links", "2026-01")]
    undated = find_row(shelf.view, "none")
    assert targets(select_rows(shelf.view, "links", SessionQuery(), undated)) == ["none:2"]
    assert shelf.read[-1] == ("links", UNDATED)
    assert select_rows(shelf.view, "links", SessionQuery(since=BEGAN), session) == []


def test_a_session_is_found_by_its_id_or_a_beginning_that_no_other_has() -> None:
    view = Shelf([row("Ab-1"), row("Ab-1-sub", parent="Ab-1"), row("Ab-2"), row("c"), row("cc", path="x/c.md")]).view
    assert find_row(view, "Ab-1")["id"] == "Ab-1"
    assert find_row(view, "Ab-1-")["id"] == "Ab-1-sub"
    assert find_row(view, "c")["id"] == "c"
    assert find_row(view, "Ab-2.md")["id"] == "Ab-2"
    with pytest.raises(AmbiguousSession) as caught:
        find_row(view, "Ab")
    assert caught.value.candidates == ["Ab-1", "Ab-2"]
    for unknown in ("ab-1", "x", "", ".md", "[a", "\u00fc"):
        with pytest.raises(SessionNotFound):
            find_row(view, unknown)


def test_two_notes_of_one_id_are_named_by_their_paths() -> None:
    view = Shelf([row("a"), row("a", path="sessions/deep/a.md")]).view
    with pytest.raises(AmbiguousSession) as caught:
        find_row(view, "a")
    assert caught.value.candidates == ["sessions/a.md", "sessions/deep/a.md"]


def test_unreadable_notes_are_found_without_reading_the_months() -> None:
    shelf = Shelf([*DATED, row("bad", unreadable="sessions/bad.md: no text")])
    assert ids(unreadable_rows(shelf.view)) == ["bad"]
    assert shelf.read == [("sessions", UNDATED)]
    assert unreadable_rows(Shelf(DATED[1:]).view) == []
