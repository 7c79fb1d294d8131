"""Order, waves and cycles of a graph given as successor lists, in linear time and without recursion.

Nodes below `count` are steps, in note order.  Later nodes are bundles, which connect steps and are not in any result.
"""

from __future__ import annotations

import heapq
from collections import deque
from collections.abc import Collection, Iterator, Sequence
from typing import TypeAlias

_Arcs: TypeAlias = Sequence[Sequence[int]]


def order_of(arcs: _Arcs, parents: Sequence[int]) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """Return the topological order and its levels, without steps in or after a cycle.

    Among ready steps, the first in the note comes first.  A parent (-1 for none) comes before its children, unless this
    would create a cycle.
    """
    count = len(parents)
    family = [(p, child) for child, p in enumerate(parents) if p >= 0]
    order, levels = _settle(_with(arcs, family), count)
    if len(order) < count:
        order, levels = _settle_without_circles(arcs, count, family)
    waves: list[list[int]] = [[] for _ in range(max((levels[at] for at in order), default=-1) + 1)]
    for at in sorted(order):
        waves[levels[at]].append(at)
    return tuple(order), tuple(map(tuple, waves))


def _settle_without_circles(arcs: _Arcs, count: int, family: Sequence[tuple[int, int]]) -> tuple[list[int], list[int]]:
    """The order of the steps outside cycles; data takes precedence over parents."""
    order, levels = _settle(arcs, count)
    kept = set(order)
    family = [(p, child) for p, child in family if p in kept and child in kept]
    if not family:
        return order, levels
    order, levels = _settle(_with(arcs, family), count)
    if len(order) == len(kept):
        return order, levels
    component = _components(_with(arcs, family))
    return _settle(_with(arcs, [(p, child) for p, child in family if component[p] != component[child]]), count)


def _with(arcs: _Arcs, more: Sequence[tuple[int, int]]) -> _Arcs:
    added: dict[int, list[int]] = {}
    for source, target in more:
        added.setdefault(source, []).append(target)
    widened = [*arcs]
    for source, targets in added.items():
        widened[source] = [*arcs[source], *targets]
    return widened


def _settle(arcs: _Arcs, count: int) -> tuple[list[int], list[int]]:
    """Kahn's algorithm, with each node's level: one more than the highest level of its predecessors."""
    waiting = [0] * len(arcs)
    for successors in arcs:
        for target in successors:
            waiting[target] += 1
    levels = [0] * len(arcs)
    ready = [(_rank(node, count), node) for node, n in enumerate(waiting) if not n]
    heapq.heapify(ready)
    order: list[int] = []
    while ready:
        _, node = heapq.heappop(ready)
        if node < count:
            order.append(node)
        level = levels[node] + (node < count)
        for target in arcs[node]:
            levels[target] = max(levels[target], level)
            waiting[target] -= 1
            if not waiting[target]:
                heapq.heappush(ready, (_rank(target, count), target))
    return order, levels


def _rank(node: int, count: int) -> int:
    """Sort key that puts bundles first, since the next step in the note may wait for them."""
    return node if node < count else -1


def cycles_of(arcs: _Arcs, count: int) -> tuple[tuple[int, ...], ...]:
    """For each strongly connected component, a shortest cycle through its first step, starting there."""
    component = _components(arcs)
    members: dict[int, list[int]] = {}
    for node, number in enumerate(component):
        members.setdefault(number, []).append(node)
    return tuple(
        _circle(arcs, nodes[0], frozenset(nodes), count)
        for nodes in members.values()
        if len(nodes) > 1 or nodes[0] in arcs[nodes[0]]
    )


def _circle(arcs: _Arcs, first: int, inside: Collection[int], count: int) -> tuple[int, ...]:
    """Find the shortest path from a step back to itself by breadth-first search; a bundle counts as one edge."""
    came: dict[int, int] = {}
    waiting = deque([first])
    while waiting and first not in came:
        node = waiting.popleft()
        for target in arcs[node]:
            if target in inside and target not in came:
                came[target] = node
                waiting.append(target) if target < count else waiting.appendleft(target)
    return tuple(reversed([node for node in _back(came, first) if node < count]))


def _back(came: dict[int, int], first: int) -> Iterator[int]:
    """Walk from the end of the cycle back to its first step."""
    node = came[first]
    while node != first:
        yield node
        node = came[node]
    yield first


def _components(arcs: _Arcs) -> list[int]:
    """The strongly connected component of each node, by Tarjan's algorithm with an explicit stack."""
    seen = [-1] * len(arcs)
    low = [0] * len(arcs)
    component = [-1] * len(arcs)
    open_nodes: list[int] = []
    numbers = iter(range(len(arcs)))
    for root in range(len(arcs)):
        if seen[root] >= 0:
            continue
        way = [(root, iter(arcs[root]))]
        seen[root] = low[root] = next(numbers)
        open_nodes.append(root)
        while way:
            node, successors = way[-1]
            for target in successors:
                if seen[target] < 0:
                    seen[target] = low[target] = next(numbers)
                    open_nodes.append(target)
                    way.append((target, iter(arcs[target])))
                    break
                if component[target] < 0:
                    low[node] = min(low[node], seen[target])
            else:
                way.pop()
                if way:
                    low[way[-1][0]] = min(low[way[-1][0]], low[node])
                if low[node] == seen[node]:
                    _close(node, open_nodes, component)
    return component


def _close(root: int, open_nodes: list[int], component: list[int]) -> None:
    while component[root] < 0:
        component[open_nodes.pop()] = root
