"""From a workflow's graph to the steps of a run.

Owns what is carried out and what waits for what: a step with children is a container, which does nothing itself; who waits for it
waits for all in it, and what it waits for its steps wait for.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Iterator, Sequence

from crucible.errors import UsageError
from crucible.execution.model import Given, Handed, Job, Link, Plan
from crucible.workflow.graph import Edge, Graph
from crucible.workflow.model import Datum, Step, Workflow, key_of

__all__ = ["behind", "file_of", "plan_run", "value_of"]


def plan_run(workflow: Workflow, graph: Graph, given: Given, *, first: str = "") -> Plan:
    """The plan of a workflow without circles.

    With `first`, a step's name, only that step and all behind it.  `UsageError` when no step, or several, are called so, and when
    there is nothing to carry out.
    """
    leaves = _leaves(graph)
    place = {index: at for at, index in enumerate(graph.order)}
    links = _links(graph, leaves, place)
    order = [index for index in graph.order if not graph.steps[index].children]
    chosen = _behind(_named(graph, leaves, first), links, order) if first else set(order)
    takes = _takes(graph, leaves, place)
    jobs = tuple(
        Job(index, graph.steps[index], _within(graph, index), tuple(links[index]), takes[index])
        for index in order
        if index in chosen
    )
    if not jobs:
        raise UsageError("the workflow has no steps", "a step is a heading below the title")
    return Plan(workflow.title, workflow.preamble, jobs, _missing(jobs, given))


def behind(graph: Graph, first: str) -> set[int]:
    """The step called `first` and all that wait for it, by index; `UsageError` when no step, or several, are called so."""
    leaves = _leaves(graph)
    links = _links(graph, leaves, {index: at for at, index in enumerate(graph.order)})
    return _behind(_named(graph, leaves, first), links, graph.order)


def value_of(datum: Datum, given: Given) -> str | None:
    """What the user gave for it."""
    return given.values.get(datum.name.casefold())


def file_of(name: str, folder: str) -> str:
    """The name, seen from the folder, when a file or folder of that name is in it and nowhere else; else ""."""
    if not name or "\0" in name:
        return ""
    path = os.path.join(folder, name)
    real = os.path.realpath(path)
    if not real.startswith(os.path.join(os.path.realpath(folder), "")) or not os.path.exists(real):
        return ""
    return os.path.relpath(os.path.normpath(path), folder).replace(os.sep, "/")


# --- containers ------------------------------------------------------------------------------------------------------


def _leaves(graph: Graph) -> list[tuple[int, ...]]:
    """Of each step what is carried out for it: itself, or the steps in it that have no children."""
    found: list[list[int]] = [[] for _ in graph.steps]
    for index, step in enumerate(graph.steps):
        if not step.children:
            for above in (index, *_above(graph, index)):
                found[above].append(index)
    return [tuple(each) for each in found]


def _above(graph: Graph, index: int) -> Iterator[int]:
    """Its parent, and that one's."""
    while (index := graph.parents[index]) >= 0:
        yield index


def _within(graph: Graph, index: int) -> tuple[Step, ...]:
    return tuple(graph.steps[above] for above in reversed([*_above(graph, index)]))


# --- what waits for what ---------------------------------------------------------------------------------------------


def _edges(graph: Graph) -> Iterator[Edge]:
    yield from graph.edges
    for bundle in graph.bundles:
        for target in bundle.targets:
            yield from (Edge(source, target, (bundle.data,)) for source in bundle.sources)


def _pairs(
    edges: Iterable[Edge], leaves: Sequence[Collection[int]], place: dict[int, int]
) -> Iterator[tuple[Edge, int, int]]:
    """What is carried out for both ends of every edge.

    Through a container an edge could lead back: only what goes forward in the order counts, so there is never a circle.
    """
    for edge in edges:
        for target in leaves[edge.target]:
            for source in leaves[edge.source]:
                if source != target and place.get(source, -1) < place.get(target, -1):
                    yield edge, source, target


def _links(graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]) -> list[list[Link]]:
    found: list[dict[Link, None]] = [{} for _ in graph.steps]
    for edge, source, target in _pairs(_edges(graph), leaves, place):
        found[target][Link(source, edge.condition, not edge.data)] = None
    return [[*each] for each in found]


def _takes(
    graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]
) -> list[tuple[Handed, ...]]:
    """What each step takes, with what its containers take, and who makes it."""
    makers: list[dict[str, list[int]]] = [{} for _ in graph.steps]
    for edge, source, target in _pairs(_edges(graph), leaves, place):
        for name in edge.data:
            makers[target].setdefault(name.casefold(), []).append(source)
    found: list[tuple[Handed, ...]] = []
    for index in range(len(graph.steps)):
        data: dict[str, Datum] = {}
        for each in (index, *_above(graph, index)):
            for datum in graph.steps[each].inputs():
                data.setdefault(datum.name.casefold(), datum)
        found.append(
            tuple(
                Handed(datum, tuple(sorted(set(makers[index].get(key, ())), key=place.__getitem__)))
                for key, datum in data.items()
            )
        )
    return found


def _missing(jobs: Sequence[Job], given: Given) -> tuple[Datum, ...]:
    here = {job.index for job in jobs}
    wanted = {
        handed.datum.name.casefold(): handed.datum
        for job in jobs
        for handed in job.inputs
        if here.isdisjoint(handed.makers)
    }
    return tuple(
        datum
        for datum in wanted.values()
        if value_of(datum, given) is None and not file_of(datum.name, given.folder)
    )


# --- a part of it ----------------------------------------------------------------------------------------------------


def _named(graph: Graph, leaves: Sequence[tuple[int, ...]], name: str) -> set[int]:
    key = key_of(name) or name.strip().casefold()
    found = [at for at, step in enumerate(graph.steps) if (step.key or step.name.casefold()) == key]
    if len(found) > 1:
        lines = ", ".join(str(graph.steps[at].place.line) for at in found)
        raise UsageError(
            f"{len(found)} steps are called {name!r}", f"lines {lines}: give them names of their own"
        )
    if not found:
        names = ", ".join(step.name for step in graph.steps[:20])
        raise UsageError(f"no step {name!r}", f"the steps are: {names}" if names else "")
    return set(leaves[found[0]])


def _behind(first: set[int], links: Sequence[Sequence[Link]], order: Sequence[int]) -> set[int]:
    """These, and all that wait for them."""
    found = set(first)
    for index in order:
        if any(link.source in found for link in links[index]):
            found.add(index)
    return found
