"""A session while it is told: its strands, and what was sown into them, by steps.

Owns how a sown case becomes a planted one: phases are known only when a strand is folded.
"""

from __future__ import annotations

import random
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime, timedelta

from crucible.cases.model import Fault
from crucible.session.drafts import ChildNote, Setting, session_of
from crucible.session.model import Entry, Mode, Session
from crucible.session.standing import Client as Standing
from crucible.session.titles import prompt_name
from crucible.vault.naming import slugify
from tests.cases.planted.clients import CLIENTS
from tests.cases.planted.failures import Failing
from tests.cases.planted.scribe import Kept, Scribe
from tests.cases.planted.stacks import STACKS, Names
from tests.cases.planted.truth import Generated, Noise, Planted

__all__ = ["Child", "Plot", "Sown"]

_LATER = datetime(2027, 1, 1, tzinfo=UTC)
"""When everything was imported: long after the last session."""


@dataclass
class Sown:
    """A case whose places are steps of `scribe`; `solved` is a step of a scribe, or None."""

    scribe: Scribe
    steps: list[int]
    case: Planted
    solved: tuple[Scribe, int] | None = None
    failing: Failing | None = None

    def learn(self, **facts: object) -> None:
        """What became of it."""
        self.case = replace(self.case, **facts)  # type: ignore[arg-type]


@dataclass
class Child:
    """A subagent: its strand and the names of its note."""

    scribe: Scribe
    id: str
    title: str
    mode: Mode


@dataclass
class Plot:
    """All of a session while it is told.  `dirty` says that a check of everything would fail now."""

    rng: random.Random
    goal: str = ""
    id: str = ""
    sown: list[Sown] = field(default_factory=list)
    noise: list[tuple[Scribe, int, Noise]] = field(default_factory=list)
    children: list[Child] = field(default_factory=list)
    taken: set[str] = field(default_factory=set)
    open: list[Sown] = field(default_factory=list)
    dirty: bool = False

    def __post_init__(self) -> None:
        rng = self.rng
        self.stack = rng.choice(STACKS)
        self.client = rng.choice(CLIENTS)
        self.names = Names.draw(rng, self.stack)
        start = datetime(2026, 1, 5, 8, tzinfo=UTC) + timedelta(minutes=rng.randrange(450_000))
        self.trunk = Scribe(rng, self.client, start, self.stack.project)
        self.mode = rng.choices([Mode.LINK, Mode.EMBED, Mode.INLINE], [75, 10, 15])[0]

    def begin(self, goal: str) -> None:
        """The first prompt names the session."""
        self.goal = goal
        name = slugify(prompt_name(goal, 80))
        self.id = f"{self.trunk.now:%Y-%m-%d}-{name}-{self.rng.getrandbits(32):08x}"

    def fill(self, text: str) -> str:
        """Names put into a text."""
        return self.names.fill(text)

    def pick(self, what: str, options: Sequence[object]) -> int | None:
        """The place of one that was not taken yet, None when all were."""
        free = [n for n in range(len(options)) if f"{what}:{n}" not in self.taken]
        if not free:
            return None
        chosen = self.rng.choice(free)
        self.taken.add(f"{what}:{chosen}")
        return chosen

    def sow(self, scribe: Scribe, case: Planted, *steps: int) -> Sown:
        """A case that happens at these steps."""
        sown = Sown(scribe, list(steps), case)
        self.sown.append(sown)
        return sown

    def distract(self, scribe: Scribe, kind: str, anchor: str, step: int, *faults: Fault) -> None:
        """Something that is no case."""
        self.noise.append((scribe, step, Noise(kind, "", "", anchor, faults)))

    def child(self, title: str, kind: str) -> Child:
        """A subagent that is given work."""
        agent = f"a{self.rng.getrandbits(48):012x}"
        scribe = Scribe(self.rng, self.client, self.trunk.now, self.stack.project, agent, kind)
        name = f"{self.id}-{slugify(title, 40)}"
        taken = {child.id for child in self.children}
        ident = name if name not in taken else f"{name}-{len(self.children)}"
        made = Child(scribe, ident, title, self.mode)
        self.children.append(made)
        return made

    # what it comes to

    def finish(self, has_flight: bool) -> Generated:
        """Notes, records and the truth."""
        ids = {id(self.trunk): self.id} | {id(c.scribe): c.id for c in self.children}
        places: dict[int, list[str]] = {}
        sessions: dict[str, Session] = {}
        notes: dict[str, ChildNote] = {}
        kept: dict[str, tuple[Kept, ...]] = {}
        for child in self.children:
            session, where = self._session(child.scribe, child.id, title=child.title, parent=self.id)
            places[id(child.scribe)] = where
            notes[child.scribe.agent] = _child_note(child, session)
            if child.mode is not Mode.INLINE:
                sessions[child.id] = session
                kept[child.id] = child.scribe.kept(where)
        parent, where = self._session(self.trunk, self.id, children=notes)
        places[id(self.trunk)] = where
        kept = {self.id: self.trunk.kept(where), **kept} if has_flight else {}
        planted = tuple(_planted(sown, ids, places) for sown in self.sown)
        noise = tuple(replace(n, session=ids[id(s)], phase=places[id(s)][step]) for s, step, n in self.noise)
        return Generated(parent, sessions, kept, planted, noise)

    def _session(
        self,
        scribe: Scribe,
        ident: str,
        *,
        title: str = "",
        parent: str | None = None,
        children: dict[str, ChildNote] | None = None,
    ) -> tuple[Session, list[str]]:
        draft, places = scribe.fold(title or "Work")
        source = scribe.source if not scribe.agent else f"{self.trunk.source}/{scribe.agent}"
        setting = Setting(
            ident,
            source,
            _LATER,
            project=self.stack.project,
            parent=parent,
            title=title,
            children=children or {},
            client=Standing.UNKNOWN,
        )
        return session_of(draft, setting), places


def _child_note(child: Child, session: Session) -> ChildNote:
    entries: tuple[Entry, ...] = tuple(session.all_entries()) if child.mode is Mode.INLINE else ()
    scribe = child.scribe
    task = session.preamble[0].text if session.preamble else ""  # type: ignore[union-attr]
    return ChildNote(
        child.id, child.mode, scribe.kind, scribe.model, session.tokens_used, None, entries, task
    )


def _planted(sown: Sown, ids: dict[int, str], places: dict[int, list[str]]) -> Planted:
    here = places[id(sown.scribe)]
    phases = tuple(dict.fromkeys(here[step] for step in sown.steps))
    solved = ""
    if sown.solved:
        scribe, step = sown.solved
        solved = places[id(scribe)][step]
    return replace(sown.case, session=ids[id(sown.scribe)], phases=phases, solved_in=solved)
