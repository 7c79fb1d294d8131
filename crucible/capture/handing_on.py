"""What a session's finished tasks decided, handed on to the tasks that wait for them.

Owns which decisions are a task's: those of the phases in which it was worked on.  Which of them flow, and where they are kept, is `tasks`'.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime

from crucible.errors import NoteExists
from crucible.history.walking import placed_entries
from crucible.note.contain import normal, normal_line
from crucible.secrets import Redact
from crucible.session.model import Decision, Phase, Session, Task
from crucible.tasks.annotations import Shelf, annotate, read_annotation
from crucible.tasks.creating import shelf_of
from crucible.tasks.flowing import dependents_of, flow_down, flows, note_choice
from crucible.tasks.model import Annotation, Choice, ChoiceKind, OpenTask, Stage, kinds_named
from crucible.tasks.reading import tasks_of
from crucible.vault.store import Vault

__all__ = ["hand_on"]


def hand_on(vault: Vault, session: Session, *, now: datetime, redact: Redact) -> Iterator[str]:
    """Write the decisions of finished tasks into the annotations of those that depend on them; yields a line for each that could not be told.

    Done twice, it changes nothing.  Raises what `read_annotation` and `note_choice` do.
    """
    settings, shelf = vault.settings.tasks, shelf_of(vault)
    if not settings.propagate_decisions:
        return
    tasks = tasks_of(session)
    kinds = kinds_named(settings.auto_propagate_types)
    known = {task.id: task for task in session.tasks}
    for task in tasks:
        if task.stage is Stage.COMPLETED and dependents_of(task.ref, tasks):
            choices = [one for one in _choices(session, known[task.ref.id], redact) if flows(one, kinds)]
            if choices:
                _note(shelf, task, choices, now)
            yield from _told(shelf, task, tasks, now, kinds)


def _note(shelf: Shelf, task: OpenTask, choices: list[Choice], now: datetime) -> None:
    known, _ = read_annotation(shelf, task.ref)
    if known is None:
        with suppress(NoteExists):  # somebody was quicker
            annotate(shelf, Annotation(task.ref, task.content, now))
    there = {normal_line(one.summary).casefold() for one in known.choices} if known else set()
    for one in choices:
        if one.summary.casefold() not in there:  # a human may have marked it
            note_choice(shelf, task.ref, one)


def _told(
    shelf: Shelf, task: OpenTask, tasks: tuple[OpenTask, ...], now: datetime, kinds: tuple[ChoiceKind, ...]
) -> Iterator[str]:
    for ref, why in flow_down(shelf, task.ref, tasks, now, kinds).failed:
        yield f"task {ref.id}: what task {task.ref.id} decided was not noted: {why}"


def _choices(session: Session, task: Task, redact: Redact) -> Iterator[Choice]:
    phases = [*session.all_phases()]
    ours = {number for number, phase in enumerate(phases) if _is_during(phase, task)}
    for at, entry in placed_entries(session):
        if at in ours and isinstance(entry, Decision) and normal_line(entry.text):
            yield Choice(normal_line(redact(entry.text)[0]), normal(redact(entry.rationale or "")[0]))


def _is_during(phase: Phase, task: Task) -> bool:
    """Whether a phase began while the task was worked on, or was under way when that began; a task whose times nobody noted has none."""
    begun, done = _time(task.started), _time(task.completed)
    if begun is None or done is None or phase.started is None:
        return False
    return phase.started < done and (phase.started >= begun or phase.ended is None or phase.ended > begun)


def _time(text: str | None) -> datetime | None:
    try:
        found = datetime.fromisoformat(text) if text else None
    except ValueError:
        return None
    return found.replace(tzinfo=UTC) if found and found.tzinfo is None else found
