"""Pause or end a recorded session, then run `END_STEPS`, and keep its bookmark and brief.

A step that fails is a warning: the session has ended all the same.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from datetime import datetime, timedelta
from typing import NamedTuple, TypeAlias

from crucible.commands.record.entries import Cleaning, check_text, told_error
from crucible.commands.record.note_writer import PATIENCE, Writer, closing, whole_second
from crucible.commands.record.subagent import tell_parent
from crucible.core.errors import CrucibleError
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.append import Addition, NoteState, Summary
from crucible.documents.session.properties import format_time
from crucible.documents.session.session import Status, Task
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.memory.bookmarks.make_bookmark import mark
from crucible.memory.summary.brief_text import update_brief
from crucible.vault.events.event_reader import last_time
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.projects import folder_in_project


class Remark(NamedTuple):
    """What is said beside a pause: a note, and what is in the way; cleaned."""

    note: str = ""
    blockers: tuple[str, ...] = ()


def remark(note: str, blockers: Sequence[str], clean: Cleaning) -> Remark:
    """`UsageError` for what is no text."""
    given = (blockers,) if isinstance(blockers, str) else tuple(blockers)
    for text in (note, *given):
        check_text(text)
    return Remark(clean.block(note), tuple(filter(None, map(clean.line, given))))


def keep_bookmark(writer: Writer, why: StopReason, when: datetime, said: Remark = Remark()) -> None:  # noqa: B008  frozen
    """Keep where the session stands now."""
    try:
        session = writer.read_whole()
        # Another project's files say nothing of this session.
        folder = folder_in_project(*writer.surroundings, session.project or "")
        mark(
            writer.vault,
            session,
            why,
            now=when,
            redact=writer.redact,
            folder=folder,
            note=said.note,
            blockers=said.blockers,
        )
    except CrucibleError as error:
        writer.say(error)
    except OSError as error:
        writer.warnings.append(f"no bookmark: {error}")


def keep_brief(writer: Writer) -> None:
    """Bring the note's brief up to date."""
    try:
        update = update_brief(writer.vault, writer.path, redact=writer.redact)
    except CrucibleError as error:
        writer.say(error)
        return
    writer.warnings += [update.problem] if update.problem else []


def finished(before: Sequence[Task], after: Sequence[Task]) -> bool:
    """Whether a task is completed that was not."""
    done = {task.id for task in before if task.status == "completed"}
    return any(task.status == "completed" and task.id not in done for task in after)


class Ended(NamedTuple):
    """A session that ended at `now`, for the steps that follow an end."""

    writer: Writer
    status: Status
    summary: str | None
    parent: str | None
    now: datetime


EndStep: TypeAlias = "Callable[[Ended], str]"
"""What follows an end; returns what it did, in one line, or ""."""


def _close_flight(ended: Ended) -> str:
    facts = Facts(ended=ended.now, ended_cleanly=True)
    save_meta(ended.writer.vault.root, ended.writer.id, facts, lock_seconds=PATIENCE)
    return ""


def _tell_parent(ended: Ended) -> str:
    if ended.parent is None:
        return ""
    tell_parent(ended.writer, ended.parent, ended.summary)
    return f"told its parent, {ended.parent}"


def _tell_brief(ended: Ended) -> str:
    if ended.parent is None:  # what a subagent came to stands in its parent's note
        keep_brief(ended.writer)
    return ""


_TOLD = frozenset(("pause", "end", "findings"))
"""Records of where a session stands, and of what an agent that was asked said of it: nobody is at work then."""

END_STEPS: tuple[EndStep, ...] = (_close_flight, _tell_parent, _tell_brief)


def pause_session(
    writer: Writer, reason: str, clean: Cleaning, when: datetime, said: Remark, *, reopens: bool = False
) -> str:
    """`status: paused`, where it stopped and why, a bookmark, and the brief; returns the phase's id.

    One that was completed or has failed is paused only when that is meant: `reopens`.
    """
    why = clean.line(reason) or None

    def plan(standing: NoteState) -> Addition:
        phase = standing.phase
        last = phase.subphases[-1].id.rpartition(".")[2] if phase and phase.subphases else ""
        point = f"{phase.id}.{last}" if phase and last else phase.id if phase else None
        keys: dict[str, Value] = {"status": str(Status.PAUSED), "ended": None}
        return Addition({**keys, "resume_point": point, "pause_reason": why})

    phase = writer.add(plan, clean, reopens=reopens)
    writer.rests = True
    writer.keep("pause", {"content": why, "note": said.note, "blockers": list(said.blockers)}, when, phase)
    keep_bookmark(writer, StopReason.PAUSED, when, said)
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
    """The note is ended: its status, its summary, its last phase; then a bookmark, and the steps.  Returns what they did.

    It is told at `when`; without `ended` the session ends at the last thing that happened in it.
    """
    said, now = clean.optional(summary), whole_second(ended or _last_sign(writer, when))
    parent: str | None = None

    def plan(standing: NoteState) -> Addition:
        nonlocal parent
        parent = standing.head.parent
        over = max(now, standing.head.started or now)
        keys = {"ended": format_time(over), "status": str(status), "resume_point": None, "pause_reason": None}
        return Addition(keys, (*closing(standing.phase, now), *((Summary(said),) if said else ())))

    phase = writer.add(plan, clean, whole=bool(said))
    writer.rests = True
    writer.keep("end", {"content": said, "status": str(status)}, when, phase)
    if parent is None:  # nobody goes on with a subagent's work
        keep_bookmark(writer, StopReason.ENDED, when)
    over = Ended(writer, status, said, parent, now)
    return [line for step in steps if (line := _taken(step, over))]


def _last_sign(writer: Writer, now: datetime) -> datetime:
    """When a session that ends now was last at work: now while it goes on, else the last time that its note and events know."""
    if writer.has_written:
        return now
    session = writer.vault.read(writer.path).session
    times = [session.started, last_time(writer.vault.root, writer.id, _TOLD)]
    times += [time for phase in session.all_phases() for time in (phase.started, phase.ended)]
    last = max((time for time in times if time and time <= now), default=now)
    idle = timedelta(minutes=writer.vault.settings.idle_minutes)
    return now if session.status is Status.ACTIVE and now - last < idle else last


def _taken(step: EndStep, ended: Ended) -> str:
    try:
        return step(ended)
    except CrucibleError as error:
        ended.writer.say(error)
    except Exception as error:  # noqa: BLE001  somebody else's step, and the session has ended all the same
        ended.writer.warnings.append(f"a step of the end broke: {told_error(error)}")
    return ""
