"""What reading one Claude Code file has to remember.

Owns no rule about rows.  What is remembered grows with the number of rows and hardly with their size: uuids, a small
entry for each message, open call and subagent, and the session's plan.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

from crucible.clients.claude_code.lineage import NO_ROWS, Rows
from crucible.clients.claude_code.prompt_queue import Queue
from crucible.clients.events import At, CallEnd, Compacted, Event, SubagentStarted

__all__ = ["Events", "OpenCall", "Result", "State"]

Events: TypeAlias = list[Event]


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
