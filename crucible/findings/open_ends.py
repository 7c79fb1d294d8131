"""Open ends: what is unanswered or undone at the end of a session.

They describe the current end of the transcript; the next event may change them.
"""

from __future__ import annotations

import re
from collections import deque
from collections.abc import Iterator

from crucible.findings.closing import told
from crucible.findings.sources import Pattern
from crucible.findings.story import Said, Story
from crucible.findings.texts import Asked, asks, filled, line, plan_text, plan_title, question, said
from crucible.patterns import late_pattern
from crucible.session.blocks import Part, blocks_of
from crucible.session.findings import Kind, Source
from crucible.session.model import Noted
from crucible.session.sentences import SUMMARY, clipped, leads_on, plain
from crucible.transcript.events import PlanSettled, PromptKind, TaskChanged, TaskState

__all__ = ["OpenEnds"]

QUESTION = Pattern("last question", Source.STATE, 19, 19)
BEGUN = Pattern("begun, not finished", Source.STATE, 7, 8)
PLANNED = Pattern("planned, not carried out", Source.STATE, 4, 4)
LISTED = Pattern("task not ticked", Source.STATE, 6, 8)

_DONE = frozenset({"completed", "deleted", "cancelled", "done"})
_MOST = 8
_LISTS, _LONGEST, _ITEM = 8, 20_000, 80
_NUMBERED = late_pattern(r"^(?:#{1,6} )?\**(\d{1,2})[.)]\**[ \t]+(\S.*)$", re.MULTILINE)
_NUMBER = late_pattern(r"(?<![\w./#-])\d{1,2}(?![\w./%-])")
_ASKED, _TASKS = "Asked, no answer: ", "Open tasks: "


class OpenEnds:
    """Open ends of one session."""

    def __init__(self, story: Story) -> None:
        self._story = story
        self._plan: tuple[str, str] | None = None
        self._tasks: dict[str, tuple[str, str, str]] = {}
        self._items: deque[dict[str, str]] = deque(maxlen=_LISTS)
        """The numbered lists that the agent gave, the last one first."""

    def replied(self, text: str) -> None:
        """The agent gave a list whose numbers a later question may name."""
        items = {number: clipped(item, _ITEM) for number, item in _NUMBERED.findall(text[:_LONGEST])}
        if len(items) > 1:
            self._items.appendleft(items)

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
            yield self._question(turn.last)
        if self._plan:
            yield (
                PLANNED,
                f"Planned, not carried out: {plan_title(self._plan[0])}",
                plan_text(self._plan[0]),
                self._plan[1],
            )
        elif self._is_begun():
            begun = (
                plan_title(turn.prompt.text) if turn.kind is PromptKind.PLAN else line(turn.prompt.text, 170)
            )
            yield BEGUN, f"Begun, not finished: {begun}", said(turn.last.text, 200), turn.prompt.row
        left = [
            (line(content, 160), row)
            for content, status, row in self._tasks.values()
            if status not in _DONE and content
        ]
        if left:
            names, more = filled("; ", [task for task, _ in left[:_MOST]], SUMMARY - len(_TASKS))
            yield LISTED, f"{_TASKS}{names}", "; ".join(more), left[-1][1]

    def _question(self, last: Said) -> tuple[Pattern, str, str, str]:
        """The last question; it takes along what it offers, or the items that it names by number, or what was said last."""
        asked = question(last.text, SUMMARY - len(_ASKED))
        offered = [plain(item) for _, item in _NUMBERED.findall(last.text)]
        lead = [plain(block.text) for block in blocks_of(last.text) if block.kind is Part.PROSE][-1:]
        if offered and all(map(asks, offered)) and any(map(leads_on, lead)):
            asked = Asked(line(f"{lead[0]} {' '.join(offered)}", SUMMARY - len(_ASKED)), asked.context)
        numbers = _NUMBER.findall(asked.question)
        known = next((one for one in self._items if len(numbers) > 1 and one.keys() >= set(numbers)), {})
        named = "; ".join(f"{number}. {known[number]}" for number in numbers if known)
        done = told(last.text, ()).head
        details = named or asked.context or ("" if done in asked.question else done)
        return QUESTION, f"{_ASKED}{asked.question}", details, last.row

    def _is_begun(self) -> bool:
        """True if the transcript ends in a call that commits nothing, or in a prompt without an answer."""
        turn = self._story.now
        stops = turn.worked or not turn.last.text
        return (
            bool(turn.prompt.text)
            and turn.kind is not PromptKind.COMMAND
            and stops
            and not turn.last_was_edit
            and not turn.is_recorded
            and not any(call.commits for call in self._story.calls.values())
        )
