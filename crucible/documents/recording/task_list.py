"""The agent's task list while it is recorded: the tasks, and which one was started last."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime

from crucible.clients.events import TaskChanged, TaskState
from crucible.core.text import long_words, overlap
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.session import Task
from crucible.documents.session.task_block import PRIORITIES, TASK_STATUSES

_DROPPED = frozenset({"deleted", "cancelled"})
"""Statuses that remove a task from the list, which has only planned and finished work."""
_HALF = 0.5
_LONG_NUMBER = 9
"""An id with at least this many digits is not a position in a list."""


class TaskTracker:
    """Tasks by id, in the order in which they came."""

    def __init__(self) -> None:
        self._tasks: dict[str, Task] = {}
        self._start = ""
        self._current = ""

    def tasks(self) -> tuple[Task, ...]:
        """The list as it stands."""
        return tuple(self._tasks.values())

    def take_start(self) -> str:
        """The content of a task that was started and under which nothing stands yet; asked once."""
        start, self._start = self._start, ""
        self._current = start or self._current
        return start

    def forget_start(self) -> None:
        """A new phase: what was started before goes on in it without a heading of its own."""
        self._start = self._current = ""

    def replace(self, states: tuple[TaskState, ...], time: datetime | None) -> None:
        """The client replaced its list; an id may only be a position in it, so tasks are matched by content.

        What the new list leaves out stays before it: what was done as done, the rest as cancelled, since the agent goes on
        by the new list.  A task keeps the id that it had first.
        """
        known = {task.content: task for task in self._tasks.values()}
        contents = {state.id: normal_line(state.content) or f"Task {state.id}" for state in states}
        left = {content: task for content, task in known.items() if content not in contents.values()}
        for new, old in _rephrased(left, [one for one in contents.values() if one not in known]):
            known[new] = left.pop(old)
        taken = {task.id for task in known.values()}
        ids: dict[str, str] = {}
        for state in states:
            before = known.get(contents[state.id])
            ids[state.id] = before.id if before else _free(state.id, taken)
            taken.add(ids[state.id])
        self._tasks = {task.id: _left_out(task) for task in left.values()}
        for task in left.values():
            self._drop(task.content)
        for state in states:
            self._list(state, contents[state.id], known.get(contents[state.id]), ids, time)

    def _list(
        self,
        state: TaskState,
        content: str,
        before: Task | None,
        ids: Mapping[str, str],
        time: datetime | None,
    ) -> None:
        """One item of a list, whose own ids are told by `ids`."""
        if state.status in _DROPPED:
            self._drop(content)
            return
        task = Task(
            ids[state.id],
            content,
            before.status if before else "pending",
            state.priority if state.priority in PRIORITIES else "medium",
            tuple(ids.get(one, one) for one in state.depends_on),
            before.started if before else None,
            before.completed if before else None,
        )
        self._put(task, state.status, time)

    def change(self, event: TaskChanged) -> None:
        """One task was made or changed."""
        task = self._tasks.get(event.id)
        if event.status in _DROPPED:
            dropped = self._tasks.pop(event.id, None)
            self._drop(dropped.content if dropped else "")
            return
        content = normal_line(event.content or "")
        if task is None:
            task = Task(event.id, content or f"Task {event.id}")
        elif content:
            task = replace(task, content=content)
        more = tuple(d for d in event.adds_dependencies if d not in task.depends_on)
        self._put(replace(task, depends_on=task.depends_on + more), event.status or task.status, event.at.time)

    def _drop(self, content: str) -> None:
        """What comes next is not done for this task any more."""
        if content == self._start:
            self._start = ""

    def _put(self, task: Task, status: str, time: datetime | None) -> None:
        at = time.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ") if time else None
        status = status if status in TASK_STATUSES and status != "cancelled" else "pending"
        if status == "in_progress" != task.status:
            task = replace(task, started=task.started or at)
            if task.content != self._current:
                self._start = self._start or task.content
        if status == "completed" != task.status:
            task = replace(task, completed=at)
            self._drop(task.content)
        self._tasks[task.id] = replace(task, status=status, completed=task.completed if status == "completed" else None)


def _rephrased(old: Mapping[str, Task], new: Sequence[str]) -> Iterator[tuple[str, str]]:
    """New contents with the open task that each says in other words: they share more than half of the longer one's words."""
    free = {content: long_words(content) for content, task in old.items() if task.status != "completed"}
    for content in new:
        words = long_words(content)
        shares = {one: overlap(words, known, "larger") for one, known in free.items()}
        best = max(shares, key=lambda one: shares[one], default="")
        if best and shares[best] > _HALF:
            del free[best]
            yield content, best


def _left_out(task: Task) -> Task:
    return task if task.status == "completed" else replace(task, status="cancelled")


def _free(ident: str, taken: set[str]) -> str:
    """The id itself, or the next number that no task of the session has."""
    if ident not in taken:
        return ident
    return str(1 + max((int(one) for one in taken if one.isdecimal() and len(one) < _LONG_NUMBER), default=0))
