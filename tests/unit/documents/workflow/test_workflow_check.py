"""What is wrong with a workflow, and where."""

from __future__ import annotations

from dataclasses import replace

from crucible.documents.markdown.source import Source
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import (
    Condition,
    Datum,
    Diagnostic,
    Flow,
    Marker,
    Place,
    Severity,
    Step,
    Workflow,
)
from crucible.documents.workflow.workflow_check import check_workflow, has_errors
from crucible.documents.workflow.workflow_reader import read_workflow
from tests.unit.documents.workflow.sample_workflows import flow, leading, step, workflow


def _check(made: Workflow) -> tuple[Diagnostic, ...]:
    return check_workflow(made, build_graph(made))


def _codes(*steps: Step) -> list[str]:
    return [one.code for one in _check(workflow(*steps))]


def test_a_sound_workflow_has_no_problem() -> None:
    assert _codes(step("A", "in::Text -> a::Plan"), step("B", "a::Plan -> b"), step("C", "a, b -> c")) == []


def test_a_circle_is_one_error_that_shows_its_path() -> None:
    made = workflow(
        replace(step("Build", "checked -> built"), place=Place(3, 1)),
        replace(step("Test", "built -> tested"), place=Place(8, 1)),
        replace(step("Check", "tested -> checked"), place=Place(12, 1)),
    )
    assert _check(made) == (
        Diagnostic(
            "cycle",
            Severity.ERROR,
            Place(3, 1),
            "these steps wait for each other: Build → Test → Check → Build",
        ),
    )


def test_the_path_of_a_very_long_circle_is_cut_in_its_middle() -> None:
    steps = [step(f"S{n}", f"d{n} -> d{(n + 1) % 5000}") for n in range(5_000)]
    (problem,) = _check(workflow(*steps))
    assert "S0 → S1 → " in problem.message
    assert "… 4,951 more …" in problem.message
    assert problem.message.endswith("→ S4999 → S0")


def test_a_target_that_names_no_step_is_an_error_at_its_place() -> None:
    lost = Flow(target="Nowhere", place=Place(7, 3))
    (problem,) = _check(workflow(Step("A", flows=(lost,), place=Place(5, 1))))
    assert (problem.code, problem.severity, problem.place) == ("missing-step", Severity.ERROR, Place(7, 3))
    assert "“Nowhere”" in problem.message


def test_a_missing_step_is_told_where_its_name_stands() -> None:
    made = read_workflow(Source("# T\n\n## A\n\nIf it fails → proceed to Nowhere\n"), "t")
    (problem,) = _check(made)
    assert (problem.code, problem.place) == ("missing-step", Place(5, 26))


def test_types_that_differ_along_an_edge_are_an_error_where_the_datum_is_taken() -> None:
    taker = Step("B", flows=(Flow(((Datum("REPORT", "Text", Place(9, 1)),), (Datum("b"),))),))
    (problem,) = _check(workflow(step("A", "in -> report::Report"), taker))
    assert (problem.code, problem.severity, problem.place) == ("type-mismatch", Severity.ERROR, Place(9, 1))
    assert "as Text" in problem.message
    assert "“A” makes it as Report" in problem.message


def test_case_and_lists_count_in_types_and_an_unknown_type_agrees_with_all() -> None:
    assert _codes(step("A", "in -> a::Text"), step("B", "a::text -> b")) == ["type-mismatch"]
    assert _codes(step("A", "in -> a::Text"), step("B", "a::Text[] -> b")) == ["type-mismatch"]
    assert _codes(step("A", "in -> a"), step("B", "a::Text -> b")) == []
    assert _codes(step("A", "in -> a::Text"), step("B", "a -> b")) == []


def test_a_step_that_changes_a_type_is_what_later_steps_are_compared_with() -> None:
    assert _codes(step("A", "in -> a::Raw"), step("B", "a::Raw -> a::Clean"), step("C", "a::Clean -> c")) == []
    assert _codes(step("A", "in -> a::Raw"), step("B", "a::Raw -> a::Clean"), step("C", "a::Raw -> c")) == [
        "type-mismatch"
    ]


def test_one_taker_of_many_makers_is_told_once() -> None:
    makers = [step(f"M{n}", f"in{n} -> x::T{n}") for n in range(3)]
    assert _codes(*makers, step("T", "x::T1 -> t")).count("type-mismatch") == 1


def test_types_are_compared_where_makers_and_takers_are_bundled() -> None:
    makers = [step(f"M{n}", f"in -> x::Text, m{n}") for n in range(100)]
    takers = [step(f"T{n}", f"x::Text -> t{n}") for n in range(99)]
    made = workflow(*makers, *takers, replace(step("Odd", "x::Report -> t99"), place=Place(900, 1)))
    graph = build_graph(made)
    assert graph.bundles
    found = [one for one in check_workflow(made, graph) if one.code == "type-mismatch"]
    assert [one.place for one in found] == [Place(900, 1)]
    odd_maker = workflow(*makers[:-1], step("Odd", "in -> x::Report, m99"), *takers)
    assert "“Odd”" in next(one.message for one in _check(odd_maker) if one.code == "type-mismatch")


def test_two_makers_of_a_name_are_a_warning_at_the_second() -> None:
    second = Step("B", flows=(Flow(((Datum("in"),), (Datum("A1", None, Place(6, 9)),))),))
    (problem,) = _check(workflow(replace(step("A", "in -> a1"), place=Place(2, 1)), second))
    assert problem == Diagnostic("duplicate-output", Severity.WARNING, Place(6, 9), "A1 is made by “A” too (line 2)")
    assert not has_errors([problem])


def test_a_step_that_changes_a_name_and_a_group_with_its_parts_make_nothing_twice() -> None:
    assert _codes(step("A", "in -> a"), step("B", "a -> a")) == []
    group = Step("Group", flows=(flow("in -> a"),), children=(Step("Part", children=(step("Deep", "in -> a"),)),))
    assert _codes(group) == []
    apart = Step("Group", flows=(flow("in -> a"),), children=(step("One", "in -> a"), step("Two", "in -> a")))
    assert _codes(apart) == ["duplicate-output"]


def test_two_steps_of_one_name_are_a_warning() -> None:
    first = Step("Re-run tests", place=Place(2, 1))
    (problem,) = _check(workflow(first, Step("Rerun Tests!", place=Place(5, 1))))
    assert (problem.code, problem.severity, problem.place) == (
        "duplicate-step",
        Severity.WARNING,
        Place(5, 1),
    )
    assert "(line 2)" in problem.message


def test_steps_without_a_name_are_no_duplicates() -> None:
    assert _codes(Step(""), Step("")) == []


def test_a_row_of_no_step_is_a_warning_and_a_row_of_another_step_is_not() -> None:
    rows = (Marker({"phase": "RerunTests", "status": "success"}), Marker({"phase": "Gone"}, Place(9, 3)))
    (problem,) = _check(workflow(Step("A", markers=rows), Step("Re-run Tests")))
    assert (problem.code, problem.severity, problem.place) == (
        "marker-without-step",
        Severity.WARNING,
        Place(9, 3),
    )


def test_otherwise_without_if_is_a_warning() -> None:
    assert _codes(Step("A", flows=(leading("B", ""),)), Step("B")) == ["otherwise-without-if"]
    assert _codes(Step("A", flows=(leading("B", "x"), leading("B", ""))), Step("B")) == []


def test_a_note_without_steps_is_a_warning() -> None:
    (problem,) = _check(Workflow(title="T", title_place=Place(4, 1)))
    assert (problem.code, problem.place) == ("no-steps", Place(4, 1))


def test_problems_are_in_order_of_place_and_those_of_reading_are_among_them() -> None:
    late = Diagnostic("unread-flow", Severity.WARNING, Place(90, 1), "read")
    early = Diagnostic("bad-marker", Severity.ERROR, Place(1, 1), "read")
    lost = Flow(condition=Condition("x"), target="Nowhere", place=Place(7, 3))
    made = replace(workflow(Step("A", flows=(lost,))), diagnostics=(late, early))
    assert [one.code for one in _check(made)] == ["bad-marker", "missing-step", "unread-flow"]
    assert has_errors(_check(made))


def test_what_reading_said_already_of_a_place_is_not_said_again() -> None:
    said = Diagnostic("marker-without-step", Severity.WARNING, Place(9, 3), "as reading has it")
    made = workflow(Step("A", markers=(Marker({"phase": "Gone"}, Place(9, 3)),)))
    assert _check(replace(made, diagnostics=(said,))) == (said,)


def test_a_step_with_thousands_of_outputs_is_checked_at_once() -> None:
    wide = step("A", "in -> " + ", ".join(f"x{n}::T" for n in range(3_000)))
    made = workflow(wide, *(step(f"T{n}", f"x{n}::T, x{(n * 7) % 3000}::T -> t{n}") for n in range(3_000)))
    assert _check(made) == ()
