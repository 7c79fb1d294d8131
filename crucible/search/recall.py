"""Questions and answers, and the protocols `Recall` (a search engine) and `ItemCatalog` (knowledge items)."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from enum import StrEnum
from typing import Protocol

from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import blake2b

USUAL, MOST = 5, 20
"""Default and maximum number of hits in an answer."""
MOST_CONTEXT = 50
"""Maximum number of events shown before, and after, each hit."""


Progress = Callable[[int, int], None]
"""Called with the number of processed notes and the total."""


class EventKind(StrEnum):
    """The kind of an event."""

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
        """Accept kinds of findings, such as `failure` for an error."""
        return {"failure": cls.ERROR, "report": cls.SUBAGENT, "instruction": cls.USER}.get(str(value))


RECALLED, RECALLED_END = "<!-- cru:recalled -->", "<!-- /cru:recalled -->"
"""Lines that `cru recall` prints around text for a model.  In notes they may be escaped."""

LISTED = frozenset((EventKind.CORRECTION, EventKind.OUTCOME, EventKind.OPEN_END, EventKind.ENVIRONMENT))
"""Kinds in the findings block, a list of unrelated items: their hits are shown without neighbors."""


class Event(NamedTuple):
    """One message, tool call or finding in a session, or a knowledge item.

    `id` is `<session>#<8 hex>` and does not change while the text is unchanged; a knowledge item has its own id.
    `phase` is the id of a phase, `line` a line of the note, from 1.  `at` is the time of the event, or the start of its
    phase or session.  Only knowledge items have a `title`.
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

    @property
    def speaker(self) -> str:
        """Who said or found this: the kind and, for agents and subagents, the name without its version."""
        name = self.agent.partition("@")[0] if self.kind in (EventKind.AGENT, EventKind.SUBAGENT) else ""
        return f"{self.kind.value} {name}".rstrip()


class Document(NamedTuple):
    """A session as seen by the index: its properties and events.  `path` is relative to the vault."""

    session: str
    path: str
    title: str
    events: tuple[Event, ...]
    started: datetime | None = None
    project: str = ""
    branch: str = ""
    tags: tuple[str, ...] = ()
    parent: str = ""
    archived: bool = False


class Question(NamedTuple):
    """A question and its filters.

    `text` is natural language, or terms, `"phrases"`, `-not` and `field:value`; the other fields are filters.  `agent`
    matches with or without a version.  `since` and `until` are inclusive.  `context` is the number of events before and
    after each hit.  `archived` includes archived sessions, which are otherwise only found by `session`.
    """

    text: str
    kinds: frozenset[EventKind] = frozenset(EventKind)
    session: str = ""
    agent: str = ""
    channel: str = ""
    project: str = ""
    since: datetime | None = None
    until: datetime | None = None
    archived: bool = False
    limit: int = USUAL
    context: int = 2

    @property
    def shown(self) -> int:
        """The number of hits to show."""
        return min(max(self.limit, 1), MOST)

    @property
    def narrows(self) -> bool:
        """True if there are filters; a question with filters and no words finds the newest events."""
        texts = (self.session, self.agent, self.channel, self.project)
        return any((*texts, self.since, self.until)) or self.kinds != frozenset(EventKind)


class Snippet(NamedTuple):
    """A line from an event's text; `marks` are half-open spans of the question's words, in code points.

    `found` has the stems of the question's words in the event's entire text and title.
    """

    text: str
    marks: tuple[tuple[int, int], ...] = ()
    found: frozenset[str] = frozenset()


class Hit(NamedTuple):
    """A matching event with its neighbors in the note.  `parts` are the named components of its `score`.

    `path` is the note's path relative to the vault, or "" for a hit from a server.  `also` are events of other sessions
    with almost the same text, newest first.
    """

    event: Event
    score: float
    parts: Mapping[str, float]
    snippet: Snippet
    before: tuple[Event, ...] = ()
    after: tuple[Event, ...] = ()
    path: str = ""
    also: tuple[Event, ...] = ()


class SessionHit(NamedTuple):
    """A matching session, with the named components of its `score`; `path` as in `Hit`.

    `passage` is its best event, without neighbors, if none of the answer's hits is from this session.
    """

    session: str
    title: str
    score: float
    parts: Mapping[str, float]
    started: datetime | None = None
    project: str = ""
    path: str = ""
    passage: Hit | None = None


class Answer(NamedTuple):
    """The best events and sessions, best first.  `notes` are remarks for the user, for example about missing notes.

    `uncertain` is True if no hit has enough of the question's words.
    """

    hits: tuple[Hit, ...] = ()
    sessions: tuple[SessionHit, ...] = ()
    notes: tuple[str, ...] = ()
    uncertain: bool = False


class Recall(Protocol):
    """A search engine: the embedded one, or a server."""

    def ask(self, question: Question, now: datetime) -> Answer:
        """Answer a question.  Any text is a valid question."""
        ...

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """Return the events with these ids, in that order; unknown ids are skipped."""
        ...

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """Return the event and its neighbors in the note; empty if the id is unknown."""
        ...


class ItemCatalog(Protocol):
    """Knowledge items by name, which is their note's path relative to the vault."""

    def stamps(self) -> Mapping[str, str]:
        """Return a stamp of each item, which changes with its text.  Called for each question."""
        ...

    def document(self, name: str) -> Document | None:
        """Return the item as a document with one event of kind knowledge; its id is also used as the session id."""
        ...

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        """Return the weight of an item, and the named factors of the weight, for `--explain`."""
        ...


class _NoItems:
    """An empty catalog."""

    def stamps(self) -> Mapping[str, str]:
        return {}

    def document(self, name: str) -> Document | None:
        del name
        return None

    def weigh(self, identity: str, now: datetime) -> tuple[float, Mapping[str, float]]:
        del identity, now
        return 1.0, {}


NO_ITEMS: ItemCatalog = _NoItems()
"""A catalog without items."""


def hash_of(kind: EventKind, text: str, count: int) -> str:
    """Return eight hex digits that identify a text; `count` is the number of earlier events with the same text."""
    hashed = f"{kind}\0{count}\0{text}" if count else f"{kind}\0{text}"
    return blake2b(hashed.encode("utf-8", "replace"), digest_size=4).hexdigest()


def seconds_of(at: datetime | None) -> int | None:
    """Return a time in seconds since 1970."""
    return None if at is None else int(at.timestamp())


def time_of(seconds: int | None) -> datetime | None:
    """Convert seconds since 1970 to a time."""
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC)
