"""A learning case: a piece of a session that teaches, with its origin, and the texts and words in it.

Texts are redacted and hold no absolute paths. A case is the same however often its session is read.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum
from typing import Any, NamedTuple, TypeAlias, TypeVar

from crucible.core.text.words import WORD, stem, stop_words
from crucible.documents.knowledge.items import Attribution


class CaseType(StrEnum):
    """What a case teaches."""

    PUZZLE = "puzzle"
    CORRECTION = "correction"
    DECISION = "decision"
    DELEGATION = "delegation"
    WORKFLOW = "workflow"


class Difficulty(StrEnum):
    """How much it took: by the number of tries, and of steps to the resolution."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Fault(StrEnum):
    """Whose failure it was; only the agent's makes a puzzle."""

    AGENT = "agent"
    ENVIRONMENT = "environment"
    TRANSIENT = "transient"
    CANCELLED = "cancelled"
    REJECTED = "rejected"


class CaseStatus(StrEnum):
    """What a human said of a case."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Role(StrEnum):
    """Who speaks in a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class CaseCall:
    """A tool call: its name and arguments, as JSON values.

    Where only the note's one line is known that is all: `{"input": line}`, or a shell's `{"command": line}` where the line is whole.
    """

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One message: an assistant's may hold calls, a tool's answers the call `answers`; `failed` is the tool's."""

    role: Role
    text: str = ""
    calls: tuple[CaseCall, ...] = ()
    answers: str = ""
    failed: bool = False


class Place(NamedTuple):
    """Where a case comes from: the session's id, the phase's id and name, and the note's line, from 1."""

    session: str
    phase: str
    phase_name: str
    line: int


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A failure of the agent's and what fixed it.

    `goal` is what was asked for, `state` what was done before, `tried` the turns up to and including the failure, `failure` the exact message,
    `solution` the turns that mended it (empty: an open puzzle), `expected` the resolution in words.  `hints` give away more and more, the last
    one not the answer.
    """

    goal: str
    state: str
    tried: tuple[CaseTurn, ...]
    failure: str
    expected: str = ""
    solution: tuple[CaseTurn, ...] = ()
    hints: tuple[str, ...] = ()
    attribution: Attribution | None = None

    @property
    def is_open(self) -> bool:
        """Whether nobody mended it."""
        return not self.expected and not self.solution


@dataclass(frozen=True, slots=True)
class Correction:
    """What the agent did, the user's exact words (of a rejected call what was said with it, perhaps ""), and what followed."""

    goal: str
    did: tuple[CaseTurn, ...]
    words: str
    then: tuple[CaseTurn, ...]
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision: the situation, the options that were named, the choice, why, and how it turned out later."""

    situation: str
    options: tuple[str, ...]
    choice: str
    rationale: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Delegation:
    """Work that was given away; `used` is None where that cannot be told, `evidence` what shows it."""

    agent: str
    task: str
    result: str
    used: bool | None = None
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A completed phase: the steps that led to its outcome."""

    goal: str
    turns: tuple[CaseTurn, ...]


Body: TypeAlias = Puzzle | Correction | Choice | Delegation | Trajectory
BODIES: Mapping[CaseType, type[Body]] = {
    CaseType.PUZZLE: Puzzle,
    CaseType.CORRECTION: Correction,
    CaseType.DECISION: Choice,
    CaseType.DELEGATION: Delegation,
    CaseType.WORKFLOW: Trajectory,
}


def type_of(body: Body) -> CaseType:
    """What a body is one of."""
    return next(one for one, kind in BODIES.items() if isinstance(body, kind))


@dataclass(frozen=True, slots=True)
class Case:
    """One case.  `id` is stable over runs, `digest` is of its content and tells duplicates.

    `title` and `finding` are the summary and id of the finding that it was made of, "" for a workflow without one.
    `tokens` is an estimate of its whole text; `complete` is true if whole events were available and not only the note's lines; `problems` are those of its
    note; `redactions` counts by rule what was redacted at extraction.  `review` is a human's verdict on it.
    `verification` is a command that passed afterwards and proved the outcome, in one line; "" for none.
    """

    id: str
    type: CaseType
    place: Place
    body: Body
    title: str = ""
    finding: str = ""
    agent: str = ""
    model: str = ""
    channel: str = ""
    project: str = ""
    started: datetime | None = None
    tools: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    difficulty: Difficulty = Difficulty.MEDIUM
    tokens: int = 0
    fault: Fault = Fault.AGENT
    verification: str = ""
    digest: str = ""
    complete: bool = True
    problems: tuple[str, ...] = ()
    redactions: Mapping[str, int] = field(default_factory=dict)
    review: CaseStatus = CaseStatus.PROPOSED


_T = TypeVar("_T")


def names_of(kind: type) -> tuple[str, ...]:
    """The names of a dataclass's fields, in their order."""
    return tuple(each.name for each in fields(kind))


def texts_of(value: object) -> Iterator[str]:
    """Every text in a value of `model`, in the order of its fields; keys of arguments too."""
    if isinstance(value, Enum):
        return
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        for key, one in value.items():
            yield str(key)
            yield from texts_of(one)
    elif isinstance(value, tuple | list):
        for one in value:
            yield from texts_of(one)
    elif is_dataclass(value):
        for name in names_of(type(value)):
            yield from texts_of(getattr(value, name))


def map_texts(value: _T, change: Callable[[str, str], str], key: str = "") -> _T:
    """The value with `change` applied to every text; it gets the text and the name of its argument ("" for none)."""
    given: Any = value
    if isinstance(given, str) and not isinstance(given, Enum):
        given = change(given, key)
    elif isinstance(given, Mapping):
        given = {change(str(name), ""): map_texts(one, change, str(name)) for name, one in given.items()}
    elif isinstance(given, tuple | list):
        given = type(given)(map_texts(one, change, key) for one in given)
    elif is_dataclass(given) and not isinstance(given, type):
        names = names_of(type(given))
        given = replace(given, **{name: map_texts(getattr(given, name), change) for name in names})
    return given  # type: ignore[no-any-return]


_ENDS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e")


def content_words(text: str) -> frozenset[str]:
    """The stems of the words of a text, of its first 4,000 characters, that say something."""
    words = [word for word in WORD.findall(text[:4000].casefold()) if word not in stop_words("cases")]
    return frozenset(stem(word, _ENDS) if word.isascii() else word for word in words)
