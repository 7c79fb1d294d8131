"""What binds the next agent and what is open: decisions, corrections, tasks, errors, questions, blockers.

Findings say what was decided and corrected; nothing here judges it again.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from crucible.commands.resume.extent import Extent
from crucible.documents.session.findings import Finding, Kind, findings_by_phase
from crucible.documents.session.session import Callout, Failure
from crucible.documents.session.waiting import QUESTIONS, Answers
from crucible.memory.bookmarks.bookmark import Bookmark, NumberedTask, open_tasks
from crucible.memory.summary.brief_text import ShownTexts, bare

_LABEL = 20
"""Letters that an open end may have besides the tasks that it lists."""


class Said(NamedTuple):
    """A text and the id of its phase, "" if unknown."""

    phase: str
    text: str


class OpenWork(NamedTuple):
    """What to know before going on; each list in the order of the note.

    `decisions` are followed by the user's corrections that no decision repeats.
    """

    decisions: tuple[tuple[str, Finding], ...]
    tasks: tuple[NumberedTask, ...]
    errors: tuple[tuple[str, Failure], ...]
    questions: tuple[Said, ...]
    blockers: tuple[Said, ...]

    def texts(self) -> Iterator[str]:
        """Every text, so that no other part repeats it."""
        yield from (one.summary for _, one in self.decisions)
        yield from (one.task.content for one in self.tasks)
        yield from (failure.text for _, failure in self.errors)
        yield from (one.text for one in (*self.questions, *self.blockers))


def find_open_work(extent: Extent, bookmark: Bookmark | None) -> OpenWork:
    """Everything that is open where the session is resumed."""
    failures = list(extent.of(Failure))
    fixed = {failure.text for _, failure in failures if (failure.resolution or "").strip()}
    errors = [(phase, one) for phase, one in failures if not (one.resolution or "").strip()]
    blockers = tuple(Said(bookmark.phase, text) for text in bookmark.blockers) if bookmark else ()
    tasks = open_tasks(extent.session)
    return OpenWork(
        tuple(_binding(extent)),
        tasks,
        tuple(one for one in errors if one[1].text not in fixed),
        tuple(_questions(extent, tasks)),
        blockers,
    )


def _binding(extent: Extent) -> Iterator[tuple[str, Finding]]:
    """Decisions, then corrections; without those whose words are in no phase that is shown, if not all phases are."""
    found = findings_by_phase(extent.session)
    phases = [phase for phase in ("", *(one.id for one in extent.session.all_phases())) if phase in found]
    decided = [(at or "start", one) for at in phases for one in found[at] if one.kind == Kind.DECISION]
    yield from decided
    known = ShownTexts(one.summary for _, one in decided)
    for at in phases:
        for one in found[at]:
            if one.kind == Kind.CORRECTION and (at or not extent.later) and known.add(one.summary):
                yield at or "start", one


def _questions(extent: Extent, tasks: tuple[NumberedTask, ...]) -> Iterator[Said]:
    """Questions without an answer; if all of the session is shown, also its open ends, but not the list of open tasks."""
    placed = (*extent.head, *extent.entries)
    answers = Answers([one.entry for one in placed], logged=bool(extent.session.sources))
    for at in answers.names:
        phase, entry = placed[at]
        if isinstance(entry, Callout) and entry.kind in QUESTIONS and not answers.settles(at):
            yield Said(phase, "\n".join(filter(None, (entry.title, entry.text))))
    last = extent.phase.id if extent.phase else ""
    for one in () if extent.later else extent.session.findings:
        if Kind.OPEN_END in (one.kind, one.also) and len(_without(one.text, tasks)) > _LABEL:
            yield Said(last, one.text)


def _without(text: str, tasks: tuple[NumberedTask, ...]) -> str:
    """The letters of a text that are not of a task."""
    left = bare(text)
    for _, task in tasks:
        left = left.replace(bare(task.content), "")
    return left
