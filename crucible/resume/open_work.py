"""What of a session holds or is not done: decisions, corrections, tasks, errors, questions, blockers, each with its phase.

Owns what counts as open.  Findings say what was decided and corrected.  How it is shown, and how much of it, is `parts`'.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.bookmarks.model import Bookmark
from crucible.resume.extent import Extent
from crucible.session.findings import Finding, Kind, findings_of, is_said_in
from crucible.session.model import Callout, Failure, Intervention, Session, Task

__all__ = ["NumberedTask", "OpenWork", "Said", "find_open_work", "task_at_work"]

_CLOSED = ("completed", "cancelled", "deleted")
"""As bookmarks have it; only the first is ours, the others are what people and agents write."""
_ASKS = ("decision_needed", "approval_required")


class NumberedTask(NamedTuple):
    """A task and its place in the list, from 1."""

    number: int
    task: Task


class Said(NamedTuple):
    """A text and the phase it belongs to, "" where none is known."""

    phase: str
    text: str


class OpenWork(NamedTuple):
    """What to know before going on; each list in the order of the note.

    `decisions` holds the user's corrections, too, behind what was decided.
    """

    decisions: tuple[tuple[str, Finding], ...]
    tasks: tuple[NumberedTask, ...]
    errors: tuple[tuple[str, Failure], ...]
    questions: tuple[Said, ...]
    blockers: tuple[Said, ...]


def find_open_work(extent: Extent, bookmark: Bookmark | None) -> OpenWork:
    """Everything that is open where the session is picked up."""
    errors = tuple(
        (phase, failure) for phase, failure in extent.of(Failure) if not (failure.resolution or "").strip()
    )
    tasks = tuple(
        NumberedTask(number, task)
        for number, task in enumerate(extent.session.tasks, 1)
        if task.status not in _CLOSED
    )
    blockers = tuple(Said(bookmark.phase, text) for text in bookmark.blockers) if bookmark else ()
    return OpenWork((*_decided(extent), *_corrected(extent)), tasks, errors, _questions(extent), blockers)


def task_at_work(session: Session) -> NumberedTask | None:
    """The first task in progress, else the first open one; None when all are done or there are none."""
    found = [
        NumberedTask(number, task)
        for number, task in enumerate(session.tasks, 1)
        if task.status not in _CLOSED
    ]
    return next((one for one in found if one.task.status == "in_progress"), found[0] if found else None)


def _decided(extent: Extent) -> Iterator[tuple[str, Finding]]:
    for one in findings_of(extent.session):
        if one.kind == Kind.DECISION:
            yield one.phase or "start", one


def _corrected(extent: Extent) -> Iterator[tuple[str, Finding]]:
    """The corrections whose words are told of; where all of the session is, the others too."""
    words = list(extent.of(Intervention))
    for one in findings_of(extent.session):
        if one.kind == Kind.CORRECTION:
            phase = next((phase for phase, said in words if is_said_in(one, said.words)), "")
            if phase or not extent.later:
                yield phase or "start", one


def _questions(extent: Extent) -> tuple[Said, ...]:
    """The questions asked after the human's last words; if the whole session is shown, also its open ends."""
    placed = (*extent.head, *extent.entries)
    answered = max((at for at, one in enumerate(placed) if isinstance(one.entry, Intervention)), default=-1)
    asked = [
        Said(one.phase, "\n".join(filter(None, (one.entry.title, one.entry.text))))
        for one in placed[answered + 1 :]
        if isinstance(one.entry, Callout) and one.entry.kind in _ASKS
    ]
    last = extent.phase.id if extent.phase else ""
    found = () if extent.later else findings_of(extent.session)
    return (*asked, *(Said(last, one.summary) for one in found if one.kind == Kind.OPEN_END))
