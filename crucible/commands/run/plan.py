"""From a workflow's graph to the steps of a run.

Owns what is carried out and what waits for what.  A step with children that makes nothing is a frame, which does nothing itself: who
waits for it waits for all in it, and what it waits for its steps wait for.  One that makes something is carried out like any other:
what it makes is handed on by itself alone, and the steps in it wait for it, but for those that it waits for.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.commands.run.jobs import Job, JobInput, Link, LinkGroup, Plan, RunInputs
from crucible.core.errors import UsageError
from crucible.documents.workflow.graph import Graph
from crucible.documents.workflow.workflow import Condition, Datum, Step, Workflow, key_of


def plan_run(workflow: Workflow, graph: Graph, given: RunInputs, *, first: str = "") -> Plan:
    """The plan of a workflow without circles.

    With `first`, a step's name, only that step and all behind it.  `UsageError` when no step, or several, are called so, and when
    there is nothing to carry out.
    """
    leaves = _leaves(graph)
    place = {index: at for at, index in enumerate(graph.order)}
    links, crowds = _links(graph, leaves, place)
    order = [index for index in graph.order if not is_frame(graph.steps[index])]
    inside = _inside(graph, place)
    chosen = _behind(_named(graph, leaves, first), links, crowds, inside, order) if first else set(order)
    takes = _takes(graph, leaves, place)
    closes, after = _closing(graph, leaves, place)
    jobs = tuple(
        Job(
            index,
            graph.steps[index],
            _within(graph, index),
            tuple(links[index]),
            takes[index],
            tuple(crowds[index]),
            tuple(closes.get(index, ())),
            after.get(index, ()),
            inside[index],
        )
        for index in order
        if index in chosen
    )
    if not jobs:
        raise UsageError("the workflow has no steps", "a step is a heading below the title")
    missing = _missing(jobs, given)
    request = "\n\n".join(filter(None, (workflow.title, workflow.preamble)))
    if not request or not any(map(is_request, missing)):
        return Plan(workflow.title, workflow.preamble, jobs, missing)
    others = tuple(datum for datum in missing if not is_request(datum))
    return Plan(workflow.title, workflow.preamble, jobs, others, request)


def behind(graph: Graph, first: str) -> set[int]:
    """The step called `first` and all that wait for it, by index; `UsageError` when no step, or several, are called so."""
    leaves = _leaves(graph)
    place = {index: at for at, index in enumerate(graph.order)}
    links, crowds = _links(graph, leaves, place)
    return _behind(_named(graph, leaves, first), links, crowds, _inside(graph, place), graph.order)


def is_frame(step: Step) -> bool:
    """Whether it only holds other steps: nothing stands behind an arrow of its own but steps that it leads to."""
    return bool(step.children) and not step.outputs()


def value_of(datum: Datum, given: RunInputs) -> str | None:
    """What the user gave for it."""
    return given.values.get(datum.name.casefold())


def is_request(datum: Datum) -> bool:
    """Whether it is what the work begins with, as `codify` calls it where the first step takes nothing else."""
    return datum.name.casefold() == "request"


def file_of(name: str, folder: str) -> str:
    """The name, seen from the folder, when a file or folder of that name is in it and nowhere else; else ""."""
    if not name or "\0" in name:
        return ""
    path = os.path.join(folder, name)
    real = os.path.realpath(path)
    if not real.startswith(os.path.join(os.path.realpath(folder), "")) or not os.path.exists(real):
        return ""
    return os.path.relpath(os.path.normpath(path), folder).replace(os.sep, "/")


# --- frames ----------------------------------------------------------------------------------------------------------


def _frames(graph: Graph) -> list[bool]:
    return [is_frame(step) for step in graph.steps]


def _leaves(graph: Graph) -> list[tuple[int, ...]]:
    """Of each step what is carried out for it: itself or, for a frame, all in it that are no frames."""
    frames = _frames(graph)
    found: list[list[int]] = [[] for _ in graph.steps]
    for index, is_empty in enumerate(frames):
        if not is_empty:
            for each in (index, *(above for above in _above(graph, index) if frames[above])):
                found[each].append(index)
    return [tuple(each) for each in found]


def _inside(graph: Graph, place: dict[int, int]) -> list[int | None]:
    """Of each step the nearest one around it that is carried out, and before it."""
    frames = _frames(graph)
    return [
        next((above for above in _above(graph, index) if not frames[above] and place.get(above, at) < at), None)
        for index, at in ((index, place.get(index, -1)) for index in range(len(frames)))
    ]


def _above(graph: Graph, index: int) -> Iterator[int]:
    """Its parent, and that one's."""
    while (index := graph.parents[index]) >= 0:
        yield index


def _last(leaves: Collection[int], place: dict[int, int]) -> int:
    """Which of a step's leaves is over last when they are carried out one by one."""
    return max(leaves, key=lambda leaf: place.get(leaf, -1))


def _closing(
    graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]
) -> tuple[dict[int, list[Step]], dict[int, tuple[int, ...]]]:
    """Which frames' conditions are asked behind which job, and all that is over before.

    One that leads into its own frame is not asked at all: nothing in it was done yet.
    """
    leading: dict[int, set[Condition]] = {}
    for edge in graph.edges:
        if edge.condition and edge.source not in _above(graph, edge.target):
            leading.setdefault(edge.source, set()).add(edge.condition)
    closes: dict[int, list[Step]] = {}
    after: dict[int, tuple[int, ...]] = {}
    # The innermost come last here and the outermost hold all that is in those.
    for index in reversed(range(len(graph.steps))):
        step = graph.steps[index]
        if is_frame(step) and index in leading:
            last = _last(leaves[index], place)
            asked = tuple(flow for flow in step.flows if flow.condition in leading[index])
            closes.setdefault(last, []).append(replace(step, flows=asked))
            after[last] = tuple(leaf for leaf in leaves[index] if leaf != last)
    return closes, after


def _within(graph: Graph, index: int) -> tuple[Step, ...]:
    return tuple(graph.steps[above] for above in reversed([*_above(graph, index)]))


# --- what waits for what ---------------------------------------------------------------------------------------------


class _Way(NamedTuple):
    """Every one of `sources` feeds every one of `targets`: an edge, or a bundle of them."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    data: tuple[str, ...]
    condition: Condition | None = None


def _ways(graph: Graph) -> Iterator[_Way]:
    for edge in graph.edges:
        yield _Way((edge.source,), (edge.target,), edge.data, edge.condition)
    for bundle in graph.bundles:
        yield _Way(bundle.sources, bundle.targets, (bundle.data,))


def _met(
    graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]
) -> Iterator[tuple[_Way, int, tuple[int, ...]]]:
    """What is carried out at the end of each way, and for what: in the order of the run, and one tuple for all that have the same.

    Through a frame a way could lead back: only what goes forward in the order counts, so there is never a circle.
    """
    for way in _ways(graph):
        sources = sorted(
            {leaf for each in way.sources for leaf in leaves[each] if leaf in place}, key=place.__getitem__
        )
        places = [place[leaf] for leaf in sources]
        known: dict[int, tuple[int, ...]] = {}
        for target in dict.fromkeys(leaf for each in way.targets for leaf in leaves[each]):
            if count := bisect_left(places, place.get(target, -1)):
                if count not in known:
                    known[count] = tuple(sources[:count])
                yield way, target, known[count]


def _links(
    graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]
) -> tuple[list[list[Link]], list[list[LinkGroup]]]:
    """What each step waits for, one by one and, where that are many, together."""
    found: list[dict[Link, None]] = [{} for _ in graph.steps]
    crowds: list[list[LinkGroup]] = [[] for _ in graph.steps]
    others: dict[tuple[int, int], tuple[int, ...]] = {}
    for way, target, sources in _met(graph, leaves, place):
        is_bare, rest = not way.data, sources
        if way.condition:  # a frame's is asked behind the last in it, and for the others is only waited
            first, last = way.sources[0], _last(leaves[way.sources[0]], place)
            if sources[-1] == last:
                found[target][Link(last, way.condition, is_bare)] = None
            key = (first, len(sources))
            if key not in others:
                others[key] = tuple(source for source in sources if source != last)
            is_bare, rest = False, others[key]
        if len(rest) <= _FEW:
            found[target].update((Link(source, None, is_bare), None) for source in rest)
        else:
            crowds[target].append(LinkGroup(rest, None, is_bare))
    return [[*each] for each in found], crowds


_FEW = 32


def _takes(graph: Graph, leaves: Sequence[Collection[int]], place: dict[int, int]) -> list[tuple[JobInput, ...]]:
    """What each step takes, with what its frames take, and who makes it."""
    frames = _frames(graph)
    makers: list[dict[str, list[tuple[int, ...]]]] = [{} for _ in graph.steps]
    for way, target, sources in _met(graph, leaves, place):
        for name in way.data:
            makers[target].setdefault(name.casefold(), []).append(sources)
    found: list[tuple[JobInput, ...]] = []
    for index in range(len(graph.steps)):
        data: dict[str, Datum] = {}
        for each in (index, *(above for above in _above(graph, index) if frames[above])):
            for datum in graph.taken[each]:
                data.setdefault(datum.name.casefold(), datum)
        known = makers[index]
        found.append(tuple(JobInput(datum, _all(known.get(key, ()), place)) for key, datum in data.items()))
    return found


def _all(groups: Sequence[tuple[int, ...]], place: dict[int, int]) -> tuple[int, ...]:
    """Each once, in the order of the run."""
    if len(groups) == 1:
        return groups[0]
    return tuple(sorted({each for group in groups for each in group}, key=place.__getitem__))


def _missing(jobs: Sequence[Job], given: RunInputs) -> tuple[Datum, ...]:
    here = {job.index for job in jobs}
    wanted = {
        handed.datum.name.casefold(): handed.datum
        for job in jobs
        for handed in job.inputs
        if here.isdisjoint(handed.makers)
    }
    return tuple(
        datum for datum in wanted.values() if value_of(datum, given) is None and not file_of(datum.name, given.folder)
    )


# --- a part of it ----------------------------------------------------------------------------------------------------


def _named(graph: Graph, leaves: Sequence[tuple[int, ...]], name: str) -> set[int]:
    key = key_of(name) or name.strip().casefold()
    found = [at for at, step in enumerate(graph.steps) if (step.key or step.name.casefold()) == key]
    if len(found) > 1:
        lines = ", ".join(str(graph.steps[at].place.line) for at in found)
        raise UsageError(f"{len(found)} steps are called {name!r}", f"lines {lines}: give them names of their own")
    if not found:
        names = ", ".join(step.name for step in graph.steps[:20])
        raise UsageError(f"no step {name!r}", f"the steps are: {names}" if names else "")
    return set(leaves[found[0]])


def _behind(
    first: set[int],
    links: Sequence[Sequence[Link]],
    crowds: Sequence[Sequence[LinkGroup]],
    inside: Sequence[int | None],
    order: Sequence[int],
) -> set[int]:
    """These, and all that wait for them."""
    found = set(first)
    known: dict[int, bool] = {}  # whoever is in a crowd stands in the order before all that wait for it
    for index in order:
        for crowd in crowds[index]:
            if id(crowd.sources) not in known:
                known[id(crowd.sources)] = not found.isdisjoint(crowd.sources)
        is_led_to = any(link.source in found for link in links[index])
        if is_led_to or inside[index] in found or any(known[id(crowd.sources)] for crowd in crowds[index]):
            found.add(index)
    return found
