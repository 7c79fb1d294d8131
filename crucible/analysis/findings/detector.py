"""The detector of a session's findings: takes events one by one and passes each to the patterns that need it.

Events may come in any order and hold any text; nothing here raises.
"""

from __future__ import annotations

from collections.abc import Sequence

from crucible.analysis.findings.corrections import Corrections
from crucible.analysis.findings.decisions import Decisions, Instructions
from crucible.analysis.findings.failures import Failures
from crucible.analysis.findings.observed_calls import is_red, read_call
from crucible.analysis.findings.open_ends import OpenEnds
from crucible.analysis.findings.outcomes import Outcomes, commits_in
from crucible.analysis.findings.turns import TurnHistory, Utterance
from crucible.clients.events import (
    Answered,
    CallEnd,
    ContextSeen,
    Event,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    Rewound,
    SubagentReturned,
    SubagentStarted,
    TaskChanged,
    TasksListed,
    ToolReturned,
    ToolUsed,
)
from crucible.documents.session.session import Decision, Failure, Noted


class Detector:
    """Detect the findings of one transcript: callouts as soon as they are certain, items of the findings block at any time."""

    def __init__(self) -> None:
        self._story = TurnHistory()
        self._decisions = Decisions(self._story)
        self._corrections = Corrections(self._story)
        self._failures = Failures(self._story)
        self._instructions = Instructions(self._story)
        self._outcomes = Outcomes(self._story)
        self._open_ends = OpenEnds(self._story)

    def noted(self) -> tuple[Noted, ...]:
        """The items of the findings block so far."""
        return (
            *self._corrections.noted(),
            *self._instructions.noted(),
            *self._outcomes.noted(),
            *self._open_ends.noted(),
        )

    def add(self, event: Event) -> Sequence[Decision | Failure]:
        """Take the next event; return the callouts that it completes."""
        held = self._story.held
        if not held:
            return self._add(event)
        settled: list[Decision | Failure] = []
        if isinstance(event, Replied | ToolUsed):
            self._story.held = None
            settled = self._begin(held.text, held.row, PromptKind.COMMAND)
        return [*settled, *self._add(event)]

    def _add(self, event: Event) -> Sequence[Decision | Failure]:  # noqa: C901, PLR0912 -- one arm an event
        match event:
            case ToolUsed():
                self._used(event)
            case ToolReturned():
                return self._returned(event)
            case Replied():
                return self._replied(event)
            case Prompted():
                return self._prompted(event)
            case Reasoned():
                self._failures.reasoned(event.text, event.at.row)
            case Answered():
                return self._decisions.ended()
            case QuestionsAnswered():
                return self._decisions.questions(event)
            case PlanSettled():
                self._open_ends.planned(event)
                if event.approved is False and not event.call:
                    self._corrections.sent_back(event.text, event.at.row)
                return self._decisions.plan(event)
            case Interrupted():
                self._corrections.interrupted(event.at.row)
                self._story.now.interrupted = True
                self._decisions.stopped()
            case TasksListed():
                self._open_ends.listed(event.tasks, event.at.row)
            case TaskChanged():
                self._open_ends.changed(event)
            case ContextSeen() if event.cwd and len(self._story.roots) < 20 and event.cwd not in self._story.roots:
                self._story.roots += (event.cwd,)
            case SubagentStarted() | SubagentReturned():
                self._story.now.worked = True
            case Rewound():
                self._decisions.stopped()
                self._story.rewound()
        return ()

    def _prompted(self, event: Prompted) -> list[Decision | Failure]:
        text, row = event.text.strip(), event.at.row
        if event.kind is PromptKind.SHELL or not text:
            return []
        if event.kind is PromptKind.STEERING:
            self._corrections.steered(text, row)
            return []
        self._story.held = Utterance(text, row) if event.kind is PromptKind.COMMAND else None
        return [] if self._story.held else self._begin(text, row, event.kind)

    def _begin(self, text: str, row: str, kind: PromptKind) -> list[Decision | Failure]:
        """Begin a new turn."""
        self._outcomes.ended()
        self._story.prompted(text, row, kind)
        self._corrections.prompted()
        self._failures.prompted()
        return [*self._decisions.prompted(text if kind is PromptKind.PLAN else "")]

    def _replied(self, event: Replied) -> list[Decision]:
        if event.text.strip():
            said = self._story.replied(event.text, event.at.row)
            self._corrections.replied(said)
            self._failures.replied(said)
        return self._decisions.ended() if event.final else []

    def _used(self, event: ToolUsed) -> None:
        call = read_call(event.at.row, event.name, event.arguments, self._story.roots)
        self._story.used(event.call, call)
        self._corrections.went_on()
        if call.commits and not call.files:
            self._decisions.committed()

    def _returned(self, event: ToolReturned) -> list[Decision | Failure]:
        call = self._story.calls.pop(event.call, None)
        self._story.now.worked = True
        if event.end is CallEnd.REJECTED:
            self._corrections.refused(call, event.feedback.strip(), event.at.row)
            return []
        settled: list[Decision | Failure] = []
        if call and call.is_shell:
            settled += self._failures.returned(call, event)
            if event.end is CallEnd.FAILED or is_red(event.text):
                self._outcomes.failed(call, event.text)
            if event.end is CallEnd.OK:
                self._story.now.is_recorded |= bool(commits_in(event.text))
                self._story.returned(call)
                self._outcomes.returned(call, event.text, event.at.row)
        if call and call.files and event.end is CallEnd.OK:
            self._story.edited_by(call)
            self._open_ends.edited()
            self._outcomes.edited()
            decided = self._decisions.edited()
            self._instructions.edited(bool(decided))
            settled += decided
            settled += self._failures.edited(call)
        return settled
