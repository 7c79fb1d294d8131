"""Decisions of tasks: noted with the task that was in progress when they were made, and passed on to the tasks that depend on it.

A decision flows unless somebody marked it, or its type is one that stays.  What a task inherits is not passed on a second time: its
dependents are told by the task that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from crucible.core.errors import CrucibleError
from crucible.core.secrets import Redact
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.session import Session
from crucible.memory.tasks.annotations import Shelf, change_annotation, read_annotation
from crucible.memory.tasks.decision_tasks import task_findings
from crucible.memory.tasks.task import (
    FLOWING,
    Annotation,
    Choice,
    ChoiceKind,
    Inherited,
    OpenTask,
    Ref,
    Stage,
    kinds_named,
)
from crucible.memory.tasks.task_knowledge import shelf_of
from crucible.memory.tasks.task_reading import tasks_of
from crucible.vault.notes.vault import Vault

MOST_TOLD = 100
"""Dependent tasks that are told at once, nearest first; `picking` tells the others when they begin."""


def flows(choice: Choice, kinds: Collection[ChoiceKind] = FLOWING) -> bool:
    """True if the decision goes to dependent tasks."""
    return choice.propagate if choice.propagate is not None else choice.kind is None or choice.kind in kinds


def dependents_of(ref: Ref, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """The unfinished tasks that depend on this one, directly or through others, nearest first; never the task itself."""
    waiting: dict[str, list[OpenTask]] = {}
    for task in tasks:
        for need in task.needs if task.ref.session == ref.session else ():
            waiting.setdefault(need, []).append(task)
    found = _reached(ref.id, lambda here: waiting.get(here, ()))
    return tuple(task for task in found if task.stage in {Stage.PENDING, Stage.IN_PROGRESS})


def sources_of(task: OpenTask, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """The completed tasks that the task depends on, directly or through others, nearest first; never the task itself."""
    known = {one.ref.id: one for one in tasks if one.ref.session == task.ref.session}
    needs = {**{name: one.needs for name, one in known.items()}, task.ref.id: task.needs}
    found = _reached(task.ref.id, lambda here: [known[need] for need in needs[here] if need in known])
    return tuple(one for one in found if one.stage is Stage.COMPLETED)


def _reached(start: str, following: Callable[[str], Iterable[OpenTask]]) -> list[OpenTask]:
    """All tasks that follow on one of a list, each once, nearest first."""
    seen, front = {start}, [start]
    found: list[OpenTask] = []
    for here in front:  # grows while it is walked
        for task in following(here):
            if task.ref.id not in seen:
                seen.add(task.ref.id)
                front.append(task.ref.id)
                found.append(task)
    return found


def inherited_from(annotation: Annotation, kinds: Collection[ChoiceKind] = FLOWING) -> tuple[Inherited, ...]:
    """The task's own decisions as its dependents inherit them."""
    return tuple(
        Inherited(annotation.ref.id, normal_line(one.summary), normal(one.rationale), one.finding)
        for one in annotation.choices
        if flows(one, kinds)
    )


def flow_down(
    shelf: Shelf,
    ref: Ref,
    tasks: Sequence[OpenTask],
    now: datetime,
    kinds: Collection[ChoiceKind] = FLOWING,
    *,
    clean: Callable[[str], str] = str,
) -> Iterator[tuple[Ref, str]]:
    """Write what a completed task decided into the annotations of the tasks that depend on it; yields what failed and why.

    `clean` removes secrets that a human wrote into the annotation.
    """
    try:
        own, _ = read_annotation(shelf, ref)
    except CrucibleError as error:
        yield ref, str(error)
        return
    given = tuple(
        replace(one, decision=clean(one.decision), rationale=clean(one.rationale))
        for one in (inherited_from(own, kinds) if own else ())
    )
    for task in dependents_of(ref, tasks)[:MOST_TOLD] if given else ():
        try:
            change_annotation(shelf, Annotation(task.ref, task.content, now), partial(_inherit, given))
        except CrucibleError as error:
            yield task.ref, str(error)


def _inherit(given: Sequence[Inherited], old: Annotation) -> Annotation:
    return replace(old, inherited=joined(old.inherited, given))


def joined(there: Sequence[Inherited], more: Iterable[Inherited]) -> tuple[Inherited, ...]:
    """What a task inherits, each decision once and in the words that are there already."""
    new = (one for one in more if not any(one.is_same(other) for other in there))
    return (*there, *dict.fromkeys(new))


# --- those of a session -----------------------------------------------------------------------------------------------


def hand_on(vault: Vault, session: Session, *, now: datetime, redact: Redact) -> Iterator[str]:
    """Note the decisions of each task in its annotation, and pass those of completed tasks on; yields a line for each failure.

    Running it again changes nothing.
    """
    settings = vault.settings.tasks
    tasks = tuple(replace(one, content=redact(one.content)[0]) for one in tasks_of(session))
    failed = dict(_note_decisions(vault, session, tasks, now, redact))
    if settings.propagate_decisions:
        shelf, kinds = shelf_of(vault), kinds_named(settings.auto_propagate_types)
        for task in tasks:
            if task.stage is Stage.COMPLETED:
                told = flow_down(shelf, task.ref, tasks, now, kinds, clean=lambda text: redact(text)[0])
                failed = {**dict(told), **failed}
    yield from (f"task {ref.id}: decisions were not noted: {why}" for ref, why in failed.items())


def _note_decisions(
    vault: Vault, session: Session, tasks: Sequence[OpenTask], now: datetime, redact: Redact
) -> Iterator[tuple[Ref, str]]:
    decisions = [
        Choice(normal_line(redact(one.summary)[0]), normal(redact(one.details)[0]), finding=one.id)
        for one in findings_of(session)
        if one.kind == Kind.DECISION
    ]
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


def _noted(shelf: Shelf, ref: Ref) -> tuple[Choice, ...]:
    try:
        known, _ = read_annotation(shelf, ref)
    except CrucibleError:  # writing to it says why
        return ()
    return known.choices if known else ()
