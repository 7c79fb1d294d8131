"""Gather the context of a task: its annotation, inherited decisions, and discoveries from other tasks."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from datetime import datetime

from crucible.core.errors import CrucibleError
from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.containment import cut, normal_line
from crucible.memory.tasks.annotations import AnnotationFolder, read_annotation
from crucible.memory.tasks.decision_flow import inherited_from, joined, sources_of
from crucible.memory.tasks.task import FLOWING, Annotation, DecisionKind, Inherited, OpenTask, Recalled, Ref
from crucible.vault.events.event_reader import EventRecord

TAG = "parallel-discovery"


LONGEST = 500
"""Maximum characters of a discovery."""


MOST_DISCOVERIES = 20
"""Maximum number of discoveries to keep, newest first."""


class Discovery(NamedTuple):
    """A discovery in one line.  `task_id` is "" if the agent gave none; `seq` is the number of its record."""

    text: str
    task_id: str
    applies_to: tuple[str, ...]
    time: datetime | None
    seq: int


def discoveries_for(
    records: Iterable[EventRecord], task_id: str = "", beside: Iterable[EventRecord] = ()
) -> tuple[Discovery, ...]:
    """Return the newest `MOST_DISCOVERIES` discoveries from other tasks, oldest first, without duplicates.

    Records of the task `task_id` itself are skipped; `beside` are records of other sessions, where task ids differ.
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
    """Return the words in a value that is one word or a list, since agents write both; ids may be numbers."""
    items = value if isinstance(value, list) else [value]
    words = [str(one) if isinstance(one, int) else one for one in items if isinstance(one, (str, int))]
    return tuple(filter(None, (normal_line(word) for word in words)))


class RecallCounts(NamedTuple):
    """The number of recalled items of each kind in a task's annotation."""

    patterns: int = 0
    failures: int = 0
    decisions: int = 0


class Pickup(NamedTuple):
    """The context of a task; `troubles` are read errors, one line each."""

    task: OpenTask
    annotation: Annotation | None = None
    inherited: tuple[Inherited, ...] = ()
    discoveries: tuple[Discovery, ...] = ()
    troubles: tuple[str, ...] = ()


def recall_counts(shelf: AnnotationFolder, refs: Iterable[Ref]) -> tuple[dict[Ref, RecallCounts], tuple[str, ...]]:
    """Return the counts of the tasks that have an annotation, and read errors, one line each."""
    counts: dict[Ref, RecallCounts] = {}
    troubles: list[str] = []
    for ref in refs:
        found = _read(shelf, ref, troubles)
        if found is not None:
            ids = found.recalled
            counts[ref] = RecallCounts(len(ids.patterns), len(ids.failures), len(ids.decisions))
    return counts, tuple(troubles)


def recalled_ids(recalled: Recalled) -> tuple[str, ...]:
    """Return all recalled ids, in the order of the annotation."""
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
    """Gather the context of a task from its annotation and those of the completed tasks it depends on.

    The dependencies are read even if decisions were passed on: the task may have been added or changed after they were
    completed.  Writes nothing, and never raises for an unreadable annotation.  `records` are the session's events, and
    `beside` the events of related sessions; discoveries come from these only, except those of the task itself.
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
