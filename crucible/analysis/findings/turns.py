"""State that all patterns share: the current and the previous turn, and the confidence of a pattern."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

from crucible.analysis.findings.observed_calls import ObservedCall
from crucible.analysis.findings.text_layout import Option, Options, options, trimmed
from crucible.clients.events import PromptKind
from crucible.core.text import long_words, overlap
from crucible.documents.session.findings import Source
from crucible.documents.session.session import Grounds

_MOST_FILES, _MOST_LINES, _MOST_TURNS, _LISTS = 400, 2000, 200, 8
_LEFT = 0.1
"""Minimum share of a turn's lines that must remain for the turn to count."""


@dataclass(frozen=True, slots=True)
class Utterance:
    """A text and the id of its row."""

    text: str
    row: str


NOTHING = Utterance("", "")


@dataclass(slots=True)
class Trace:
    """The lines that a turn wrote and that still exist.  `most` is their original number."""

    left: set[tuple[str, str]] = field(default_factory=set)
    before: set[tuple[str, str]] = field(default_factory=set)
    """The lines that the turn removed."""
    most: int = 0
    is_committed: bool = False

    @property
    def is_lost(self) -> bool:
        """True if almost none of the turn's edits remain."""
        return len(self.left) < _LEFT * self.most

    def change(self, call: ObservedCall) -> None:
        """Apply a later call.  A reworded line still counts, unless the rewording restores the original text."""
        whole = {one for one in self.left if one[0] in call.files} if call.is_whole else set[tuple[str, str]]()
        for old in self.left & (call.removed | whole) - call.added:
            self.left.discard(old)
            self.left |= {new for new in call.added - self.before if _is_like(new, old)}
        self.without(call.gone)

    def add(self, call: ObservedCall) -> None:
        """Apply a call from the turn itself.  If its lines are unknown, its files count instead."""
        self.before |= call.removed
        if len(self.left) < _MOST_LINES:
            self.left |= call.added or {(path, "") for path in call.files}
        self.most = max(self.most, len(self.left))
        self.is_committed = False

    def without(self, files: Sequence[str]) -> None:
        """Drop files or folders ("" for everything) that were deleted or restored."""
        if files:
            self.left = {one for one in self.left if not any(_is_in(one[0], path) for path in files)}


@dataclass(slots=True)
class SessionTurn:
    """A prompt and the agent's work on it.

    `closing` is the last text after the last edit that is not much shorter than the text before it.  `approach` is the
    agent's text right before its first edit.  `red` is True if a command failed before the first edit.
    """

    prompt: Utterance = NOTHING
    kind: PromptKind = PromptKind.TYPED
    answers: Utterance = NOTHING
    """The agent's last text before the prompt, if no call came in between."""
    first: Utterance = NOTHING
    last: Utterance = NOTHING
    approach: Utterance = NOTHING
    closing: Utterance = NOTHING
    files: set[str] = field(default_factory=set)
    trace: Trace = field(default_factory=Trace)
    edits: int = 0
    calls_since: int = 0
    """The number of calls since the last text."""
    red: bool = False
    interrupted: bool = False
    worked: bool = False
    """True if anything came after the last text."""
    last_was_edit: bool = False
    is_recorded: bool = False
    """True if the edits were committed."""


def _is_in(file: str, path: str) -> bool:
    return not path or file == path or file.startswith(f"{path}/")


def _is_like(one: tuple[str, str], other: tuple[str, str]) -> bool:
    """True if two lines in a file share more than half of their words."""
    return one[0] == other[0] and overlap(_words(one[1]), _words(other[1]), "larger") > 0.5


_words = lru_cache(maxsize=2 * _MOST_LINES)(long_words)


class TurnHistory:
    """The current turn (`now`), the previous one (`before`), and the calls that have no result yet."""

    def __init__(self) -> None:
        self.now = SessionTurn()
        self.before = SessionTurn()
        self.roots: tuple[str, ...] = ()
        self.edited: set[str] = set()
        self.calls: dict[str, ObservedCall] = {}
        self._traces = [self.now.trace]
        self._latest = NOTHING
        self.offered: Sequence[Options] = ()
        """The lists of options from which the prompt may pick."""
        self.lists: list[Mapping[str, Option]] = []
        """These lists and those from earlier turns, newest first."""
        self.held: Utterance | None = None
        """A slash command.  It becomes a turn when the agent starts to work on it."""

    def prompted(self, text: str, row: str, kind: PromptKind) -> None:
        """Begin a new turn."""
        old = self.now
        answers = NOTHING if old.worked or old.interrupted else old.last
        self.offered = options(answers.text)
        self.lists = [*(each.by_mark for each in self.offered), *self.lists][:_LISTS]
        self.before = old
        self.now = SessionTurn(Utterance(trimmed(text), row), kind, answers)
        self._traces = [*self._traces, self.now.trace][-_MOST_TURNS:]
        self._latest = NOTHING

    def rewound(self) -> None:
        """Record that the user withdrew the last prompt, so it expects no answer."""
        self.now.kind, self.now.last = PromptKind.COMMAND, NOTHING

    def replied(self, text: str, row: str) -> Utterance:
        """Record a text by the agent."""
        turn, reply = self.now, Utterance(trimmed(text), row)
        turn.first = turn.first if turn.first.text else reply
        turn.last = self._latest = reply
        if len(turn.closing.text) <= 2 * len(reply.text):
            turn.closing = reply
        turn.worked, turn.calls_since = False, 0
        return reply

    def used(self, key: str, call: ObservedCall) -> None:
        """Record a call.  The text right before it is its approach."""
        call.approach = self._latest.text
        if not call.files or self.now.edits:
            self._latest = NOTHING
        elif not self.now.approach.text:
            self.now.approach, self._latest = self._latest, NOTHING
        self.now.calls_since += 1
        self.now.worked = True
        self.now.last_was_edit = bool(call.files)
        self.calls[key] = call
        if len(self.calls) > 500:
            del self.calls[next(iter(self.calls))]

    def edited_by(self, call: ObservedCall) -> None:
        """Record that a call changed files."""
        turn = self.now
        turn.edits += 1
        turn.is_recorded = False
        turn.closing = NOTHING
        for trace in self._traces:
            trace.change(call)
        turn.trace.add(call)
        for files in (turn.files, self.edited):
            if len(files) < _MOST_FILES:
                files.update(call.files)

    def returned(self, call: ObservedCall) -> None:
        """Record the files that a shell command deleted, restored or committed."""
        for trace in self._traces:
            trace.is_committed |= call.commits and "commit" in call.script
            trace.without(call.gone)
            if not trace.is_committed:
                trace.without(call.restored)


_ROW, _PREFIXED = 8, 20
"""Characters of a row id to keep in a note.

An id that begins with a kind and the time (`prt_1fff0b2c…`) needs more.
"""


def short_row(row: str) -> str:
    """Return the first characters of a row id, as written in notes."""
    return row[: _PREFIXED if "_" in row[:_ROW] else _ROW]


class Pattern(NamedTuple):
    """A way to detect a finding.  `read` of its findings were checked by hand, and `true` of them were correct."""

    name: str
    source: Source
    true: int
    read: int

    def on(self, *rows: str) -> Grounds:
        """Return the grounds for a finding that is based on these rows."""
        kept = tuple(dict.fromkeys(short_row(row) for row in rows if row))
        return Grounds(self.source, round((self.true + 1) / (self.read + 2), 2), kept)
