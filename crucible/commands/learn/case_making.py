"""Build a case: its id, origin, difficulty, digest and tokens.

The id depends on the words that the case is about, the digest on all words of its body; neither changes when the note
grows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from hashlib import blake2b

from crucible.analysis.tools.tool_calls import Moment
from crucible.commands.learn.case import (
    Body,
    Case,
    CaseTurn,
    CaseType,
    Correction,
    Difficulty,
    Place,
    Puzzle,
    Trajectory,
    names_of,
    texts_of,
    type_of,
)
from crucible.commands.learn.excerpts import CUT
from crucible.commands.learn.timeline import Timeline
from crucible.core.patterns import late_pattern
from crucible.core.tokens import Estimate
from crucible.documents.markdown.containment import normal_line
from crucible.documents.session.findings import Finding

_PLAIN = late_pattern(r"[A-Za-z0-9_-][A-Za-z0-9._-]{0,149}")
_NOT_PLAIN = late_pattern(r"[^A-Za-z0-9._-]+")
_UNCOUNTED = frozenset({"hints", "attribution"})
"""Fields that tell no two cases apart: what was made of a failure later."""


def make_case(
    timeline: Timeline,
    moment: Moment,
    body: Body,
    anchor: str,
    *,
    finding: Finding,
    verification: str = "",
) -> Case:
    """The case of a body, not yet `measured`.

    `anchor` are the words that tell it from the others of its type in the session; `moment` is where it stands; `finding` names it.
    """
    session, phase = timeline.session, timeline.phase_of(moment.at)
    above = timeline.phases.get(moment.phase.partition(".")[0], phase)
    agent = phase.agent or above.agent or next(iter(session.participants), None)
    turns = _turns(body)
    type_ = type_of(body)
    return Case(
        id=case_id(session.id, type_, anchor),
        type=type_,
        place=Place(session.id, moment.phase, moment.phase_name, moment.line),
        body=body,
        title=finding.summary,
        finding=finding.id,
        agent=str(agent) if agent else "",
        model=session.model or "",
        channel=phase.channel or above.channel or session.channel or "",
        project=session.project or "",
        started=phase.started or above.started or session.started,
        tools=tuple(sorted({call.name for turn in turns for call in turn.calls})),
        tags=tuple(tag for tag in session.tags if tag != "session"),
        difficulty=difficulty_of(turns),
        verification=verification,
        complete=timeline.complete and not any(CUT in text for text in texts_of([one.calls for one in turns])),
        problems=tuple(f"line {one.line}: {one.message}" for one in session.problems),
    )


def case_id(session: str, type_: CaseType, anchor: str, nth: int = 0) -> str:
    """`<session>-<type>-<8 hex>`; `nth` counts those before it that have the same anchor."""
    words = normal_line(anchor).casefold()
    told = f"{type_}\n{words}" + (f"\n{nth}" if nth else "")
    return f"{_file_name(session)}-{type_}-{_hex(told)}"


def _file_name(session: str) -> str:
    """The session's name, or one that can be part of a file's name; a digest keeps two of them apart."""
    if _PLAIN.fullmatch(session):
        return session
    return f"{_NOT_PLAIN.sub('-', session).strip('-.')[:80]}-{_hex(session)}".lstrip("-")


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


def measured(case: Case) -> Case:
    """A case with the tokens and the digest that its body has now: blanks, and where a turn's calls stood, do not count."""
    names = (name for name in names_of(type(case.body)) if name not in _UNCOUNTED)
    texts = [*_words_of(tuple(getattr(case.body, name) for name in names))]
    told = "\x1e".join([case.type.value, *(" ".join(text.split()) for text in texts)])
    digest = blake2b(told.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
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


# --- what it took ----------------------------------------------------------------------------------------------------

_FEW, _MANY = 3, 12


def difficulty_of(turns: Iterable[CaseTurn]) -> Difficulty:
    """Easy with at most one failed call and three calls; hard from three failed ones or from twelve calls on."""
    turns = list(turns)
    failed = sum(turn.failed for turn in turns)
    calls = sum(len(turn.calls) for turn in turns)
    if failed >= _FEW or calls >= _MANY:
        return Difficulty.HARD
    return Difficulty.EASY if failed <= 1 and calls <= _FEW else Difficulty.MEDIUM


def _turns(body: Body) -> tuple[CaseTurn, ...]:
    match body:
        case Puzzle():
            return body.tried + body.solution
        case Correction():
            return body.did + body.then
        case Trajectory():
            return body.turns
        case _:
            return ()
