"""What reading one Claude Code file has to remember.

Owns no rule about rows.  What is remembered grows with the number of rows and hardly with their size: uuids, a small
entry for each message, open call and subagent, and the session's plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crucible.clients.claude_code.call_results import content_text
from crucible.clients.events import At, CallEnd, Compacted, Event, PromptKind, SubagentStarted
from crucible.clients.log_values import Row, as_dict, as_str

_NOT_FOR_US = ("delivered_to_agent", "agent_stopped")
"""Reasons to remove what was never meant for the trunk."""


class Queue:
    """The queue as far as it was read.  `step` counts the agent's and the tools' rows."""

    __slots__ = ("_delivered", "_taken", "_waiting", "step")

    def __init__(self) -> None:
        self.step = 0
        self._waiting: list[tuple[str, int]] = []
        self._taken: tuple[str, int] = ("", 0)
        self._delivered: dict[str, set[str]] = {}

    def operate(self, row: Row) -> str:
        """Follow one row; the text that it let into the running turn, or ""."""
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
        """Whether an attachment brings a prompt that was not told yet."""
        if any(text == waiting for waiting, _ in self._waiting):
            self._take(text)
        return self._is_new(text, "attachment")

    def typed(self, text: str, working: bool) -> PromptKind | None:
        """How the prompt of a user row was said; None when it was told already.

        A notice may come without leaving the queue; it is taken out, or those behind it would be mistaken for it.
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
        """Forget what was told: the same words in the next turn are said anew."""
        self._delivered.clear()

    def _take(self, text: str) -> tuple[str, int]:
        """Take a prompt out, the oldest one when the row does not name it (then it must be waiting)."""
        for place, entry in enumerate(self._waiting):
            if not text or entry[0] == text:
                return self._waiting.pop(place)
        return text, self.step

    def _is_new(self, text: str, source: str) -> bool:
        """Each source tells one utterance once: a second copy from the same source is a second utterance."""
        told = self._delivered.get(text)
        if told is None or source in told:
            self._delivered[text] = {source}
            return True
        told.add(source)
        return False


Events: TypeAlias = list[Event]


class Rows(NamedTuple):
    """What a file's rows are known by: their uuids, and the ids of the model's messages."""

    uuids: frozenset[str]
    messages: frozenset[str]

    def has(self, row: dict[str, Any]) -> bool:
        """Whether this row stands there, as itself or as what it was copied from."""
        return (
            as_str(row.get("uuid")) in self.uuids
            or as_str(as_dict(row.get("forkedFrom")).get("messageUuid")) in self.uuids
            or as_str(as_dict(row.get("message")).get("id")) in self.messages
        )


NO_ROWS = Rows(frozenset(), frozenset())


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without its result: `kept` holds the arguments of tools that change tasks or ask the user, `facts` the small rest."""

    name: str
    kept: Mapping[str, Any]
    facts: Mapping[str, object]


class Result(NamedTuple):
    """A call's result as it stands in its row; `raw` is the structured one or anything else, `feedback` what the user said."""

    at: At
    call: str
    text: str
    images: int
    end: CallEnd
    feedback: str
    raw: object


@dataclass(slots=True)
class State:
    """One file as far as it was read.  `agent` is the subagent whose own file this is, "" for a trunk."""

    agent: str = ""
    elder: Rows = NO_ROWS
    """Rows of the session that this one goes on from; where they stand here they are copies."""
    out: Events = field(default_factory=list)
    """The events of the row that is being read."""
    seen: set[str] = field(default_factory=set)
    context: tuple[object, ...] = ()
    outputs: Callable[[], Path] | None = None
    """Finds the folder of the outputs that the client moved out of this log."""
    usage: dict[str, tuple[object, ...]] = field(default_factory=dict)
    calls: dict[str, OpenCall] = field(default_factory=dict)
    agents: dict[str, SubagentStarted] = field(default_factory=dict)
    """The subagents by the call that started them."""
    reports: dict[str, int] = field(default_factory=dict)
    """A hash of what came back last from each, by the call that started it."""
    plan: str = ""
    """What stands in the session's plan file."""
    chains: dict[str, str] = field(default_factory=dict)
    """Of nameless subagents in the trunk: each row's uuid and the uuid of its first row."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles by the uuid of the row they are about, until that row comes."""
    title: tuple[str, bool] = ("", False)
    boundary: Compacted | None = None
    """A compaction whose summary has not come yet."""
    queue: Queue = field(default_factory=Queue)
    local: bool = False
    """Whether a command that comes now is one which the client answers itself."""
    unanswered: bool = False
    """Whether the last row was a prompt that the client marks as one: what follows it without a mark is the client's."""
    working: bool = False
    """Whether the file's own agent is in the middle of a turn."""
    last_word: At | None = None
    """Its last text when nothing followed it that was its own or the user's."""
    unsure: bool = False
    """Whether the row of `last_word` left the stop reason out."""
    answered: str = ""
    """The message that ended the last turn."""

    def end_turn(self) -> None:
        """The agent is at rest."""
        self.working = self.unanswered = False
        self.last_word = None
        self.queue.end_turn()

    def flush_boundary(self) -> None:
        """Tell of a compaction whose summary never came."""
        if self.boundary is not None:
            self.out.append(self.boundary)
            self.boundary = None
