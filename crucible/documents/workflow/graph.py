"""The steps of a workflow as a graph: who feeds whom, in what order, what may run side by side, and where it runs in a circle.

Owns the rules by which steps are joined:

- A step that makes a name feeds every step that takes it; names match without regard to case.
- A step that both takes and makes a name changes it: it feeds only the steps behind it in the note.
- A target (`proceed to NAME`, or a last stage that names a step) joins too, and a conditional line gives its edge a condition.
- A parent is put before its children unless data says otherwise; that is order, not an edge.

Everything here is linear in the length of the note and nothing recurses.  Rule one alone is a product, so a name that would give
more than `_PAIRS` edges for each of its makers and takers is cut down without losing what comes before what: behind a step that
changes it, only the last such step feeds; and what is left of many makers and many takers is kept as one `Bundle`.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from operator import itemgetter
from typing import NamedTuple, TypeAlias

from crucible.documents.workflow.topological_order import cycles_of, order_of
from crucible.documents.workflow.workflow import UNPLACED, Condition, Datum, Place, Step, Workflow, key_of
from crucible.documents.workflow.workflow_reader import uncollected

_PAIRS = 32


class Edge(NamedTuple):
    """`source` feeds `target`, both positions in `Graph.steps`; one for each pair and condition.

    `data` are the names that pass, spelled as the source has them; none for a bare `proceed to`.  `stale` are those of them that a
    step between the two in the note always changes, so that another version of them arrives.
    """

    source: int
    target: int
    data: tuple[str, ...] = ()
    condition: Condition | None = None
    stale: tuple[str, ...] = ()

    @property
    def is_stale(self) -> bool:
        """Whether nothing arrives by it as it was made: it holds, but follows from the other edges."""
        return bool(self.data) and len(self.stale) == len(self.data)


class Bundle(NamedTuple):
    """Every one of `sources` feeds every one of `targets` with `data`: too many pairs to have an edge each."""

    data: str
    sources: tuple[int, ...]
    targets: tuple[int, ...]


class Missing(NamedTuple):
    """The step at `source` leads to a step called `target`, and there is none."""

    source: int
    target: str
    place: Place


@dataclass(frozen=True)
class Graph:
    """A workflow's steps, joined.  All numbers are positions in `steps`, which is in the order of the note.

    `parents` has each step's parent, -1 for none.  `order` is topological and stable: of the steps that are ready, the first in the
    note.  `waves` are the same steps by level: those of one wave wait only for earlier waves.  Steps that stand in or behind a
    circle are in neither.  `cycles` has one shortest circle for each knot, from its first step in the note, which is not repeated
    at the end.  `inputs` are the data that some step takes and nobody makes for it, `outputs` those that some step makes and nobody
    takes from it.
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
        """What each step takes."""
        return tuple(step.inputs() for step in self.steps)

    @cached_property
    def made(self) -> tuple[tuple[Datum, ...], ...]:
        """What each step makes."""
        return tuple(step.outputs() for step in self.steps)

    @cached_property
    def incoming(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges into each step, by source.  Bundles are apart."""
        into: list[list[Edge]] = [[] for _ in self.steps]
        for edge in self.edges:
            into[edge.target].append(edge)
        return tuple(map(tuple, into))

    @cached_property
    def outgoing(self) -> tuple[tuple[Edge, ...], ...]:
        """The edges out of each step, by target.  Bundles are apart."""
        out: list[list[Edge]] = [[] for _ in self.steps]
        for edge in self.edges:
            out[edge.source].append(edge)
        return tuple(map(tuple, out))


class _Maker(NamedTuple):
    """Who makes a datum; `conditions` has None where it does so in any case."""

    step: int
    datum: Datum
    conditions: tuple[Condition | None, ...]


@dataclass(slots=True)
class _Name:
    """Who makes and who takes one name, each in the order of the note."""

    makers: list[_Maker] = field(default_factory=list)
    takers: list[tuple[int, Datum]] = field(default_factory=list)


_Row: TypeAlias = tuple[int, int, Condition | None, str, bool]
"""Source, target, condition, a name that passes ("" for none) and whether it is stale.  Flat, for there are many of them."""


@dataclass(slots=True)
class _Joined:
    """What is being joined."""

    rows: list[_Row] = field(default_factory=list)
    bundles: list[Bundle] = field(default_factory=list)

    def join(self, maker: _Maker, target: int, stale: bool = False) -> None:
        """Let a maker feed a step."""
        for condition in maker.conditions:
            self.rows.append((maker.step, target, condition, maker.datum.name, stale))

    def edges(self) -> Iterator[Edge]:
        """By source and target; those that differ by condition as they came."""
        self.rows.sort(key=itemgetter(0, 1))
        for (source, target), together in groupby(self.rows, itemgetter(0, 1)):
            rows = [*together]
            if len(rows) == 1:  # as most are
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


@uncollected()
def build_graph(workflow: Workflow) -> Graph:
    """The graph of a workflow, circles and missing steps included: it never fails."""
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
    """Every step in the order of the note, and each one's parent."""
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
    """Makers and takers of every name, names in the order of the note."""
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
    """What a step makes under conditions only, and those."""
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
    """Every maker with every taker, but a changer only with those behind it."""
    before = 0
    last = -1
    for target, _ in name.takers:
        while before < len(changers) and changers[before].step < target:
            last = changers[before].step if None in changers[before].conditions else last
            before += 1
        for maker in (*pure, *changers[:before]):
            joined.join(maker, target, maker.step < last < target)


def _join_last(name: _Name, pure: list[_Maker], changers: list[_Maker], joined: _Joined) -> None:
    """Behind a changer only the last one feeds: it waits for the makers and for the changers before it."""
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
    """Edges of `proceed to`; of several steps with one name the next one in the note is meant, else the first."""
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
    """As names match; a name without letters and digits matches only itself."""
    return key_of(name) or name.casefold().strip()


def _arcs(count: int, edges: Sequence[Edge], bundles: Sequence[Bundle]) -> list[list[int]]:
    """Successors of every step, and behind the steps of every bundle, which stands between its sources and its targets."""
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
    """What nobody makes for somebody that takes it, in the order of those who do; with a type that one of them knows."""
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
    """What is made last and taken by nobody, in the order of those who make it."""
    found: list[tuple[int, Datum]] = []
    for name in names:
        last = name.takers[-1][0] if name.takers else -1
        taking = {at for at, _ in name.takers}
        left = [m for m in name.makers if last < 0 or (m.step in taking and m.step >= last)]
        found.extend((maker.step, maker.datum) for maker in left[:1])
    return tuple(datum for _, datum in sorted(found, key=lambda item: item[0]))
