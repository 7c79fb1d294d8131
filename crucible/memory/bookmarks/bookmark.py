"""A bookmark: where a session stood when it stopped.  Frozen values, and the words for why it was made.

Paths are seen from the session's folder, with `/`; a path of this machine never stands in a bookmark.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import NamedTuple

from crucible.documents.session.session import Session, Task

MOST_FILES = 200
"""Files that a bookmark holds at most; those touched last are kept."""

_CLOSED = ("completed", "cancelled", "deleted")
"""Only the first is ours, the others are what people and agents write."""


class Why(StrEnum):
    """What made the bookmark."""

    PAUSED = "paused"
    """Somebody said so."""
    ENDED = "ended"
    """The client did."""
    DIED = "died"
    """The client did, without a word."""
    IDLE = "idle"
    """Nothing happened for the idle time."""
    TASK = "task"
    """A task was finished."""
    MANUAL = "manual"
    """`cru bookmark add`."""


@dataclass(frozen=True, slots=True)
class Bookmark:
    """Where a session stood.

    `id` is unique in a vault.  `phase` is a phase's id and `phase_name` its name, "" for a session without phases.
    `task` is the id of the task under work, "" for none: the one in progress, else the first that is open;
    `task_number` its place, from 1, among `task_count`.  `branch` and `head` (a commit, 40 or 64 hex digits) are git's, ""
    outside of it or where there is none.  `files` maps the files that the session touched to the git blob id (SHA-1) of
    their bytes, "" for one that was not there; `more_files` counts those that did not fit.  `compacted` is what it came to, in a line, of
    an old bookmark that was summarised: it has no note, blockers, files, branch or head any more; "" for all others.
    """

    id: str
    session: str
    at: datetime
    why: Why
    phase: str = ""
    phase_name: str = ""
    task: str = ""
    task_name: str = ""
    task_number: int = 0
    task_count: int = 0
    note: str = ""
    blockers: tuple[str, ...] = ()
    project: str = ""
    branch: str = ""
    head: str = ""
    files: Mapping[str, str] = field(default_factory=dict)
    more_files: int = 0
    compacted: str = ""


class NumberedTask(NamedTuple):
    """A task and its place in the list, from 1."""

    number: int
    task: Task


def open_tasks(session: Session) -> tuple[NumberedTask, ...]:
    """The tasks that are left to do."""
    numbered = (NumberedTask(number, task) for number, task in enumerate(session.tasks, 1))
    return tuple(one for one in numbered if one.task.status not in _CLOSED)


def task_at_work(session: Session) -> NumberedTask | None:
    """The first task in progress, else the first open one; None if there is none."""
    found = open_tasks(session)
    return next((one for one in found if one.task.status == "in_progress"), found[0] if found else None)
