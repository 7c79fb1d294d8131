"""The reader's state for one Codex file.

All visible text is logged twice in either order, as an API item and as an interface event; `Mirror` detects copies.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from crucible.clients.events import At, Event
from crucible.clients.log_values import Row, as_dict, as_str, number

Events: TypeAlias = list[Event]


class Mirror:
    """Text that was logged by one side and is still expected from the other.

    A side is "api" or "ui".  Within a turn, the n-th occurrence of a text on one side matches the n-th on the other.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: Counter[tuple[str, str, int]] = Counter()

    def is_copy(self, side: str, kind: str, text: str) -> bool:
        """Return whether this is the second copy; a first copy is remembered."""
        key = hash("".join(text.split()))
        other = ("ui" if side == "api" else "api", kind, key)
        if self._waiting[other]:
            self._waiting[other] -= 1
            return True
        self._waiting[side, kind, key] += 1
        return False

    def forget(self, kind: str = "") -> None:
        """Forget the expected copies (only those of `kind`, if given): they do not arrive after the end of a turn."""
        if not kind:
            self._waiting.clear()
            return
        for key in [key for key in self._waiting if key[1] == kind]:
            del self._waiting[key]


@dataclass(slots=True)
class OpenCall:
    """A call.  `kept` has the arguments of plans, questions and subagents.  `closed` is True after its final result."""

    name: str
    kept: Mapping[str, Any] = field(default_factory=dict)
    api: bool = True
    """True if the API has logged the call."""
    closed: bool = False


@dataclass(slots=True)
class Turn:
    """One turn of the agent.  `known` is True if the file logs its beginning."""

    known: bool = False
    prompted: bool = False
    worked: bool = False
    spoke: bool = False
    counted: bool = False
    """True if the usage of each response is logged, so running totals only repeat it."""
    cut: bool = False
    """True if its last call was interrupted."""
    fault: str = ""
    last_word: At | None = None
    """The position of the agent's last text, if nothing followed it."""


@dataclass(slots=True)
class State:
    """The state after the rows read so far.  `agent` is the subagent's id if the file is a subagent's log, else ""."""

    agent: str = ""
    out: Events = field(default_factory=list)
    """The events of the current row."""
    session: str = ""
    """The id in the first `session_meta`; later ones were copied from a parent."""
    meta: Row = field(default_factory=dict)
    by_agent: bool = False
    """True if an agent wrote the prompts in this file.  Also true for a subagent's file read as a trunk because its
    parent's file is missing."""
    context: tuple[str, ...] = ()
    model: str = ""
    mirror: Mirror = field(default_factory=Mirror)
    turn: Turn = field(default_factory=Turn)
    has_turn_rows: bool = False
    """True if the file logs when turns begin and end."""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    """The call that started each running command, by the client's number for the command."""
    spawned: dict[str, str] = field(default_factory=dict)
    """The call that started each subagent, by the subagent's id."""
    agents: dict[str, str] = field(default_factory=dict)
    """The ids of subagents by their paths."""
    reports: dict[str, int] = field(default_factory=dict)
    """A hash of each subagent's last report."""
    total: tuple[int, int, int] = (0, 0, 0)
    """The last running total of tokens."""
    compacted: bool = False
    """True if nothing has happened since the last compaction."""
    aborted: bool = False
    """True if nothing has happened since the user stopped the agent."""
    mode: str = ""
    """The client's name for the mode of this turn: `plan` or `default`."""
    plan: str = ""
    """The plan that the agent proposed, until the next prompt."""
    at_rest: bool = False
    """True if the last turn ended with an answer and no other has begun."""

    def begin_turn(self, *, known: bool) -> None:
        """Begin a turn."""
        self.turn = Turn(known=known)
        self.has_turn_rows = self.has_turn_rows or known
        self.aborted = self.at_rest = False
        self.mirror.forget()

    def end_turn(self, *, answered: bool) -> None:
        """End the turn."""
        self.turn = Turn()
        self.at_rest = answered
        self.mirror.forget()

    def work(self) -> None:
        """Record that the agent did something."""
        self.turn.worked = True
        self.turn.last_word = None
        self.compacted = self.aborted = False


def is_subagent(meta: Row) -> bool:
    """Return whether an agent started the session: as a subagent, for a review or for a compaction."""
    return "subagent" in as_dict(meta.get("source")) or as_str(meta.get("thread_source")) == "subagent"


def parent_of(meta: Row) -> tuple[str, str, str, int]:
    """Return a subagent's parent id ("" if there is none), and the subagent's role, name and depth (0 if unknown)."""
    source = as_dict(meta.get("source")).get("subagent")
    spawn = as_dict(as_dict(source).get("thread_spawn"))
    parent = as_str(spawn.get("parent_thread_id")) or as_str(meta.get("parent_thread_id"))
    role = as_str(spawn.get("agent_role")) or as_str(meta.get("agent_role")) or as_str(source)
    role = role or as_str(as_dict(source).get("other"))
    name = as_str(spawn.get("agent_path")).rpartition("/")[2] or as_str(spawn.get("agent_nickname"))
    return parent, role, name, number(spawn.get("depth")) or 0
