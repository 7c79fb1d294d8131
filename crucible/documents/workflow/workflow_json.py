"""Export a workflow as plain JSON values.

Keys are never renamed or dropped.  Lines and columns count from 1, `lines` are `[first, last]`, unknown values are
null.  Edges, order, waves and cycles refer to steps by `id`.

    name title marked sessions[id] preamble properties{every frontmatter key}
    steps[step] edges[from to data[name] stale[name] condition] bundles[data from[id] to[id]]
    order[id] waves[[id]] cycles[[id]] inputs[datum] outputs[datum] diagnostics[diagnostic]

A step: `id name key agent channel grade prose line column lines inputs[datum] outputs[datum] flows[flow]
markers[{column: value}] steps[step]`.  A datum: `name type`.  A flow: `stages[[datum]] condition target line column`;
`target` may be null.  A condition is its text, "" for `Otherwise`, or null.  A diagnostic: `code severity
line column message`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TypeAlias

from crucible.documents.markdown.source import NOWHERE
from crucible.documents.workflow.graph import Graph
from crucible.documents.workflow.workflow import UNPLACED, Condition, Datum, Diagnostic, Flow, Place, Step, Workflow

_Plain: TypeAlias = dict[str, object]


def export_workflow(workflow: Workflow, graph: Graph, diagnostics: Sequence[Diagnostic]) -> _Plain:
    """Export a workflow in the shape given in the module docstring."""
    ids = step_ids(graph)
    return {
        "name": workflow.name,
        "title": workflow.title,
        "marked": workflow.marked,
        "sessions": list(workflow.sessions),
        "preamble": workflow.preamble,
        "properties": dict(workflow.properties),
        "steps": _steps(graph, ids),
        **_joined(graph, ids),
        "inputs": _data(graph.inputs),
        "outputs": _data(graph.outputs),
        "diagnostics": [export_diagnostic(one) for one in diagnostics],
    }


def step_ids(graph: Graph) -> tuple[str, ...]:
    """The id of each step by its position, such as `step-2.1`, even for steps that are not in a note."""
    ids: list[str] = []
    children: dict[int, int] = {}
    for parent in graph.parents:
        number = children[parent] = children.get(parent, 0) + 1
        ids.append(f"{ids[parent]}.{number}" if parent >= 0 else f"step-{number}")
    return tuple(ids)


def export_diagnostic(diagnostic: Diagnostic) -> _Plain:
    """Export a problem and its place."""
    return {
        "code": diagnostic.code,
        "severity": diagnostic.severity.value,
        **_place(diagnostic.place),
        "message": diagnostic.message,
    }


def _steps(graph: Graph, ids: Sequence[str]) -> list[_Plain]:
    """Export the top steps, each with the steps below it."""
    below: dict[int, list[_Plain]] = {-1: []}
    for at, step in enumerate(graph.steps):
        below[at] = []
        below[graph.parents[at]].append({**_step(step, ids[at]), "steps": below[at]})
    return below[-1]


def _step(step: Step, number: str) -> _Plain:
    return {
        "id": number,
        "name": step.name,
        "key": step.key,
        "agent": str(step.agent) if step.agent else None,
        "channel": step.channel,
        "grade": step.grade.value,
        "prose": step.prose,
        **_place(step.place),
        "lines": None if step.lines == NOWHERE else [step.lines.first + 1, step.lines.end],
        "inputs": _data(step.inputs()),
        "outputs": _data(step.outputs()),
        "flows": [_flow(flow) for flow in step.flows],
        "markers": [dict(marker.values) for marker in step.markers],
    }


def _joined(graph: Graph, ids: Sequence[str]) -> _Plain:
    def named(numbers: Iterable[int]) -> list[str]:
        return [ids[at] for at in numbers]

    return {
        "edges": [
            {
                "from": ids[edge.source],
                "to": ids[edge.target],
                "data": list(edge.data),
                "stale": list(edge.stale),
                "condition": _condition(edge.condition),
            }
            for edge in graph.edges
        ],
        "bundles": [{"data": b.data, "from": named(b.sources), "to": named(b.targets)} for b in graph.bundles],
        "order": named(graph.order),
        "waves": [named(wave) for wave in graph.waves],
        "cycles": [named(circle) for circle in graph.cycles],
    }


def _flow(flow: Flow) -> _Plain:
    return {
        "stages": [_data(stage) for stage in flow.stages],
        "condition": _condition(flow.condition),
        "target": flow.target or None,
        **_place(flow.place),
    }


def _data(data: Iterable[Datum]) -> list[_Plain]:
    return [{"name": datum.name, "type": datum.type} for datum in data]


def _condition(condition: Condition | None) -> str | None:
    return None if condition is None else condition.text


def _place(place: Place) -> _Plain:
    return {"line": None, "column": None} if place == UNPLACED else {"line": place.line, "column": place.column}
