"""The tasks of a recorded session: parse items, add tasks, and change their status.

A change makes a paused session active only if it is the caller's own. Ended sessions get no new tasks, but their open
tasks can be completed.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from crucible.commands.record.entries import Cleaning
from crucible.commands.record.note_writer import SessionEnded, Writer, in_phase, whole_second, with_patience
from crucible.commands.record.stop import completes_task, keep_bookmark
from crucible.core.errors import UsageError
from crucible.core.secrets import Redact
from crucible.documents.session.append import Addition, NoteState, Plan, TaskList
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Callout, Status, Task
from crucible.documents.session.task_block import PRIORITIES, TASK_CREATED, TASK_STATUSES
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.vault.notes.vault import Vault

Change: TypeAlias = "Callable[[tuple[Task, ...], datetime], tuple[Task, ...]]"
"""A function that takes the current tasks and the time, and returns the new tasks."""

Item: TypeAlias = "Mapping[str, object] | Task"


def read_items(items: Iterable[Item], clean: Cleaning) -> list[Task]:
    """Parse items as tasks; a missing id becomes "". Raises `UsageError` for an invalid task or a duplicate id."""
    tasks = [_read(item if not isinstance(item, Task) else _values(item), clean) for item in items]
    duplicates = [name for name, count in Counter(task.id for task in tasks if task.id).items() if count > 1]
    if duplicates:
        raise UsageError(f"two tasks have the id {duplicates[0]!r}", "choose another id, or omit it")
    return tasks


def _values(task: Task) -> Mapping[str, object]:
    names = ("id", "content", "status", "priority", "depends_on", "started", "completed")
    return {name: getattr(task, name) for name in names}


def _read(item: object, clean: Cleaning) -> Task:
    if not isinstance(item, Mapping):
        raise UsageError(
            f"{str(item)[:60]!r} is not a task", 'a task is an object: {"content": "…", "status": "pending"}'
        )
    content = item.get("content")
    if not isinstance(content, str) or not content.strip():
        raise UsageError("a task needs a `content`", "`content` says what to do")
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
    """Return the value as a list; a single id may be given without one."""
    return value if isinstance(value, list | tuple) else [] if value in (None, "") else [value]


def _one_of(key: str, value: object, allowed: Sequence[str]) -> str:
    if value not in allowed:
        raise UsageError(f"{key} {str(value)[:40]!r} is not one of {', '.join(allowed)}")
    return str(value)


def _text(value: object, clean: Cleaning) -> str | None:
    return None if value is None else clean.line(str(value)) or None


def replace_tasks(items: Sequence[Task]) -> Change:
    """Replace all tasks; a task that starts or completes now gets the current time."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        before = {task.id: task for task in tasks}
        return tuple(_timed(task, before.get(task.id), now) for task in number_tasks(items, ()))

    return change


def append_tasks(items: Sequence[Task]) -> Change:
    """Add tasks at the end."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        known = {task.id for task in tasks}
        taken = next((item.id for item in items if item.id in known), "")
        if taken:
            raise UsageError(f"task {taken!r} already exists", "choose another id, or omit it")
        return (*tasks, *(_timed(task, None, now) for task in number_tasks(items, tasks)))

    return change


def set_task_status(task_id: str, status: str) -> Change:
    """Change the status of one task."""

    def change(tasks: tuple[Task, ...], now: datetime) -> tuple[Task, ...]:
        if all(task.id != task_id for task in tasks):
            there = ", ".join(task.id for task in tasks[:20])
            raise UsageError(f"there is no task {task_id!r}", f"there are: {there}" if there else "there are none yet")
        return tuple(_timed(replace(task, status=status), task, now) if task.id == task_id else task for task in tasks)

    return change


def number_tasks(items: Sequence[Task], existing: Sequence[Task]) -> list[Task]:
    """Assign each task without an id the next free number."""
    taken = {task.id for task in (*existing, *items)}
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
    """Set missing start and completion times.

    A reopened or dropped task has no completion time.
    """
    is_new = (before.status if before else "pending") != task.status
    time = format_time(now) if is_new else None
    started = task.started or (before.started if before else None)
    if task.status == "in_progress":
        return replace(task, started=started or time, completed=None)
    known = task.completed or (None if is_new or before is None else before.completed)
    return replace(task, started=started, completed=(known or time) if task.status == "completed" else None)


class NewTask(NamedTuple):
    """A task to create.

    It depends on the tasks at the positions `after` (from 0) in the same call, and on the tasks with the ids in
    `needs`.
    """

    content: str
    after: tuple[int, ...] = ()
    needs: tuple[str, ...] = ()
    priority: str = "medium"


class TaskWriter:
    """Changes the tasks of one session's note, and adds milestones after its last entry.

    `ours` is True if the caller works in this session. Raises the same errors as `record.open`.
    """

    def __init__(
        self,
        vault: Vault,
        session_id: str,
        *,
        now: datetime,
        redact: Redact,
        ours: bool = False,
        cwd: str = "",
        projects: Mapping[str, Sequence[str]] | None = None,
    ) -> None:
        self._writer = Writer(with_patience(vault), session_id, redact)
        self._writer.surroundings = (cwd, projects or {})
        self._ours = ours
        self._now = now

    @property
    def warnings(self) -> list[str]:
        """Failures of all writes except to the note, such as to the event log."""
        return self._writer.warnings

    def add(self, tasks: Sequence[NewTask]) -> tuple[Task, ...]:
        """Add all tasks or none, with a milestone for each in the last phase; returns the tasks with their ids.

        Raises `UsageError` for a task without content or an unknown id in `needs`, and `SessionEnded`.
        """
        clean = self._writer.cleaning()
        given = read_items(({"content": one.content, "priority": one.priority} for one in tasks), clean)
        needs = [tuple(map(clean.line, one.needs)) for one in tasks]
        made: tuple[Task, ...] = ()

        def plan(state: NoteState) -> Addition:
            nonlocal made
            _check_open(self._writer.id, state)
            existing = state.head.tasks
            _check_known({name for names in needs for name in names}, existing)
            fresh = number_tasks(given, existing)
            made = tuple(
                replace(task, depends_on=tuple(dict.fromkeys((*older, *(fresh[at].id for at in one.after)))))
                for task, one, older in zip(fresh, tasks, needs, strict=True)
            )
            milestones = [Callout("milestone", "", f"{TASK_CREATED}{task.content}") for task in made]
            return Addition(steps=(_listed_tasks(self._writer, (*existing, *made)), *milestones))

        phase = self._write(in_phase(plan, whole_second(self._now)))
        _keep(self._writer, made, self._now, phase)
        return made

    def log_created(self, task: Task, recall_items: int) -> None:
        """Store the details of a new task's milestone in the event log."""
        values = {
            "content": f"{TASK_CREATED}{task.content}",
            "task_id": task.id,
            "recall_items": recall_items,
            "dependencies": list(task.depends_on),
        }
        self._writer.keep("milestone", values, self._now, "")

    def log_discovery(self, text: str, task_id: str, tag: str, applies_to: Sequence[str]) -> None:
        """Store a redacted discovery only in the event log, for a session that is not active."""
        values = {"content": text, "tag": tag, "task_id": task_id, "applies_to": list(applies_to) or None}
        self._writer.keep("observation", values, self._now, "")

    def move(self, task_id: str, status: str) -> tuple[Task, ...]:
        """Change the status of one task; returns all tasks. Raises `UsageError` for an unknown id."""
        change = set_task_status(self._writer.cleaning().line(task_id), status)
        _, tasks = change_tasks(self._writer, change, self._now, self._write, bookmarks=self._ours)
        return tasks

    def _write(self, plan: Plan) -> str:
        if self._ours and self._writer.head().status not in (Status.COMPLETED, Status.FAILED):
            return self._writer.add(plan, self._writer.cleaning(), whole=True)
        return self._writer.amend(plan, whole=True)


def _check_open(session_id: str, state: NoteState) -> None:
    if state.head.status in (Status.COMPLETED, Status.FAILED):
        raise SessionEnded(
            f"{session_id}: it is {state.head.status}, so no tasks can be added",
            f'"cru record start --continues {session_id}" continues it',
        )


def _check_known(needs: set[str], existing: Sequence[Task]) -> None:
    unknown = sorted(needs - {task.id for task in existing})
    if unknown:
        listed = ", ".join(task.id for task in existing[:20])
        raise UsageError(
            f"it depends on {unknown[0]!r}, which is not a task",
            f"there are: {listed}" if listed else "there are none yet",
        )


def change_tasks(
    writer: Writer, change: Change, now: datetime, write: Callable[[Plan], str], *, bookmarks: bool = True
) -> tuple[str, tuple[Task, ...]]:
    """Change the tasks with `write`, and store a bookmark if a task is completed.

    Returns the last phase and all tasks.
    """
    tasks: tuple[Task, ...] = ()
    is_done = False

    def plan(state: NoteState) -> Addition:
        nonlocal tasks, is_done
        tasks = change(state.head.tasks, whole_second(now))
        is_done = completes_task(state.head.tasks, tasks)
        return Addition(steps=(_listed_tasks(writer, tasks),))

    phase = write(plan)
    _keep(writer, tasks, now, phase)
    if is_done and bookmarks:
        keep_bookmark(writer, StopReason.TASK, now)
    return phase, tasks


def _listed_tasks(writer: Writer, tasks: tuple[Task, ...]) -> TaskList:
    return TaskList(tasks, as_json=writer.vault.settings.task_form == "json")


def _keep(writer: Writer, tasks: Sequence[Task], now: datetime, phase: str) -> None:
    listed = [{"id": task.id, "content": task.content, "status": task.status} for task in tasks]
    writer.keep("tasks", {"tasks": listed}, now, phase)
