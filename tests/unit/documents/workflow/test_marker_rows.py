"""What is asked of execution markers: rows, filters, figures, runs."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import UsageError
from crucible.documents.markdown.source import Source
from crucible.documents.workflow.marker_rows import (
    MarkerQuery,
    MarkerRow,
    aggregate,
    parse_where,
    rows_of,
    runs_of,
    select_rows,
    time_of,
)
from crucible.documents.workflow.workflow import Cell, Marker, Step, Workflow
from crucible.documents.workflow.workflow_reader import read_workflow
from tests.cases import for_each
from tests.paths import TESTS
from tests.unit.documents.workflow.workflow_strategies import workflows

DATA = TESTS / "data" / "workflow"


def _marked(*rows: dict[str, Cell], name: str = "Step") -> Step:
    return Step(name, markers=tuple(Marker({"phase": name, "status": "success", **row}) for row in rows))


def _rows(*rows: dict[str, Cell]) -> list[MarkerRow]:
    return rows_of(Workflow(steps=(_marked(*rows),), name="w"))


def _orders() -> list[MarkerRow]:
    return rows_of(read_workflow(Source((DATA / "ecommerce-order.md").read_text(encoding="utf-8")), "ecommerce-order"))


# --- rows ------------------------------------------------------------------------------------------------------------


def test_every_row_of_a_note_has_its_workflow_and_its_step() -> None:
    rows = _orders()
    assert len(rows) == 23
    assert [row.at for row in rows] == list(range(23))
    assert {row.workflow for row in rows} == {"ecommerce-order"}
    assert (rows[0].step, rows[0].cell("customer_id")) == ("Receive Order", "cust_789")
    assert all(row.time is None for row in rows)


def test_a_row_that_stands_below_another_step_belongs_to_its_own() -> None:
    row = Marker({"phase": "RerunTests", "status": "success"})
    odd = Marker({"phase": "Gone", "status": "success"})
    found = rows_of(Workflow(steps=(Step("Build", markers=(row, odd), children=(Step("Re-run tests"),)),)))
    assert [one.step for one in found] == ["Re-run tests", ""]


def test_a_column_is_found_whatever_its_case() -> None:
    (row,) = rows_of(Workflow(steps=(_marked({"Customer_ID": "c", "Duration_MS": 3, "ok": True}),), name="w"))
    assert (row.cell("customer_id"), row.number("duration_ms"), row.text("OK")) == ("c", 3, "true")
    assert (row.cell("workflow"), row.cell("step"), row.cell("none")) == ("w", "Step", None)


@for_each(
    ("columns", "expected"),
    [
        ({"started": "2026-01-02T03:04:05Z"}, "2026-01-02T03:04:05"),
        ({"date": "2026-01-02", "time": "soon"}, "2026-01-02T00:00:00"),
        ({"started": "2026-01-03", "date": "2026-01-02"}, "2026-01-03T00:00:00"),
        ({"started": None, "timestamp": "2026-01-02T03:04:05+02:00"}, "2026-01-02T01:04:05"),
        ({"date": 20260102}, "2026-01-02T00:00:00"),
        ({"timestamp": 1_767_323_045}, "2026-01-02T03:04:05"),
        ({"timestamp": 1_767_323_045_000}, "2026-01-02T03:04:05"),
        ({"time": 1240, "started": True}, None),
        ({"time": float("inf")}, None),
        ({"time": 10**400}, None),
        ({"ended": "2026-01-02"}, None),
    ],
)
def test_the_time_of_a_row_is_the_first_column_that_reads_as_one(
    columns: dict[str, Cell], expected: str | None
) -> None:
    found = time_of(columns)
    assert found == (None if expected is None else datetime.fromisoformat(expected).replace(tzinfo=UTC))


# --- which rows ------------------------------------------------------------------------------------------------------


def test_filters_narrow_and_all_must_hold() -> None:
    rows = _orders()
    assert len(select_rows(rows, MarkerQuery())) == 23
    assert len(select_rows(rows, MarkerQuery(agent="@Order-API"))) == 7
    assert len(select_rows(rows, MarkerQuery(agent="order-api", status="FAILED"))) == 1
    assert len(select_rows(rows, MarkerQuery(channel="#warehouse", phase="Check inventory"))) == 4
    assert select_rows(rows, MarkerQuery(workflow="other")) == []


def test_an_agent_fits_with_or_without_its_version() -> None:
    rows = _rows({"agent": "claude-code@2.1"}, {"agent": "claude-code"}, {"agent": "claude"}, {})
    assert len(select_rows(rows, MarkerQuery(agent="claude-code"))) == 2
    assert len(select_rows(rows, MarkerQuery(agent="claude-code@2.1"))) == 1


def test_a_row_without_a_time_is_in_no_stretch_of_time() -> None:
    rows = _rows({"started": "2026-01-01"}, {"started": "2026-01-02"}, {})
    day = datetime(2026, 1, 2, tzinfo=UTC)
    assert [row.at for row in select_rows(rows, MarkerQuery(since=day))] == [1]
    assert [row.at for row in select_rows(rows, MarkerQuery(until=day))] == [0, 1]


@for_each(
    ("condition", "count"),
    [
        ("amount_usd > 80", 2),
        ("amount_usd<=67.25", 1),
        ("AMOUNT_USD = 145.5", 1),
        ("carrier = fedex", 1),
        ("carrier ~ ed", 1),
        ("carrier !~ ed", 2),
        ("carrier != 'UPS'", 2),
        ("carrier = null", 20),
        ("carrier != null", 3),
        ("email_sent == true", 3),
        ("customer_id >= cust_789", 2),
        ("step = 'Create Shipment'", 3),
    ],
)
def test_any_column_can_be_asked_for(condition: str, count: int) -> None:
    assert len(select_rows(_orders(), MarkerQuery(where=(parse_where(condition),)))) == count


def test_times_compare_as_times() -> None:
    rows = _rows({"started": "2026-01-02T01:00:00+02:00"}, {"started": "2026-01-02T00:00:00Z"}, {"started": "soon"})
    assert [row.at for row in select_rows(rows, MarkerQuery(where=(parse_where("started < 2026-01-02"),)))] == [0]


@pytest.mark.parametrize("text", ["", "status", "= x", "status =", "a b = c", "carrier < null"])
def test_what_is_no_condition_is_a_usage_error(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_where(text)
    assert caught.value.hint


# --- figures ---------------------------------------------------------------------------------------------------------


def test_figures_of_all_rows_and_of_groups() -> None:
    stats = aggregate(_orders(), "agent")
    assert [(one.name, one.count, one.failed) for one in stats.groups] == [
        ("inventory-service", 7, 1),
        ("order-api", 7, 1),
        ("fulfillment-service", 3, 0),
        ("notification-service", 3, 0),
        ("payment-service", 3, 0),
    ]
    payment = stats.groups[-1]
    assert (payment.duration_min_ms, payment.duration_avg_ms, payment.duration_max_ms) == (1240, 1380.0, 1580)
    assert (payment.tokens_used, payment.failure_rate) == (1640, 0.0)
    assert (stats.total.count, stats.total.success, stats.total.failed) == (23, 21, 2)
    assert stats.total.failure_rate == round(2 / 23, 4)


@pytest.mark.parametrize(
    ("by", "first"),
    [
        ("status", ("success", 21)),
        ("phase", ("Receive Order", 5)),
        ("workflow", ("ecommerce-order", 23)),
        ("channel", ("warehouse", 10)),
        ("carrier", (None, 20)),
    ],
)
def test_rows_are_grouped_by_any_column(by: str, first: tuple[str | None, int]) -> None:
    group = aggregate(_orders(), by).groups[0]
    assert (group.name, group.count) == first


def test_a_row_cannot_say_that_it_stands_in_another_workflow() -> None:
    rows = _rows({"workflow": "other"})
    assert [one.name for one in aggregate(rows, "workflow").groups] == ["w"]
    assert select_rows(rows, MarkerQuery(workflow="other")) == []
    assert len(select_rows(rows, MarkerQuery(where=(parse_where("workflow = other"),)))) == 1


def test_versions_and_case_do_not_part_groups() -> None:
    rows = _rows({"agent": "Claude@1"}, {"agent": "claude@2"}, {"agent": "claude"})
    assert [(one.name, one.count) for one in aggregate(rows, "agent").groups] == [("Claude", 3)]


def test_what_was_skipped_did_not_fail_and_time_outs_did() -> None:
    stats = aggregate(
        _rows({"status": "skipped"}, {"status": "Timeout"}, {"status": "success"}, {"status": "odd"})
    ).total
    assert (stats.count, stats.skipped, stats.timeout, stats.failure_rate) == (4, 1, 1, 0.3333)
    assert aggregate(_rows({"status": "skipped"})).total.failure_rate is None


def test_figures_of_nothing_are_unknown() -> None:
    total = aggregate([]).total
    assert (total.count, total.failure_rate, total.duration_avg_ms, total.tokens_used) == (
        0,
        None,
        None,
        None,
    )


def test_odd_numbers_do_not_spoil_the_figures() -> None:
    rows = _rows(
        {"duration_ms": float("inf"), "tokens_used": 10**400},
        {"duration_ms": "fast"},
        {"duration_ms": 2, "tokens_used": True},
    )
    total = aggregate(rows).total
    assert (total.duration_avg_ms, total.tokens_used) == (2.0, None)


# --- runs ------------------------------------------------------------------------------------------------------------


def _runs(*steps: Step) -> list[tuple[str | None, str, list[int]]]:
    return [(run.name, run.status, [row.at for row in run.rows]) for run in runs_of(Workflow(steps=steps, name="w"))]


def test_rows_of_one_session_are_a_run_and_the_newest_is_first() -> None:
    assert _runs(
        _marked({"session": "a", "started": "2026-01-01"}, {"session": "b", "started": "2026-01-03"}, name="A"),
        _marked({"session": "a", "started": "2026-01-02"}, {"session": "b", "started": "2026-01-04"}, name="B"),
    ) == [("b", "success", [1, 3]), ("a", "success", [0, 2])]


def test_a_run_that_halted_early_is_still_the_newer_one() -> None:
    assert [name for name, *_ in _runs(_marked({"run": 1}, {"run": 2}, name="A"), _marked({"run": 1}, name="B"))] == [
        "2",
        "1",
    ]


def test_rows_without_a_run_stand_alone_the_later_in_the_note_the_newer() -> None:
    assert _runs(_marked({}, {"status": "failed"}), _marked({})) == [
        (None, "success", [2]),
        (None, "failed", [1]),
        (None, "success", [0]),
    ]


def test_what_has_a_time_is_newer_than_what_has_none() -> None:
    assert [rows for *_, rows in _runs(_marked({"date": "2026-01-01"}, {}, {"date": "2026-01-02"}))] == [
        [2],
        [0],
        [1],
    ]


@pytest.mark.parametrize(
    ("statuses", "expected"),
    [
        (["success", "failed"], "failed"),
        (["failed", "success"], "success"),
        (["timeout"], "failed"),
        (["timeout", "success"], "success"),
        (["success", "skipped"], "success"),
        (["skipped", "skipped"], "skipped"),
        (["odd"], "odd"),
    ],
)
def test_a_run_failed_when_a_failure_was_not_made_good(statuses: list[str], expected: str) -> None:
    rows: list[dict[str, Cell]] = [{"status": status, "session": "s"} for status in statuses]
    (run,) = runs_of(Workflow(steps=(_marked(*rows),)))
    assert run.status == expected


def test_another_step_makes_no_failure_good() -> None:
    failed = _marked({"session": "s", "status": "failed"}, name="Re-run tests")
    assert _runs(failed, _marked({"session": "s"}, name="Other")) == [("s", "failed", [0, 1])]
    assert _runs(failed, _marked({"session": "s"}, name="RerunTests"))[0][1] == "success"


def test_a_continued_run_succeeds_by_its_times_wherever_its_rows_stand() -> None:
    later: dict[str, Cell] = {"session": "s", "started": "2026-01-02", "status": "success"}
    earlier: dict[str, Cell] = {"session": "s", "started": "2026-01-01", "status": "failed"}
    (run,) = runs_of(Workflow(steps=(_marked(later, earlier),)))
    assert run.status == "success"
    assert run.started == datetime(2026, 1, 1, tzinfo=UTC)
    assert run.figures.count == 2


@pytest.mark.parametrize(("cell", "text"), [(0, "0"), (False, "false"), (1.5, "1.5"), (None, ""), ("", "")])
def test_a_cell_that_is_a_number_or_a_word_of_truth_is_a_phase_and_a_status(cell: Cell, text: str) -> None:
    marker = Marker({"phase": cell, "status": cell})
    assert (marker.phase, marker.status) == (text, text)
    step = Step(text or "Step", markers=(marker,))
    assert rows_of(Workflow(steps=(step,)))[0].step == text


@given(
    workflows(),
    st.sampled_from([None, "agent", "channel", "status", "phase", "step", "workflow", "a,b", "2nd"]),
)
def test_no_row_is_lost_or_told_twice(made: Workflow, by: str | None) -> None:
    rows = rows_of(made)
    assert [row.marker for row in rows] == [marker for one in made.walk() for marker in one.markers]
    stats = aggregate(rows, by)
    assert by is None or sum(group.count for group in stats.groups) == stats.total.count == len(rows)
    assert sorted(row.at for run in runs_of(made) for row in run.rows) == list(range(len(rows)))


def test_the_time_of_a_step_below_counts_when_it_began_behind_the_one_above() -> None:
    def timed(name: str, second: int, *children: Step) -> Step:
        row: dict[str, Cell] = {
            "started": f"2026-11-22T10:00:{second:02}Z",
            "duration_ms": 10_000,
            "run": "r",
        }
        return replace(_marked(row, name=name), children=children)

    def took(*steps: Step) -> float | None:
        (run,) = runs_of(Workflow(steps=steps, name="w"))
        return run.duration_ms

    assert took(timed("Frame", 0, timed("Part", 2))) == 10_000
    assert took(timed("Work", 0, timed("Part", 10), timed("More", 20))) == 30_000
