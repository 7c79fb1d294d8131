"""Decisions of a session's tasks: noted with the task that was open when they were made, and passed on to its dependents."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from crucible.errors import CrucibleError
from crucible.note.contain import normal, normal_line
from crucible.secrets import Redact
from crucible.session.findings import Finding, Kind, findings_of
from crucible.session.model import Session
from crucible.tasks.annotations import Shelf, change_annotation, read_annotation
from crucible.tasks.creating import shelf_of
from crucible.tasks.deciding import task_findings
from crucible.tasks.flowing import flow_down
from crucible.tasks.model import Annotation, Choice, OpenTask, Ref, Stage, kinds_named
from crucible.tasks.reading import tasks_of
from crucible.vault.store import Vault

__all__ = ["hand_on"]


def hand_on(vault: Vault, session: Session, *, now: datetime, redact: Redact) -> Iterator[str]:
    """Note the decisions of each task in its annotation, and pass those of completed tasks on; yields a line for each failure.

    Running it again changes nothing.
    """
    settings = vault.settings.tasks
    tasks = tuple(replace(one, content=redact(one.content)[0]) for one in tasks_of(session))
    failed = dict(_note_decisions(vault, session, tasks, now, redact))
    if settings.propagate_decisions:
        kinds = kinds_named(settings.auto_propagate_types)
        for task in tasks:
            if task.stage is Stage.COMPLETED:
                told = flow_down(
                    shelf_of(vault), task.ref, tasks, now, kinds, clean=lambda text: redact(text)[0]
                )
                failed |= {ref: why for ref, why in told if ref not in failed}
    yield from (f"task {ref.id}: decisions were not noted: {why}" for ref, why in failed.items())


def _note_decisions(
    vault: Vault, session: Session, tasks: Sequence[OpenTask], now: datetime, redact: Redact
) -> Iterator[tuple[Ref, str]]:
    decisions = [_choice(one, redact) for one in findings_of(session) if one.kind == Kind.DECISION]
    if not (decisions and tasks):
        return
    made = task_findings(vault.root, session)
    shelf, ids = shelf_of(vault), {_words(one): one.finding for one in decisions}
    noted = {task: _noted(shelf, task.ref) for task in tasks}
    # A decision that somebody annotated, or moved to another task, is that task's.
    told = {name for choices in noted.values() for one in choices for name in (one.finding, _words(one))}
    for task, there in noted.items():
        mine = {one.id for one in made.get(task.ref.id, ())}
        new = [one for one in decisions if one.finding in mine and not {one.finding, _words(one)} & told]
        try:
            if new or any(_words(one) in ids and not one.finding for one in there):
                change_annotation(shelf, Annotation(task.ref, task.content, now), partial(_decide, ids, new))
        except CrucibleError as error:
            yield task.ref, str(error)


def _decide(ids: Mapping[str, str], new: Sequence[Choice], old: Annotation) -> Annotation:
    linked = (replace(one, finding=one.finding or ids.get(_words(one), "")) for one in old.choices)
    return replace(old, choices=(*linked, *new))


def _words(choice: Choice) -> str:
    """Its letters and digits, since a finding's summary has no marks."""
    return "".join(filter(str.isalnum, choice.summary.casefold()))


def _choice(one: Finding, redact: Redact) -> Choice:
    return Choice(normal_line(redact(one.summary)[0]), normal(redact(one.details)[0]), finding=one.id)


def _noted(shelf: Shelf, ref: Ref) -> tuple[Choice, ...]:
    try:
        known, _ = read_annotation(shelf, ref)
    except CrucibleError:  # writing to it says why
        return ()
    return known.choices if known else ()
