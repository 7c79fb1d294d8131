"""What the patterns know about a session while it is read: the current turn and the previous one, with trimmed texts."""

from __future__ import annotations

from dataclasses import dataclass, field

from crucible.findings.calls import Call
from crucible.findings.texts import trimmed
from crucible.transcript.events import PromptKind

__all__ = ["NOTHING", "Said", "Story", "Turn"]

_MOST_FILES = 400


@dataclass(frozen=True, slots=True)
class Said:
    """A text and its row."""

    text: str
    row: str


NOTHING = Said("", "")


@dataclass(slots=True)
class Turn:
    """A prompt and what the agent did with it.

    `closing` is the last text after the last edit, `longest` the longest one after it.  `approach` is what the agent said right
    before its first edit.  `red` is true if a command failed before the first edit.
    """

    prompt: Said = NOTHING
    number: int = 0
    kind: PromptKind = PromptKind.TYPED
    answers: Said = NOTHING
    """The agent's last text before the prompt, if no call followed it."""
    first: Said = NOTHING
    last: Said = NOTHING
    approach: Said = NOTHING
    closing: Said = NOTHING
    longest: Said = NOTHING
    files: set[str] = field(default_factory=set)
    edits: int = 0
    edit_row: str = ""
    calls: int = 0
    red: bool = False
    interrupted: bool = False
    worked: bool = False
    """True if anything came after the last text."""
    last_was_edit: bool = False
    is_recorded: bool = False
    """True if a commit holds what was edited."""


class Story:
    """The current turn (`now`), the previous one (`before`), and the calls without a result."""

    def __init__(self) -> None:
        self.now = Turn()
        self.before = Turn()
        self.roots: tuple[str, ...] = ()
        self.edited: set[str] = set()
        self.calls: dict[str, Call] = {}
        self._said_now = NOTHING
        self.held: Said | None = None
        """A slash command; it becomes a turn when the agent starts to work on it."""

    def prompted(self, text: str, row: str, kind: PromptKind) -> None:
        """Begin a new turn."""
        old = self.now
        answers = NOTHING if old.worked or old.interrupted else old.last
        self.before = old
        self.now = Turn(Said(trimmed(text), row), old.number + 1, kind, answers)
        self._said_now = NOTHING

    def rewound(self) -> None:
        """The user took the last prompt back: it waits for no answer and offers nothing."""
        self.now.kind, self.now.last = PromptKind.COMMAND, NOTHING

    def replied(self, text: str, row: str) -> Said:
        """Record a text of the agent."""
        turn, said = self.now, Said(trimmed(text), row)
        turn.first = turn.first if turn.first.text else said
        turn.last = turn.closing = self._said_now = said
        turn.worked = False
        if len(said.text) > len(turn.longest.text):
            turn.longest = said
        return said

    def used(self, key: str, call: Call) -> None:
        """Record a call; the text right before it is its approach."""
        call.approach = self._said_now.text
        if not call.files or self.now.edits:
            self._said_now = NOTHING
        elif not self.now.approach.text:
            self.now.approach, self._said_now = self._said_now, NOTHING
        self.now.calls += 1
        self.now.worked = True
        self.now.last_was_edit = bool(call.files)
        self.calls[key] = call
        if len(self.calls) > 500:
            del self.calls[next(iter(self.calls))]

    def edited_by(self, call: Call) -> None:
        """Record that a call changed files."""
        turn = self.now
        turn.edits += 1
        turn.is_recorded = False
        turn.edit_row = call.row
        turn.closing = turn.longest = NOTHING
        for files in (turn.files, self.edited):
            if len(files) < _MOST_FILES:
                files.update(call.files)
