"""Tasks of a session changed by who need not be at work in it: made with a milestone each, begun, and ended.

Owns whose session wakes: the one that is named as our own goes on when it was paused, and any other stays as it is, since a human who ticks
a task off does not work in the session that it was noted in.  One that has ended gets no new tasks; the ones that it left open can be
begun and ended all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from crucible.commands.record.current_phase import in_phase
from crucible.commands.record.note_writer import SessionEnded, Writer, patient, whole_second
from crucible.commands.record.stop_bookmark import finished, keep_bookmark
from crucible.commands.record.task_list import Change, moved, numbered, read_items
from crucible.core.errors import UsageError
from crucible.core.secrets import Redact
from crucible.documents.session.append import Addition, Plan, Standing, TaskList
from crucible.documents.session.session import Callout, Status, Task
from crucible.documents.session.task_block import TASK_CREATED
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.vault.notes.vault import Vault


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

        def plan(standing: Standing) -> Addition:
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


def _check_open(session_id: str, standing: Standing) -> None:
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

    def plan(standing: Standing) -> Addition:
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
