from __future__ import annotations

import random
import statistics
from collections import defaultdict
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.vault.index.query import SessionQuery
from crucible.vault.index.schema import TABLES, View, encode_rows, shard_of
from crucible.vault.index.stats import GROUPINGS, Figures, aggregate

Cells = Mapping[str, object]

EVERY = SessionQuery()
CHILDREN = SessionQuery(children=True)


def session(name: str, **cells: object) -> dict[str, object]:
    """A row of `sessions`; the path is the name's unless another is given."""
    counts = dict.fromkeys(("tool_calls", "failures", "decisions", "errors", "users"), 0)
    return {"id": name, "path": f"sessions/{name}.md", "started": "2026-11-01T10:00:00Z", **counts, **cells}


def phase(name: str, of: str, number: str = "1", **cells: object) -> dict[str, object]:
    counts = dict.fromkeys(("tool_calls", "failures", "decisions", "errors", "users"), 0)
    return {
        "path": f"sessions/{of}.md",
        "phase_id": f"phase-{number}",
        "line": 1,
        "phase": name,
        **counts,
        **cells,
    }


def listed(of: str, tokens: int | None, name: str | None = None, role: str = "subagent") -> dict[str, object]:
    """A row of `participants`."""
    return {"path": f"sessions/{of}.md", "role": role, "agent": "x", "session": name, "tokens": tokens}


def view(sessions: Iterable[Cells], participants: Iterable[Cells] = (), phases: Iterable[Cells] = ()) -> View:
    """The tables of these rows; what a row does not say is null."""
    sessions = list(sessions)
    shards = {row["path"]: shard_of(row["started"]) for row in sessions}  # type: ignore[arg-type]
    tables: dict[tuple[str, str], list[tuple[object, ...]]] = defaultdict(list)
    for table, rows in (("sessions", sessions), ("participants", participants), ("phases", phases)):
        for row in rows:
            cells = tuple(row.get(column) for column in TABLES[table])
            tables[table, shards[row["path"]]].append(cells)
    return View([*{*shards.values()}], lambda t, s: b"\n".join(encode_rows(t, tables[t, s])))


def groups(found: Iterable[Figures]) -> dict[str | None, int]:
    return {group.name: group.sessions for group in found}


def tokens(found: Iterable[Figures]) -> dict[str | None, int]:
    return {group.name: group.tokens for group in found}


def test_an_empty_vault_has_zeros_and_nothing_to_divide_by() -> None:
    for by in (None, *GROUPINGS):
        stats = aggregate(view([]), EVERY, by)
        assert (stats.by, stats.groups) == (by, ())
        assert stats.total == Figures(None, 0, 0, None, None, None, None, None, 0, 0, 0)


def test_every_figure_of_some_sessions() -> None:
    rows = [
        session("a", tokens=100, duration_s=60, status="failed", tool_calls=7, failures=2, decisions=1),
        session("b", tokens=51, duration_s=61, status="completed", errors=3, users=4, decisions=2),
        session("c", duration_s=600, status="Completed"),
        session("d", tokens=0, status="paused"),
        session("e"),
    ]
    assert aggregate(view(rows), EVERY).total == Figures(
        name=None,
        sessions=5,
        tokens=151,
        tokens_average=50.3,
        duration_average_s=240.3,
        duration_median_s=61.0,
        failure_rate=0.3333,
        tool_failure_rate=0.2857,
        decisions=3,
        errors=3,
        users=4,
    )


def test_the_median_of_an_even_number_is_between_the_middle_two() -> None:
    rows = [session(str(n), duration_s=n) for n in (1, 2, 5, 100)]
    assert aggregate(view(rows), EVERY).total.duration_median_s == 3.5


@given(st.lists(st.integers(0, 10**9), min_size=1, max_size=30))
def test_average_and_median_are_those_of_the_standard_library(lengths: list[int]) -> None:
    rows = [session(str(n), duration_s=length) for n, length in enumerate(lengths)]
    total = aggregate(view(rows), EVERY).total
    assert total.duration_median_s == round(float(statistics.median(lengths)), 1)
    assert total.duration_average_s == pytest.approx(statistics.fmean(lengths), abs=0.06)


def test_a_session_counts_once_for_each_of_its_agents_and_once_in_total() -> None:
    rows = [
        session("a", agents="claude-code@1.0, claude-code@2.1, codex", tokens=10),
        session("b", agents="codex@0.5", tokens=5),
        session("c"),
    ]
    stats = aggregate(view(rows), EVERY, "agent")
    assert groups(stats.groups) == {"codex": 2, "claude-code": 1, None: 2}
    assert tokens(stats.groups) == {"codex": 5, "claude-code": 0, None: 10}
    assert (stats.total.sessions, stats.total.tokens) == (3, 15)


def test_of_several_agents_each_has_the_tokens_of_its_phases_and_its_notes() -> None:
    rows = [
        session("a", agents="codex@1, opencode", tokens=100),
        session("child", parent="a", agents="Explore@2".lower(), tokens=7),
        session("edited", agents="codex, opencode", tokens=1),
    ]
    phases = [
        phase("One", "a", agent="Codex@1", tokens=30),
        phase("Part", "a", "1.1", agent="codex", tokens=30),
        phase("Two", "a", "2", agent="opencode", tokens=50),
        phase("Three", "a", "3", tokens=5),
        phase("One", "edited", agent="codex", tokens=40),
    ]
    stats = aggregate(view(rows, [listed("a", 3, "gone")], phases), EVERY, "agent")
    assert tokens(stats.groups) == {"codex": 30, "opencode": 50, "explore": 7, "x": 3, None: 21}
    assert groups(stats.groups) == {"codex": 2, "opencode": 2, "explore": 1, "x": 1, None: 2}


def test_a_session_counts_once_for_each_of_its_channels() -> None:
    rows = [session("a", channels='dev, "odd, name"'), session("b", channel="dev", channels="dev")]
    assert groups(aggregate(view(rows), EVERY, "channel").groups) == {"dev": 2, "odd, name": 1}


def test_status_groups_without_regard_to_case_and_model_by_the_sessions_own() -> None:
    rows = [
        session("a", status="Failed", model="opus", models="haiku, opus"),
        session("b", status="failed"),
    ]
    assert groups(aggregate(view(rows), EVERY, "status").groups) == {"failed": 2}
    assert groups(aggregate(view(rows), EVERY, "model").groups) == {"opus": 1, None: 1}


def test_groups_are_sorted_by_sessions_then_name_the_nameless_last() -> None:
    models = ["b", "a", "c", "c", None]
    rows = [session(str(n), model=model) for n, model in enumerate(models)]
    assert [*groups(aggregate(view(rows), EVERY, "model").groups)] == ["c", "a", "b", None]


def test_months_are_newest_first_the_undated_last() -> None:
    starts = ["2026-01-05T00:00:00Z", "2026-11-05T00:00:00Z", None, "2026-01-06T00:00:00Z"]
    rows = [session(str(n), started=started) for n, started in enumerate(starts)]
    assert groups(aggregate(view(rows), EVERY, "month").groups) == {"2026-11": 1, "2026-01": 2, None: 1}
    assert [*groups(aggregate(view(rows), EVERY, "month").groups)] == ["2026-11", "2026-01", None]


def test_a_subagents_tokens_count_for_its_root_through_every_generation() -> None:
    rows = [
        session("root", tokens=1, agents="a"),
        session("child", tokens=10, parent="root", agents="b"),
        session("grandchild", tokens=100, parent="child", started="2026-12-01T00:00:00Z"),
    ]
    stats = aggregate(view(rows), EVERY, "agent")
    assert (groups(stats.groups), tokens(stats.groups)) == (
        {"a": 1, "b": 1, None: 1},
        {"a": 1, "b": 10, None: 100},
    )


def test_with_children_every_note_is_a_session_with_its_own_tokens() -> None:
    rows = [session("root", tokens=1, agents="a"), session("child", tokens=10, parent="root")]
    stats = aggregate(view(rows, [listed("root", 10, "child")]), CHILDREN, "agent")
    assert tokens(stats.groups) == {"a": 1, None: 10}
    assert stats.total.sessions == 2


def test_a_listed_subagent_counts_only_where_no_note_has_its_tokens() -> None:
    rows = [session("root", tokens=1), session("child", tokens=10, parent="root")]
    people = [
        listed("root", 10, "child"),
        listed("root", 200, "gone"),
        listed("root", 3000),
        listed("root", None, "unknown"),
        listed("root", 9, "subagent", role="participant"),
    ]
    assert aggregate(view(rows, people), EVERY).total.tokens == 3211
    assert aggregate(view(rows, people), CHILDREN).total.tokens == 3211


def test_a_subagent_listed_by_a_subagent_counts_for_the_root() -> None:
    rows = [session("root", agents="a"), session("child", parent="root")]
    stats = aggregate(view(rows, [listed("child", 7, "gone")]), EVERY, "agent")
    assert tokens(stats.groups) == {"a": 0, "x": 7}


def test_a_subagent_that_a_session_lists_twice_counts_once() -> None:
    people = [listed("root", used, "gone") for used in (5, 7, 6)]
    assert aggregate(view([session("root")], people), EVERY).total.tokens == 7


def test_tokens_known_only_of_a_subagent_make_the_sessions_known() -> None:
    rows = [session("root"), session("child", tokens=10, parent="root"), session("other")]
    assert aggregate(view(rows), EVERY).total.tokens_average == 10


def test_a_child_whose_parent_is_gone_is_a_session_of_its_own() -> None:
    rows = [
        session("orphan", tokens=10, parent="gone", agents="b"),
        session("grandchild", tokens=5, parent="orphan", agents="c"),
    ]
    stats = aggregate(view(rows), EVERY, "agent")
    assert (groups(stats.groups), tokens(stats.groups)) == (
        {"b": 1, "c": 1},
        {"b": 10, "c": 5},
    )


def test_a_parents_id_is_compared_with_its_case() -> None:
    rows = [session("root"), session("child", parent="Root")]
    assert aggregate(view(rows), EVERY).total.sessions == 2


def test_a_subagent_whose_note_says_no_tokens_has_those_that_its_session_lists() -> None:
    rows = [
        session("root", tokens=100),
        session("child", parent="root"),
        session("told", parent="root", tokens=7),
    ]
    lists = [listed("root", 500, "child"), listed("root", 900, "told")]
    assert aggregate(view(rows, lists), EVERY).total.tokens == 607
    assert aggregate(view(rows, lists), CHILDREN).total.tokens == 607


def test_a_cycle_of_parents_ends_and_is_the_session_of_its_first_note() -> None:
    rows = [
        session("0-tail", tokens=1, parent="b"),
        session("c", tokens=10, parent="a", agents="c"),
        session("b", tokens=100, parent="c", agents="b"),
        session("a", tokens=1000, parent="b", agents="a"),
        session("self", tokens=5, parent="self", agents="self"),
    ]
    stats = aggregate(view(rows), EVERY, "agent")
    assert tokens(stats.groups) == {"a": 1000, "b": 100, "c": 10, None: 1, "self": 5}


def test_a_chain_of_ten_thousand_parents_ends() -> None:
    rows = [session(str(n), parent=str(n - 1) if n else None, tokens=1) for n in range(10_000)]
    random.Random(0).shuffle(rows)
    total = aggregate(view(rows), EVERY).total
    assert (total.sessions, total.tokens) == (1, 10_000)


def test_two_notes_of_one_id_are_two_sessions_and_the_first_has_the_children() -> None:
    rows = [
        session("root", path="sessions/z/root.md", tokens=1, model="z"),
        session("root", path="sessions/a/root.md", tokens=2, model="a"),
        session("child", tokens=10, parent="root"),
    ]
    assert tokens(aggregate(view(rows), EVERY, "model").groups) == {"z": 1, "a": 12}


def test_a_filter_chooses_sessions_and_their_subagents_tokens_come_along() -> None:
    rows = [
        session("root", tokens=1, status="failed"),
        session("child", tokens=10, parent="root", status="completed"),
        session("other", tokens=100, status="completed"),
    ]
    total = aggregate(view(rows), SessionQuery(status="failed")).total
    assert (total.sessions, total.tokens, total.failure_rate) == (1, 11, 1.0)
    since = SessionQuery(since=datetime(2026, 12, 1, tzinfo=UTC))
    assert aggregate(view(rows), since).total.sessions == 0


def test_a_child_that_matches_does_not_bring_a_root_that_does_not() -> None:
    rows = [session("root", status="failed"), session("child", parent="root", status="completed")]
    assert aggregate(view(rows), SessionQuery(status="completed")).total.sessions == 0


def test_phases_group_by_name_with_figures_of_their_own() -> None:
    rows = [session("a", tokens=1), session("b", tokens=2), session("c", tokens=4)]
    phases = [
        phase("Tests", "a", tokens=10, duration_s=1.5, tool_calls=4, failures=1, decisions=1),
        phase("Inside", "a", "1.1", tokens=9),
        phase("TESTS", "a", "2", tokens=21, status="failed", errors=2),
        phase("tests", "b", duration_s=0.5, users=3, status="completed"),
        phase("Review", "b", "2"),
        phase("", "c"),
    ]
    stats = aggregate(view(rows, phases=phases), EVERY, "phase")
    assert groups(stats.groups) == {"Tests": 2, "Review": 1, None: 1}
    assert stats.groups[0] == Figures("Tests", 2, 31, 15.5, 1.0, 1.0, 0.3333, 0.25, 1, 2, 3)
    assert (stats.total.sessions, stats.total.tokens) == (3, 7)


def test_phases_of_unselected_sessions_do_not_count() -> None:
    rows = [session("a", status="failed"), session("b"), session("child", parent="a")]
    phases = [phase("One", name) for name in ("a", "b", "child")]
    failed = SessionQuery(status="failed")
    assert groups(aggregate(view(rows, phases=phases), failed, "phase").groups) == {"One": 1}
    assert groups(aggregate(view(rows, phases=phases), CHILDREN, "phase").groups) == {"One": 3}


_NAMES = st.sampled_from("abcdef")
_SESSIONS = st.lists(
    st.builds(
        lambda folder, name, parent, used, agents: session(
            name,
            path=f"sessions/{folder}/{name}.md",
            parent=parent,
            tokens=used,
            agents=", ".join(sorted(agents)) or None,
        ),
        st.sampled_from(["x", "y"]),
        _NAMES,
        st.none() | _NAMES | st.just("gone"),
        st.none() | st.integers(0, 1000),
        st.sets(st.sampled_from(["p@1", "p@2", "q"])),
    ),
    unique_by=lambda row: row["path"],
)


@given(_SESSIONS)
def test_no_token_is_lost_or_counted_twice(rows: list[dict[str, object]]) -> None:
    used = sum(row["tokens"] or 0 for row in rows)  # type: ignore[misc]
    for query in (EVERY, CHILDREN):
        for by in (None, "month", "status", "agent"):
            stats = aggregate(view(rows), query, by)
            assert stats.total.tokens == used
            assert by is None or sum(group.tokens for group in stats.groups) == used
    assert aggregate(view(rows), CHILDREN).total.sessions == len(rows)


@given(_SESSIONS)
def test_every_session_without_a_parent_counts_and_none_that_is_below_another(
    rows: list[dict[str, object]],
) -> None:
    notes = {row["id"] for row in rows}
    tops = sum(row["parent"] is None or row["parent"] not in notes for row in rows)
    found = aggregate(view(rows), EVERY, "agent")
    assert tops <= found.total.sessions <= len(rows)
    assert (found.total.sessions > 0) == bool(rows)
    assert all(0 < group.sessions <= found.total.sessions for group in found.groups)
