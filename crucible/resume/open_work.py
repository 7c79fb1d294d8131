"""What of a session is not done: tasks, errors, questions, blockers, each with its phase.

Owns what counts as open.  How it is shown, and how much of it, is `parts`'.
"""

from __future__ import annotations

from typing import NamedTuple

from crucible.bookmarks.model import Bookmark
from crucible.patterns import late_pattern
from crucible.resume.extent import Extent
from crucible.session.model import Callout, Decision, Failure, Intervention, Prose, Session, Task

__all__ = ["NumberedTask", "OpenWork", "Said", "find_open_work", "task_at_work"]

_CLOSED = ("completed", "cancelled", "deleted")
"""As bookmarks have it; only the first is ours, the others are what people and agents write."""
_ASKS = ("decision_needed", "approval_required")
_ASKED = late_pattern(r"[?？؟][\s*_~`\"'”’)\]]*$")
_PARAGRAPHS = late_pattern(r"\n[ \t]*\n")
_NEWEST = 2000


class NumberedTask(NamedTuple):
    """A task and its place in the list, from 1."""

    number: int
    task: Task


class Said(NamedTuple):
    """A text and the phase it belongs to, "" where none is known."""

    phase: str
    text: str


class OpenWork(NamedTuple):
    """What is to be known of before going on; each list in the order of the note."""

    decisions: tuple[tuple[str, Decision], ...]
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
    return OpenWork(tuple(extent.of(Decision)), tasks, errors, _questions(extent), blockers)


def task_at_work(session: Session) -> NumberedTask | None:
    """The first task in progress, else the first open one; None when all are done or there are none."""
    found = [
        NumberedTask(number, task)
        for number, task in enumerate(session.tasks, 1)
        if task.status not in _CLOSED
    ]
    return next((one for one in found if one.task.status == "in_progress"), found[0] if found else None)


def _questions(extent: Extent) -> tuple[Said, ...]:
    """What was asked after the last word of a human's."""
    placed = (*extent.head, *extent.entries)
    answered = max((at for at, one in enumerate(placed) if isinstance(one.entry, Intervention)), default=-1)
    since = placed[answered + 1 :]
    found = [
        Said(one.phase, "\n".join(filter(None, (one.entry.title, one.entry.text))))
        for one in since
        if isinstance(one.entry, Callout) and one.entry.kind in _ASKS
    ]
    words = [one for one in since if isinstance(one.entry, Prose) and one.phase != "start"]
    if words and isinstance(words[-1].entry, Prose) and (question := _last_question(words[-1].entry.text)):
        found.append(Said(words[-1].phase, question))
    return tuple(found)


def _last_question(text: str) -> str:
    """The last paragraph, when it asks something; "" else."""
    paragraph = _PARAGRAPHS.split(text[-_NEWEST:].strip())[-1]
    return paragraph if _ASKED.search(paragraph) else ""
