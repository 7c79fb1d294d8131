"""Read and write tasks as JSON: a `tasks` fence with a list, one task per line to keep diffs small.

Earlier versions wrote it, and `tasks = "json"` in the vault's settings still does.  Unknown keys are kept.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crucible.documents.markdown.code_spans import harmless_json
from crucible.documents.markdown.containment import normal_line
from crucible.documents.markdown.source import Problem
from crucible.documents.session.session import Task

TASK_CREATED, TASK_PICKED = "Task created: ", "Task picked up: "
"""How our milestones about the task list begin."""

TASK_STATUSES = ("pending", "in_progress", "completed", "cancelled")
CLOSED_TASKS = frozenset({"completed", "cancelled", "deleted"})
"""Statuses of closed tasks.  A `cancelled` task was dropped from a later list before it was completed."""
PRIORITIES = ("high", "medium", "low")
_KNOWN = frozenset({"id", "content", "status", "priority", "depends_on", "started", "completed"})


def is_task_milestone(text: str) -> bool:
    """True if a milestone is only about the task list."""
    return text.startswith((TASK_CREATED, TASK_PICKED))


def read_tasks(text: str, line: int) -> tuple[tuple[Task, ...], list[Problem]]:
    """Parse the text of a block; `line` is its first line, counted from 0."""
    import json  # noqa: PLC0415  slow, and few notes have tasks

    try:
        items = json.loads(text)
    except (ValueError, RecursionError) as error:
        at = line + getattr(error, "lineno", 1)
        return (), [Problem("broken-tasks", at, f"the tasks block is not JSON: {getattr(error, 'msg', error)}")]
    if not isinstance(items, list):
        return (), [Problem("broken-tasks", line + 1, "the tasks block is not a JSON list")]
    tasks: list[Task] = []
    seen: set[str] = set()
    problems: list[Problem] = []
    for number, item in enumerate(items, 1):
        task = _read_task(item)
        if task is None:
            problems.append(Problem("broken-tasks", line + 1, f"task {number} has no `id` or `content`"))
            continue
        tasks.append(task)
        problems += task_problems(task, line + 1, is_second=task.id in seen)
        seen.add(task.id)
    return tuple(tasks), problems


def _read_task(item: object) -> Task | None:
    if not isinstance(item, dict) or "id" not in item or not isinstance(item.get("content"), str):
        return None
    return task_values(item)


def task_values(item: Mapping[str, object]) -> Task:
    """The task with these values; missing ones have their defaults, and unknown keys are kept."""
    depends, status = item.get("depends_on"), str(item.get("status", "pending"))
    # Earlier versions kept the completion time of a reopened or dropped task.
    is_not_done = status in ("pending", "in_progress", "cancelled")
    return Task(
        id=str(item.get("id", "")),
        content=str(item["content"]),
        status=status,
        priority=str(item.get("priority", "medium")),
        depends_on=tuple(str(one) for one in depends) if isinstance(depends, list) else (),
        started=_text(item.get("started")),
        completed=None if is_not_done else _text(item.get("completed")),
        extra={key: value for key, value in item.items() if key not in _KNOWN},
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def task_problems(task: Task, line: int, *, is_second: bool) -> list[Problem]:
    """What is wrong with a task on a line, counted from 1; `is_second` if another task has its id."""
    found = []
    if task.status not in TASK_STATUSES:
        found.append(f"status {task.status!r} is not one of " + ", ".join(TASK_STATUSES))
    if task.priority not in PRIORITIES:
        found.append(f"priority {task.priority!r} is not one of " + ", ".join(PRIORITIES))
    if is_second:
        found.append("the id is repeated")
    return [Problem("bad-task", line, f"task {task.id}: {wrong}") for wrong in found]


def render_task(task: Task) -> str:
    """One task as one line of JSON."""
    item: dict[str, object] = {
        "id": task.id,
        "content": normal_line(task.content),
        "status": task.status,
        "priority": task.priority,
    }
    if task.depends_on:
        item["depends_on"] = list(task.depends_on)
    if task.started is not None:
        item["started"] = task.started
    if task.completed is not None:
        item["completed"] = task.completed
    import json  # noqa: PLC0415  as above

    return harmless_json(json.dumps({**item, **task.extra}, ensure_ascii=False))


def render_tasks(tasks: Sequence[Task]) -> list[str]:
    """The lines of the block, including the fences."""
    items = [f"  {render_task(task)}" for task in tasks]
    return ["```tasks", "[", *[f"{item}," for item in items[:-1]], *items[-1:], "]", "```"]
