"""Merge an agent's claims into a note's findings block: one entry for one thing.

If structure found the same thing, claim and item become one: callouts and a person's words stay, other items get the agent's text.  What a human
wrote, edited or deleted stays that way.  Asking again replaces only what an agent said before.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from crucible.analysis.review.review_answer import Claim, stems_of
from crucible.core.text.words import overlap
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.findings_block import normal_noted, render_noted
from crucible.documents.session.session import Decision, Failure, Grounds, Noted, Session

_CONFIDENCE = {
    Kind.DECISION: 0.82,
    Kind.INSTRUCTION: 0.6,
    Kind.CORRECTION: 0.84,
    Kind.FAILURE: 0.87,
    Kind.OUTCOME: 0.91,
    Kind.OPEN_END: 0.91,
    Kind.ENVIRONMENT: 0.88,
}
"""The precision of each kind by labels of real sessions; for environment facts, the share that labels list as any kind.  See `docs/agents.md`."""
_ORDER = {str(kind): at for at, kind in enumerate(_CONFIDENCE)}
_LIKE, _SAME = 0.2, 0.6
"""How similar two texts must be to count as one thing, with a common row and without one."""
_MOST_ROWS = 8


class Detected(NamedTuple):
    """What structure finds in the events: items of the block, and callouts."""

    items: Sequence[Noted] = ()
    callouts: Sequence[Decision | Failure] = ()


class AgentItem(NamedTuple):
    """An item that an agent said; `was` is the item of structure that it replaced."""

    item: Noted
    was: Noted | None = None


class MergedFindings(NamedTuple):
    """The items of the block, those among them that the agent said, and earlier ones that a human deleted or reworded."""

    items: tuple[Noted, ...]
    said: tuple[AgentItem, ...] = ()
    gone: tuple[AgentItem, ...] = ()


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


def merge_claims(
    session: Session, claims: Sequence[Claim], detected: Detected, earlier: Sequence[AgentItem], source: str
) -> MergedFindings:
    """The findings block after an answer; `earlier` are the items that an agent said before, `source` goes into the new ones."""
    found = {_lines(item): normal_noted(item) for item in detected.items}
    items = [*_without(earlier, session.findings, found)]
    things = [*_there(session, items, found), *_gone(session, items, found, detected.callouts, earlier)]
    left, ours, added = [*claims], list[AgentItem](), list[Noted]()
    for claim, thing in _pairs(left, things):
        left.remove(claim)
        if thing.detected:
            items[thing.at] = _joined(thing.detected, claim, source)
            ours.append(AgentItem(items[thing.at], thing.detected))
        elif thing.at < 0 and not thing.is_gone and claim.also and claim.also not in thing.kinds:
            added.append(_item(replace(claim, kind=claim.also, also=None), source))
    added += [_item(claim, source) for claim in left]
    added.sort(key=lambda item: _ORDER.get(item.kind, len(_ORDER)))
    there = {_lines(item) for item in session.findings}
    gone = tuple(told for told in earlier if _lines(told.item) not in there)
    return MergedFindings((*items, *added), (*ours, *map(AgentItem, added)), gone)


def _lines(item: Noted) -> tuple[str, ...]:
    """The lines of an item in a note."""
    return tuple(render_noted(item))


def _rows(item: Noted | Decision | Failure) -> tuple[str, ...]:
    return item.grounds.rows if item.grounds else ()


def _key(item: Noted) -> tuple[str, str]:
    """What an item of structure keeps while the session goes on: its kind and first row."""
    return item.kind, next(iter(_rows(item)), item.text)


def _kinds(item: Noted) -> tuple[str, ...]:
    return tuple(filter(None, (item.kind, item.also)))


# --- what is known ---------------------------------------------------------------------------------------------------


def _without(
    earlier: Sequence[AgentItem], items: Sequence[Noted], found: dict[tuple[str, ...], Noted]
) -> Iterator[Noted]:
    """The items without what an agent said before; items of structure that it replaced are back, as structure finds them now."""
    said, there = {_lines(told.item): told for told in earlier}, {_lines(item) for item in items}
    missing = {_key(item): item for lines, item in found.items() if lines not in there}
    for item in items:
        told = said.get(_lines(item))
        if told is None:
            yield item
        elif told.was and (now := missing.pop(_key(told.was), None)):
            yield now


def _there(session: Session, items: Sequence[Noted], found: dict[tuple[str, ...], Noted]) -> Iterator[_Thing]:
    for at, item in enumerate(items):
        yield _Thing(_kinds(item), _rows(item), item.text, at, item if _lines(item) in found else None)
    for finding in findings_of(replace(session, findings=())):
        told = f"{finding.summary} {finding.cause} {finding.resolution} {finding.details}"
        yield _Thing((finding.kind,), finding.rows, told)


def _gone(
    session: Session,
    items: Sequence[Noted],
    found: dict[tuple[str, ...], Noted],
    callouts: Iterable[Decision | Failure],
    earlier: Sequence[AgentItem],
) -> Iterator[_Thing]:
    """What a human deleted or reworded: structure or an agent found it, but it is no longer in the note."""
    there = {_lines(item) for item in (*session.findings, *items)}
    for item in (*found.values(), *(told.item for told in earlier)):
        if _lines(item) not in there:
            yield _Thing(_kinds(item), _rows(item), item.text, is_gone=True)
    known = {(one.kind, row) for one in findings_of(session) for row in one.rows[:1]}
    for callout in callouts:
        kind = Kind.DECISION if isinstance(callout, Decision) else Kind.FAILURE
        rows = _rows(callout)
        if rows and (kind, rows[0]) not in known:
            yield _Thing((kind,), rows, callout.text, is_gone=True)


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
    like = overlap(words, others)
    has_row = not {*claim.rows}.isdisjoint(thing.rows)
    return like + has_row if like >= (_LIKE if has_row else _SAME) else 0.0


def _group(kind: str) -> str:
    """A decision and an instruction may be one thing."""
    return Kind.DECISION if kind == Kind.INSTRUCTION else kind


def _joined(item: Noted, claim: Claim, source: str) -> Noted:
    """An item of structure with the agent's claim about it; a correction keeps the person's words."""
    kind = claim.also if claim.also and claim.also == item.kind else claim.kind
    also = claim.kind if kind == claim.also else claim.also
    rows = tuple(dict.fromkeys((*_rows(item), *claim.rows)))[:_MOST_ROWS]
    sure = max(_CONFIDENCE[claim.kind], item.grounds.confidence if item.grounds else 0)
    mark = Grounds(source, sure, rows, claim.phase)
    if item.kind == Kind.CORRECTION:
        said, details = item.text, _details(claim.text, item.details)
    else:
        said, details = claim.text, _details(claim.why, item.details)
    return normal_noted(Noted(kind, said, details, mark, also=also or "", evidence=claim.quote))


def _item(claim: Claim, source: str) -> Noted:
    grounds = Grounds(source, _CONFIDENCE[claim.kind], claim.rows, claim.phase)
    return normal_noted(Noted(claim.kind, claim.text, claim.why, grounds, also=claim.also or "", evidence=claim.quote))


def _details(*parts: str | None) -> str | None:
    return "; ".join(part.rstrip(".;") for part in parts if part) or None
