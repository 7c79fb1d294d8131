"""Plan a run: turn a workflow's graph into jobs and their dependencies.

A step with children and no outputs is a frame: it is not run, and links to it apply to all its steps. A step with
children and outputs runs before those of its children that it does not wait for.
"""

from __future__ import annotations

import os
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import NamedTuple

from crucible.commands.run.jobs import Job, JobInput, Link, LinkGroup, Plan, RunInputs
from crucible.core.errors import UsageError
from crucible.documents.workflow.graph import Graph
from crucible.documents.workflow.workflow import Condition, Datum, Step, Workflow, key_of

_FEW = 32
"""Maximum links from one bundle; more become a `LinkGroup`."""


def plan_run(workflow: Workflow, graph: Graph, given: RunInputs, *, first: str = "") -> Plan:
    """Plan a workflow without cycles. `first` names a step: plan only that step and the steps that depend on it.

    Raises `UsageError` if that name is unknown or ambiguous, or if there is nothing to run.
    """
    planner = _Planner(graph)
    chosen = planner.following(first) if first else set(graph.order)
    jobs = tuple(planner.job(index) for index in graph.order if index in chosen and not planner.is_frame[index])
    if not jobs:
        raise UsageError("the workflow has no steps", "a step is a heading below the title")
    missing = _missing(jobs, given)
    request = "\n\n".join(filter(None, (workflow.title, workflow.preamble)))
    if not request or not any(map(is_request, missing)):
        return Plan(workflow.title, workflow.preamble, jobs, missing)
    others = tuple(datum for datum in missing if not is_request(datum))
    return Plan(workflow.title, workflow.preamble, jobs, others, request)


def steps_from(graph: Graph, first: str) -> set[int]:
    """Return the indexes of the step named `first` and of all steps that wait for it.

    Raises `UsageError` if that name is unknown or ambiguous.
    """
    return _Planner(graph).following(first)


def is_frame(step: Step) -> bool:
    """True for a step that has children and no outputs."""
    return bool(step.children) and not step.outputs()


def value_of(datum: Datum, given: RunInputs) -> str | None:
    """Return the user's value for a datum."""
    return given.values.get(datum.name.casefold())


def is_request(datum: Datum) -> bool:
    """True for `request`, the input that `cru session codify` adds to a first step without other inputs."""
    return datum.name.casefold() == "request"


def file_of(name: str, folder: str) -> str:
    """Return the relative path of an existing file or folder in `folder`, with symlinks resolved; else ""."""
    if not name or "\0" in name:
        return ""
    path = os.path.join(folder, name)
    real = os.path.realpath(path)
    if not real.startswith(os.path.join(os.path.realpath(folder), "")) or not os.path.exists(real):
        return ""
    return os.path.relpath(os.path.normpath(path), folder).replace(os.sep, "/")


def _missing(jobs: Sequence[Job], given: RunInputs) -> tuple[Datum, ...]:
    here = {job.index for job in jobs}
    inputs = (each for job in jobs for each in job.inputs)
    without_maker = {each.datum.name.casefold(): each.datum for each in inputs if here.isdisjoint(each.makers)}
    return tuple(
        datum
        for datum in without_maker.values()
        if value_of(datum, given) is None and not file_of(datum.name, given.folder)
    )


class _Way(NamedTuple):
    """An edge or a bundle: each of `sources` feeds each of `targets`."""

    sources: tuple[int, ...]
    targets: tuple[int, ...]
    data: tuple[str, ...]
    condition: Condition | None = None


class _Planner:
    """Finds what each step of a graph waits for. All numbers are indexes of `Graph.steps`.

    `_place` has each step's position in the run. `_leaves` has the jobs of each step: the step itself, or all jobs in a
    frame.
    """

    def __init__(self, graph: Graph) -> None:
        self._graph = graph
        self._place = {index: at for at, index in enumerate(graph.order)}
        self.is_frame = [is_frame(step) for step in graph.steps]
        self._leaves: list[list[int]] = [[] for _ in graph.steps]
        for index, is_empty in enumerate(self.is_frame):
            for each in () if is_empty else self._with_frames(index):
                self._leaves[each].append(index)
        self._inside = [self._job_around(index) for index in range(len(graph.steps))]
        self._links: list[dict[Link, None]] = [{} for _ in graph.steps]
        self._groups: list[list[LinkGroup]] = [[] for _ in graph.steps]
        self._makers: list[dict[str, list[tuple[int, ...]]]] = [{} for _ in graph.steps]
        self._connect()
        self._closes: dict[int, list[Step]] = {}
        self._after: dict[int, tuple[int, ...]] = {}
        self._close_frames()

    def job(self, index: int) -> Job:
        """Return the job of a step that is not a frame."""
        steps = self._graph.steps
        return Job(
            index,
            steps[index],
            tuple(steps[above] for above in reversed([*self._above(index)])),
            tuple(self._links[index]),
            tuple(self._inputs(index)),
            tuple(self._groups[index]),
            tuple(self._closes.get(index, ())),
            self._after.get(index, ()),
            self._inside[index],
        )

    def following(self, name: str) -> set[int]:
        """Return the jobs of the step with this name, and all jobs that wait for them."""
        found = set(self._leaves[self._named(name)])
        known: dict[int, bool] = {}  # in run order, so a group's sources come before the jobs that wait for the group
        for index in self._graph.order:
            for group in self._groups[index]:
                if id(group.sources) not in known:
                    known[id(group.sources)] = not found.isdisjoint(group.sources)
            is_led_to = any(link.source in found for link in self._links[index])
            in_group = any(known[id(group.sources)] for group in self._groups[index])
            if is_led_to or in_group or self._inside[index] in found:
                found.add(index)
        return found

    def _named(self, name: str) -> int:
        steps, key = self._graph.steps, key_of(name) or name.strip().casefold()
        found = [at for at, step in enumerate(steps) if (step.key or step.name.casefold()) == key]
        if len(found) > 1:
            lines = ", ".join(str(steps[at].place.line) for at in found)
            raise UsageError(f"{len(found)} steps are named {name!r}", f"lines {lines}: give them different names")
        if not found:
            names = ", ".join(step.name for step in steps[:20])
            raise UsageError(f"no step {name!r}", f"the steps are: {names}" if names else "")
        return found[0]

    # --- parents and frames ------------------------------------------------------------------------------------------

    def _above(self, index: int) -> Iterator[int]:
        """Yield the ancestors of a step, nearest first."""
        while (index := self._graph.parents[index]) >= 0:
            yield index

    def _with_frames(self, index: int) -> Iterator[int]:
        yield index
        yield from (above for above in self._above(index) if self.is_frame[above])

    def _job_around(self, index: int) -> int | None:
        """Return the nearest ancestor that is a job and runs before this step."""
        place, at = self._place, self._place.get(index, -1)
        above = (each for each in self._above(index) if not self.is_frame[each])
        return next((each for each in above if place.get(each, at) < at), None)

    def _last(self, index: int) -> int:
        """Return the last job of a step, in run order."""
        return max(self._leaves[index], key=lambda leaf: self._place.get(leaf, -1))

    def _close_frames(self) -> None:
        """Attach the conditions of each frame to the frame's last job.

        Conditions on flows back into the same frame are skipped: they would be needed before any of its jobs has run.
        """
        leading: dict[int, set[Condition]] = {}
        for edge in self._graph.edges:
            if edge.condition and edge.source not in self._above(edge.target):
                leading.setdefault(edge.source, set()).add(edge.condition)
        # Close inner frames before the frames that contain them.
        for index in sorted(leading, reverse=True):
            if self.is_frame[index]:
                step, last = self._graph.steps[index], self._last(index)
                flows = tuple(flow for flow in step.flows if flow.condition in leading[index])
                self._closes.setdefault(last, []).append(replace(step, flows=flows))
                self._after[last] = tuple(leaf for leaf in self._leaves[index] if leaf != last)

    # --- links -------------------------------------------------------------------------------------------------------

    def _ways(self) -> Iterator[_Way]:
        for edge in self._graph.edges:
            yield _Way((edge.source,), (edge.target,), edge.data, edge.condition)
        for bundle in self._graph.bundles:
            yield _Way(bundle.sources, bundle.targets, (bundle.data,))

    def _job_ways(self) -> Iterator[tuple[_Way, int, tuple[int, ...]]]:
        """Yield each way with a target job and the jobs that feed it, in run order. Equal sources share a tuple.

        Only earlier jobs are sources, so a way through a frame cannot create a cycle.
        """
        place = self._place
        for way in self._ways():
            jobs = {leaf for each in way.sources for leaf in self._leaves[each] if leaf in place}
            sources = sorted(jobs, key=place.__getitem__)
            places = [place[leaf] for leaf in sources]
            known: dict[int, tuple[int, ...]] = {}
            for target in dict.fromkeys(leaf for each in way.targets for leaf in self._leaves[each]):
                if count := bisect_left(places, place.get(target, -1)):
                    yield way, target, known.setdefault(count, tuple(sources[:count]))

    def _connect(self) -> None:
        """Set the links, groups and makers of each job."""
        others: dict[tuple[int, int], tuple[int, ...]] = {}
        for way, target, sources in self._job_ways():
            for name in way.data:
                self._makers[target].setdefault(name.casefold(), []).append(sources)
            is_bare, rest = not way.data, sources
            if way.condition:  # a frame's condition is decided after its last job; its other jobs must only have ended
                last, key = self._last(way.sources[0]), (way.sources[0], len(sources))
                if sources[-1] == last:
                    self._links[target][Link(last, way.condition, is_bare)] = None
                if key not in others:
                    others[key] = tuple(source for source in sources if source != last)
                is_bare, rest = False, others[key]
            if len(rest) <= _FEW:
                self._links[target].update((Link(source, None, is_bare), None) for source in rest)
            else:
                self._groups[target].append(LinkGroup(rest, is_bare))

    def _inputs(self, index: int) -> Iterator[JobInput]:
        """Yield the data that a job and its frames take, with the jobs that produce them."""
        data: dict[str, Datum] = {}
        for each in self._with_frames(index):
            for datum in self._graph.taken[each]:
                data.setdefault(datum.name.casefold(), datum)
        for key, datum in data.items():
            groups = self._makers[index].get(key, [()])
            makers = {maker for group in groups for maker in group}
            sources = groups[0] if len(groups) == 1 else tuple(sorted(makers, key=self._place.__getitem__))
            yield JobInput(datum, sources)
