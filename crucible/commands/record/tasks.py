"""Tasks of a recorded session: parse given items, add them, move them to another status.

Only our own session wakes when it was paused.  An ended session gets no new tasks, but its open ones can be finished.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple, TypeAlias

from crucible.commands.record.entries import Cleaning
from crucible.commands.record.note_writer import SessionEnded, Writer, in_phase, patient, whole_second
from crucible.commands.record.stop import finished, keep_bookmark
from crucible.core.errors import UsageError
from crucible.core.secrets import Redact
from crucible.documents.session.append import Addition, NoteState, Plan, TaskList
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Callout, Status, Task
from crucible.documents.session.task_block import PRIORITIES, TASK_CREATED, TASK_STATUSES
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.vault.notes.vault import Vault

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


class NewTask(NamedTuple):
    """A task to be made: what is to be done, the places (from 0) of those made with it that come before, and ids of older ones that do."""

    content: str
    after: tuple[int, ...] = ()
    needs: tuple[str, ...] = ()
    priority: str = "medium"


class TaskWriter:
    """Changes the tasks block of one session's note; nothing else in it, but for milestones behind the last entry.

    `ours` says that the session is the one we work in.  Raises as `record.open` does.
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
        self._writer = Writer(patient(vault), session_id, redact)
        self._writer.surroundings = (cwd, projects or {})
        self._ours = ours
        self._now = now

    @property
    def warnings(self) -> list[str]:
        """What went wrong beside the note."""
        return self._writer.warnings

    def add(self, tasks: Sequence[NewTask]) -> tuple[Task, ...]:
        """Put new tasks behind the others, all or none, and a milestone for each into the last phase; returns them with their ids.

        Raises `UsageError` for a task that says nothing, and for an older one that is not there; `SessionEnded`.
        """
        clean = self._writer.cleaning()
        given = read_items(({"content": one.content, "priority": one.priority} for one in tasks), clean)
        needs = [tuple(map(clean.line, one.needs)) for one in tasks]
        made: tuple[Task, ...] = ()

        def plan(standing: NoteState) -> Addition:
            nonlocal made
            _check_open(self._writer.id, standing)
            there = standing.head.tasks
            _check_known({name for names in needs for name in names}, there)
            fresh = numbered(given, there)
            made = tuple(
                replace(task, depends_on=tuple(dict.fromkeys((*older, *(fresh[at].id for at in one.after)))))
                for task, one, older in zip(fresh, tasks, needs, strict=True)
            )
            told = [Callout("milestone", "", f"{TASK_CREATED}{task.content}") for task in made]
            return Addition(steps=(TaskList((*there, *made)), *told))

        phase = self._write(in_phase(plan, whole_second(self._now)))
        _keep(self._writer, made, self._now, phase)
        return made

    def tell_created(self, task: Task, recall_items: int) -> None:
        """Keep in the flight recorder what its milestone does not say."""
        values = {
            "content": f"{TASK_CREATED}{task.content}",
            "task_id": task.id,
            "recall_items": recall_items,
            "dependencies": list(task.depends_on),
        }
        self._writer.keep("milestone", values, self._now, "")

    def tell_found(self, text: str, task_id: str, tag: str, applies_to: Sequence[str]) -> None:
        """Keep a discovery in the flight recorder alone, for a session that is not at work; it comes without secrets."""
        values = {"content": text, "tag": tag, "task_id": task_id, "applies_to": list(applies_to) or None}
        self._writer.keep("observation", values, self._now, "")

    def move(self, task_id: str, status: str) -> tuple[Task, ...]:
        """Bring one task into another status; returns all of them.  `UsageError` where there is none of this id."""
        change = moved(self._writer.cleaning().line(task_id), status)
        _, there = change_tasks(self._writer, change, self._now, self._write, bookmarks=self._ours)
        return there

    def _write(self, plan: Plan) -> str:
        if self._ours and self._writer.head().status not in (Status.COMPLETED, Status.FAILED):
            return self._writer.add(plan, self._writer.cleaning(), whole=True)
        return self._writer.amend(plan, whole=True)


def _check_open(session_id: str, standing: NoteState) -> None:
    if standing.head.status in (Status.COMPLETED, Status.FAILED):
        raise SessionEnded(
            f"{session_id}: it is {standing.head.status}, and gets no more tasks",
            f"`cru session start --continues {session_id}` goes on from it",
        )


def _check_known(needs: set[str], there: Sequence[Task]) -> None:
    unknown = sorted(needs - {task.id for task in there})
    if unknown:
        listed = ", ".join(task.id for task in there[:20])
        raise UsageError(
            f"there is no task {unknown[0]!r} that it could depend on",
            f"there are: {listed}" if listed else "there are none yet",
        )


def change_tasks(
    writer: Writer, change: Change, now: datetime, write: Callable[[Plan], str], *, bookmarks: bool = True
) -> tuple[str, tuple[Task, ...]]:
    """Change the tasks block by `write`, and bookmark a task that is completed now; returns the last phase and all tasks."""
    there: tuple[Task, ...] = ()
    is_done = False

    def plan(standing: NoteState) -> Addition:
        nonlocal there, is_done
        there = change(standing.head.tasks, whole_second(now))
        is_done = finished(standing.head.tasks, there)
        return Addition(steps=(TaskList(there),))

    phase = write(plan)
    _keep(writer, there, now, phase)
    if is_done and bookmarks:
        keep_bookmark(writer, StopReason.TASK, now)
    return phase, there


def _keep(writer: Writer, tasks: Sequence[Task], now: datetime, phase: str) -> None:
    listed = [{"id": task.id, "content": task.content, "status": task.status} for task in tasks]
    writer.keep("tasks", {"tasks": listed}, now, phase)
