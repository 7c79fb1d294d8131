"""Pause or end a recorded session, and update its bookmark, its brief and its parent.

If a step after the end fails, a warning is added, because the session has already ended.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from crucible.commands.record.entries import Cleaning, check_text, error_text
from crucible.commands.record.note_writer import PATIENCE, Writer, end_phase_steps, whole_second
from crucible.commands.record.subagent import update_parent
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, Summary
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Status, Task
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.memory.bookmarks.make_bookmark import make_bookmark
from crucible.memory.summary.brief_updates import update_brief
from crucible.vault.events.archive_writer import archive_events
from crucible.vault.events.event_reader import last_time
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.projects import folder_in_project


class Remark(NamedTuple):
    """The user's remarks on a pause, redacted: a note, and what blocks the work."""

    note: str = ""
    blockers: tuple[str, ...] = ()


def clean_remark(note: str, blockers: Sequence[str], clean: Cleaning) -> Remark:
    """Redact a note and blockers. Raises `UsageError` if one is not a string."""
    given = (blockers,) if isinstance(blockers, str) else tuple(blockers)
    for text in (note, *given):
        check_text(text)
    return Remark(clean.block(note), tuple(filter(None, map(clean.line, given))))


def keep_bookmark(writer: Writer, why: StopReason, when: datetime, remark: Remark | None = None) -> None:
    """Store a bookmark of the session's current position. Failures are added to the warnings."""
    remark = remark or Remark()
    try:
        session = writer.read_whole()
        # Files of another project do not belong to this session.
        folder = folder_in_project(*writer.surroundings, session.project or "")
        make_bookmark(
            writer.vault,
            session,
            why,
            now=when,
            redact=writer.redact,
            folder=folder,
            note=remark.note,
            blockers=remark.blockers,
        )
    except CrucibleError as error:
        writer.warn(error)
    except OSError as error:
        writer.warnings.append(f"no bookmark: {error}")


def keep_brief(writer: Writer) -> None:
    """Update the note's brief. Failures are added to the warnings."""
    try:
        update = update_brief(writer.vault, writer.path, redact=writer.redact)
    except CrucibleError as error:
        writer.warn(error)
        return
    writer.warnings += [update.problem] if update.problem else []


def completes_task(before: Sequence[Task], after: Sequence[Task]) -> bool:
    """True if `after` has a completed task that was not completed in `before`."""
    done = {task.id for task in before if task.status == "completed"}
    return any(task.status == "completed" and task.id not in done for task in after)


class Ended(NamedTuple):
    """A session that ended at `now`, as passed to the end steps."""

    writer: Writer
    status: Status
    summary: str | None
    parent: str | None
    now: datetime


EndStep: TypeAlias = "Callable[[Ended], str]"
"""A step to run after a session ended; returns a line about what it did, or ""."""


def _close_event_log(ended: Ended) -> str:
    facts = Facts(ended=ended.now, ended_cleanly=True)
    vault = ended.writer.vault
    store = save_meta if vault.settings.events.track else archive_events
    store(vault.root, ended.writer.id, facts, lock_seconds=PATIENCE)
    return ""


def _update_parent(ended: Ended) -> str:
    if ended.parent is None:
        return ""
    update_parent(ended.writer, ended.parent, ended.summary)
    return f"updated its parent, {ended.parent}"


def _update_brief(ended: Ended) -> str:
    if ended.parent is None:  # a subagent's summary is in the parent's note
        keep_brief(ended.writer)
    return ""


_NO_WORK = frozenset(("pause", "end", "findings"))
"""Kinds of events that do not count as work: status changes, and findings added in a review of the session."""

END_STEPS: tuple[EndStep, ...] = (_close_event_log, _update_parent, _update_brief)


def pause_session(
    writer: Writer, reason: str, clean: Cleaning, when: datetime, remark: Remark, *, reopens: bool = False
) -> str:
    """Set the status `paused` with the resume point and reason, and store a bookmark and a brief.

    A completed or failed session is paused only with `reopens`. Returns the phase's id.
    """
    why = clean.line(reason) or None

    def plan(state: NoteState) -> Addition:
        phase = state.phase
        last = phase.subphases[-1].id.rpartition(".")[2] if phase and phase.subphases else ""
        point = f"{phase.id}.{last}" if phase and last else phase.id if phase else None
        keys: dict[str, Value] = {"status": str(Status.PAUSED), "ended": None}
        return Addition({**keys, "resume_point": point, "pause_reason": why})

    phase = writer.add(plan, clean, reopens=reopens)
    writer.rests = True
    writer.keep("pause", {"content": why, "note": remark.note, "blockers": list(remark.blockers)}, when, phase)
    keep_bookmark(writer, StopReason.PAUSED, when, remark)
    keep_brief(writer)
    return phase


def end_session(
    writer: Writer,
    status: Status,
    summary: str,
    clean: Cleaning,
    when: datetime,
    *,
    ended: datetime | None = None,
    steps: Sequence[EndStep] = END_STEPS,
) -> list[str]:
    """End the session: set status, summary and the end of the last phase, store a bookmark, then run the steps.

    `when` is the time of the call. Without `ended`, the session ends at its last activity. Returns the steps' lines.
    """
    text, now = clean.optional(summary), whole_second(ended or _last_activity(writer, when))
    parent: str | None = None

    def plan(state: NoteState) -> Addition:
        nonlocal parent
        parent = state.head.parent
        over = max(now, state.head.started or now)
        keys = {"ended": format_time(over), "status": str(status), "resume_point": None, "pause_reason": None}
        return Addition(keys, (*end_phase_steps(state.phase, now), *((Summary(text),) if text else ())))

    phase = writer.add(plan, clean, whole=bool(text))
    writer.rests = True
    writer.keep("end", {"content": text, "status": str(status)}, when, phase)
    if parent is None:  # subagents' sessions are never resumed
        keep_bookmark(writer, StopReason.ENDED, when)
    over = Ended(writer, status, text, parent, now)
    return [line for step in steps if (line := _run_step(step, over))]


def _last_activity(writer: Writer, now: datetime) -> datetime:
    """Return the default end of a session: now if it is in use, else the latest time in its note and events."""
    if writer.has_written:
        return now
    session = writer.vault.read(writer.path).session
    times = [session.started, last_time(writer.vault.root, writer.id, _NO_WORK)]
    times += [time for phase in session.all_phases() for time in (phase.started, phase.ended)]
    last = max((time for time in times if time and time <= now), default=now)
    idle = timedelta(minutes=writer.vault.settings.idle_minutes)
    return now if session.status is Status.ACTIVE and now - last < idle else last


def _run_step(step: EndStep, ended: Ended) -> str:
    try:
        return step(ended)
    except CrucibleError as error:
        ended.writer.warn(error)
    except Exception as error:  # noqa: BLE001  a step may raise anything, and the session has already ended
        ended.writer.warnings.append(f"error while ending the session: {error_text(error)}")
    return ""
