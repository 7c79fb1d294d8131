"""A task picked up: its annotation, what came down to it, and what others found meanwhile; and the counts that are shown before.

Owns what is loaded when.  A list of tasks shows counts; an annotation's ids are looked up in the knowledge by who picks a task up.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.memory.tasks.annotations import Shelf, read_annotation
from crucible.memory.tasks.decision_flow import inherited_from, joined, sources_of
from crucible.memory.tasks.discoveries import Discovery, discoveries_for
from crucible.memory.tasks.task import FLOWING, Annotation, ChoiceKind, Inherited, OpenTask, Recalled, Ref
from crucible.vault.events.event_reading import Record


class RecallCounts(NamedTuple):
    """How many items of each kind wait in a task's annotation."""

    patterns: int = 0
    failures: int = 0
    decisions: int = 0


class Pickup(NamedTuple):
    """All that is known for a task; `troubles` names what could not be read, each on a line."""

    task: OpenTask
    annotation: Annotation | None = None
    inherited: tuple[Inherited, ...] = ()
    discoveries: tuple[Discovery, ...] = ()
    troubles: tuple[str, ...] = ()


def recall_counts(shelf: Shelf, refs: Iterable[Ref]) -> tuple[dict[Ref, RecallCounts], tuple[str, ...]]:
    """The counts of the tasks that have an annotation, and what could not be read, each on a line."""
    counts: dict[Ref, RecallCounts] = {}
    troubles: list[str] = []
    for ref in refs:
        found = _read(shelf, ref, troubles)
        if found is not None:
            told = found.recalled
            counts[ref] = RecallCounts(len(told.patterns), len(told.failures), len(told.decisions))
    return counts, tuple(troubles)


def recalled_ids(recalled: Recalled) -> tuple[str, ...]:
    """All that recall found, in the order of the annotation."""
    return (*recalled.patterns, *recalled.failures, *recalled.decisions)


def pick_up(
    shelf: Shelf,
    task: OpenTask,
    tasks: Sequence[OpenTask],
    records: Iterable[Record] = (),
    *,
    kinds: Collection[ChoiceKind] = FLOWING,
    beside: Iterable[Record] = (),
) -> Pickup:
    """All that is known for the task, out of its annotation and those of the finished tasks that it depends on.

    The latter, since a task may have been added, or changed in what it needs, after they ended.  Nothing is written, nothing raised
    for an annotation that cannot be read.  `records` are those of the session, and what its task itself logged there is left out; `beside` are those of sessions that
    work with it, whose tasks have ids of their own.  Without any, no discoveries are told.
    """
    troubles: list[str] = []
    own = _read(shelf, task.ref, troubles)
    inherited = own.inherited if own else ()
    for source in sources_of(task, tasks):
        above = _read(shelf, source.ref, troubles)
        inherited = joined(inherited, inherited_from(above, kinds) if above else ())
    found = discoveries_for(records, task.ref.id, beside)
    return Pickup(task, own, inherited, found, tuple(dict.fromkeys(troubles)))


def _read(shelf: Shelf, ref: Ref, troubles: list[str]) -> Annotation | None:
    try:
        found, problems = read_annotation(shelf, ref)
    except CrucibleError as error:
        troubles.append(str(error))
        return None
    troubles.extend(f"task {ref.id}: its annotation, line {one.line}: {one.message}" for one in problems)
    return found
