"""A scripted session for the detector: each method makes the events of a client's log."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from crucible.analysis.findings.detector import Detector
from crucible.clients.events import (
    At,
    CallEnd,
    Choice,
    Event,
    Interrupted,
    PlanSettled,
    Prompted,
    PromptKind,
    QuestionsAnswered,
    Reasoned,
    Replied,
    TasksListed,
    TaskState,
    ToolReturned,
    ToolUsed,
)
from crucible.documents.session.findings import Kind
from crucible.documents.session.session import Decision, Failure, FindingItem


class Played:
    """One session under way; `edits` and `shell` are what its client calls those tools."""

    def __init__(self, edits: str = "Edit", shell: str = "Bash", command: str = "command") -> None:
        self.detector = Detector()
        self.events: list[Event] = []
        self.callouts: list[Decision | Failure] = []
        self._edits, self._shell, self._command = edits, shell, command
        self._rows = self._numbers()

    @staticmethod
    def _numbers() -> Iterator[At]:
        number = 0
        while True:
            number += 1
            yield At(number, f"row{number:05}-more")

    def tell(self, event: Event) -> Played:
        """One event."""
        self.events.append(event)
        self.callouts += self.detector.add(event)
        return self

    def you(self, text: str, kind: PromptKind = PromptKind.TYPED) -> Played:
        """The user says something."""
        return self.tell(Prompted(next(self._rows), text, kind))

    def agent(self, text: str, *, final: bool = False) -> Played:
        """The agent says something."""
        return self.tell(Replied(next(self._rows), text, final=final))

    def thinks(self, text: str) -> Played:
        """The agent thinks aloud."""
        return self.tell(Reasoned(next(self._rows), text))

    def call(self, name: str, arguments: dict[str, object], text: str, end: CallEnd, feedback: str = "") -> Played:
        """A call and its result."""
        at = next(self._rows)
        self.tell(ToolUsed(at, at.row, name, arguments))
        return self.tell(ToolReturned(next(self._rows), at.row, text, end, feedback))

    def edit(self, path: str = "src/cache.py", end: CallEnd = CallEnd.OK, feedback: str = "") -> Played:
        """A file is edited."""
        if self._edits == "apply_patch":
            patch = f"*** Begin Patch\n*** Update File: {path}\n@@\n-a\n+b\n*** End Patch"
            return self.call(self._edits, {"input": patch}, "Done", end, feedback)
        return self.call(self._edits, {"file_path": path}, "Done", end, feedback)

    def run(self, script: str, text: str = "ok", end: CallEnd = CallEnd.OK, feedback: str = "") -> Played:
        """A shell command."""
        return self.call(self._shell, {self._command: script}, text, end, feedback)

    def stop(self) -> Played:
        """The user stops the agent."""
        return self.tell(Interrupted(next(self._rows)))

    def plan(self, text: str, *, approved: bool | None) -> Played:
        """A plan comes back."""
        return self.tell(PlanSettled(next(self._rows), "call", text, approved))

    def answer(self, *choices: Choice) -> Played:
        """Questions come back with their answers."""
        return self.tell(QuestionsAnswered(next(self._rows), "call", choices))

    def tasks(self, **states: str) -> Played:
        """The task list is written."""
        listed = tuple(TaskState(name, name, state) for name, state in states.items())
        return self.tell(TasksListed(next(self._rows), listed))

    @property
    def decisions(self) -> Sequence[Decision]:
        """The decisions so far."""
        return [each for each in self.callouts if isinstance(each, Decision)]

    @property
    def failures(self) -> Sequence[Failure]:
        """The failures so far."""
        return [each for each in self.callouts if isinstance(each, Failure)]

    def noted(self, kind: Kind) -> Sequence[FindingItem]:
        """The items of one kind in the block as it stands."""
        return [each for each in self.detector.noted() if each.kind == kind]

    @property
    def corrections(self) -> Sequence[str]:
        """The corrections so far."""
        return [each.text for each in self.noted(Kind.CORRECTION)]

    @property
    def outcomes(self) -> Sequence[str]:
        """The outcomes so far."""
        return [each.text for each in self.noted(Kind.OUTCOME)]

    @property
    def open_ends(self) -> Sequence[str]:
        """What is open now."""
        return [each.text for each in self.noted(Kind.OPEN_END)]
