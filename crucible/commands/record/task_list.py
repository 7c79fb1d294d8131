"""The tasks block under recording: items as they are given, and tasks that begin and are done.

Owns what a given item means; the block itself is `session.tasks`'.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TypeAlias

from crucible.commands.record.cleaning import Cleaning
from crucible.core.errors import UsageError
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Task
from crucible.documents.session.task_block import PRIORITIES, TASK_STATUSES

Change: TypeAlias = "Callable[[tuple[Task, ...], datetime], tuple[Task, ...]]"
"""The tasks that are there, and the time; out the tasks that are to be there."""

Item: TypeAlias = "Mapping[str, object] | Task"


def read_items(items: Iterable[Item], clean: Cleaning) -> list[Task]:
    """Given items as tasks; an id that is missing stays "".  `UsageError` for what is no task, and for an id given twice."""
    tasks = [_read(item if not isinstance(item, Task) else _values(item), clean) for item in items]
    twice = [name for name, count in Counter(task.id for task in tasks if task.id).items() if count > 1]
    if twice:
        raise UsageError(f"two tasks have the id {twice[0]!r}", "choose another id, or leave it out")
    return tasks


def _values(task: Task) -> Mapping[str, object]:
    names = ("id", "content", "status", "priority", "depends_on", "started", "completed")
    return {name: getattr(task, name) for name in names}


def _read(item: object, clean: Cleaning) -> Task:
    if not isinstance(item, Mapping):
        raise UsageError(f"{str(item)[:60]!r} is no task", 'a task is an object: {"content": "…", "status": "pending"}')
    content = item.get("content")
    if not isinstance(content, str) or not content.strip():
        raise UsageError("a task has no content", 'each needs a "content" that says what is to be done')
    return Task(
        id="" if item.get("id") is None else clean.line(str(item["id"])),
        content=clean.line(content),
        status=_one_of("status", item.get("status") or "pending", TASK_STATUSES),
        priority=_one_of("priority", item.get("priority") or "medium", PRIORITIES),
        depends_on=tuple(clean.line(str(one)) for one in _listed(item.get("depends_on"))),
        started=_text(item.get("started"), clean),
        completed=_text(item.get("completed"), clean),
    )


def _listed(value: object) -> Sequence[object]:
    """One id needs no list."""
    return value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]


def _one_of(key: str, value: object, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise UsageError(f"{key} {str(value)[:40]!r} is not one of {', '.join(allowed)}")
    return str(value)


def _text(value: object, clean: Cleaning) -> str | None:
    return None if value is None else clean.line(str(value)) or None


def replaced(items: Sequence[Task]) -> Change:
    """The whole list as it is given; a task that begins or is done now gets the time."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        before = {task.id: task for task in tasks}
        return tuple(_timed(task, before.get(task.id), now) for task in numbered(items, ()))

    return change


def added(items: Sequence[Task]) -> Change:
    """More tasks at the end."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        known = {task.id for task in tasks}
        taken = next((item.id for item in items if item.id in known), "")
        if taken:
            raise UsageError(f"there is a task {taken!r} already", "choose another id, or leave it out")
        return (*tasks, *(_timed(task, None, now) for task in numbered(items, tasks)))

    return change


def moved(task_id: str, status: str) -> Change:
    """One task in another status."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        if all(task.id != task_id for task in tasks):
            there = ", ".join(task.id for task in tasks[:20])
            raise UsageError(f"there is no task {task_id!r}", f"there are: {there}" if there else "there are none yet")
        return tuple(_timed(replace(task, status=status), task, now) if task.id == task_id else task for task in tasks)

    return change


def numbered(items: Sequence[Task], there: Sequence[Task]) -> list[Task]:
    """Tasks without an id get the next free number."""
    taken = {task.id for task in (*there, *items)}
    given: list[Task] = []
    number = 1
    for item in items:
        if not item.id:
            while str(number) in taken:
                number += 1
            taken.add(str(number))
        given.append(item if item.id else replace(item, id=str(number)))
    return given


def _timed(task: Task, before: Task | None, now: datetime) -> Task:
    """When it began and was done, where that is not known yet; one that was opened again or dropped is not done."""
    is_new = (before.status if before else "pending") != task.status
    time = format_time(now) if is_new else None
    started = task.started or (before.started if before else None)
    if task.status == "in_progress":
        return replace(task, started=started or time, completed=None)
    known = task.completed or (None if is_new or before is None else before.completed)
    return replace(task, started=started, completed=(known or time) if task.status == "completed" else None)
