"""Build the graph of a workflow: the data that connects steps, their order, and cycles.

A step that makes data is connected to all steps that take it; if it also takes the data, only to later steps.  Parents
come before their children unless data requires a different order.  Nothing recurses.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from crucible.documents.workflow.topological_order import cycles_of, order_of
from crucible.documents.workflow.workflow import UNPLACED, Condition, Datum, Place, Step, Workflow, key_of
from crucible.documents.workflow.workflow_reader import gc_paused

_PAIRS = 32
"""Maximum edges of a name per maker and taker; above it, only the last changing step and a `Bundle` are used."""


class Edge(NamedTuple):
    """`source` passes data to `target`, given as positions in `Graph.steps`; one edge for each pair and condition.

    `data` has the names that pass, as the source spells them; it is empty for a bare `proceed to`.  `stale` has the
    names that a step in between always changes.
    """

    source: int
    target: int
    data: tuple[str, ...] = ()
    condition: Condition | None = None
    stale: tuple[str, ...] = ()

    @property
    def is_stale(self) -> bool:
        """True if all data of the edge is stale, so that other edges already imply the edge."""
        return bool(self.data) and len(self.stale) == len(self.data)

    @property
    def fresh(self) -> list[str]:
        """The data that reaches the target unchanged."""
        return [name for name in self.data if name not in self.stale]


class Bundle(NamedTuple):
    """Each of `sources` passes `data` to each of `targets`; used where single edges would be too many."""

    data: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]


class Missing(NamedTuple):
    """The step at `source` leads to `target`, which is not the name of a step."""

    source: int
    target: str
    place: Place


@dataclass(frozen=True)
class Graph:
    """The steps of a workflow, in note order, and their connections; all numbers are positions in `steps`.

    `parents` has -1 for top steps.  `order` is topological and stable; `waves` groups the same steps by level, so that
    each wave depends only on earlier ones.  Steps in or after a cycle are in neither.  `cycles` has a shortest cycle
    for each strongly connected component, from its first step.  `inputs` are data that no step makes, `outputs` data
    that no step takes.
    """

    steps: tuple[Step, ...] = ()
    parents: tuple[int, ...] = ()
    edges: tuple[Edge, ...] = ()
    bundles: tuple[Bundle, ...] = ()
    order: tuple[int, ...] = ()
    waves: tuple[tuple[int, ...], ...] = ()
    cycles: tuple[tuple[int, ...], ...] = ()
    inputs: tuple[Datum, ...] = ()
    outputs: tuple[Datum, ...] = ()
    missing: tuple[Missing, ...] = ()

    @cached_property
    def taken(self) -> tuple[tuple[Datum, ...], ...]:
        """The inputs of each step."""
        return tuple(step.inputs() for step in self.steps)

    @cached_property
    def made(self) -> tuple[tuple[Datum, ...], ...]:
        """The outputs of each step."""
        return tuple(step.outputs() for step in self.steps)

    @cached_property
    def incoming(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges into each step, ordered by source, without bundles."""
        return self._by_step(itemgetter(1))

    @cached_property
    def outgoing(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges out of each step, ordered by target, without bundles."""
        return self._by_step(itemgetter(0))

    def _by_step(self, end: Callable[[Edge], int]) -> tuple[tuple[Edge, ...], ...]:
        found: list[list[Edge]] = [[] for _ in self.steps]
        for edge in self.edges:
            found[end(edge)].append(edge)
        return tuple(map(tuple, found))


class _Maker(NamedTuple):
    """A step that makes a datum.  `conditions` includes None if the step always makes it."""

    step: int
    datum: Datum
    conditions: tuple[Condition | None, ...]


@dataclass(slots=True)
class _Name:
    """The steps that make and take the data of one name, in note order."""

    makers: list[_Maker] = field(default_factory=list)
    takers: list[tuple[int, Datum]] = field(default_factory=list)


_Row: TypeAlias = tuple[int, int, Condition | None, str, bool]
"""Source, target, condition, the name of the data ("" if none), and whether it is stale."""


@dataclass(slots=True)
class _Joined:
    """The edges and bundles found so far."""

    rows: list[_Row] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)

    def join(self, maker: _Maker, target: int, stale: bool = False) -> None:
        """Add edges from a maker to a step."""
        for condition in maker.conditions:
            self.rows.append((maker.step, target, condition, maker.datum.name, stale))

    def edges(self) -> Iterator[Edge]:
        """Yield the edges, ordered by source and target."""
        self.rows.sort(key=itemgetter(0, 1))
        for (source, target), together in groupby(self.rows, itemgetter(0, 1)):
            rows = [*together]
            if len(rows) == 1:  # most have one row
                _, _, condition, name, stale = rows[0]
                data: tuple[str, ...] = (name,) if name else ()
                yield Edge(source, target, data, condition, data if stale else ())
                continue
            passing: dict[Condition | None, dict[str, tuple[str, bool]]] = {}
            for _, _, condition, name, stale in rows:
                names = passing.setdefault(condition, {})
                if name:
                    names.setdefault(name.casefold(), (name, stale))
            for condition, names in passing.items():
                data = tuple(name for name, _ in names.values())
                yield Edge(source, target, data, condition, tuple(n for n, stale in names.values() if stale))


@gc_paused()
def build_graph(workflow: Workflow) -> Graph:
    """Build the graph of any workflow, even with cycles and missing steps."""
    steps, parents = _numbered(workflow)
    names = _names_of(steps)
    joined = _Joined()
    for name in names.values():
        _join_name(name, joined)
    missing = tuple(_join_targets(steps, joined))
    edges = tuple(joined.edges())
    arcs = _arcs(len(steps), edges, joined.bundles)
    order, waves = order_of(arcs, parents)
    return Graph(
        steps=steps,
        parents=parents,
        edges=edges,
        bundles=tuple(joined.bundles),
        order=order,
        waves=waves,
        cycles=cycles_of(arcs, len(steps)) if len(order) < len(steps) else (),
        inputs=_inputs(names.values()),
        outputs=_outputs(names.values()),
        missing=missing,
    )


def _numbered(workflow: Workflow) -> tuple[tuple[Step, ...], tuple[int, ...]]:
    """Return every step in note order, and the position of each step's parent."""
    steps: list[Step] = []
    parents: list[int] = []
    waiting = [(step, -1) for step in reversed(workflow.steps)]
    while waiting:
        step, parent = waiting.pop()
        waiting.extend((child, len(steps)) for child in reversed(step.children))
        steps.append(step)
        parents.append(parent)
    return tuple(steps), tuple(parents)


def _names_of(steps: Sequence[Step]) -> dict[str, _Name]:
    """Return the makers and takers of every name."""
    names: dict[str, _Name] = {}
    for at, step in enumerate(steps):
        for datum in step.inputs():
            names.setdefault(datum.name.casefold(), _Name()).takers.append((at, datum))
        conditions = _conditions(step)
        for datum in step.outputs():
            key = datum.name.casefold()
            names.setdefault(key, _Name()).makers.append(_Maker(at, datum, conditions.get(key, (None,))))
    return names


def _conditions(step: Step) -> dict[str, tuple[Condition | None, ...]]:
    """Return the names that a step makes only under conditions, each with its conditions."""
    found: dict[str, dict[Condition, None]] = {}
    anyway: set[str] = set()
    for flow in step.flows:
        if flow.condition is None:
            anyway.update(datum.name.casefold() for stage in flow.stages[1:] for datum in stage)
            continue
        for stage in flow.stages:
            for datum in stage:
                found.setdefault(datum.name.casefold(), {})[flow.condition] = None
    return {key: tuple(conditions) for key, conditions in found.items() if key not in anyway}


def _join_name(name: _Name, joined: _Joined) -> None:
    taking = {at for at, _ in name.takers}
    pure = [maker for maker in name.makers if maker.step not in taking]
    changers = [maker for maker in name.makers if maker.step in taking]
    if len(name.takers) * len(name.makers) <= _PAIRS * (len(name.makers) + len(name.takers)):
        _join_all(name, pure, changers, joined)
    else:
        _join_last(name, pure, changers, joined)


def _join_all(name: _Name, pure: list[_Maker], changers: list[_Maker], joined: _Joined) -> None:
    """Connect every maker to every taker; a changing step only to later ones."""
    before = 0
    last = -1
    for target, _ in name.takers:
        while before < len(changers) and changers[before].step < target:
            last = changers[before].step if None in changers[before].conditions else last
            before += 1
        for maker in (*pure, *changers[:before]):
            joined.join(maker, target, maker.step < last < target)


def _join_last(name: _Name, pure: list[_Maker], changers: list[_Maker], joined: _Joined) -> None:
    """Connect only the last changing step before each taker, since it depends on all earlier ones."""
    first = changers[0].step if changers else name.takers[-1][0]
    heads = [target for target, _ in name.takers if target <= first]
    if len(pure) * len(heads) <= _PAIRS * (len(pure) + len(heads)):
        for maker in pure:
            for target in heads:
                joined.join(maker, target)
    else:
        joined.bundles.append(Bundle(pure[0].datum.name, tuple(m.step for m in pure), tuple(heads)))
    before = 0
    for target, _ in name.takers[len(heads) :]:
        while before < len(changers) and changers[before].step < target:
            before += 1
        joined.join(changers[before - 1], target)


def _join_targets(steps: Sequence[Step], joined: _Joined) -> Iterator[Missing]:
    """Add edges to targets.  If several steps have the name, the next one in the note counts, else the first."""
    places: dict[str, list[int]] = {}
    for at, step in enumerate(steps):
        places.setdefault(_target_key(step.name), []).append(at)
    passed = dict.fromkeys(places, 0)
    for at, step in enumerate(steps):
        for flow in step.flows:
            if not flow.target:
                continue
            key = _target_key(flow.target)
            found = places.get(key)
            if found is None:
                yield Missing(at, flow.target, flow.place if flow.target_place == UNPLACED else flow.target_place)
                continue
            while passed[key] < len(found) and found[passed[key]] <= at:
                passed[key] += 1
            target = found[passed[key]] if passed[key] < len(found) else found[0]
            passed_on = [datum.name for datum in flow.stages[-1]] if flow.stages else [""]
            joined.rows.extend((at, target, flow.condition, name, False) for name in passed_on)


def _target_key(name: str) -> str:
    """The key by which target names match.  A name without letters and digits matches only itself."""
    return key_of(name) or name.casefold().strip()


def _arcs(count: int, edges: Sequence[Edge], bundles: Sequence[Bundle]) -> list[list[int]]:
    """The successors of every step, then of every bundle.  A bundle is a node between its sources and targets."""
    arcs: list[list[int]] = [[] for _ in range(count + len(bundles))]
    for edge in edges:
        if not arcs[edge.source] or arcs[edge.source][-1] != edge.target:
            arcs[edge.source].append(edge.target)
    for node, bundle in enumerate(bundles, count):
        arcs[node].extend(bundle.targets)
        for source in bundle.sources:
            arcs[source].append(node)
    return arcs


def _inputs(names: Iterable[_Name]) -> tuple[Datum, ...]:
    """The data that no step makes, by first use, with types where known."""
    found: list[tuple[int, Datum]] = []
    for name in names:
        taking = {at for at, _ in name.takers}
        if any(maker.step not in taking for maker in name.makers):
            continue
        unfed = [(at, datum) for at, datum in name.takers if not name.makers or at <= name.makers[0].step]
        if unfed:
            known = next((datum.type for _, datum in unfed if datum.type), None)
            found.append((unfed[0][0], replace(unfed[0][1], type=known)))
    return tuple(datum for _, datum in sorted(found, key=lambda item: item[0]))


def _outputs(names: Iterable[_Name]) -> tuple[Datum, ...]:
    """The data that no step takes after its last maker, ordered by maker."""
    found: list[tuple[int, Datum]] = []
    for name in names:
        last = name.takers[-1][0] if name.takers else -1
        taking = {at for at, _ in name.takers}
        left = [m for m in name.makers if last < 0 or (m.step in taking and m.step >= last)]
        found.extend((maker.step, maker.datum) for maker in left[:1])
    return tuple(datum for _, datum in sorted(found, key=lambda item: item[0]))
