"""Detect the findings and open ends of a session from its events, passed one by one.

Events may come in any order and contain any text; nothing here raises an error.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.analysis.findings.corrections import Corrections
from crucible.analysis.findings.decisions import Decisions, Instructions
from crucible.analysis.findings.failures import Failures
from crucible.analysis.findings.observed_calls import is_red, read_call
from crucible.analysis.findings.outcomes import Outcomes, commits_in, reported_work
from crucible.analysis.findings.text_layout import (
    ClosingQuestion,
    closing_question,
    first_line,
    is_question,
    join_fitting,
    options,
    plan_of,
    prose,
    says_what,
    statements,
)
from crucible.analysis.findings.turns import Pattern, TurnHistory, Utterance
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
    TaskState,
    ToolReturned,
    ToolUsed,
)
from crucible.core.patterns import late_pattern
from crucible.core.text import cut_at_word
from crucible.documents.session.findings import SUMMARY, Kind, Source, cut_at_sentence, meaningful
from crucible.documents.session.session import Decision, Failure, FindingItem

QUESTION = Pattern("last question", Source.STATE, 19, 19)
BEGUN = Pattern("started, not finished", Source.STATE, 7, 8)
PLANNED = Pattern("planned, not carried out", Source.STATE, 4, 4)
LISTED = Pattern("task not ticked", Source.STATE, 6, 8)

_DONE = frozenset({"completed", "deleted", "cancelled", "done"})
_MOST = 8
_REASON, _LONG_WORD, _FEW = 300, 6, 2
_NUMBER = late_pattern(r"(?<![\w./#-])\d{1,2}(?![\w./%-])")
_ASKED, _TASKS = "Asked, no answer: ", "Open tasks: "


class OpenEnds:
    """The open ends of one session: what is unanswered or unfinished after its last event."""

    def __init__(self, story: TurnHistory) -> None:
        self._story = story
        self._plan: tuple[str, str] | None = None
        self._tasks: dict[str, tuple[str, str, str]] = {}

    def planned(self, event: PlanSettled) -> None:
        """Record a plan.  If it is not approved, it is open until a file is edited."""
        self._plan = None if event.approved else (event.text[:6000], event.at.row)

    def edited(self) -> None:
        """Record an edit, which begins the plan."""
        self._plan = None

    def listed(self, tasks: tuple[TaskState, ...], row: str) -> None:
        """Record a new task list, which replaces the old one."""
        self._tasks = {task.id: (task.content, task.status, row) for task in tasks[:200]}

    def changed(self, event: TaskChanged) -> None:
        """Record that a task was created or changed."""
        content, status, row = self._tasks.get(event.id, ("", "pending", event.at.row))
        if len(self._tasks) < 200 or event.id in self._tasks:
            self._tasks[event.id] = (event.content or content, event.status or status, row)

    def noted(self) -> list[FindingItem]:
        """Return the open ends so far."""
        return [
            FindingItem(Kind.OPEN_END, text, details or None, pattern.on(row))
            for pattern, text, details, row in self._open()
        ]

    def _open(self) -> Iterator[tuple[Pattern, str, str, str]]:
        turn = self._story.now
        if turn.kind is PromptKind.TASK:
            return  # the parent has the result
        if turn.last.text and not turn.worked and is_question(turn.last.text):
            yield self._question(turn.last)
        if self._plan:
            plan, row = plan_of(self._plan[0]), self._plan[1]
            yield PLANNED, f"Planned, not carried out: {plan.title}", plan.reason, row
        elif self._is_begun():
            prompt = turn.prompt.text
            begun = plan_of(prompt).title if turn.kind is PromptKind.PLAN else first_line(prompt, 170)
            yield BEGUN, f"Begun, not finished: {begun}", statements(turn.last.text, 200), turn.prompt.row
        remaining = [
            (first_line(content, 160), row)
            for content, status, row in self._tasks.values()
            if status not in _DONE and content
        ]
        if remaining:
            names, more = join_fitting("; ", [task for task, _ in remaining[:_MOST]], SUMMARY - len(_TASKS))
            yield LISTED, f"{_TASKS}{names}", "; ".join(more), remaining[-1][1]

    def _question(self, last: Utterance) -> tuple[Pattern, str, str, str]:
        """Return the last question with its subject and details: the items that it numbers, or else the last text."""
        asked = closing_question(last.text) or ClosingQuestion(
            first_line(last.text.rpartition("\n")[2], SUMMARY), "", ()
        )
        done = reported_work(last.text, ())[0]
        question, near = asked.question, [one for one in asked.near if one.count(" ") > _FEW]
        if asked.first or not (question.count(" ") > _MOST or says_what(question, _LONG_WORD)):
            about = asked.first or (near.pop() if near else "")
            question = f"{cut_at_word(about, SUMMARY - len(_ASKED) - len(question) - 1)} {question}".strip()
        numbers = _NUMBER.findall(question)
        lists = (*(each.by_mark for each in options(last.text)), *self._story.lists)
        known = next((one for one in lists if len(numbers) > 1 and one.keys() >= set(numbers)), {})
        named = "; ".join(f"{number}. {known[number].label}" for number in numbers if known)
        far = [one for one in meaningful(prose(last.text)) if one not in question]
        details = named or cut_at_sentence(" ".join(near or far), _REASON) or done
        return QUESTION, f"{_ASKED}{cut_at_word(question, SUMMARY - len(_ASKED))}", details, last.row

    def _is_begun(self) -> bool:
        """True if the transcript ends with a call that commits nothing, or with an unanswered prompt."""
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


class Detector:
    """Detects the findings in one transcript.

    Callouts are returned as soon as they are certain; the items of the findings block are available at any time.
    """

    def __init__(self) -> None:
        self._story = TurnHistory()
        self._decisions = Decisions(self._story)
        self._corrections = Corrections(self._story)
        self._failures = Failures(self._story)
        self._instructions = Instructions(self._story)
        self._outcomes = Outcomes(self._story)
        self._open_ends = OpenEnds(self._story)

    def noted(self) -> tuple[FindingItem, ...]:
        """Return the items of the findings block so far."""
        return (
            *self._corrections.noted(),
            *self._instructions.noted(),
            *self._outcomes.noted(),
            *self._open_ends.noted(),
        )

    def add(self, event: Event) -> Sequence[Decision | Failure]:
        """Process the next event, and return the callouts that it completes."""
        held = self._story.held
        if not held:
            return self._add(event)
        settled: list[Decision | Failure] = []
        if isinstance(event, Replied | ToolUsed):
            self._story.held = None
            settled = self._begin(held.text, held.row, PromptKind.COMMAND)
        return [*settled, *self._add(event)]

    def _add(self, event: Event) -> Sequence[Decision | Failure]:  # noqa: C901, PLR0912 -- one case per event
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
            reply = self._story.replied(event.text, event.at.row)
            self._corrections.replied(reply)
            self._failures.replied(reply)
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
