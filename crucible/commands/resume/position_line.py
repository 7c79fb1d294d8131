"""Where a session stands, in a line: phase, task, how long ago; and whether somebody is at work on it.

Owns the words for it; they are all ours, since the line stands outside any fence.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.commands.resume.extent import Extent
from crucible.core.errors import CrucibleError
from crucible.core.text.durations import age_words
from crucible.documents.session.session import Session, Status
from crucible.memory.bookmarks.bookmark import Bookmark, task_at_work
from crucible.vault.index.time_filters import AFTERWARDS


def position_line(extent: Extent, bookmark: Bookmark | None, now: datetime) -> str:
    """As `You are in phase-3 of 7, at task 3 of 5; last active 2 h ago.`, all words of ours."""
    phases = len(extent.session.phases) + sum(1 for phase in extent.later if "." not in phase.id)
    where = f"in {extent.phase.id} of {phases}" if extent.phase else "before the first phase"
    task = task_words(extent.session)
    active = last_active(extent.session, bookmark)
    age = f"last active {age_words(now - active)}" if active else "when it was last active is unknown"
    return f"You are {where}{f', {task}' if task else ''}; {age}."


def task_words(session: Session) -> str:
    """`at task 3 of 5`, `all 5 tasks done`, "" without tasks."""
    task, done = task_at_work(session), sum(task.status == "completed" for task in session.tasks)
    if task:
        other = f", {done} done" if done != task.number - 1 else ""
        return f"at task {task.number} of {len(session.tasks)}{other}"
    return f"all {done} tasks done" if done > 1 else "its task is done" if done else ""


def last_active(session: Session, bookmark: Bookmark | None) -> datetime | None:
    """The newest time that the note or the bookmark knows of."""
    times = [time for phase in session.all_phases() for time in (phase.started, phase.ended) if time]
    times += [time for time in (session.started, session.ended) if time]
    if bookmark and bookmark.why not in AFTERWARDS:
        times.append(bookmark.at)
    known = [time if time.tzinfo else time.replace(tzinfo=UTC) for time in times]
    return max(known, default=bookmark.at if bookmark else None)


def check_at_rest(session: Session, files: Sequence[Path], client: str, *, now: datetime, idle: timedelta) -> None:
    """Refuse an active session that somebody may be at work on.

    `files` are those that grow while it runs, its note's and its spool's; `client` is the client that runs, "" for none.
    """
    if session.status is not Status.ACTIVE:
        return
    hint = f"`cru session pause {session.id}` stops it for now, --force goes on all the same"
    if client:
        raise CrucibleError(f"{session.id}: it is active, and its client still runs: {client}", hint)
    times = [last_active(session, None)]
    for path in files:
        with suppress(OSError):
            times.append(datetime.fromtimestamp(path.stat().st_mtime, UTC))
    newest = max(filter(None, times), default=None)
    if newest and now - newest < idle:
        raise CrucibleError(f"{session.id}: it is active, something happened {age_words(now - newest)}", hint)
