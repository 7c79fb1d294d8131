"""Merge an agent's claims into a note's findings block, without duplicates.

If the detector found the same thing, claim and item become one: callouts and the user's words stay; other items get the
agent's text.  Items that a user wrote, edited or deleted are left alone.  A new review replaces only earlier claims.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from crucible.analysis.review.review_answer import Claim, stems_of
from crucible.core.text import overlap
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.findings_block import normal_item, render_item
from crucible.documents.session.session import Decision, Failure, FindingItem, Grounds, Session

_CONFIDENCE = {
    Kind.DECISION: 0.82,
    Kind.INSTRUCTION: 0.6,
    Kind.CORRECTION: 0.84,
    Kind.FAILURE: 0.87,
    Kind.OUTCOME: 0.91,
    Kind.OPEN_END: 0.91,
    Kind.ENVIRONMENT: 0.88,
}
"""The precision for each kind, measured on labelled real sessions; see `docs/agents.md`.

For environment facts, a fact counts as correct if the labels list it as any kind.
"""
_ORDER = {str(kind): at for at, kind in enumerate(_CONFIDENCE)}
_LIKE, _SAME = 0.2, 0.6
"""Minimum similarity of two texts about the same thing: with a common row, and without one."""
_MOST_ROWS = 8


class Detected(NamedTuple):
    """The detector's findings in the events: items for the findings block, and callouts."""

    items: Sequence[FindingItem] = ()
    callouts: Sequence[Decision | Failure] = ()


class AgentItem(NamedTuple):
    """An agent's item.  `was` is the detector's item that it replaced."""

    item: FindingItem
    was: FindingItem | None = None


class MergedFindings(NamedTuple):
    """All items of the block, including the agent's, and the agent's earlier items that a user deleted or reworded."""

    items: tuple[FindingItem, ...]
    from_agent: tuple[AgentItem, ...] = ()
    gone: tuple[AgentItem, ...] = ()


@dataclass(slots=True, eq=False)
class _Thing:
    """Something already known: the block's item at index `at`, a callout, or something that a user deleted.

    `detected` is the detector's item, or None for an item that a user wrote and that therefore stays.
    """

    kinds: Collection[str]
    rows: Collection[str]
    text: str
    at: int = -1
    detected: FindingItem | None = None
    is_gone: bool = False


def merge_claims(
    session: Session, claims: Sequence[Claim], detected: Detected, earlier: Sequence[AgentItem], source: str
) -> MergedFindings:
    """Merge claims into the findings block after a review.

    `earlier` are the items of the last review; `source` is the source of new items.
    """
    found = {_lines(item): normal_item(item) for item in detected.items}
    items = [*_without(earlier, session.findings, found)]
    things = [*_present(session, items, found), *_gone(session, items, found, detected.callouts, earlier)]
    unpaired, ours, added = [*claims], list[AgentItem](), list[FindingItem]()
    for claim, thing in _pairs(claims, things):
        unpaired.remove(claim)
        if thing.detected:
            items[thing.at] = _joined(thing.detected, claim, source)
            ours.append(AgentItem(items[thing.at], thing.detected))
        elif thing.at < 0 and not thing.is_gone and claim.also and claim.also not in thing.kinds:
            added.append(_item(replace(claim, kind=claim.also, also=None), source))
    added += [_item(claim, source) for claim in unpaired]
    added.sort(key=lambda item: _ORDER.get(item.kind, len(_ORDER)))
    present = {_lines(item) for item in session.findings}
    gone = tuple(one for one in earlier if _lines(one.item) not in present)
    return MergedFindings((*items, *added), (*ours, *map(AgentItem, added)), gone)


def _lines(item: FindingItem) -> tuple[str, ...]:
    """Return the lines of an item in a note."""
    return tuple(render_item(item))


def _rows(item: FindingItem | Decision | Failure) -> tuple[str, ...]:
    return item.grounds.rows if item.grounds else ()


def _key(item: FindingItem) -> tuple[str, str]:
    """Return what identifies a detector's item while the session continues: its kind and first row."""
    return item.kind, next(iter(_rows(item)), item.text)


def _kinds(item: FindingItem) -> tuple[str, ...]:
    return tuple(filter(None, (item.kind, item.also)))


# --- known things ----------------------------------------------------------------------------------------------------


def _without(
    earlier: Sequence[AgentItem], items: Sequence[FindingItem], found: dict[tuple[str, ...], FindingItem]
) -> Iterator[FindingItem]:
    """Yield the items without those of the last review.

    If an item replaced one of the detector's, yield the detector's item instead, as detected now.
    """
    reviewed, present = {_lines(one.item): one for one in earlier}, {_lines(item) for item in items}
    missing = {_key(item): item for lines, item in found.items() if lines not in present}
    for item in items:
        old = reviewed.get(_lines(item))
        if old is None:
            yield item
        elif old.was and (now := missing.pop(_key(old.was), None)):
            yield now


def _present(
    session: Session, items: Sequence[FindingItem], found: dict[tuple[str, ...], FindingItem]
) -> Iterator[_Thing]:
    """Yield the items of the block, and the findings in callouts."""
    for at, item in enumerate(items):
        yield _Thing(_kinds(item), _rows(item), item.text, at, item if _lines(item) in found else None)
    for finding in findings_of(replace(session, findings=())):
        text = f"{finding.summary} {finding.cause} {finding.resolution} {finding.details}"
        yield _Thing((finding.kind,), finding.rows, text)


def _gone(
    session: Session,
    items: Sequence[FindingItem],
    found: dict[tuple[str, ...], FindingItem],
    callouts: Iterable[Decision | Failure],
    earlier: Sequence[AgentItem],
) -> Iterator[_Thing]:
    """Yield findings of the detector or an agent that are no longer in the note: a user deleted or reworded them."""
    present = {_lines(item) for item in (*session.findings, *items)}
    for item in (*found.values(), *(one.item for one in earlier)):
        if _lines(item) not in present:
            yield _Thing(_kinds(item), _rows(item), item.text, is_gone=True)
    known = {(one.kind, row) for one in findings_of(session) for row in one.rows[:1]}
    for callout in callouts:
        kind = Kind.DECISION if isinstance(callout, Decision) else Kind.FAILURE
        rows = _rows(callout)
        if rows and (kind, rows[0]) not in known:
            yield _Thing((kind,), rows, callout.text, is_gone=True)


# --- merging ---------------------------------------------------------------------------------------------------------


def _pairs(claims: Sequence[Claim], things: Sequence[_Thing]) -> Iterator[tuple[Claim, _Thing]]:
    """Pair each claim with the thing that it is about, the most similar first.

    Each thing is paired only once, except for deleted things.
    """
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
    """Return how similar a claim and a thing are; 0 if they are different things."""
    kinds = {_group(kind) for kind in (claim.kind, claim.also) if kind}
    if not kinds & {_group(kind) for kind in thing.kinds}:
        return 0.0
    words, others = stems_of(f"{claim.text} {claim.why}"), stems_of(thing.text)
    like = overlap(words, others)
    has_row = not {*claim.rows}.isdisjoint(thing.rows)
    return like + has_row if like >= (_LIKE if has_row else _SAME) else 0.0


def _group(kind: str) -> str:
    """Return the kind for comparisons.  A decision and an instruction may be about the same thing."""
    return Kind.DECISION if kind == Kind.INSTRUCTION else kind


def _joined(item: FindingItem, claim: Claim, source: str) -> FindingItem:
    """Return a detector's item with the agent's claim about it.  A correction keeps the user's words."""
    kind = claim.also if claim.also and claim.also == item.kind else claim.kind
    also = claim.kind if kind == claim.also else claim.also
    rows = tuple(dict.fromkeys((*_rows(item), *claim.rows)))[:_MOST_ROWS]
    confidence = max(_CONFIDENCE[claim.kind], item.grounds.confidence if item.grounds else 0)
    grounds = Grounds(source, confidence, rows, claim.phase)
    if item.kind == Kind.CORRECTION:
        text, details = item.text, _details(claim.text, item.details)
    else:
        text, details = claim.text, _details(claim.why, item.details)
    return normal_item(FindingItem(kind, text, details, grounds, also=also or "", evidence=claim.quote))


def _item(claim: Claim, source: str) -> FindingItem:
    grounds = Grounds(source, _CONFIDENCE[claim.kind], claim.rows, claim.phase)
    return normal_item(
        FindingItem(claim.kind, claim.text, claim.why, grounds, also=claim.also or "", evidence=claim.quote)
    )


def _details(*parts: str | None) -> str | None:
    return "; ".join(part.rstrip(".;") for part in parts if part) or None
