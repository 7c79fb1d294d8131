"""A case made of what was found: its id, where it comes from, what is counted of it.

Owns that an id and a digest say the same however often a session is read, and after its note has grown: an id is of the words that the case
is about, a digest of all words of its body.  Difficulty is by the number of failed calls and of calls that it took.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b
from typing import NamedTuple

from crucible.cases.excerpts import CUT
from crucible.cases.model import (
    BODIES,
    Body,
    Case,
    CaseType,
    Correction,
    Difficulty,
    Place,
    Puzzle,
    Trajectory,
    Turn,
    Verification,
)
from crucible.cases.texts import names_of, texts_of
from crucible.cases.timeline import Moment, Timeline
from crucible.note.contain import normal_line
from crucible.session.findings import Finding
from crucible.tokens import Estimate

__all__ = ["Measured", "Size", "case_id", "difficulty_of", "distinct", "make_case", "measure", "measured"]

_UNCOUNTED = frozenset({"hints", "attribution"})
"""Fields that tell no two cases apart: what was made of a failure later."""


def make_case(
    timeline: Timeline,
    moment: Moment,
    body: Body,
    anchor: str,
    *,
    finding: Finding | None = None,
    verification: Verification | None = None,
) -> Case:
    """The case of a body, not yet `measured`.

    `anchor` are the words that tell it from the others of its type in the session; `moment` is where it stands; `finding` names it.
    """
    session, phase = timeline.session, timeline.phase_of(moment.at)
    above = timeline.phases.get(moment.phase.partition(".")[0], phase)
    agent = phase.agent or above.agent or next(iter(session.participants), None)
    turns = _turns(body)
    type_ = next(one for one, kind in BODIES.items() if isinstance(body, kind))
    return Case(
        id=case_id(session.id, type_, anchor),
        type=type_,
        place=Place(session.id, moment.phase, moment.phase_name, moment.line),
        body=body,
        title=finding.summary if finding else "",
        finding=finding.id if finding else "",
        agent=str(agent) if agent else "",
        model=session.model or "",
        channel=phase.channel or above.channel or session.channel or "",
        project=session.project or "",
        started=phase.started or above.started or session.started,
        tools=tuple(sorted({call.name for turn in turns for call in turn.calls})),
        tags=tuple(tag for tag in session.tags if tag != "session"),
        difficulty=difficulty_of(turns),
        verification=verification or Verification(),
        complete=timeline.complete
        and not any(CUT in text for text in texts_of([one.calls for one in turns])),
        problems=tuple(f"line {one.line}: {one.message}" for one in session.problems),
    )


def case_id(session: str, type_: CaseType, anchor: str, nth: int = 0) -> str:
    """`<session>-<type>-<8 hex>`; `nth` counts those before it that have the same anchor."""
    words = normal_line(anchor).casefold()
    told = f"{type_}\n{words}" + (f"\n{nth}" if nth else "")
    return f"{session}-{type_}-{_hex(told)}"


def distinct(cases: Iterable[Case]) -> Iterator[Case]:
    """Cases of one session in the order of its note, each with an id of its own: the second of the same gets another."""
    taken: set[str] = set()
    for case in cases:
        nth, ident = 0, case.id
        while ident in taken:
            nth += 1
            ident = case_id(case.place.session, case.type, case.id.removeprefix(case.place.session), nth)
        taken.add(ident)
        yield case if ident == case.id else replace(case, id=ident)


_COUNTER = Estimate()


class Measured(NamedTuple):
    """Of a turn or a text: its tokens, and a digest of its words."""

    tokens: int
    digest: bytes


def measure(value: object) -> Measured:
    """Of a part of a body: blanks, and where a turn's calls stood, do not count for the digest.  What is neither text nor turn has no tokens."""
    if isinstance(value, str):
        return Measured(_COUNTER.count(value), _digest(" ".join(value.split())))
    if not isinstance(value, Turn):
        return Measured(0, _digest(" ".join(str(value).split())))
    if not value.calls:
        told = " ".join(value.text.split())
        return Measured(
            _COUNTER.count(value.text), _digest(f"{value.role.value}\x1f{value.failed}\x1f{told}")
        )
    texts = [value.role.value, str(value.failed), value.text]
    for call in value.calls:
        texts += [call.name, *texts_of(call.arguments)]
    said_by = "\x1f".join([" ".join(text.split()) for text in texts])
    return Measured(_COUNTER.count("\n".join(texts[2:])), _digest(said_by))


class Size:
    """The tokens and the digest of a body, which is told field by field."""

    __slots__ = ("_digests", "tokens")

    def __init__(self, type_: CaseType) -> None:
        self.tokens = 0
        self._digests = [type_.value.encode()]

    def add(self, name: str, parts: Iterable[Measured]) -> None:
        """A field, by its name and its parts; some fields tell no two cases apart, and their parts are not asked for."""
        if name in _UNCOUNTED:
            return
        self._digests.append(name.encode())
        for one in parts:
            self.tokens += one.tokens
            self._digests.append(one.digest)

    @property
    def digest(self) -> str:
        """Of all words so far."""
        return blake2b(b"\x1f".join(self._digests), digest_size=16).hexdigest()


def measured(case: Case) -> Case:
    """A case with the tokens and the digest that its body has now."""
    size = Size(case.type)
    for name in names_of(type(case.body)):
        value = getattr(case.body, name)
        size.add(name, map(measure, value if isinstance(value, tuple) else (value,)))
    return replace(case, tokens=size.tokens, digest=size.digest)


def _digest(text: str) -> bytes:
    return blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def _hex(text: str) -> str:
    return _digest(text)[:4].hex()


# --- what it took ----------------------------------------------------------------------------------------------------

_FEW, _MANY = 3, 12


def difficulty_of(turns: Iterable[Turn]) -> Difficulty:
    """Easy with at most one failed call and three calls; hard from three failed ones or from twelve calls on."""
    turns = list(turns)
    failed = sum(turn.failed for turn in turns)
    calls = sum(len(turn.calls) for turn in turns)
    if failed >= _FEW or calls >= _MANY:
        return Difficulty.HARD
    return Difficulty.EASY if failed <= 1 and calls <= _FEW else Difficulty.MEDIUM


def _turns(body: Body) -> tuple[Turn, ...]:
    match body:
        case Puzzle():
            return body.tried + body.solution
        case Correction():
            return body.did + body.then
        case Trajectory():
            return body.turns
        case _:
            return ()
