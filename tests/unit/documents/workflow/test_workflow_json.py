"""A workflow as JSON."""

from __future__ import annotations

import json
from typing import Any

from crucible.documents.markdown.source import Lines
from crucible.documents.session.session import AgentRef
from crucible.documents.workflow.graph import build_graph
from crucible.documents.workflow.workflow import Datum, Flow, Grade, Marker, Place, Step, Workflow
from crucible.documents.workflow.workflow_check import check_workflow
from crucible.documents.workflow.workflow_json import export_workflow, step_ids
from tests.unit.documents.workflow.sample_workflows import flow, leading, step, workflow


def _export(made: Workflow) -> dict[str, Any]:
    graph = build_graph(made)
    return export_workflow(made, graph, check_workflow(made, graph))


def test_everything_of_a_step_is_told() -> None:
    taken = Flow(((Datum("in"),), (Datum("a", "Plan"),)), place=Place(4, 1))
    rows = (Marker({"phase": "Build", "status": "success", "cost": 1.5, "tokens_used": None}),)
    one = Step(
        "Build", AgentRef("coder", "1.2"), "dev", Grade.CRITICAL, "Prose.", (taken,), rows,
        place=Place(3, 1), lines=Lines(2, 9),
    )  # fmt: skip
    assert _export(workflow(one))["steps"] == [
        {
            "id": "step-1",
            "name": "Build",
            "key": "build",
            "agent": "coder@1.2",
            "channel": "dev",
            "grade": "critical",
            "prose": "Prose.",
            "line": 3,
            "column": 1,
            "lines": [3, 9],
            "inputs": [{"name": "in", "type": None}],
            "outputs": [{"name": "a", "type": "Plan"}],
            "flows": [
                {
                    "stages": [[{"name": "in", "type": None}], [{"name": "a", "type": "Plan"}]],
                    "condition": None,
                    "target": None,
                    "line": 4,
                    "column": 1,
                }
            ],
            "markers": [{"phase": "Build", "status": "success", "cost": 1.5, "tokens_used": None}],
            "steps": [],
        }
    ]


def test_edges_order_and_circles_name_steps_by_their_ids() -> None:
    group = Step("Group", children=(step("One", "in -> a"), step("Two", "a -> b")))
    rest = (Step("Go", flows=(leading("One", "it fails"), leading("Go"))),)
    told = _export(workflow(group, *rest))
    assert told["edges"] == [
        {"from": "step-1.1", "to": "step-1.2", "data": ["a"], "stale": [], "condition": None},
        {"from": "step-2", "to": "step-1.1", "data": [], "stale": [], "condition": "it fails"},
        {"from": "step-2", "to": "step-2", "data": [], "stale": [], "condition": None},
    ]
    assert told["order"] == ["step-1"]
    assert told["waves"] == [["step-1"]]
    assert told["cycles"] == [["step-2"]]
    assert told["inputs"] == [{"name": "in", "type": None}]
    assert told["outputs"] == [{"name": "b", "type": None}]
    assert [one["code"] for one in told["diagnostics"]] == ["cycle"]


def test_otherwise_is_an_empty_condition_and_no_place_is_null() -> None:
    told = _export(workflow(Step("A", flows=(leading("B", "x"), leading("B", ""))), Step("B")))
    assert [edge["condition"] for edge in told["edges"]] == ["x", ""]
    assert (told["steps"][0]["line"], told["steps"][0]["lines"]) == (None, None)


def test_ids_are_those_that_reading_gives() -> None:
    deep = Step("A", children=(Step("B", children=(Step("C"),)), Step("D")))
    assert step_ids(build_graph(workflow(deep, Step("E")))) == (
        "step-1", "step-1.1", "step-1.1.1", "step-1.2", "step-2",
    )  # fmt: skip


def test_a_bundle_and_thousands_of_steps_are_plain_values() -> None:
    makers = [step(f"M{n}", f"in -> x, m{n}") for n in range(500)]
    told = _export(workflow(*makers, *(Step(f"T{n}", flows=(flow(f"x -> t{n}"),)) for n in range(500))))
    assert len(told["bundles"][0]["from"]) == 500
    assert json.loads(json.dumps(told)) == told
