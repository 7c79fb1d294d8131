"""The steps of a workflow in the order in which to run them one by one, and which of them may stand side by side.

Owns what a reader needs that knows no graph: one that runs steps as they stand in the note, a parent before its children, and
neighbours that carry a mark at the same time.  The graph itself is `graph`'s.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterator
from dataclasses import dataclass

from crucible.core.patterns import late_pattern
from crucible.documents.workflow.graph import Graph
from crucible.documents.workflow.workflow import Grade

_GATE = late_pattern(r"^>\s*\[!gate\]", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class Siblings:
    """All numbers are positions of steps in the note.

    `below[at]` are the children of `at` in the order to write them, `below[-1]` the steps that have no parent; `ends[at]` is
    behind the last step below `at`.
    """

    below: list[list[int]]
    ends: list[int]


def arrange(graph: Graph) -> Siblings:
    """Siblings in the order in which the graph runs them, by the last step of each; those in a circle as they stand, at the end."""
    count = len(graph.steps)
    rank = [count + at for at in range(count)]
    for place, at in enumerate(graph.order):
        rank[at] = place
    ends = [at + 1 for at in range(count)]
    for at in range(count - 1, -1, -1):
        if (parent := graph.parents[at]) >= 0:
            ends[parent] = max(ends[parent], ends[at])
            rank[parent] = max(rank[parent], rank[at])
    below: list[list[int]] = [[] for _ in range(count + 1)]
    for at in sorted(range(count), key=lambda at: (rank[at], at)):
        below[graph.parents[at]].append(at)
    return Siblings(below, ends)


def side_by_side(graph: Graph) -> set[int]:
    """The steps that get an `&`: siblings in a row, none of which waits for another.

    What must run alone breaks a row: a step with a gate (the Rust Crucible allows none in a row), one that a condition leads to, one that
    stands in a circle, and one of whose data nothing is known, so that nobody knows what it waits for.  The step behind a row
    has no mark, for two rows would be one.
    """
    tree = arrange(graph)
    alone = _alone(graph)
    found: set[int] = set()
    for siblings in tree.below:
        if len(siblings) > 1:
            found.update(_rows(siblings, _waits(graph, tree, siblings), alone))
    return found


def _alone(graph: Graph) -> list[bool]:
    """Whether a step, or one below it, must run alone."""
    ordered = set(graph.order)
    led_to = {edge.target for edge in graph.edges if edge.condition is not None}
    led_to.update(at for bundle in graph.bundles for at in bundle.targets)  # too many to look at one by one
    alone = [
        at in led_to or at not in ordered or step.grade is Grade.CRITICAL or _GATE.search(step.prose) is not None
        for at, step in enumerate(graph.steps)
    ]
    known = [any(flow.stages for flow in step.flows) for step in graph.steps]
    for at in range(len(alone) - 1, -1, -1):
        if (parent := graph.parents[at]) >= 0:
            alone[parent] |= alone[at]
            known[parent] |= known[at]
    return [one or not data for one, data in zip(alone, known, strict=True)]


def _waits(graph: Graph, tree: Siblings, siblings: list[int]) -> list[set[int]]:
    """For each sibling the places in `siblings` of those that it, or a step below it, waits for."""
    starts = sorted(siblings)
    place = {at: n for n, at in enumerate(siblings)}
    waits: list[set[int]] = []
    for at in siblings:
        sources = {edge.source for step in range(at, tree.ends[at]) for edge in graph.incoming[step]}
        near = {source for source in sources if starts[0] <= source < tree.ends[starts[-1]]}
        waits.append({place[starts[bisect_right(starts, source) - 1]] for source in near})
    return waits


def _rows(siblings: list[int], waits: list[set[int]], alone: list[bool]) -> Iterator[int]:
    at = 0
    while at < len(siblings):
        end = at + 1
        if not alone[siblings[at]]:
            while end < len(siblings) and not alone[siblings[end]] and not _within(waits[end], at, end):
                end += 1
        if end - at > 1:
            yield from siblings[at:end]
            end += 1
        at = end


def _within(places: set[int], first: int, end: int) -> bool:
    return any(first <= place < end for place in places)
