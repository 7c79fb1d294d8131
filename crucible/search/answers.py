"""Finish an answer: fold hits on one topic, add passages to sessions, and decide whether any hit is certain.

The words of a hit are compared with those of the question, not its score: scores depend on the size of the vault.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime

from crucible.core.text import overlap
from crucible.search.question_words import indexable
from crucible.search.recall import EventKind, Hit, SessionHit

UNCERTAIN = "nothing certain: no event has enough of the query's rare words"
_ALIKE = 0.6
"""Minimum shared part of two texts' words (Jaccard) that are about one topic."""
_COMPARED = 2_000
"""Maximum code points of a text to compare."""
_CERTAIN = 0.25
"""Minimum share of the question's words, by weight, in a certain hit.

19 of 20 questions reach it, in each of our sets.  Of questions asked of another set's vault, 28 to 57 % do not.
"""
_UNDATED = datetime.min.replace(tzinfo=UTC)

Analyze = Callable[[str], Sequence[str]]


def fold_hits(hits: Iterable[Hit], limit: int, analyze: Analyze) -> tuple[Hit, ...]:
    """Fold hits of several sessions with almost the same text into the newest one, at the place of the best one.

    If the question names a time, they are folded into the newest one of that time.
    """
    groups: list[tuple[frozenset[str], list[Hit]]] = []
    for hit in hits:
        stems = frozenset(analyze(indexable(hit.event.text[:_COMPARED])))
        group = next((some for first, some in groups if overlap(first, stems, "union") >= _ALIKE), None)
        if group is None or not _may_fold(hit, group):
            groups.append((stems, [hit]))
        else:
            group.append(hit)
    return tuple(_folded(group) for _, group in groups[:limit])


def _may_fold(hit: Hit, group: Iterable[Hit]) -> bool:
    return all(EventKind.KNOWLEDGE not in (hit.event.kind, one.event.kind) for one in group) and all(
        hit.event.session != one.event.session for one in group
    )


def _folded(group: Sequence[Hit]) -> Hit:
    newest, *others = sorted(group, key=lambda one: ("date" in one.parts, one.event.at or _UNDATED), reverse=True)
    return newest._replace(also=tuple(one.event for one in others)) if others else newest


def age_of_folded(hit: Hit) -> str:
    """Return "older", or "other" if some events folded into a hit are newer than it."""
    at = hit.event.at or _UNDATED
    return "older" if all((one.at or _UNDATED) <= at for one in hit.also) else "other"


def with_passages(
    sessions: Iterable[SessionHit], hits: Iterable[Hit], passages: Mapping[str, Hit]
) -> tuple[SessionHit, ...]:
    """Add the passages, by session, to the sessions without a hit."""
    shown = {event.session for hit in hits for event in (hit.event, *hit.also)}
    return tuple(one._replace(passage=None if one.session in shown else passages.get(one.session)) for one in sessions)


def is_uncertain(hits: Sequence[Hit], weights: Mapping[str, float], asked: float) -> bool:
    """Return whether no hit has enough of the question's words; `weights` are of stems, `asked` is that of all words."""
    most = max((sum(weights.get(stem, 0.0) for stem in hit.snippet.found) for hit in hits), default=asked)
    return most < _CERTAIN * asked
