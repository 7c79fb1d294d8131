"""What is known for a task that an agent takes: its annotation, inherited decisions, and discoveries of other tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.markdown.containment import cut, normal_line
from crucible.memory.tasks.annotations import AnnotationFolder, read_annotation
from crucible.memory.tasks.decision_flow import inherited_from, joined, sources_of
from crucible.memory.tasks.task import FLOWING, Annotation, DecisionKind, Inherited, OpenTask, Recalled, Ref
from crucible.vault.events.event_reader import EventRecord

TAG = "parallel-discovery"


LONGEST = 500
"""Characters that are shown of one."""


MOST_DISCOVERIES = 20
"""Discoveries that are shown at once, the newest."""


class Discovery(NamedTuple):
    """A discovery on one line; `task_id` is "" where the agent did not say, `seq` its record's number."""

    text: str
    task_id: str
    applies_to: tuple[str, ...]
    time: datetime | None
    seq: int


def discoveries_for(
    records: Iterable[EventRecord], task_id: str = "", beside: Iterable[EventRecord] = ()
) -> tuple[Discovery, ...]:
    """Discoveries of other tasks, each text once, oldest first, the newest `MOST_DISCOVERIES`.

    Records that the task `task_id` logged itself are skipped; `beside` are records of other sessions, whose task ids
    are their own.
    """
    own = (one for one in _tagged(records) if not task_id or one.task_id != task_id)
    found: dict[str, Discovery] = {}
    for one in sorted((*own, *_tagged(beside)), key=lambda one: one.time.timestamp() if one.time else 0.0):
        found.setdefault(one.text, one)
    return tuple(found.values())[-MOST_DISCOVERIES:]


def _tagged(records: Iterable[EventRecord]) -> Iterator[Discovery]:
    for record in records:
        tags = (*_words(record.values.get("tag")), *_words(record.values.get("tags")))
        if TAG in tags and (one := _discovery(record)).text:
            yield one


def _discovery(record: EventRecord) -> Discovery:
    text = record.values.get("content")
    ids = _words(record.values.get("task_id"))
    return Discovery(
        cut(normal_line(text if isinstance(text, str) else ""), LONGEST),
        ids[0] if ids else "",
        _words(record.values.get("applies_to")),
        record.time,
        record.seq,
    )


def _words(value: object) -> tuple[str, ...]:
    """A word or a list of them, as agents write either; an id may be a number."""
    items = value if isinstance(value, list) else [value]
    words = [str(one) if isinstance(one, int) else one for one in items if isinstance(one, (str, int))]
    return tuple(filter(None, (normal_line(word) for word in words)))


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


def recall_counts(shelf: AnnotationFolder, refs: Iterable[Ref]) -> tuple[dict[Ref, RecallCounts], tuple[str, ...]]:
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
    shelf: AnnotationFolder,
    task: OpenTask,
    tasks: Sequence[OpenTask],
    records: Iterable[EventRecord] = (),
    *,
    kinds: Collection[DecisionKind] = FLOWING,
    beside: Iterable[EventRecord] = (),
) -> Pickup:
    """All that is known for the task, out of its annotation and those of the finished tasks that it depends on.

    The latter, since a task may have been added, or changed in what it needs, after they ended. Nothing is written,
    nothing raised for an annotation that cannot be read. `records` are those of the session, and what its task itself
    logged there is left out; `beside` are those of sessions that work with it, whose tasks have ids of their own.
    Without any, no discoveries are told.
    """
    troubles: list[str] = []
    own = _read(shelf, task.ref, troubles)
    inherited = own.inherited if own else ()
    for source in sources_of(task, tasks):
        above = _read(shelf, source.ref, troubles)
        inherited = joined(inherited, inherited_from(above, kinds) if above else ())
    found = discoveries_for(records, task.ref.id, beside)
    return Pickup(task, own, inherited, found, tuple(dict.fromkeys(troubles)))


def _read(shelf: AnnotationFolder, ref: Ref, troubles: list[str]) -> Annotation | None:
    try:
        found, problems = read_annotation(shelf, ref)
    except CrucibleError as error:
        troubles.append(str(error))
        return None
    troubles.extend(f"task {ref.id}: its annotation, line {one.line}: {one.message}" for one in problems)
    return found
