"""What reading one Claude Code file has to remember.

Owns no rule about rows.  What is remembered grows with the number of rows and never with their size: uuids, and a
small entry for each message, open call and subagent.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crucible.transcript.claude.lineage import NO_ROWS, Rows
from crucible.transcript.claude.queue import Queue
from crucible.transcript.events import At, Compacted, Event, SubagentStarted

__all__ = ["Events", "OpenCall", "State"]

Events: TypeAlias = list[Event]


@dataclass(frozen=True, slots=True)
class OpenCall:
    """A call without its result: `kept` holds the arguments of task tools alone, `facts` the small rest."""

    name: str
    kept: Mapping[str, Any]
    facts: Mapping[str, object]


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
    usage: dict[str, tuple[str, int, int, int]] = field(default_factory=dict)
    calls: dict[str, OpenCall] = field(default_factory=dict)
    agents: dict[str, SubagentStarted] = field(default_factory=dict)
    """The subagents by the call that started them."""
    chains: dict[str, str] = field(default_factory=dict)
    """Of nameless subagents in the trunk: each row's uuid and the uuid of its first row."""
    titles: dict[str, str] = field(default_factory=dict)
    """Titles by the uuid of the row they are about, until that row comes."""
    title: tuple[str, bool] = ("", False)
    boundary: Compacted | None = None
    """A compaction whose summary has not come yet."""
    queue: Queue = field(default_factory=Queue)
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
        self.working = False
        self.last_word = None
        self.queue.end_turn()

    def flush_boundary(self) -> None:
        """Tell of a compaction whose summary never came."""
        if self.boundary is not None:
            self.out.append(self.boundary)
            self.boundary = None
