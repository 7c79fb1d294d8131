"""What reading one Codex file has to remember.

Owns no rule about rows but one: visible things are logged twice, as an item of the API and as an event for the
interface, in either order, and the second of the two is dropped.
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
    """Things seen once that will come a second time from the other side.

    A side is "api" or "ui".  The n-th of a text on one side is the copy of the n-th on the other, within a turn.
    """

    __slots__ = ("_waiting",)

    def __init__(self) -> None:
        self._waiting: Counter[tuple[str, str, int]] = Counter()

    def is_copy(self, side: str, kind: str, text: str) -> bool:
        """Whether this is the second of the two; the first one is remembered."""
        key = hash("".join(text.split()))
        other = ("ui" if side == "api" else "api", kind, key)
        if self._waiting[other]:
            self._waiting[other] -= 1
            return True
        self._waiting[side, kind, key] += 1
        return False

    def forget(self, kind: str = "") -> None:
        """A turn begins or ends: what did not come twice will not; `kind` alone where one is named."""
        if not kind:
            self._waiting.clear()
            return
        for key in [key for key in self._waiting if key[1] == kind]:
            del self._waiting[key]


@dataclass(slots=True)
class OpenCall:
    """A call: `kept` holds the arguments of plans, of questions and of hand-overs alone.  `closed` when its last word was told."""

    name: str
    kept: Mapping[str, Any] = field(default_factory=dict)
    api: bool = True
    """Whether the API's side of it was seen."""
    closed: bool = False


@dataclass(slots=True)
class Turn:
    """One turn of the agent.  `known` when the file told that it began."""

    known: bool = False
    prompted: bool = False
    worked: bool = False
    spoke: bool = False
    counted: bool = False
    """Whether the usage of its responses is told one by one: running totals only repeat it then."""
    cut: bool = False
    """Whether its last call was cut short."""
    fault: str = ""
    last_word: At | None = None
    """The agent's last text when nothing followed it."""


@dataclass(slots=True)
class State:
    """One file as far as it was read.  `agent` is the subagent whose own file this is, "" for a trunk."""

    agent: str = ""
    out: Events = field(default_factory=list)
    """The events of the row that is being read."""
    session: str = ""
    """The id in the first `session_meta`; later ones are copies of a parent's."""
    meta: Row = field(default_factory=dict)
    by_agent: bool = False
    """Whether the file says that an agent asks in it and no human: so it is read when its parent is gone and it is a trunk."""
    context: tuple[str, ...] = ()
    model: str = ""
    mirror: Mirror = field(default_factory=Mirror)
    turn: Turn = field(default_factory=Turn)
    turns_told: bool = False
    """Whether the file says when turns begin and end."""
    calls: dict[str, OpenCall] = field(default_factory=dict)
    running: dict[str, str] = field(default_factory=dict)
    """The call that began a command which runs on, by the client's number for it."""
    spawned: dict[str, str] = field(default_factory=dict)
    """The call that started a subagent, by the subagent's id and by its path."""
    agents: dict[str, str] = field(default_factory=dict)
    """The id of a subagent by its path."""
    reports: dict[str, int] = field(default_factory=dict)
    """The hash of each subagent's last report."""
    total: tuple[int, int, int] = (0, 0, 0)
    """The running total of tokens that was told last."""
    compacted: bool = False
    """Whether nothing happened since the last compaction."""
    aborted: bool = False
    """Whether nothing happened since the user stopped the agent."""
    mode: str = ""
    """How the agent works in this turn, in the client's words: `plan` or `default`."""
    plan: str = ""
    """The plan that the agent proposed, until the user speaks."""
    at_rest: bool = False
    """Whether the last turn ended in an answer and none has begun."""

    def begin_turn(self, *, known: bool) -> None:
        """A turn begins."""
        self.turn = Turn(known=known)
        self.turns_told = self.turns_told or known
        self.aborted = self.at_rest = False
        self.mirror.forget()

    def end_turn(self, *, answered: bool) -> None:
        """The agent is at rest."""
        self.turn = Turn()
        self.at_rest = answered
        self.mirror.forget()

    def work(self) -> None:
        """The agent did something."""
        self.turn.worked = True
        self.turn.last_word = None
        self.compacted = self.aborted = False


def is_subagent(meta: Row) -> bool:
    """Whether a session was started by an agent, of whatever kind: by a hand-over, for a review, for a compaction."""
    return "subagent" in as_dict(meta.get("source")) or as_str(meta.get("thread_source")) == "subagent"


def parent_of(meta: Row) -> tuple[str, str, str, int]:
    """The parent's id of a subagent's session ("" for none), its role, its name and its depth (0 unknown)."""
    told = as_dict(meta.get("source")).get("subagent")
    spawn = as_dict(as_dict(told).get("thread_spawn"))
    parent = as_str(spawn.get("parent_thread_id")) or as_str(meta.get("parent_thread_id"))
    role = as_str(spawn.get("agent_role")) or as_str(meta.get("agent_role")) or as_str(told)
    role = role or as_str(as_dict(told).get("other"))
    name = as_str(spawn.get("agent_path")).rpartition("/")[2] or as_str(spawn.get("agent_nickname"))
    return parent, role, name, number(spawn.get("depth")) or 0
