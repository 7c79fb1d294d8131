"""Which task a finding belongs to: the one that was in progress when it was made.

The whole events tell when that was: at the finding's last row, or when an agent recorded it.  Without them, its phase's start counts.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import CrucibleError
from crucible.documents.session.findings import Finding, findings_of, is_said_in
from crucible.documents.session.properties import parse_time
from crucible.documents.session.session import Session, Task
from crucible.memory.tasks.task import Stage, stage_of
from crucible.vault.events.event_reading import Record, read_records

_RECORDED = ("decision", "error")
"""Records of what an agent told of itself that are findings, too."""
_LAST = datetime.max.replace(tzinfo=UTC)


class _Span(NamedTuple):
    """When a task was in progress."""

    id: str
    begun: datetime
    over: datetime


def task_findings(root: Path, session: Session) -> Mapping[str, tuple[Finding, ...]]:
    """The findings of each task by its id, with the whole events of the session in the vault at `root`."""
    return findings_by_task(session, _records(root, session) if any(one.started for one in session.tasks) else ())


def _records(root: Path, session: Session) -> Iterator[Record]:
    with suppress(CrucibleError):  # what was read counts
        yield from read_records(root, session.id)


def findings_by_task(session: Session, records: Iterable[Record] = ()) -> Mapping[str, tuple[Finding, ...]]:
    """The findings of each task by its id, in their order; `records` are the session's whole events.

    Of several tasks in progress, a finding belongs to the one that began last.  If none was in progress, it belongs to the task under
    whose heading it stands, as the one that carried it out, else to none.
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
        # A transcript may prove a decision later, in the first part of its turn: the task that began the part carried it out.
        if not task and one.rows and turn and part and one.phase.endswith(".1"):
            task = _open_at(part, turn, tasks)
        if task:
            found.setdefault(task, []).append(one)
    return {task: tuple(made) for task, made in found.items()}


def _open_at(moment: datetime, turn: datetime, tasks: list[_Span]) -> str:
    """The task that was in progress at a moment of a turn, "" for none.

    One that stayed in progress while a later one began and ended, all before the turn, is forgotten and not worked on.
    """
    forgotten = max((one.begun for one in tasks if one.over <= turn), default=None)
    fits = (one for one in reversed(tasks) if one.begun <= moment <= one.over)
    return next((one.id for one in fits if forgotten is None or one.begun >= forgotten), "")


def _spans(tasks: Iterable[Task]) -> Iterator[_Span]:
    """One that was put off or dropped was in progress until the next one began."""
    begun = [(time, task) for task in tasks if (time := parse_time(task.started or ""))]
    starts = sorted(time for time, _ in begun)
    for start, task in begun:
        over = parse_time(task.completed or "")
        if over is None and stage_of(task.status) is not Stage.IN_PROGRESS:
            over = next((time for time in starts if time > start), None)
        yield _Span(task.id, start, over or _LAST)


def _moments(findings: Iterable[Finding], records: Iterable[Record]) -> dict[str, datetime]:
    """When each finding was made, by its id, as far as the records tell."""
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
        said = record.values.get("content") if record.type in _RECORDED else None
        if isinstance(said, str):
            names += [one.id for one in recorded if is_said_in(one, said)]
        # A note has whole seconds.
        found.update(dict.fromkeys(names, record.time.replace(microsecond=0)))
    return found
