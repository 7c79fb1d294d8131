"""Knowledge for a task: search once with the task's words, and keep the ids of the results in its annotation.

A task without an annotation, or one that only inherited, is searched for when it is added, when its session ends, or
when it is picked up.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import datetime
from functools import partial
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.core.secrets import Redact
from crucible.documents.knowledge.items import ItemType
from crucible.documents.markdown.containment import normal_line
from crucible.memory.knowledge.knowledge_folder import load_item
from crucible.memory.tasks.annotations import AnnotationFolder, change_annotation, read_annotation, shelf_of
from crucible.memory.tasks.task import Annotation, OpenTask, Recalled, Ref, Stage
from crucible.search.recall import MOST, EventKind, Hit, Question, Recall
from crucible.vault.notes.vault import Vault

LIMIT = 5
"""What is kept of an answer, all kinds together."""


_LISTS = {
    ItemType.PATTERN: "patterns",
    ItemType.FAILURE: "failures",
    ItemType.DECISION: "decisions",
}


_SOUGHT = frozenset({EventKind.KNOWLEDGE, EventKind.DECISION})
"""Items of knowledge, and what sessions decided: most vaults have more of the latter."""


class AnnotatedTasks(NamedTuple):
    """Tasks that were searched for with their results, and tasks that failed with the reason."""

    asked: tuple[tuple[Ref, Recalled], ...] = ()
    failed: tuple[tuple[Ref, str], ...] = ()


def annotate_new(
    vault: Vault, tasks: Iterable[OpenTask], recall: Recall, *, now: datetime, redact: Redact
) -> AnnotatedTasks:
    """Annotate those of the tasks that are not over and for which recall was not asked yet.

    Each is asked for once, however often this is done, and by however many at a time. Nothing that goes wrong with
    one keeps the others from theirs; it is asked for the next time.
    """
    asked: list[tuple[Ref, Recalled]] = []
    failed: list[tuple[Ref, str]] = []
    shelf = shelf_of(vault)
    for task in tasks:
        try:
            if task.stage in {Stage.COMPLETED, Stage.DROPPED} or _was_asked(shelf, task.ref):
                continue
            words = redact(normal_line(task.content))[0]
            found = _recalled(vault, task.ref, words, recall, now)
            change_annotation(shelf, Annotation(task.ref, words, now), partial(_ask, found))
            asked.append((task.ref, found))
        except CrucibleError as error:
            failed.append((task.ref, str(error)))
    return AnnotatedTasks(tuple(asked), tuple(failed))


def _was_asked(shelf: AnnotationFolder, ref: Ref) -> bool:
    known, _ = read_annotation(shelf, ref)
    return known is not None and bool(known.recalled.query)


def _ask(found: Recalled, old: Annotation) -> Annotation:
    return old if old.recalled.query else replace(old, recalled=found)


def _recalled(vault: Vault, ref: Ref, words: str, recall: Recall, now: datetime) -> Recalled:
    answer = recall.ask(Question(words, kinds=_SOUGHT, limit=MOST, context=0), now)
    lists: dict[str, list[str]] = {name: [] for name in _LISTS.values()}
    count = 0
    for hit in answer.hits:
        # What the session itself decided its agent knows.
        kind = _list_of(vault, hit) if hit.event.session != ref.session else None
        if kind and count < LIMIT:
            lists[kind].append(hit.event.id)
            count += 1
    return Recalled(query=words, **{name: tuple(ids) for name, ids in lists.items()})


def _list_of(vault: Vault, hit: Hit) -> str | None:
    """Where its id is kept; None for what a task has no use for."""
    if hit.event.kind is not EventKind.KNOWLEDGE:
        return "decisions"
    if not hit.path:  # only a server has it, and its type with it
        return "patterns"
    try:
        item = load_item(vault, vault.root / hit.path).item
    except CrucibleError:
        return None
    return _LISTS.get(item.type) if item else None
