"""Questions, answers and the protocols between sessions, search engines and the programs that ask."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from enum import StrEnum
from hashlib import blake2b
from typing import NamedTuple, Protocol

USUAL, MOST = 5, 20
"""Hits of an answer, unless more are asked for, and at most."""
MOST_CONTEXT = 50
"""Events that are shown before, and after, each hit at most."""


Progress = Callable[[int, int], None]
"""Called with the number of notes done, and of all notes."""


class EventKind(StrEnum):
    """What an event is."""

    USER = "user"
    AGENT = "agent"
    TOOL = "tool"
    DECISION = "decision"
    ERROR = "error"
    SUBAGENT = "subagent"
    MILESTONE = "milestone"
    OBSERVATION = "observation"
    KNOWLEDGE = "knowledge"
    CORRECTION = "correction"
    OUTCOME = "outcome"
    OPEN_END = "open_end"
    ENVIRONMENT = "environment"

    @classmethod
    def _missing_(cls, value: object) -> EventKind | None:
        """Accept the kinds of findings, such as `failure` for an error."""
        return {"failure": cls.ERROR, "report": cls.SUBAGENT, "instruction": cls.USER}.get(str(value))


RECALLED, RECALLED_END = "<!-- cru:recalled -->", "<!-- /cru:recalled -->"
"""Lines that `cru recall` prints around text for a model; notes contain them escaped or not."""

LISTED = frozenset((EventKind.CORRECTION, EventKind.OUTCOME, EventKind.OPEN_END, EventKind.ENVIRONMENT))
"""Items of the findings block: what is above and below one has nothing to do with it, so a hit has no neighbours."""


@dataclass(frozen=True, slots=True)
class Event:
    """One thing that was said or done.

    `id` is `<session>#<8 hex>`, stable while its words stay; of an item of knowledge the item's id. `phase` is a
    phase's id, `line` the note's line, from 1. `at` is when the event happened, else when its phase or session began.
    `title` is of an item of knowledge.
    """

    id: str
    session: str
    kind: EventKind
    text: str
    phase: str = ""
    phase_name: str = ""
    line: int = 0
    at: datetime | None = None
    agent: str = ""
    channel: str = ""
    project: str = ""
    title: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A session for the index: its properties and events; `path` is relative to the vault."""

    session: str
    path: str
    title: str
    events: tuple[Event, ...]
    started: datetime | None = None
    project: str = ""
    branch: str = ""
    tags: tuple[str, ...] = ()
    parent: str = ""


@dataclass(frozen=True, slots=True)
class Question:
    """A question.

    `text` is natural language, or terms, `"phrases"`, `-not` and `field:value`; the other fields are filters. `agent`
    matches with or without a version. `since` and `until` are inclusive. `context` is the number of events before and
    after each hit.
    """

    text: str
    kinds: frozenset[EventKind] = frozenset(EventKind)
    session: str = ""
    agent: str = ""
    channel: str = ""
    project: str = ""
    since: datetime | None = None
    until: datetime | None = None
    limit: int = USUAL
    context: int = 2

    @property
    def narrows(self) -> bool:
        """Whether it asks for something even without words: then the newest is shown."""
        told = (self.session, self.agent, self.channel, self.project)
        return any((*told, self.since, self.until)) or self.kinds != frozenset(EventKind)


class Snippet(NamedTuple):
    """One line of an event's text, and the spans of the question's words in it, half-open, in code points."""

    text: str
    marks: tuple[tuple[int, int], ...] = ()


@dataclass(frozen=True, slots=True)
class Hit:
    """A matching event with its neighbours in the note; `parts` are the named parts of its `score`.

    `path` is the note's, from the vault; "" where only a server has it.
    """

    event: Event
    score: float
    parts: Mapping[str, float]
    snippet: Snippet
    before: tuple[Event, ...] = ()
    after: tuple[Event, ...] = ()
    path: str = ""


@dataclass(frozen=True, slots=True)
class SessionHit:
    """A session that was found, by its own words and its best events; `path` as in a `Hit`."""

    session: str
    title: str
    score: float
    parts: Mapping[str, float]
    started: datetime | None = None
    project: str = ""
    path: str = ""


@dataclass(frozen=True, slots=True)
class Answer:
    """The best events and sessions, best first; `notes` are remarks, such as what could not be searched."""

    hits: tuple[Hit, ...] = ()
    sessions: tuple[SessionHit, ...] = ()
    notes: tuple[str, ...] = field(default=())


class Recall(Protocol):
    """What searches: the embedded engine, or a server."""

    def ask(self, question: Question, now: datetime) -> Answer:
        """The answer; never an error for what the question says."""
        ...

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """The events of these ids, in that order; unknown ones are left out."""
        ...

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """The event with its neighbours in the note; nothing for an unknown one."""
        ...


class ItemCatalog(Protocol):
    """Items by name, which is a note's path from the vault and no session's."""

    def stamps(self) -> Mapping[str, str]:
        """Every item, and what changes whenever its words do: asked at each question."""
        ...

    def document(self, name: str) -> Document | None:
        """The item as one event of kind knowledge; its id is also the session's of event and document."""
        ...

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        """What an item's score is multiplied by, and what that comes from, for `--explain`."""
        ...


class _Nothing:
    """No items."""

    def stamps(self) -> Mapping[str, str]:
        return {}

    def document(self, name: str) -> Document | None:
        del name
        return None

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        del identity, now
        return 1.0, {}


NO_ITEMS: ItemCatalog = _Nothing()
"""A shelf without items."""


def hash_of(kind: EventKind, text: str, count: int) -> str:
    """Eight hex digits of a text; `count` is the number of earlier events with the same text."""
    told = f"{kind}\0{count}\0{text}" if count else f"{kind}\0{text}"
    return blake2b(told.encode("utf-8", "replace"), digest_size=4).hexdigest()


def seconds_of(at: datetime | None) -> int | None:
    """Seconds since 1970."""
    return None if at is None else int(at.timestamp())


def time_of(seconds: int | None) -> datetime | None:
    """The time again."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
