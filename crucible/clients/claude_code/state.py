"""The reader's state for one Claude Code file.

It grows with the number of rows (uuids, a small entry per message, open call and subagent), not with their size.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crucible.clients.claude_code.call_results import content_text
from crucible.clients.events import At, CallEnd, Compacted, Event, PromptKind, SubagentStarted
from crucible.clients.log_values import Row, as_dict, as_str

_NOT_FOR_US = ("delivered_to_agent", "agent_stopped")
"""Reasons for removing a prompt that was not meant for the trunk's agent."""


class Queue:
    """Prompts that were typed while the agent was working.  `step` counts the rows of the agent and of tools."""

    __slots__ = ("_delivered", "_taken", "_waiting", "step")

    def __init__(self) -> None:
        self.step = 0
        self._waiting: list[tuple[str, int]] = []
        self._taken: tuple[str, int] = ("", 0)
        self._delivered: dict[str, set[str]] = {}

    def operate(self, row: Row) -> str:
        """Apply one queue row; return the text that it added to the running turn, else ""."""
        text, _ = content_text(row.get("content"))
        match row.get("operation"):
            case "enqueue":
                self._waiting.append((text, self.step))
            case "dequeue":
                self._taken = self._take(text)
            case "remove":
                gone, _ = self._take(text)
                if row.get("reason") not in _NOT_FOR_US and gone and self._is_new(gone, "remove"):
                    return gone
            case "popAll" if text and any(text == waiting for waiting, _ in self._waiting):
                self._take(text)
            case "popAll":
                self._waiting.clear()
        return ""

    def attached(self, text: str) -> bool:
        """Return whether an attachment has a prompt that has not been emitted yet."""
        if any(text == waiting for waiting, _ in self._waiting):
            self._take(text)
        return self._is_new(text, "attachment")

    def typed(self, text: str, working: bool) -> PromptKind | None:
        """Return the kind of a user row's prompt; None if the prompt has already been emitted.

        A notice may arrive without a `dequeue` row, so it is removed from the queue here; otherwise it would be
        mistaken for a later entry.
        """
        if any(text == waiting for waiting, _ in self._waiting):
            self._taken = self._take(text)
        if working and text in self._delivered and not self._is_new(text, "user"):
            return None
        self._delivered.clear()
        queued, step = self._taken
        self._taken = ("", 0)
        return PromptKind.STEERING if working and text == queued and step < self.step else PromptKind.TYPED

    def end_turn(self) -> None:
        """Forget the emitted prompts: the same text in the next turn is a new prompt."""
        self._delivered.clear()

    def texts(self) -> list[str]:
        """Return all prompts."""
        return [*(text for text, _ in self._waiting), self._taken[0], *self._delivered]

    def _take(self, text: str) -> tuple[str, int]:
        """Remove a prompt from the queue and return it; the oldest one if `text` is empty."""
        for place, entry in enumerate(self._waiting):
            if not text or entry[0] == text:
                return self._waiting.pop(place)
        return text, self.step

    def _is_new(self, text: str, source: str) -> bool:
        """Return whether a prompt is new.  A source logs each prompt once, so its second copy is a second prompt."""
        sources = self._delivered.get(text)
        if sources is None or source in sources:
            self._delivered[text] = {source}
            return True
        sources.add(source)
        return False


Events: TypeAlias = list[Event]


class Rows(NamedTuple):
    """The keys of a file's rows: their uuids, and the ids of the model's messages."""

    uuids: frozenset[str]
    messages: frozenset[str]

    def has(self, row: dict[str, Any]) -> bool:
        """Return whether the file contains this row or the row that it was copied from."""
        return (
            as_str(row.get("uuid")) in self.uuids
            or as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) in self.uuids
            or as_str(as_dict(row.get("message")).get("id")) in self.messages
        )


NO_ROWS = Rows(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without a result yet: the arguments of tools that change tasks or ask the user, and summary facts."""

    name: str
    kept: Mapping[str, Any]
    facts: Mapping[str, object]


class Result(NamedTuple):
    """A call's result.  `raw` is the structured result, of any type; `feedback` is what the user said."""

    at: At
    call: str
    text: str
    images: int
    end: CallEnd
    feedback: str
    raw: object


@dataclass(slots=True)
class State:
    """The state after the rows read so far.  `agent` is the subagent's id if the file is a subagent's log, else ""."""

    agent: str = ""
    elder: Rows = NO_ROWS
    """Rows of the session that this one continues; rows with these keys are copies."""
    out: Events = field(default_factory=list)
    """The events of the current row."""
    seen: set[str] = field(default_factory=set)
    context: tuple[object, ...] = ()
    outputs: Callable[[], Path] | None = None
    """Finds the folder with the outputs that the client moved out of this log."""
    usage: dict[str, tuple[object, ...]] = field(default_factory=dict)
    calls: dict[str, OpenCall] = field(default_factory=dict)
    agents: dict[str, SubagentStarted] = field(default_factory=dict)
    """Subagents by the call that started them."""
    reports: dict[str, str] = field(default_factory=dict)
    """A digest of each subagent's last report, by the id of the call that started the subagent."""
    plan: str = ""
    """The content of the session's plan file."""
    chains: dict[str, str] = field(default_factory=dict)
    """For subagents in the trunk without an id: the uuid of their first row, by each row's uuid."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles by the uuid of the row they refer to, until that row is read."""
    title: tuple[str, bool] = ("", False)
    boundary: Compacted | None = None
    """A compaction whose summary has not been read yet."""
    queue: Queue = field(default_factory=Queue)
    local: bool = False
    """True if the client itself will answer the next command."""
    unanswered: bool = False
    """True after a prompt marked as the user's: the next unmarked text was written by the client."""
    working: bool = False
    """True while the file's own agent is working on a turn."""
    last_word: At | None = None
    """The position of the agent's last text, unless a row of the agent or the user followed it."""
    unsure: bool = False
    """True if the row of `last_word` has no stop reason."""
    answered: str = ""
    """The id of the message that ended the last turn."""

    def kept(self) -> State:
        """Return the state between two rows, without what belongs to this reading."""
        return replace(self, elder=NO_ROWS, out=[], outputs=None)

    def texts(self) -> Iterator[object]:
        """Yield the texts of rows that the state holds, which may have secrets."""
        yield from (self.plan, self.title[0], self.titles, *self.queue.texts())
        yield from ([call.kept, call.facts] for call in self.calls.values())
        yield from ([started.kind, started.title, started.task] for started in self.agents.values())

    def end_turn(self) -> None:
        """Mark the agent as idle."""
        self.working = self.unanswered = False
        self.last_word = None
        self.queue.end_turn()

    def flush_boundary(self) -> None:
        """Emit a compaction that never got a summary."""
        if self.boundary is not None:
            self.out.append(self.boundary)
            self.boundary = None
