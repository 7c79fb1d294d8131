"""Decisions that flow: those of a completed task, to the tasks that depend on it.

A decision flows unless somebody marked it, or its type is one that stays.  What a task inherits is not passed on a second time: its
dependents are told by the task that decided.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import replace
from datetime import datetime
from functools import partial

from crucible.errors import CrucibleError
from crucible.note.contain import normal, normal_line
from crucible.tasks.annotations import Shelf, change_annotation, read_annotation
from crucible.tasks.model import FLOWING, Annotation, Choice, ChoiceKind, Inherited, OpenTask, Ref, Stage

__all__ = ["MOST_TOLD", "dependents_of", "flow_down", "flows", "inherited_from", "joined", "sources_of"]

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
