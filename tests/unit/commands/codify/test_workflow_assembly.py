"""Data flow between steps: their inputs and outputs, and that every edge leads forward."""

from __future__ import annotations

from crucible.documents.session.session import Outcome
from crucible.documents.workflow.workflow import Datum
from samples.codified_sessions import (
    calls,
    codify_one,
    failed,
    flow_of,
    inline,
    phase,
    read_back,
    session,
    written,
)


def flows(*phases: object) -> list[str]:
    return [flow_of(step) for step in codify_one(session(*phases)).walk()]  # type: ignore[arg-type]


def test_a_file_that_a_later_step_reads_is_its_input() -> None:
    assert flows(phase("A", calls("Write a.py")), phase("B", calls("Read a.py", "Write b.py"))) == [
        "request → a.py",
        "a.py → b.py",
    ]


def test_a_file_that_a_step_wrote_before_reading_is_no_input() -> None:
    assert flows(phase("A", calls("Write a.py", "Read a.py"))) == ["request → a.py"]


def test_an_existing_file_that_a_step_changes_is_its_input() -> None:
    assert flows(phase("A", calls("Write a.py")), phase("B", calls("Edit a.py")), phase("C", calls("Write a.py"))) == [
        "request → a.py",
        "a.py → a.py",
        "a.py → a.py",
    ]


def test_a_file_read_before_it_is_rewritten_is_an_input() -> None:
    assert flows(phase("A", calls("Read a.py", "Write b.py")), phase("B", calls("Write a.py"))) == [
        "a.py → b.py",
        "b.py, a.py → a.py",
    ]


def test_work_without_inputs_takes_the_last_output() -> None:
    assert flows(phase("A", calls("Write a.py")), phase("B", calls("Bash git push"))) == [
        "request → a.py",
        "a.py → b_output",
    ]


def test_work_that_only_reads_outputs_its_findings() -> None:
    look, use = inline("Look", calls("Read a.py")), calls("Write b.py")
    assert flows(phase("Do", look, use))[1:] == ["a.py → look_report", "look_report → b.py"]
    assert flows(phase("Look", calls("Read a.py"))) == ["a.py → look_findings"]


def test_a_temporary_file_is_no_output() -> None:
    assert flows(phase("A", calls("Write tmp.txt", "Write a.py", "Bash rm tmp.txt"))) == ["request → a.py"]


def test_failed_and_rejected_calls_do_not_count() -> None:
    tried = phase("A", failed("Edit a.py"), calls("Edit a.py"), calls("Write b.py", outcome=Outcome.REJECTED))
    assert flows(tried) == ["a.py → a.py"]
    assert flows(phase("A", failed("Edit a.py"), calls("Write c.py"))) == ["request → c.py"]


def test_names_that_differ_in_case_are_one_datum() -> None:
    assert flows(phase("A", calls("Write A.py")), phase("B", calls("Read a.PY", "Write b.py"))) == [
        "request → A.py",
        "A.py → b.py",
    ]


def test_a_type_is_only_at_the_first_use_of_a_name() -> None:
    found = codify_one(session(phase("A", calls("Write a.py")), phase("B", calls("Read a.py", "Bash pytest"))))
    data = [datum for step in found.walk() for flow in step.flows for stage in flow.stages for datum in stage]
    assert [datum for datum in data if datum.type] == [
        Datum("request", "Text"),
        Datum("a.py", "Python"),
        Datum("test_results", "TestReport"),
    ]


def test_tests_that_ran_twice_are_no_duplicate_output() -> None:
    found = codify_one(
        session(phase("A", calls("Write a.py", "Bash pytest")), phase("B", calls("Edit a.py", "Bash pytest")))
    )
    assert read_back(written(found))[2] == ()


def test_of_many_files_shared_ones_are_kept() -> None:
    many = phase("A", calls(*(f"Write f{number}.py" for number in range(40))))
    found = codify_one(session(many, phase("B", calls("Read f39.py", "Write g.py"))))
    assert len(found.steps[0].outputs()) == 8
    assert flow_of(found.steps[1]) == "f39.py → g.py"
    assert "f39.py" in flow_of(found.steps[0])


def test_a_file_called_request_is_not_the_request() -> None:
    assert flows(phase("A", calls("Write request"))) == ["request_2 → request"]


def test_a_group_has_no_flow_and_its_children_have() -> None:
    one = phase("Do", calls("Write a.py"), inline("Check a.py", calls("Read a.py")), calls("Edit a.py"))
    assert flows(one) == [" → ", "request → a.py", "a.py → check_py_report", "a.py, check_py_report → a.py"]
