"""What picking a session up again will want, kept when its recording stops: a bookmark, and the brief.

Owns where git and the project's files are looked at: in the folder that was handed in, when it is the session's project.
Neither is worth failing for: a fault is a warning.
"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import NamedTuple

from crucible.commands.record.cleaning import Cleaning, check_text
from crucible.commands.record.note_writer import Writer
from crucible.core.errors import CrucibleError
from crucible.documents.session.session import Task
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.memory.bookmarks.make_bookmark import mark
from crucible.memory.summary.brief_update import update_brief
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
