"""Check a workflow and its graph.

Errors: `cycle`, `missing-step`, `type-mismatch`.  Warnings: `duplicate-output`, `duplicate-step`,
`marker-without-step`, `otherwise-without-if`, `no-steps`.  Messages contain names as written, so remove control
characters before printing.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TypeAlias

from crucible.documents.workflow.graph import Bundle, Graph
from crucible.documents.workflow.workflow import UNPLACED, Datum, Diagnostic, Place, Severity, Step, Workflow, key_of
from crucible.documents.workflow.workflow_reader import gc_paused

_LONGEST_PATH = 50


@gc_paused()
def check_workflow(workflow: Workflow, graph: Graph) -> tuple[Diagnostic, ...]:
    """Return all problems of a workflow, including those found while reading, by place; one per code and place."""
    found = [
        *workflow.diagnostics,
        *_cycles(graph),
        *_missing(graph),
        *_types(graph),
        *_duplicate_outputs(graph),
        *_duplicate_steps(graph),
        *_markers(graph),
        *_otherwises(graph),
        *_emptiness(workflow, graph),
    ]
    once: dict[tuple[object, ...], Diagnostic] = {}
    for one in found:
        once.setdefault((one.code, one.place) if one.place != UNPLACED else one, one)
    return tuple(sorted(once.values(), key=lambda one: (one.place, one.severity, one.code)))


def has_errors(diagnostics: Sequence[Diagnostic]) -> bool:
    """True if any diagnostic is an error."""
    return any(one.severity is Severity.ERROR for one in diagnostics)


def _cycles(graph: Graph) -> Iterator[Diagnostic]:
    for circle in graph.cycles:
        names = [graph.steps[at].name for at in (*circle, circle[0])]
        if len(names) > _LONGEST_PATH:
            left_out = f"… {len(names) - _LONGEST_PATH:,} more …"
            names[_LONGEST_PATH // 2 : -_LONGEST_PATH // 2] = [left_out]
        message = "these steps wait for each other: " + " → ".join(names)
        yield Diagnostic("cycle", Severity.ERROR, graph.steps[circle[0]].place, message)


def _missing(graph: Graph) -> Iterator[Diagnostic]:
    for missing in graph.missing:
        message = f"“{graph.steps[missing.source].name}” leads to “{missing.target}”, but no step has this name"
        yield Diagnostic("missing-step", Severity.ERROR, _placed(missing.place, graph.steps[missing.source]), message)


def _types(graph: Graph) -> Iterator[Diagnostic]:
    """For each datum that a step takes, report the first step that makes it with a different type."""
    made = [*map(_typed, graph.made)]
    taken = [*map(_typed, graph.taken)]
    for edge in graph.edges:
        for name in edge.data if taken[edge.target] else ():
            key = name.casefold()
            here = taken[edge.target].get(key)
            there = made[edge.source].get(key)
            if here and there and here.type != there.type and name not in edge.stale:
                yield _mismatch(graph, edge.source, there, edge.target, here)
                del taken[edge.target][key]
    for bundle in graph.bundles:
        yield from _bundle_types(graph, bundle, made, taken)


_Typed: TypeAlias = Sequence[dict[str, Datum]]
"""The inputs or outputs of known type, by name, for each step."""


def _typed(data: Sequence[Datum]) -> dict[str, Datum]:
    return {datum.name.casefold(): datum for datum in data if datum.type}


def _bundle_types(graph: Graph, bundle: Bundle, made: _Typed, taken: _Typed) -> Iterator[Diagnostic]:
    """Report takers whose type differs from a maker's.

    Two makers of different types are enough to find all such takers.
    """
    key = bundle.data.casefold()
    kinds: dict[str | None, int] = {}
    for source in bundle.sources:
        if key in made[source]:
            kinds.setdefault(made[source][key].type, source)
    makers = list(kinds.values())[:2]
    for target in bundle.targets:
        here = taken[target].get(key)
        for source in makers if here else ():
            there = made[source][key]
            if here and there.type != here.type:
                yield _mismatch(graph, source, there, target, here)
                break


def _mismatch(graph: Graph, source: int, made: Datum, target: int, taken: Datum) -> Diagnostic:
    message = (
        f"“{graph.steps[target].name}” takes {taken.name} as {taken.type}, "
        f"but “{graph.steps[source].name}” makes it as {made.type}{_at(made.place)}"
    )
    return Diagnostic("type-mismatch", Severity.ERROR, _placed(taken.place, graph.steps[target]), message)


def _duplicate_outputs(graph: Graph) -> Iterator[Diagnostic]:
    """Report names that two steps make, unless one step also takes the name or is above the other."""
    makers: dict[str, list[int]] = {}
    for at, step in enumerate(graph.steps):
        taken = {datum.name.casefold() for datum in graph.taken[at]}
        for datum in graph.made[at]:
            key = datum.name.casefold()
            earlier = makers.setdefault(key, [])
            if key in taken:
                continue
            above = _above(graph, at) if earlier else ()
            first = next((other for other in earlier if other not in above), None)
            earlier.append(at)
            if first is not None:
                message = f"{datum.name} is made by “{graph.steps[first].name}” too{_at(graph.steps[first].place)}"
                place = _placed(datum.place, step)
                yield Diagnostic("duplicate-output", Severity.WARNING, place, message)


def _above(graph: Graph, at: int) -> set[int]:
    """The ancestors of a step."""
    above: set[int] = set()
    while graph.parents[at] >= 0:
        at = graph.parents[at]
        above.add(at)
    return above


def _duplicate_steps(graph: Graph) -> Iterator[Diagnostic]:
    first: dict[str, Step] = {}
    for step in graph.steps:
        other = first.setdefault(step.key or step.name, step)
        if other is not step and step.name:
            message = (
                f"“{step.name}” has the name of an earlier step{_at(other.place)}: "
                "markers and `proceed to` cannot tell them apart"
            )
            yield Diagnostic("duplicate-step", Severity.WARNING, step.place, message)


def _markers(graph: Graph) -> Iterator[Diagnostic]:
    known = {step.key for step in graph.steps}
    for step in graph.steps:
        for marker in step.markers:
            if marker.phase and key_of(marker.phase) not in known:
                message = f"this row is for “{marker.phase}”, but no step has this name"
                place = _placed(marker.place, step)
                yield Diagnostic("marker-without-step", Severity.WARNING, place, message)


def _otherwises(graph: Graph) -> Iterator[Diagnostic]:
    for step in graph.steps:
        conditions = [(flow.condition, flow.place) for flow in step.flows if flow.condition is not None]
        if conditions and conditions[0][0].is_otherwise:
            message = "`Otherwise` comes before any `If` of its step, so it always applies"
            yield Diagnostic("otherwise-without-if", Severity.WARNING, _placed(conditions[0][1], step), message)


def _emptiness(workflow: Workflow, graph: Graph) -> Iterator[Diagnostic]:
    if not graph.steps:
        message = 'no steps: add a heading below the title for each, such as "## Load the data"'
        yield Diagnostic("no-steps", Severity.WARNING, max(workflow.title_place, Place(1, 1)), message)


def _placed(place: Place, step: Step) -> Place:
    """The place, or the step's place if this is unknown."""
    return step.place if place == UNPLACED else place


def _at(place: Place) -> str:
    return "" if place == UNPLACED else f" (line {place.line})"
