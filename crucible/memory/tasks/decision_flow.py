"""Add decisions to the task that was in progress, and pass them on to the tasks that depend on it.

A mark on a decision, or else its kind, determines whether it is passed on.  Inherited decisions are not passed on.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from functools import partial
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.core.named_tuples import NamedTuple
from crucible.core.secrets import Redact
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.session.findings import Finding, Kind, findings_of, quotes_words
from crucible.documents.session.properties import parse_time
from crucible.documents.session.session import Session, Task
from crucible.memory.tasks.annotations import AnnotationFolder, change_annotation, read_annotation, shelf_of
from crucible.memory.tasks.task import (
    FLOWING,
    Annotation,
    DecisionKind,
    Inherited,
    OpenTask,
    Ref,
    Stage,
    TaskDecision,
    kinds_named,
    stage_of,
    tasks_of,
)
from crucible.vault.events.event_reader import EventRecord, read_records
from crucible.vault.notes.vault import Vault

_RECORDED = ("decision", "error")
"""Types of records that agents write and that are also findings."""
_LAST = datetime.max.replace(tzinfo=UTC)


class _Span(NamedTuple):
    """The time in which a task was in progress."""

    id: str
    begun: datetime
    over: datetime


def task_findings(root: Path, session: Session) -> Mapping[str, tuple[Finding, ...]]:
    """Return each task's findings by task id, using the session's event log in the vault at `root`."""
    return findings_by_task(session, _records(root, session) if any(one.started for one in session.tasks) else ())


def _records(root: Path, session: Session) -> Iterator[EventRecord]:
    with suppress(CrucibleError):  # use the records that can be read
        yield from read_records(root, session.id)


def findings_by_task(session: Session, records: Iterable[EventRecord] = ()) -> Mapping[str, tuple[Finding, ...]]:
    """Return each task's findings by task id, in order; `records` are the session's events.

    If several tasks were in progress, a finding belongs to the one that began last.  If none was, it belongs to the
    task in progress at the start of its sub-phase, if any.
    """
    tasks = sorted(_spans(session.tasks), key=lambda one: one.begun)
    findings = findings_of(session) if tasks else ()
    moments = _moments(findings, records) if findings else {}
    starts = {phase.id: phase.started for phase in session.all_phases()}
    found: dict[str, list[Finding]] = {}
    for one in findings:
        turn, part = starts.get(one.phase.partition(".")[0]), starts.get(one.phase)
        moment = moments.get(one.id) or (turn if one.rows else part)
        task = _open_at(moment, turn or moment, tasks) if moment else ""
        # An edit in the turn's first sub-phase may settle a decision, which then belongs to the task that began there.
        if not task and one.rows and turn and part and one.phase.endswith(".1"):
            task = _open_at(part, turn, tasks)
        if task:
            found.setdefault(task, []).append(one)
    return {task: tuple(made) for task, made in found.items()}


def _open_at(moment: datetime, turn: datetime, tasks: list[_Span]) -> str:
    """Return the task that was in progress at a moment of a turn, or "".

    A task is ignored if another one began later and ended before the turn: the agent forgot to complete it.
    """
    forgotten = max((one.begun for one in tasks if one.over <= turn), default=None)
    fits = (one for one in reversed(tasks) if one.begun <= moment <= one.over)
    return next((one.id for one in fits if forgotten is None or one.begun >= forgotten), "")


def _spans(tasks: Iterable[Task]) -> Iterator[_Span]:
    """Yield the time of each task.  One that was postponed or dropped was in progress until the next one began."""
    begun = [(time, task) for task in tasks if (time := parse_time(task.started or ""))]
    starts = sorted(time for time, _ in begun)
    for start, task in begun:
        over = parse_time(task.completed or "")
        if over is None and stage_of(task.status) is not Stage.IN_PROGRESS:
            over = next((time for time in starts if time > start), None)
        yield _Span(task.id, start, over or _LAST)


def _moments(findings: Iterable[Finding], records: Iterable[EventRecord]) -> dict[str, datetime]:
    """Return the time of each finding by id, if the records have it."""
    by_row: dict[str, list[str]] = {}
    recorded: list[Finding] = []
    for one in findings:
        for row in one.rows:
            by_row.setdefault(row, []).append(one.id)
        recorded += [] if one.rows else [one]
    lengths = {len(row) for row in by_row}
    found: dict[str, datetime] = {}
    for record in records:
        if record.time is None:
            continue
        names = [name for length in lengths for name in by_row.get(record.row[:length], ())]
        content = record.values.get("content") if record.type in _RECORDED else None
        if isinstance(content, str):
            names += [one.id for one in recorded if quotes_words(one, content)]
        # Times in a note are in whole seconds.
        found.update(dict.fromkeys(names, record.time.replace(microsecond=0)))
    return found


MOST_DEPENDENTS = 100
"""Maximum number of dependent tasks to update, nearest first; others inherit when they are taken up."""


def is_inherited(choice: TaskDecision, kinds: Collection[DecisionKind] = FLOWING) -> bool:
    """Return whether dependent tasks inherit the decision."""
    return choice.propagate if choice.propagate is not None else choice.kind is None or choice.kind in kinds


def dependents_of(ref: Ref, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """Return the unfinished tasks that depend on this task, directly or indirectly, nearest first."""
    waiting: dict[str, list[OpenTask]] = {}
    for task in tasks:
        for need in task.needs if task.ref.session == ref.session else ():
            waiting.setdefault(need, []).append(task)
    found = _reached(ref.id, lambda here: waiting.get(here, ()))
    return tuple(task for task in found if task.stage in {Stage.PENDING, Stage.IN_PROGRESS})


def sources_of(task: OpenTask, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """Return the completed tasks that this task depends on, directly or indirectly, nearest first."""
    known = {one.ref.id: one for one in tasks if one.ref.session == task.ref.session}
    needs = {**{name: one.needs for name, one in known.items()}, task.ref.id: task.needs}
    found = _reached(task.ref.id, lambda here: [known[need] for need in needs[here] if need in known])
    return tuple(one for one in found if one.stage is Stage.COMPLETED)


def _reached(start: str, following: Callable[[str], Iterable[OpenTask]]) -> list[OpenTask]:
    """Return all tasks that `following` reaches from the task `start`, nearest first."""
    seen, front = {start}, [start]
    found: list[OpenTask] = []
    for here in front:  # grows during the iteration
        for task in following(here):
            if task.ref.id not in seen:
                seen.add(task.ref.id)
                front.append(task.ref.id)
                found.append(task)
    return found


def inherited_from(annotation: Annotation, kinds: Collection[DecisionKind] = FLOWING) -> tuple[Inherited, ...]:
    """Return the task's own decisions in the form that its dependents inherit."""
    return tuple(
        Inherited(annotation.ref.id, normal_line(one.summary), normal(one.rationale), one.finding)
        for one in annotation.choices
        if is_inherited(one, kinds)
    )


def flow_down(
    shelf: AnnotationFolder,
    ref: Ref,
    tasks: Sequence[OpenTask],
    now: datetime,
    kinds: Collection[DecisionKind] = FLOWING,
    *,
    clean: Callable[[str], str] = str,
) -> Iterator[tuple[Ref, str]]:
    """Add a completed task's decisions to the tasks that depend on it; yield each failure.

    `clean` removes secrets that a user may have written into the annotation.
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
    for task in dependents_of(ref, tasks)[:MOST_DEPENDENTS] if given else ():
        try:
            change_annotation(shelf, Annotation(task.ref, task.content, now), partial(_inherit, given))
        except CrucibleError as error:
            yield task.ref, str(error)


def _inherit(given: Sequence[Inherited], old: Annotation) -> Annotation:
    return replace(old, inherited=joined(old.inherited, given))


def joined(there: Sequence[Inherited], more: Iterable[Inherited]) -> tuple[Inherited, ...]:
    """Add inherited decisions to those of a task, without duplicates; existing ones keep their wording."""
    new = (one for one in more if not any(one.is_same(other) for other in there))
    return (*there, *dict.fromkeys(new))


# --- sessions ---------------------------------------------------------------------------------------------------------


def pass_on_decisions(vault: Vault, session: Session, *, now: datetime, redact: Redact) -> Iterator[str]:
    """Add decisions to their tasks' annotations, and pass on those of completed tasks; yield failures.

    Repeating this changes nothing.
    """
    settings = vault.settings.tasks
    tasks = tuple(replace(one, content=redact(one.content)[0]) for one in tasks_of(session))
    failed = dict(_note_decisions(vault, session, tasks, now, redact))
    if settings.propagate_decisions:
        shelf, kinds = shelf_of(vault), kinds_named(settings.auto_propagate_types)
        for task in tasks:
            if task.stage is Stage.COMPLETED:
                errors = flow_down(shelf, task.ref, tasks, now, kinds, clean=lambda text: redact(text)[0])
                failed = {**dict(errors), **failed}
    yield from (f"task {ref.id}: decisions could not be stored: {why}" for ref, why in failed.items())


def _note_decisions(
    vault: Vault, session: Session, tasks: Sequence[OpenTask], now: datetime, redact: Redact
) -> Iterator[tuple[Ref, str]]:
    decisions = [
        TaskDecision(normal_line(redact(one.summary)[0]), normal(redact(one.details)[0]), finding=one.id)
        for one in findings_of(session)
        if one.kind == Kind.DECISION
    ]
    if not (decisions and tasks):
        return
    made = task_findings(vault.root, session)
    shelf, ids = shelf_of(vault), {_words(one): one.finding for one in decisions}
    noted = {task: _noted(shelf, task.ref) for task in tasks}
    # A decision that a user annotated or moved to another task belongs to that task.
    known = {name for choices in noted.values() for one in choices for name in (one.finding, _words(one))}
    for task, choices in noted.items():
        mine = {one.id for one in made.get(task.ref.id, ())}
        new = [one for one in decisions if one.finding in mine and not {one.finding, _words(one)} & known]
        try:
            if new or any(_words(one) in ids and not one.finding for one in choices):
                change_annotation(shelf, Annotation(task.ref, task.content, now), partial(_decide, ids, new))
        except CrucibleError as error:
            yield task.ref, str(error)


def _decide(ids: Mapping[str, str], new: Sequence[TaskDecision], old: Annotation) -> Annotation:
    linked = (replace(one, finding=one.finding or ids.get(_words(one), "")) for one in old.choices)
    return replace(old, choices=(*linked, *new))


def _words(choice: TaskDecision) -> str:
    """Return the key of a decision: its letters and digits, since a finding's summary has no Markdown syntax."""
    return "".join(filter(str.isalnum, choice.summary.casefold()))


def _noted(shelf: AnnotationFolder, ref: Ref) -> tuple[TaskDecision, ...]:
    try:
        known, _ = read_annotation(shelf, ref)
    except CrucibleError:  # the write will report it
        return ()
    return known.choices if known else ()
