"""A finished task's decisions come down to the tasks that depend on it.

Owns which decisions do, and to whom.  Technology, API and architecture flow, implementation details and bug fixes do not; what somebody
marked explicitly, either way, wins.  A decision whose kind nobody wrote is told by its words: what gives no sign is a detail, since a
wrong word in every later task costs more than a missing one.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import replace
from datetime import datetime
from typing import NamedTuple

from crucible.errors import CrucibleError, NoteExists
from crucible.note.contain import normal, normal_line
from crucible.patterns import late_pattern
from crucible.tasks.annotations import Shelf, annotate, annotation_path, change_annotation, read_annotation
from crucible.tasks.model import FLOWING, Annotation, Choice, ChoiceKind, Inherited, OpenTask, Ref, Stage

__all__ = [
    "MOST_TOLD",
    "Flowed",
    "dependents_of",
    "flow_down",
    "flows",
    "inherited_from",
    "kind_of",
    "note_choice",
]

MOST_TOLD = 100
"""Dependent tasks whose files are written when a task ends, the nearest; who picks up another one is told by `picking` all the same."""


class Flowed(NamedTuple):
    """What came of it: the tasks that learned something, and those that could not be told, with the reason."""

    told: tuple[Ref, ...] = ()
    failed: tuple[tuple[Ref, str], ...] = ()


_BUG_FIX = late_pattern(
    r"(?i)^(?:hot)?fix(?:ed|es|ing)?\b|\b(?:bug|regression|typo|crash(?:es|ed)?|off-by-one|null pointer|nil pointer|stack ?trace)\b"
)
_API = late_pattern(
    r"\b(?:GET|POST|PUT|PATCH|DELETE|HEAD|OPTIONS) +/|(?i:\b(?:endpoints?|status code|returns? [1-5]\d\d|rest api|graphql|grpc|openapi|webhook payload"
    r"|(?:public|http|json) (?:api|interface)|api (?:version|design|contract|returns|takes|accepts)"
    r"|(?:request|response) (?:body|header|format|schema)|pagination)\b)"
)
_ARCHITECTURE = late_pattern(
    r"(?i)\b(?:event[- ]sourc\w+|event[- ]driven|cqrs|micro-?services?|monolith\w*|hexagonal|layered|pub[-/ ]?sub|outbox|sagas?|architectur\w+"
    r"|multi-?tenan\w+|single (?:writer|source of truth)|message (?:queue|bus|broker)|separate (?:service|process|module|package)"
    r"|client[-/ ]server|plugin system|state machine|data model|circuit breaker|idempoten\w+ by design)\b"
)
_TECHNOLOGY = late_pattern(
    r"\b(?i:us(?:e|es|ed|ing)|chose|choose|chosen|pick(?:ed)?|adopt(?:ed|ing)?|select(?:ed)?|go(?:ing)? with|went with|switch(?:ed)? to"
    r"|migrat(?:e|ed|ing) to|built (?:on|with)|stor(?:e|ed|ing) \w+ in|replaced? \S+ (?:with|by))"
    r" (?:the |an? )?(?:[\w-]+ ){0,2}?(?=[A-Z][\w.+#-]*|[a-z]\w*(?:[A-Z]|[0-9]+\b|[-.]?(?i:js|db|sql|mq)\b))"
)
"""Words of choosing before a name: one with a capital or a number, or that ends as names of programs do."""
_SIGNS = (
    (_BUG_FIX, ChoiceKind.BUG_FIX),
    (_API, ChoiceKind.API),
    (_ARCHITECTURE, ChoiceKind.ARCHITECTURE),
    (_TECHNOLOGY, ChoiceKind.TECHNOLOGY),
)


def kind_of(choice: Choice) -> ChoiceKind:
    """What the decision is about: as it says itself, or by the words of its summary."""
    if choice.kind is not None:
        return choice.kind
    words = normal_line(choice.summary)
    return next((kind for sign, kind in _SIGNS if sign.search(words)), ChoiceKind.DETAIL)


def flows(choice: Choice, kinds: Collection[ChoiceKind] = FLOWING) -> bool:
    """Whether the decision comes down to dependent tasks."""
    return choice.propagate if choice.propagate is not None else kind_of(choice) in kinds


def dependents_of(ref: Ref, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """The unfinished tasks that depend on this one, directly or through others, nearest first; never the task itself.

    What depends on a finished task in between was told when that one ended, and is told again: nothing is written twice.
    """
    waiting: dict[Ref, list[OpenTask]] = {}
    for task in tasks:
        for need in dict.fromkeys(task.needs):
            waiting.setdefault(Ref(task.ref.session, need), []).append(task)
    found: dict[Ref, OpenTask] = {ref: OpenTask(ref, "", Stage.COMPLETED)}
    front = [ref]
    for here in front:  # grows while it is walked
        for task in waiting.get(here, ()):
            if task.ref not in found:
                found[task.ref] = task
                front.append(task.ref)
    return tuple(task for task in found.values() if task.stage in {Stage.PENDING, Stage.IN_PROGRESS})


def note_choice(shelf: Shelf, ref: Ref, choice: Choice) -> Annotation:
    """Add a decision to the task's annotation, once; raises what `change_annotation` does."""
    clean = replace(choice, summary=normal_line(choice.summary), rationale=normal(choice.rationale))
    return change_annotation(
        shelf, ref, lambda old: old if clean in old.choices else replace(old, choices=(*old.choices, clean))
    )


def flow_down(
    shelf: Shelf,
    ref: Ref,
    tasks: Sequence[OpenTask],
    now: datetime,
    kinds: Collection[ChoiceKind] = FLOWING,
    *,
    clean: Callable[[str], str] = str,
) -> Flowed:
    """Write what flows from the annotation of a task that ended into those of the tasks that depend on it, the nearest `MOST_TOLD`.

    A dependent task without an annotation gets one whose recall was never asked.  One that cannot be written is named, and the others
    are told all the same.  `clean` takes secrets out, which a human may have written into the annotation.  Done twice, it changes nothing.  Raises what `read_annotation` does for the finished task itself.
    """
    own, _ = read_annotation(shelf, ref)
    given = tuple(
        replace(one, decision=clean(one.decision), rationale=clean(one.rationale))
        for one in (inherited_from(own, kinds) if own else ())
    )
    told: list[Ref] = []
    failed: list[tuple[Ref, str]] = []
    for task in dependents_of(ref, tasks)[:MOST_TOLD] if given else ():
        try:
            if _tell(shelf, task, given, now):
                told.append(task.ref)
        except CrucibleError as error:
            failed.append((task.ref, str(error)))
    return Flowed(tuple(told), tuple(failed))


def inherited_from(annotation: Annotation, kinds: Collection[ChoiceKind] = FLOWING) -> tuple[Inherited, ...]:
    """What the task's own decisions are to those that depend on it; what it inherited itself they got from its source."""
    return tuple(
        Inherited(annotation.ref.id, normal_line(one.summary), normal(one.rationale))
        for one in annotation.choices
        if flows(one, kinds)
    )


def _tell(shelf: Shelf, task: OpenTask, given: tuple[Inherited, ...], now: datetime) -> bool:
    if not annotation_path(shelf, task.ref).exists():
        try:
            annotate(shelf, Annotation(task.ref, task.content, now, inherited=given))
        except NoteExists:  # somebody was quicker
            pass
        else:
            return True
    changed = False

    def add(old: Annotation) -> Annotation:
        nonlocal changed
        new = tuple(one for one in given if one not in old.inherited)
        changed = bool(new)
        return replace(old, inherited=(*old.inherited, *new))

    change_annotation(shelf, task.ref, add)
    return changed
