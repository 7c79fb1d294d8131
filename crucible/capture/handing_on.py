"""What a session's finished tasks decided, handed on to the tasks that wait for them.

Owns which decisions are a task's: those of the phases in which it was worked on.  Which of them flow, and where they are kept, is `tasks`'.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime

from crucible.errors import CrucibleError, NoteExists
from crucible.note.contain import normal, normal_line
from crucible.secrets import Redact
from crucible.session.findings import Kind, findings_of
from crucible.session.model import Phase, Session, Task
from crucible.tasks.annotations import Shelf, annotate, read_annotation
from crucible.tasks.creating import shelf_of
from crucible.tasks.flowing import Flowed, dependents_of, flow_down, flows, note_choice
from crucible.tasks.model import Annotation, Choice, OpenTask, Stage, kinds_named
from crucible.tasks.reading import tasks_of
from crucible.vault.store import Vault

__all__ = ["hand_on"]


def hand_on(vault: Vault, session: Session, *, now: datetime, redact: Redact) -> Iterator[str]:
    """Write the decisions of finished tasks into the annotations of those that depend on them; yields a line for each that could not be told.

    Done twice, it changes nothing.  A task whose annotation cannot be read or written keeps no other one from being told.
    """
    settings, shelf = vault.settings.tasks, shelf_of(vault)
    if not settings.propagate_decisions:
        return
    tasks = tuple(replace(one, content=redact(one.content)[0]) for one in tasks_of(session))
    kinds = kinds_named(settings.auto_propagate_types)
    known = {task.id: task for task in session.tasks}
    for task in tasks:
        if task.stage is Stage.COMPLETED and dependents_of(task.ref, tasks):
            choices = [one for one in _choices(session, known[task.ref.id], redact) if flows(one, kinds)]
            try:
                if choices:
                    _note(shelf, task, choices, now)
                flowed = flow_down(shelf, task.ref, tasks, now, kinds, clean=lambda text: redact(text)[0])
                yield from _untold(task, flowed)
            except CrucibleError as error:
                yield f"task {task.ref.id}: what it decided was not handed on: {error}"


def _note(shelf: Shelf, task: OpenTask, choices: list[Choice], now: datetime) -> None:
    known, _ = read_annotation(shelf, task.ref)
    if known is None:
        with suppress(NoteExists):  # somebody was quicker
            annotate(shelf, Annotation(task.ref, task.content, now))
    there = {normal_line(one.summary).casefold() for one in known.choices} if known else set()
    for one in choices:
        if one.summary.casefold() not in there:  # a human may have marked it
            note_choice(shelf, task.ref, one)


def _untold(task: OpenTask, flowed: Flowed) -> Iterator[str]:
    for ref, why in flowed.failed:
        yield f"task {ref.id}: what task {task.ref.id} decided was not noted: {why}"


def _choices(session: Session, task: Task, redact: Redact) -> Iterator[Choice]:
    spans = zip(session.all_phases(), _ends(session), strict=True)
    ours = {phase.id for phase, end in spans if _is_during(phase, end, task)}
    for one in findings_of(session):
        if one.kind == Kind.DECISION and one.phase in ours and normal_line(one.summary):
            yield Choice(normal_line(redact(one.summary)[0]), normal(redact(one.details)[0]))


def _ends(session: Session) -> Iterator[datetime | None]:
    """When each phase was over; one that tells no end was when the next one began, and its parts with it."""
    following = [*(phase.started for phase in session.phases[1:]), None]
    for phase, later in zip(session.phases, following, strict=True):
        end = phase.ended or later
        yield end
        for part in phase.subphases:
            yield part.ended or end


def _is_during(phase: Phase, end: datetime | None, task: Task) -> bool:
    """Whether a phase began while the task was worked on, or was under way when that began; a task whose times nobody noted has none."""
    begun, done = _time(task.started), _time(task.completed)
    if begun is None or done is None or phase.started is None:
        return False
    return phase.started < done and (phase.started >= begun or end is None or end > begun)


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
