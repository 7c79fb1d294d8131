"""Merge an agent's claims into a note's findings block: one entry for one thing.

If structure found the same thing, claim and item become one: callouts and a person's words stay, other items get the agent's text.  Guesses of structure
that the agent did not name are removed: instructions, and closing texts of turns about which the agent said something.  What a human wrote, edited or
deleted stays that way.  Asking again replaces only what an agent said before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from types import MappingProxyType
from typing import NamedTuple

from crucible.asking.answer import Claim, stems_of
from crucible.session.findings import Kind, Source, findings_of
from crucible.session.model import Decision, Failure, Grounds, Noted, Session
from crucible.session.noted import normal_noted, render_noted

__all__ = ["Detected", "Earlier", "Merged", "merged"]

_CONFIDENCE = {
    Kind.DECISION: 0.93,
    Kind.INSTRUCTION: 0.6,
    Kind.CORRECTION: 0.83,
    Kind.FAILURE: 0.92,
    Kind.OUTCOME: 0.98,
    Kind.OPEN_END: 0.95,
    Kind.ENVIRONMENT: 0.7,
}
"""For each kind, the share of an agent's claims that labels of real sessions list as a finding of any kind; see `docs/agents.md`."""
_ORDER = {str(kind): at for at, kind in enumerate(_CONFIDENCE)}
_LIKE, _SAME = 0.2, 0.6
"""How similar two texts must be to count as one thing, with a common row and without one."""
_MOST_ROWS = 6


class Detected(NamedTuple):
    """What structure finds in the events: items of the block, and callouts.  `turns` has the turn of each short row id."""

    items: Sequence[Noted] = ()
    callouts: Sequence[Decision | Failure] = ()
    turns: Mapping[str, int] = MappingProxyType({})


class Earlier(NamedTuple):
    """What an agent said before, and the guesses of structure that were removed because the agent did not name them."""

    said: tuple[Noted, ...] = ()
    left_out: tuple[Noted, ...] = ()


class Merged(NamedTuple):
    """The items of the block, those among them that the agent said, and what to remember for the next time an agent is asked.

    The last includes what an agent said before and a human deleted or reworded.
    """

    items: tuple[Noted, ...]
    said: tuple[Noted, ...]
    earlier: Earlier


@dataclass(slots=True, eq=False)
class _Thing:
    """Something already known: the item of the block at index `at`, a callout, or something a human deleted.

    `detected` is the item as structure found it, or None if a human wrote it, so that it stays.
    """

    kinds: Collection[str]
    rows: Collection[str]
    text: str
    at: int = -1
    detected: Noted | None = None
    is_gone: bool = False


def merged(
    session: Session, claims: Sequence[Claim], detected: Detected, earlier: Earlier, source: str
) -> Merged:
    """The findings block after an answer; `source` goes into what the agent said."""
    found = {_lines(item): normal_noted(item) for item in detected.items}
    items = _without(earlier, session.findings, found)
    things = [*_there(session, items, found), *_gone(session, found, detected.callouts, earlier)]
    told = {turn for claim in claims for turn in claim.turns}
    weak = {
        thing.at
        for thing in things
        if thing.detected
        and claims
        and _is_guess(thing.detected, {detected.turns.get(row) for row in thing.rows}, told)
    }
    left, ours, added = [*claims], list[Noted](), list[Noted]()
    shared = [thing for claim in left for thing in things if _score(claim, thing)]
    for claim, thing in _pairs(left, things):
        left.remove(claim)
        if thing.detected:
            weak.discard(thing.at)
            items[thing.at] = _joined(thing.detected, claim, source, alone=shared.count(thing) == 1)
            ours.append(items[thing.at])
        elif thing.at < 0 and not thing.is_gone and claim.also and claim.also not in thing.kinds:
            added.append(_item(replace(claim, kind=claim.also, also=None), source))
    added += [_item(claim, source) for claim in left]
    added.sort(key=lambda item: _ORDER.get(item.kind, len(_ORDER)))
    there = {_lines(item) for item in session.findings}
    gone = [item for item in earlier.said if _lines(item) not in there]
    left_out = tuple(item for at, item in enumerate(items) if at in weak)
    kept = (item for at, item in enumerate(items) if at not in weak)
    said = (*ours, *added)
    return Merged((*kept, *added), said, Earlier((*said, *gone), left_out))


def _is_guess(item: Noted, turns: Collection[int | None], told: Collection[int]) -> bool:
    """True for an instruction, and for a closing text of a turn about which the agent said something."""
    source = item.grounds.source if item.grounds else ""
    is_closing = item.kind == Kind.OUTCOME and source == Source.SUMMARY
    return item.kind == Kind.INSTRUCTION or (is_closing and not {*turns}.isdisjoint(told))


def _lines(item: Noted) -> tuple[str, ...]:
    """The lines of an item in a note."""
    return tuple(render_noted(item))


def _row(item: Noted) -> str:
    return item.grounds.rows[0] if item.grounds and item.grounds.rows else ""


def _kinds(item: Noted) -> tuple[str, ...]:
    return tuple(filter(None, (item.kind, item.also)))


# --- what is known ---------------------------------------------------------------------------------------------------


def _without(earlier: Earlier, items: Sequence[Noted], found: dict[tuple[str, ...], Noted]) -> list[Noted]:
    """The items without what an agent said before, with what structure had found put back in its order."""
    said, there = {_lines(item) for item in earlier.said}, {_lines(item) for item in items}
    missing = {lines: item for lines, item in found.items() if lines not in there}
    before = {_row(item): item for item in missing.values() if _row(item)}
    kept = []
    for item in items:
        if _lines(item) not in said:
            kept.append(item)
        elif old := before.pop(_row(item), None):
            kept.append(old)
    kept += [missing[lines] for item in earlier.left_out if (lines := _lines(item)) in missing]
    order = {lines: at for at, lines in enumerate(found)}
    ordered = iter(
        sorted((item for item in kept if _lines(item) in order), key=lambda item: order[_lines(item)])
    )
    return [next(ordered) if _lines(item) in order else item for item in kept]


def _there(session: Session, items: Sequence[Noted], found: dict[tuple[str, ...], Noted]) -> Iterator[_Thing]:
    for at, item in enumerate(items):
        rows = item.grounds.rows if item.grounds else ()
        yield _Thing(_kinds(item), rows, item.text, at, item if _lines(item) in found else None)
    for finding in findings_of(replace(session, findings=())):
        told = f"{finding.summary} {finding.cause} {finding.resolution} {finding.details}"
        yield _Thing((finding.kind,), finding.rows, told)


def _gone(
    session: Session,
    found: dict[tuple[str, ...], Noted],
    callouts: Iterable[Decision | Failure],
    earlier: Earlier,
) -> Iterator[_Thing]:
    """What a human deleted or reworded: structure or an agent found it, but it is no longer in the note."""
    there = {_lines(item) for item in (*session.findings, *earlier.left_out)}
    rows = {_row(item) for item in earlier.said}
    for item in (*(one for one in found.values() if _row(one) not in rows), *earlier.said):
        if _lines(item) not in there:
            told = item.grounds.rows if item.grounds else ()
            yield _Thing(_kinds(item), told, item.text, is_gone=True)
    known = {(one.kind, row) for one in findings_of(session) for row in one.rows[:1]}
    for callout in callouts:
        kind = Kind.DECISION if isinstance(callout, Decision) else Kind.FAILURE
        told = callout.grounds.rows if callout.grounds else ()
        if told and (kind, told[0]) not in known:
            yield _Thing((kind,), told, callout.text, is_gone=True)


# --- one entry for one thing -----------------------------------------------------------------------------------------


def _pairs(claims: Sequence[Claim], things: Sequence[_Thing]) -> Iterator[tuple[Claim, _Thing]]:
    """Pair each claim with the thing it names, the most similar first.  A thing is paired once, unless a human deleted it."""
    scored = [
        (score, -at, -number, claim, thing)
        for at, claim in enumerate(claims)
        for number, thing in enumerate(things)
        if (score := _score(claim, thing))
    ]
    done: set[int] = set()
    for _, _, _, claim, thing in sorted(scored, key=lambda one: one[:3], reverse=True):
        if id(claim) not in done and id(thing) not in done:
            done.add(id(claim))
            if not thing.is_gone:
                done.add(id(thing))
            yield claim, thing


def _score(claim: Claim, thing: _Thing) -> float:
    """How similar a claim and a thing are; 0 if they are different things."""
    kinds = {_group(kind) for kind in (claim.kind, claim.also) if kind}
    if not kinds & {_group(kind) for kind in thing.kinds}:
        return 0.0
    words, others = stems_of(f"{claim.text} {claim.why}"), stems_of(thing.text)
    like = len(words & others) / max(1, min(len(words), len(others)))
    has_row = not {*claim.rows}.isdisjoint(thing.rows)
    return like + has_row if like >= (_LIKE if has_row else _SAME) else 0.0


def _group(kind: str) -> str:
    """A decision and an instruction may be one thing."""
    return Kind.DECISION if kind == Kind.INSTRUCTION else kind


def _joined(item: Noted, claim: Claim, source: str, *, alone: bool) -> Noted:
    """An item of structure with the agent's claim about it.

    A correction keeps the person's words.  Points are dropped if other claims are about the item as well.
    """
    kind = claim.also if claim.also and claim.also == item.kind else claim.kind
    also = claim.kind if kind == claim.also else claim.also
    rows = tuple(dict.fromkeys((*(item.grounds.rows if item.grounds else ()), *claim.rows)))[:_MOST_ROWS]
    mark = Grounds(
        source,
        max(_CONFIDENCE[claim.kind], item.grounds.confidence if item.grounds else 0),
        rows,
        claim.phase,
    )
    if item.kind == Kind.CORRECTION:
        said, details = item.text, _details(claim.text, item.details)
    else:
        said, details = claim.text, _details(claim.why, item.details)
    points = item.points if alone or item.kind == Kind.CORRECTION else ()
    return normal_noted(Noted(kind, said, details, mark, points, also=also or "", evidence=claim.quote))


def _item(claim: Claim, source: str) -> Noted:
    grounds = Grounds(source, _CONFIDENCE[claim.kind], claim.rows, claim.phase)
    return normal_noted(
        Noted(claim.kind, claim.text, claim.why, grounds, also=claim.also or "", evidence=claim.quote)
    )


def _details(*parts: str | None) -> str | None:
    return "; ".join(part.rstrip(".;") for part in parts if part) or None
