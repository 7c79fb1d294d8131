"""Sort tasks into in progress, ready and blocked, with the tasks they depend on.

Ids are local to a session's list.  Unknown ids are reported, but do not block.  Tasks in a cycle are blocked.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import UTC, datetime

from crucible.core.named_tuples import NamedTuple
from crucible.memory.tasks.task import OpenTask, Ref, Stage

MOST_RECENT = 10
"""Maximum number of completed tasks to list; the count includes all."""

_OVER = (Stage.COMPLETED, Stage.DROPPED)
_PRIORITIES = {"high": 0, "medium": 1, "low": 2}
_LONG_AGO = datetime.min.replace(tzinfo=UTC)
_Graph = list[list[int]]


class ListedTask(NamedTuple):
    """A task with the unfinished tasks it depends on, and the ids in its needs that are missing from its list."""

    task: OpenTask
    waits_for: tuple[OpenTask, ...] = ()
    unknown: tuple[str, ...] = ()


class TasksStatus(NamedTuple):
    """The state of all tasks.  Dropped tasks and older completed ones are in no list.

    `completed`, `in_progress_count` and `pending` count all tasks that are not dropped; `left_out` counts the
    unfinished tasks cut from the lists.  A cycle begins with its first task in the given order.
    """

    in_progress: tuple[ListedTask, ...] = ()
    ready: tuple[ListedTask, ...] = ()
    blocked: tuple[ListedTask, ...] = ()
    recent: tuple[OpenTask, ...] = ()
    circles: tuple[tuple[OpenTask, ...], ...] = ()
    completed: int = 0
    in_progress_count: int = 0
    pending: int = 0
    left_out: int = 0


def status_of(tasks: Sequence[OpenTask]) -> TasksStatus:
    """Return the state of the tasks: by priority, then in the given order; completed tasks newest first."""
    graph = _graph(tasks)
    rings = sorted(sorted(ring) for ring in _rings(graph))
    turning = {index for ring in rings for index in ring}
    known = {task.ref for task in tasks}
    lists: dict[str, list[ListedTask]] = {"in progress": [], "ready": [], "blocked": []}
    for index, task in enumerate(tasks):
        unknown = [need for need in dict.fromkeys(task.needs) if Ref(task.ref.session, need) not in known]
        one = ListedTask(task, tuple(tasks[other] for other in graph[index]), tuple(unknown))
        if task.stage is Stage.IN_PROGRESS:
            lists["in progress"].append(one)
        elif task.stage is Stage.PENDING:
            lists["blocked" if one.waits_for or task.held or index in turning else "ready"].append(one)
    in_progress, ready, blocked = map(_by_priority, lists.values())
    done = [task for task in tasks if task.stage is Stage.COMPLETED]
    return TasksStatus(
        in_progress,
        ready,
        blocked,
        tuple(sorted(done, key=_when, reverse=True)[:MOST_RECENT]),
        tuple(tuple(tasks[index] for index in ring) for ring in rings),
        len(done),
        len(in_progress),
        len(ready) + len(blocked),
    )


def cut_status(status: TasksStatus, most: int) -> TasksStatus:
    """Limit the four lists together to `most` tasks: in progress, ready, blocked, then completed."""
    room = max(most, 0)
    lists: list[tuple[ListedTask, ...]] = []
    for whole in (status.in_progress, status.ready, status.blocked):
        lists.append(whole[:room])
        room -= len(lists[-1])
    before = len(status.in_progress) + len(status.ready) + len(status.blocked)
    cut = before - sum(map(len, lists))
    in_progress, ready, blocked = lists
    return status._replace(
        in_progress=in_progress,
        ready=ready,
        blocked=blocked,
        recent=status.recent[:room],
        left_out=status.left_out + cut,
    )


def circles_of(tasks: Sequence[OpenTask]) -> tuple[tuple[OpenTask, ...], ...]:
    """Return the cycles of unfinished tasks that depend on each other or themselves, to warn about a new task."""
    rings = sorted(sorted(ring) for ring in _rings(_graph(tasks)))
    return tuple(tuple(tasks[index] for index in ring) for ring in rings)


def _by_priority(listed: list[ListedTask]) -> tuple[ListedTask, ...]:
    return tuple(sorted(listed, key=lambda one: _PRIORITIES.get(one.task.priority, 1)))


def _when(task: OpenTask) -> datetime:
    try:
        time = datetime.fromisoformat(task.completed or "")
    except ValueError:
        return _LONG_AGO
    # A time without a zone is assumed to be UTC: the local zone is not available here.
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _graph(tasks: Sequence[OpenTask]) -> _Graph:
    """Return, for each task, the indexes of the unfinished tasks it needs; finished tasks need nothing.

    A duplicate id refers to all tasks with that id.
    """
    places: dict[Ref, list[int]] = {}
    for index, task in enumerate(tasks):
        if task.stage not in _OVER:
            places.setdefault(task.ref, []).append(index)
    return [
        []
        if task.stage in _OVER
        else [i for need in dict.fromkeys(task.needs) for i in places.get(Ref(task.ref.session, need), ())]
        for task in tasks
    ]


def _rings(graph: _Graph) -> list[list[int]]:
    """Return the strongly connected components with a cycle (Kosaraju's algorithm, iterative for long chains)."""
    back: _Graph = [[] for _ in graph]
    for node, needs in enumerate(graph):
        for need in needs:
            back[need].append(node)
    left: list[int] = []  # in postorder of a walk along `graph`
    seen: set[int] = set()
    front = list(range(len(graph)))
    while front:
        node = front.pop()
        if node < 0:
            left.append(~node)
        elif node not in seen:
            seen.add(node)
            front += [~node, *graph[node]]
    rings: list[list[int]] = []
    for start in reversed(left):
        part: list[int] = []
        front = [start]
        while front:
            node = front.pop()
            if node in seen:
                seen.discard(node)
                part.append(node)
                front += back[node]
        if len(part) > 1 or (part and start in graph[start]):
            rings.append(part)
    return rings
