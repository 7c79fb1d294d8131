"""Open ends: what is unanswered or undone at the end of a session.

They describe the current end of the transcript; the next event may change them.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.findings.sources import Pattern
from crucible.findings.story import Story
from crucible.findings.texts import asks, filled, line, plan_text, plan_title, question, said
from crucible.session.findings import Kind, Source
from crucible.session.model import Noted
from crucible.session.sentences import SUMMARY
from crucible.transcript.events import PlanSettled, PromptKind, TaskChanged, TaskState

__all__ = ["OpenEnds"]

QUESTION = Pattern("last question", Source.STATE, 19, 19)
BEGUN = Pattern("begun, not finished", Source.STATE, 9, 10)
PLANNED = Pattern("planned, not carried out", Source.STATE, 4, 4)
LISTED = Pattern("task not ticked", Source.STATE, 6, 8)

_DONE = frozenset({"completed", "deleted", "cancelled", "done"})
_MOST = 8
_ASKED, _TASKS = "Asked, no answer: ", "Open tasks: "


class OpenEnds:
    """Open ends of one session."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._plan: tuple[str, str] | None = None
        self._tasks: dict[str, tuple[str, str, str]] = {}

    def planned(self, event: PlanSettled) -> None:
        """A plan that was not approved is open until something is edited."""
        self._plan = None if event.approved else (event.text[:6000], event.at.row)

    def edited(self) -> None:
        """An edit carries out the plan."""
        self._plan = None

    def listed(self, tasks: tuple[TaskState, ...], row: str) -> None:
        """The task list was replaced."""
        self._tasks = {task.id: (task.content, task.status, row) for task in tasks[:200]}

    def changed(self, event: TaskChanged) -> None:
        """One task was created or changed."""
        content, status, row = self._tasks.get(event.id, ("", "pending", event.at.row))
        if len(self._tasks) < 200 or event.id in self._tasks:
            self._tasks[event.id] = (event.content or content, event.status or status, row)

    def noted(self) -> list[Noted]:
        """The open ends so far."""
        return [
            Noted(Kind.OPEN_END, text, details or None, pattern.on(row))
            for pattern, text, details, row in self._open()
        ]

    def _open(self) -> Iterator[tuple[Pattern, str, str, str]]:
        turn = self._story.now
        if turn.kind is PromptKind.TASK:
            return  # its parent has the result
        if turn.last.text and not turn.worked and asks(turn.last.text):
            asked = question(turn.last.text, SUMMARY - len(_ASKED))
            yield QUESTION, f"{_ASKED}{asked.question}", asked.context, turn.last.row
        if self._plan:
            yield (
                PLANNED,
                f"Planned, not carried out: {plan_title(self._plan[0])}",
                plan_text(self._plan[0]),
                self._plan[1],
            )
        elif self._is_begun():
            told = (
                plan_title(turn.prompt.text) if turn.kind is PromptKind.PLAN else line(turn.prompt.text, 170)
            )
            yield BEGUN, f"Begun, not finished: {told}", said(turn.last.text, 200), turn.prompt.row
        left = [
            (line(content, 160), row)
            for content, status, row in self._tasks.values()
            if status not in _DONE and content
        ]
        if left:
            names, more = filled("; ", [told for told, _ in left[:_MOST]], SUMMARY - len(_TASKS))
            yield LISTED, f"{_TASKS}{names}", "; ".join(more), left[-1][1]

    def _is_begun(self) -> bool:
        """True if the transcript ends in a call, or in a prompt without an answer."""
        turn = self._story.now
        stops = turn.worked or not turn.last.text
        return (
            bool(turn.prompt.text)
            and turn.kind is not PromptKind.COMMAND
            and stops
            and not turn.last_was_edit
            and not turn.is_recorded
        )
