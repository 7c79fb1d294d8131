"""`cru task pick`, `annotate` and `done`."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path

import click

from crucible.cli.id_arguments import TASK, PickedId
from crucible.cli.index_access import query_index
from crucible.cli.knowledge_capture import say_captured, terminal_ask
from crucible.cli.options import TEXT, Door, format_option, is_data
from crucible.cli.output import clean, say, warn, write, write_data
from crucible.cli.recall_engine import RecallScope, open_recall
from crucible.cli.record_options import recording_place
from crucible.cli.task_commands import task_json
from crucible.cli.task_lookup import OpenedTask, open_task, our_session
from crucible.cli.vault_access import folder_of, index_of, open_vault
from crucible.commands import record
from crucible.commands.capture.capture import Captured, Occasion, capture_session
from crucible.commands.record.tasks import TaskWriter
from crucible.core.errors import CrucibleError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.documents.markdown.containment import normal, normal_line
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.session import Status
from crucible.documents.session.task_block import TASK_PICKED
from crucible.memory.tasks.annotations import change_annotation, read_annotation, shelf_of
from crucible.memory.tasks.decision_flow import dependents_of, inherited_from, pass_on_decisions
from crucible.memory.tasks.readiness import status_of
from crucible.memory.tasks.task import Annotation, DecisionKind, OpenTask, Stage, TaskDecision, kinds_named, tasks_of
from crucible.memory.tasks.task_knowledge import annotate_new, task_text
from crucible.memory.tasks.task_pickup import TAG, Pickup, pick_up, recalled_ids
from crucible.search.recall import Event, Recall
from crucible.vault.events.event_reader import EventRecord, read_records
from crucible.vault.index.schema import View
from crucible.vault.notes.vault import Vault

_KINDS = [kind.value for kind in DecisionKind]


@click.command("pick")
@click.argument("task", cls=PickedId, kind="task", type=TASK)
@format_option()
@click.pass_obj
def pick(door: Door, /, task: str, format_: str) -> None:
    """Start a task, and show what is known about it.

    \b
    - Shows decisions of earlier tasks, discoveries by others, and knowledge
      that recall found.
    - The task is marked in its note, even if that session has ended. The
      session in CRU_SESSION records that it started the task.
    - TASK is an id as in "cru task show".

    \b
      cru task pick 2026-11-21-add.3
    """
    vault, now = open_vault(door), datetime.now(UTC).replace(microsecond=0)
    redact = redact_of(vault.settings.secrets)
    opened = open_task(vault, task)
    opened.check_noted()
    if opened.task.stage in (Stage.COMPLETED, Stage.DROPPED):
        raise UsageError(
            f"{opened.task.ref}: it is {opened.task.stage}",
            f"add the remaining work: cru task add --session {opened.owner.id} TEXT",
        )
    for other in opened.waits_for:
        warn(f"it waits for {other.ref.id} ({other.stage.replace('_', ' ')}): {other.content}")
    pickup, items = _pickup(door, vault, opened, now, redact)
    if opened.task.stage is not Stage.IN_PROGRESS:
        _set_status(vault, opened, "in_progress", now, redact)
        _log_picked(vault, opened, redact)
    told = task_text(vault.settings, pickup, items, opened.waits_for)
    if told.problem:
        warn(told.problem)
    text = clean(redact(told.text)[0])
    if is_data(format_):
        picked = replace(opened.task, stage=Stage.IN_PROGRESS)
        write_data({**task_json(picked), "context": text}, format_)
    else:
        click.echo(text, nl=False)


def _pickup(
    door: Door, vault: Vault, opened: OpenedTask, now: datetime, redact: Redact
) -> tuple[Pickup, Sequence[Event]]:
    """Collect everything known about a task; errors are only reported."""
    settings = vault.settings.tasks
    recall = _recall(door, opened)
    for _, why in annotate_new(vault, [opened.task], recall, now=now, redact=redact).failed:
        warn(f"recall was not searched: {why}")
    records, beside = _records(vault, opened) if settings.share_parallel_discoveries else ([], [])
    tasks = opened.tasks if settings.propagate_decisions else ()
    kinds = kinds_named(settings.auto_propagate_types)
    pickup = pick_up(shelf_of(vault), opened.task, tasks, records, kinds=kinds, beside=beside)
    warn(*pickup.troubles)
    ids = recalled_ids(pickup.annotation.recalled) if pickup.annotation else ()
    items: Sequence[Event] = ()
    try:
        items = recall.get(ids) if ids else ()
    except CrucibleError as error:
        warn(f"recalled items cannot be read: {error}")
    return pickup, items


def _recall(door: Door, opened: OpenedTask) -> Recall:
    return open_recall(door, RecallScope(opened.owner.project)).recall


def _records(vault: Vault, opened: OpenedTask) -> tuple[list[EventRecord], list[EventRecord]]:
    """Return the observations from the task's session, and from its parent, siblings and subagents."""
    top = opened.owner.parent or opened.owner.id

    def question(view: View) -> list[str]:
        rows = view.rows("sessions", None, [top])
        return [str(row["id"]) for row in rows if row["parent"] == top]

    children, _ = query_index(index_of(vault), question)
    beside = [name for name in dict.fromkeys((top, *children)) if name != opened.owner.id]
    return _observations(vault, [opened.owner.id]), _observations(vault, beside)


def _observations(vault: Vault, sessions: Iterable[str]) -> list[EventRecord]:
    found: list[EventRecord] = []
    for session in sessions:
        with suppress(CrucibleError):  # damaged parts are skipped
            found += (one for one in read_records(vault.root, session) if one.type == "observation")
    return found


def _set_status(vault: Vault, opened: OpenedTask, status: str, now: datetime, redact: Redact) -> None:
    writer = TaskWriter(vault, opened.owner.id, now=now, redact=redact, ours=opened.is_ours, **recording_place())
    writer.move(opened.task.ref.id, status)
    warn(*writer.warnings)


def _log_picked(vault: Vault, opened: OpenedTask, redact: Redact) -> None:
    """Record in the current session that it picked up a task from another session."""
    if not our_session() or opened.is_ours:
        return
    try:
        recorder = record.open(our_session(), vault=vault, redact=redact, **recording_place())
        recorder.milestone(f"{TASK_PICKED}{opened.task.content} ({opened.task.ref})")
    except CrucibleError as error:
        warn(error)


# --- annotate ---------------------------------------------------------------------------------------------------------


@click.command("annotate")
@click.argument("task", cls=PickedId, kind="task", type=TASK)
@click.option("--decision", metavar="TEXT", type=TEXT, default="", help="The decision; - for stdin.")
@click.option("--rationale", metavar="TEXT", type=TEXT, default="", help="Why.")
@click.option(
    "--type",
    "kind",
    type=click.Choice(_KINDS),
    metavar="TYPE",
    help=f"The kind of decision: {', '.join(_KINDS)}.",
)
@click.option(
    "--propagate/--no-propagate",
    default=None,
    help="Pass it to dependent tasks; by default all but implementation details and bug fixes.",
)
@click.option("--discovery", metavar="TEXT", type=TEXT, default="", help="The discovery; - for stdin.")
@click.option(
    "--applies-to",
    metavar="WORD",
    multiple=True,
    help="Where the discovery applies; repeatable.",
)
@click.pass_obj
def annotate(
    door: Door,
    /,
    task: str,
    decision: str,
    rationale: str,
    kind: str | None,
    propagate: bool | None,
    discovery: str,
    applies_to: tuple[str, ...],
) -> None:
    """Record a decision or a discovery for other tasks.

    \b
    - A decision is also written into the session's note. Dependent tasks
      get it when this task is done.
    - A discovery is shown to everyone who picks up another task of the
      session.

    \b
      cru task annotate 3 --decision "Use Stripe" --rationale "its webhooks"
      cru task annotate 3 --discovery "429 has Retry-After" --applies-to stripe
    """
    if not (decision.strip() or discovery.strip()):
        raise UsageError("nothing to record: --decision or --discovery is missing", "add one of them")
    if not decision.strip() and (rationale or kind or propagate is not None):
        raise UsageError("--rationale, --type and --propagate require --decision", "add --decision")
    if not discovery.strip() and applies_to:
        raise UsageError("--applies-to requires --discovery", "add --discovery")
    vault, now = open_vault(door), datetime.now(UTC).replace(microsecond=0)
    redact = redact_of(vault.settings.secrets)
    opened = open_task(vault, task)
    decided, why, found = (normal(redact(text)[0]) for text in (decision, rationale, discovery))
    choice = TaskDecision(normal_line(decided), why, DecisionKind(kind) if kind else None, propagate)
    found = normal_line(found)
    _annotate(vault, opened, choice, found, now, redact)
    for warning in _log(vault, opened, choice, found, applies_to, redact):
        warn(warning)
    write(str(opened.task.ref))


def _annotate(
    vault: Vault, opened: OpenedTask, choice: TaskDecision, found: str, now: datetime, redact: Redact
) -> None:
    """Add the decision and the discovery to the annotation of the task."""

    def add(old: Annotation) -> Annotation:
        choices, discoveries = old.choices, old.discoveries
        if choice.summary:
            # If a decision is recorded again, the last version counts, including its mark.
            same = next((one for one in choices if one.summary == choice.summary), choice)
            choices = (*(one for one in choices if one != same), replace(choice, finding=same.finding))
        if found and found not in discoveries:
            discoveries = (*discoveries, found)
        return replace(old, choices=choices, discoveries=discoveries)

    new = Annotation(opened.task.ref, redact(opened.task.content)[0], now)
    change_annotation(shelf_of(vault), new, add)


def _log(
    vault: Vault,
    opened: OpenedTask,
    choice: TaskDecision,
    found: str,
    applies_to: Sequence[str],
    redact: Redact,
) -> list[str]:
    """Log the decision and discovery in the note of an open session; otherwise only the discovery, as an event.

    Returns warnings.
    """
    session, ident = opened.session, opened.task.ref.id
    if session is None:
        return ["this session has not been imported, so others do not see the discovery"] if found else []
    if not (session.status is Status.ACTIVE or (opened.is_ours and session.status is Status.PAUSED)):
        writer = TaskWriter(vault, opened.owner.id, now=datetime.now(UTC), redact=redact)
        if found:
            writer.log_discovery(found, ident, TAG, [normal_line(redact(word)[0]) for word in applies_to])
        return writer.warnings
    recorder = record.open(opened.owner.id, vault=vault, redact=redact, **recording_place())
    known = {normal_line(one.summary) for one in findings_of(session) if one.kind == Kind.DECISION}
    if choice.summary and choice.summary not in known:
        recorder.decision(choice.summary, rationale=choice.rationale or None)
    if found:
        recorder.observation(found, tag=TAG, task=ident, applies_to=applies_to)
    return recorder.warnings


# --- done -------------------------------------------------------------------------------------------------------------


@click.command("done")
@click.argument("task", cls=PickedId, kind="task", type=TASK)
@click.option(
    "--capture/--no-capture",
    "captures",
    default=None,
    help="Look for knowledge to keep; the default is in the settings.",
)
@format_option()
@click.pass_obj
def done(door: Door, /, task: str, captures: bool | None, format_: str) -> None:
    """Complete a task, and pass its decisions to dependent tasks.

    \b
    - Passes decisions made while it was in progress, except implementation
      details and bug fixes.
    - On a terminal, you are asked what to keep if the task had two
      decisions or fixed a failure. Elsewhere, "cru knowledge capture" lists
      the candidates.
    - Tasks that are now ready are listed.

    \b
      cru task done 2026-11-21-add.3
    """
    vault, now = open_vault(door), datetime.now(UTC).replace(microsecond=0)
    redact = redact_of(vault.settings.secrets)
    opened = open_task(vault, task)
    path = opened.check_noted()
    if opened.task.stage is not Stage.COMPLETED:
        _set_status(vault, opened, "completed", now, redact)
    note = vault.read(path)
    tasks = tasks_of(note.session)
    for problem in _hand_on(vault, opened, now, redact):
        warn(problem)
    captured = None
    if captures is not False and (captures or vault.settings.tasks.capture_on_completion):
        captured = _capture(door, vault, opened, path, now, redact)
    told, ready = _inheriting(vault, opened, tasks), _freed(opened, tasks)
    if is_data(format_):
        kept = captured.made if captured else ()
        write_data(
            {
                **task_json(next(one for one in tasks if one.ref == opened.task.ref)),
                "told": [str(one.ref) for one in told],
                "ready": [str(one.ref) for one in ready],
                "captured": [*kept],
            },
            format_,
        )
        return
    write(f"{opened.task.ref}: completed")
    for one in told:
        say(f"passed decisions to {one.ref.id}: {one.content}")
    for one in ready:
        say(f"ready now: {one.ref.id}: {one.content}")
    if captured:
        say_captured(vault, captured)


def _hand_on(vault: Vault, opened: OpenedTask, now: datetime, redact: Redact) -> Iterator[str]:
    """Pass the task's decisions on to the tasks that depend on it; yields problems."""
    try:
        session = vault.read(opened.check_noted()).session
        yield from pass_on_decisions(vault, session, now=now, redact=redact)
    except CrucibleError as error:
        yield f"its decisions were not passed on: {error}"


def _inheriting(vault: Vault, opened: OpenedTask, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """Return the tasks that inherit decisions from this one."""
    settings = vault.settings.tasks
    with suppress(CrucibleError):
        own, _ = read_annotation(shelf_of(vault), opened.task.ref)
        kinds = kinds_named(settings.auto_propagate_types)
        if own and settings.propagate_decisions and inherited_from(own, kinds):
            return dependents_of(opened.task.ref, tasks)
    return ()


def _freed(opened: OpenedTask, tasks: Sequence[OpenTask]) -> tuple[OpenTask, ...]:
    """Return the dependent tasks that are ready now."""
    ready = status_of(tasks).ready
    return tuple(one.task for one in ready if opened.task.ref.id in one.task.needs)


def _capture(
    door: Door, vault: Vault, opened: OpenedTask, path: Path, now: datetime, redact: Redact
) -> Captured | None:
    """Capture what the task taught; errors are only reported."""
    try:
        captured = capture_session(
            vault,
            path,
            now=now,
            ask=terminal_ask(door, vault),
            when=Occasion.TASK,
            task=opened.task.ref.id,
            folder=folder_of(vault.root, opened.owner.project),
            redact=redact,
        )
    except CrucibleError as error:
        warn(f"the search for knowledge to keep failed: {error}")
        return None
    if kept := captured.made:
        with suppress(CrucibleError):
            change_annotation(
                shelf_of(vault),
                Annotation(opened.task.ref, redact(opened.task.content)[0], now),
                lambda old: replace(old, captured_to=tuple(dict.fromkeys((*old.captured_to, *kept)))),
            )
    return captured
