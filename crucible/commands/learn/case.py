"""Learning cases: their types, ids, digests and difficulty.

Extracting a session again gives the same cases with the same ids.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, is_dataclass, replace
from datetime import datetime
from enum import Enum, StrEnum
from functools import lru_cache
from hashlib import blake2b
from itertools import repeat
from typing import Any, NamedTuple, TypeAlias, TypeVar, cast

from crucible.core.patterns import late_pattern
from crucible.core.text import WORD, stem, stop_words
from crucible.core.tokens import Estimate
from crucible.documents.knowledge.items import Attribution
from crucible.documents.markdown.containment import normal_line


class CaseType(StrEnum):
    """What a case teaches."""

    PUZZLE = "puzzle"
    CORRECTION = "correction"
    DECISION = "decision"
    DELEGATION = "delegation"
    WORKFLOW = "workflow"


class Difficulty(StrEnum):
    """How hard a case was, by its number of failed calls and of all calls."""

    EASY = "easy"
    MEDIUM = "medium"
    HARD = "hard"


class Fault(StrEnum):
    """Who or what caused a failure; only the agent's own failures are attributed."""

    AGENT = "agent"
    ENVIRONMENT = "environment"
    TRANSIENT = "transient"
    CANCELLED = "cancelled"
    REJECTED = "rejected"


class CaseStatus(StrEnum):
    """The user's review of a case."""

    PROPOSED = "proposed"
    ACCEPTED = "accepted"
    REJECTED = "rejected"


class Role(StrEnum):
    """The author of a turn."""

    USER = "user"
    ASSISTANT = "assistant"
    TOOL = "tool"


@dataclass(frozen=True, slots=True)
class CaseCall:
    """A tool call: its name and its arguments, which are JSON values.

    If only the one-line form in the note is known, the arguments are `{"input": line}`, or `{"command": line}` for an
    uncut shell command.
    """

    id: str
    name: str
    arguments: Mapping[str, object]


@dataclass(frozen=True, slots=True)
class CaseTurn:
    """One message. An assistant message may contain calls; a tool message is the result of the call `answers`."""

    role: Role
    text: str = ""
    calls: tuple[CaseCall, ...] = ()
    answers: str = ""
    failed: bool = False


class Place(NamedTuple):
    """The origin of a case: the session's id, the phase's id and name, and the line in the note, from 1."""

    session: str
    phase: str
    phase_name: str
    line: int


@dataclass(frozen=True, slots=True)
class Puzzle:
    """A failure and its fix.

    `goal` is the user's request and `state` the affected files before the fix. `tried` are the turns up to the failure,
    `failure` is the exact message, `solution` are the turns that fixed it, and `expected` describes the fix. Each of
    the `hints` reveals more than the previous one, but none reveals the answer.
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
        """True if the failure was never fixed."""
        return not self.expected and not self.solution


@dataclass(frozen=True, slots=True)
class Correction:
    """Work that the user corrected: what the agent `did`, the user's exact words, and what the agent did `then`.

    `rejected` is the call that the user rejected, "" for none; a rejection may come without words.
    """

    goal: str
    did: tuple[CaseTurn, ...]
    words: str
    then: tuple[CaseTurn, ...]
    rejected: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A decision: the situation, the options, the choice, the rationale and the outcome."""

    situation: str
    options: tuple[str, ...]
    choice: str
    rationale: str = ""
    outcome: str = ""


@dataclass(frozen=True, slots=True)
class Delegation:
    """Work delegated to a subagent. `used` is None if unknown; `evidence` is text that shows a use of the result."""

    agent: str
    task: str
    result: str
    used: bool | None = None
    evidence: str = ""


@dataclass(frozen=True, slots=True)
class Trajectory:
    """A completed phase: its goal and the turns that led to its outcome."""

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
    """Return the type of case that a body belongs to."""
    return next(one for one, kind in BODIES.items() if isinstance(body, kind))


@dataclass(frozen=True, slots=True)
class Case:
    """One learning case.

    `id` stays the same when the session is extracted again. `digest` is the hash of the content, equal for duplicates.
    `title` and `finding` are the summary and id of the finding behind the case. `tokens` is an estimate for all text.
    `complete` is True if the arguments of all calls are known and uncut. `problems` are those of the session's note.
    `redactions` counts secrets by rule. `verification` is a one-line command that passed afterwards and proved the
    outcome; "" for none.
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


CUT = "[… cut …]"
"""Marks where text was shortened."""

_T = TypeVar("_T")


def field_names(kind: type[Any]) -> tuple[str, ...]:
    """Return the field names of a dataclass in order."""
    return tuple(kind.__dataclass_fields__)  # `fields` takes ten times as long


def texts_of(value: object) -> Iterator[str]:
    """Yield every string in a value, in field order, including the keys of mappings."""
    return (text for text, _ in _keyed_texts(value))


def _keyed_texts(value: object) -> list[tuple[str, str]]:
    """Return every string in a value with the mapping key it is stored under, "" for keys and for other strings."""
    found: list[tuple[str, str]] = []
    _add_texts(value, "", found)
    return found


_PLAIN_VALUES = frozenset({type(None), bool, int, float, Role, CaseType, Difficulty, Fault})
"""Types of values without text, which are the most frequent after strings."""


def _add_texts(value: object, key: str, found: list[tuple[str, str]]) -> None:
    kind = type(value)
    if kind is str:
        found.append((value, key))  # type: ignore[arg-type]
    elif kind in _PLAIN_VALUES:
        pass
    elif isinstance(value, str):
        if not isinstance(value, Enum):
            found.append((value, key))
    elif isinstance(value, tuple | list):
        for one in value:
            _add_texts(one, key, found)
    elif isinstance(value, Mapping):
        for name, one in value.items():
            found.append((str(name), ""))
            _add_texts(one, str(name), found)
    elif is_dataclass(value):
        for name in field_names(type(value)):
            _add_texts(getattr(value, name), "", found)


def map_texts(value: _T, change: Callable[[str, str], str]) -> _T:
    """Apply `change` to every string in a value. Its arguments are the string and its mapping key ("" for none).

    If nothing changes, the value itself is returned.
    """
    texts = _keyed_texts(value)
    changed = [change(text, key) for text, key in texts]
    is_same = all(new is old for new, (old, _) in zip(changed, texts, strict=True))
    return value if is_same else cast("_T", _with_texts(value, iter(changed)))


def _with_texts(value: Any, texts: Iterator[str]) -> Any:
    """Replace the strings in a value by `texts`, which have the order of `texts_of`."""
    if isinstance(value, str):
        return value if isinstance(value, Enum) else next(texts)
    if isinstance(value, Mapping):
        changed: dict[str, object] = {}
        for one in value.values():
            key = next(texts)
            changed[key] = _with_texts(one, texts)
        return changed
    if isinstance(value, tuple | list):
        return type(value)(map(_with_texts, value, repeat(texts)))
    if is_dataclass(value) and not isinstance(value, type):
        names = field_names(type(value))
        values = (getattr(value, name) for name in names)
        return replace(value, **dict(zip(names, map(_with_texts, values, repeat(texts)), strict=True)))
    return value


_ENDS = ("ings", "ing", "ies", "ied", "ers", "ed", "es", "er", "ly", "s", "y", "e")


def content_words(text: str) -> frozenset[str]:
    """Return the stems of a text's words, without stop words. Only the first 4,000 characters are read."""
    ignored = stop_words("cases")
    words = {*WORD.findall(text[:4000].casefold())} - ignored
    return frozenset(stem(word, _ENDS) if word.isascii() else word for word in words)


@lru_cache(20_000)
def stems_of(word: str) -> frozenset[str]:
    """Return `content_words` of a word, which recurs within a session."""
    return content_words(word)


_PLAIN = late_pattern(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}")
_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9._-]+")
_UNCOUNTED = frozenset({"hints", "attribution"})
"""Derived fields, which count for neither digest nor tokens."""


def case_id(session: str, type_: CaseType, anchor: str, nth: int = 0) -> str:
    """Return `<session>-<type>-<8 hex>`; `nth` numbers the cases with the same anchor, from 0."""
    words = normal_line(anchor).casefold()
    hashed = f"{type_}\n{words}" + (f"\n{nth}" if nth else "")
    return f"{_file_name(session)}-{type_}-{_hex(hashed)}"


def _file_name(session: str) -> str:
    """Return the session's id as part of a file name. If the id has to change, a digest keeps the name unique."""
    if _PLAIN.fullmatch(session):
        return session
    return f"{_NOT_PLAIN.sub('-', session).strip('-.')[:80]}-{_hex(session)}".lstrip("-")


def with_unique_ids(cases: Iterable[Case]) -> Iterator[Case]:
    """Make the ids of a session's cases unique. The first case in the note keeps an id that others share."""
    taken: dict[str, int] = {}  # with the last number used for its duplicates
    for case in cases:
        nth, ident = taken.get(case.id, 0), case.id
        while ident in taken:
            nth += 1
            ident = case_id(case.place.session, case.type, case.id.removeprefix(case.place.session), nth)
        taken |= {ident: 0, case.id: nth}
        yield case if ident == case.id else replace(case, id=ident)


_COUNTER = Estimate()


def with_digest(case: Case) -> Case:
    """Set a case's tokens and digest from its body; the digest ignores whitespace and the ids of calls."""
    names = (name for name in field_names(type(case.body)) if name not in _UNCOUNTED)
    texts = [*_words_of(tuple(getattr(case.body, name) for name in names))]
    hashed = "\x1e".join([case.type.value, *(" ".join(text.split()) for text in texts)])
    digest = blake2b(hashed.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
    return replace(case, tokens=_COUNTER.count("\n".join(texts)), digest=digest)


def _words_of(value: object) -> Iterator[str]:
    if isinstance(value, CaseTurn):
        yield value.text
        for call in value.calls:
            yield call.name
            yield from texts_of(call.arguments)
    elif isinstance(value, tuple):
        for one in value:
            yield from _words_of(one)
    else:
        yield from texts_of(value)


def _hex(text: str) -> str:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()[:4].hex()


# --- difficulty -------------------------------------------------------------------------------------------------------

_FEW, _MANY = 3, 12


def difficulty_of(turns: Iterable[CaseTurn]) -> Difficulty:
    """Return the difficulty. Easy: up to one failed call and three calls; hard: three failed calls or twelve calls."""
    turns = list(turns)
    failed = sum(turn.failed for turn in turns)
    calls = sum(len(turn.calls) for turn in turns)
    if failed >= _FEW or calls >= _MANY:
        return Difficulty.HARD
    return Difficulty.EASY if failed <= 1 and calls <= _FEW else Difficulty.MEDIUM


def body_turns(body: Body) -> tuple[CaseTurn, ...]:
    """Return all turns of a body; none for a decision or a delegation."""
    match body:
        case Puzzle():
            return body.tried + body.solution
        case Correction():
            return body.did + body.then
        case Trajectory():
            return body.turns
        case _:
            return ()
