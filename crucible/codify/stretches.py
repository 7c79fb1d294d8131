"""A session's work before it is steps: who did what in one go, what was handed out between, and folding away what is noise.

Owns what counts as noise, as a failed try that was redone, and when work is a step of its own.  Reading it from a session is
`telling`'s, names and steps are `drafting`'s.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from crucible.acts.model import Act, Deed
from crucible.codify.model import Remark
from crucible.session.model import AgentRef, Outcome

__all__ = ["LOOKING", "NOISE", "PROVING", "Figured", "Node", "Stretch", "fold", "folded_acts"]

NOISE = frozenset({Deed.PLAN, Deed.DELEGATE})
"""An agent's own bookkeeping; what is handed out is told as a step."""
LOOKING = frozenset({Deed.READ, Deed.SEARCH, Deed.FETCH})
PROVING = frozenset({Deed.TEST, Deed.CHECK, Deed.BUILD})
"""Acts that say whether work is right: one that fails makes its step critical."""


@dataclass(slots=True)
class Stretch:
    """What one agent did in one go.

    `is_critical`: a user or a check stopped it.  `last_failed`: its last call that counts did; `is_open`: an error stayed unresolved.
    """

    acts: list[Act] = field(default_factory=list)
    remarks: list[Remark] = field(default_factory=list)
    is_critical: bool = False
    last_failed: bool = False
    is_open: bool = False

    @property
    def failed(self) -> bool:
        """Whether it came to nothing good."""
        return self.last_failed or self.is_open

    def hear(self, remark: Remark) -> None:
        """A remark that is not there yet."""
        if remark not in self.remarks:
            self.remarks.append(remark)

    def take(self, other: Stretch, *, before: bool = False) -> None:
        """Another stretch's work becomes part of this one."""
        self.acts = [*other.acts, *self.acts] if before else [*self.acts, *other.acts]
        added = [remark for remark in other.remarks if remark not in self.remarks]
        self.remarks = [*added, *self.remarks] if before else [*self.remarks, *added]
        self.is_critical |= other.is_critical
        self.is_open |= other.is_open
        if not before:
            self.last_failed = other.last_failed


@dataclass(slots=True)
class Figured:
    """When work began, how long it took and what it cost, as far as that is known; merged work is added up."""

    session: str
    started: datetime | None = None
    duration_ms: int | None = None
    tokens: int | None = None

    def add(self, other: Figured) -> None:
        """Work that belongs to this one."""
        self.started = self.started or other.started
        self.duration_ms = _sum(self.duration_ms, other.duration_ms)
        self.tokens = _sum(self.tokens, other.tokens)


def _sum(one: int | None, other: int | None) -> int | None:
    return other if one is None else one if other is None else one + other


@dataclass(slots=True)
class Node:
    """A phase, a sub-phase or a subagent's work; `parts` are its stretches and what is below it, in order.

    `name` may be empty.  `by` is whose work it is: reports go to who works by the same number.  `opening` is what was said
    where it begins, `whole` what is known of it in figures; `reports` says that it hands something back.
    """

    name: str
    by: int
    whole: Figured
    agent: AgentRef | None = None
    channel: str | None = None
    reports: bool = False
    opening: Stretch = field(default_factory=Stretch)
    parts: list[Stretch | Node] = field(default_factory=list)

    def stretch(self) -> Stretch:
        """The stretch that goes on at its end."""
        last = self.parts[-1] if self.parts else None
        if isinstance(last, Stretch):
            return last
        new = Stretch()
        self.parts.append(new)
        return new

    def nodes(self) -> Iterator[Node]:
        """What is directly below it."""
        return (part for part in self.parts if isinstance(part, Node))

    def has_work(self) -> bool:
        """Whether anything was done in it or handed out."""
        return any(isinstance(p, Node) or any(a.deed not in NOISE for a in p.acts) for p in self.parts)

    def failed(self) -> bool:
        """Whether an error in it stayed unresolved, or the last of what was done in it failed."""
        own = [part for part in self.parts if isinstance(part, Stretch)]
        is_open = self.opening.is_open or any(stretch.is_open for stretch in own)
        return is_open or any(stretch.last_failed for stretch in own[-1:])


def fold(node: Node) -> None:
    """Fold a node and all below it: noise goes, what only looked joins the next stretch of work."""
    for below in node.nodes():
        fold(below)
    kept = [part for part in node.parts if isinstance(part, Node) or _is_kept(node, part)]
    node.parts = _joined(kept)


def _is_kept(node: Node, stretch: Stretch) -> bool:
    """What did nothing is no step: what was said in it is said of the whole."""
    stretch.acts = folded_acts(stretch.acts)
    if stretch.acts:
        return True
    node.opening.take(stretch)
    return False


def _joined(parts: Sequence[Stretch | Node]) -> list[Stretch | Node]:
    """What only looked goes to the next stretch that worked, else to the one before, else into the first that looked.

    Without anything below it there is one stretch at most.
    """
    own = {at: part for at, part in enumerate(parts) if isinstance(part, Stretch)}
    works = [at for at, stretch in own.items() if any(act.deed not in LOOKING for act in stretch.acts)]
    homes = works or list(own)[:1]
    gone = set[int]()
    for at, stretch in reversed(own.items()):
        home = next((home for home in homes if home >= at), homes[-1])
        if home > at:
            own[home].take(stretch, before=True)
            gone.add(at)
    for at, stretch in own.items():
        if at > homes[-1]:
            own[homes[-1]].take(stretch)
            gone.add(at)
    return [part for at, part in enumerate(parts) if at not in gone]


def folded_acts(acts: Iterable[Act]) -> list[Act]:
    """Acts without noise, without repeats, and without failed tries that were redone; a rejected one was never done."""
    told = [act for act in acts if act.deed not in NOISE and act.outcome in _DONE]
    redone = {(act.deed, act.what): at for at, act in enumerate(told) if act.outcome is Outcome.OK}
    kept: dict[Act, None] = {}
    for at, act in enumerate(told):
        if act.outcome is Outcome.OK or redone.get((act.deed, act.what), -1) < at:
            kept.setdefault(act)
    return list(kept)


_DONE = frozenset({Outcome.OK, Outcome.FAILED, Outcome.PENDING})
