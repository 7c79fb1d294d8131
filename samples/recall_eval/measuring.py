"""How well answers fit: recall at 1, 5 and 10, the reciprocal rank, and the gain that counts grades, by kind of question."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from math import log2
from statistics import fmean
from typing import NamedTuple

from crucible.search.recall import Answer, Question
from samples.recall_eval.questions import Graded

NOW = datetime(2026, 11, 22, tzinfo=UTC)
DEPTH = 10
_ASKED_FOR = 2

Ask = Callable[[Question, datetime], Answer]


class Scored(NamedTuple):
    """One question's figures, each between 0 and 1.

    Of recall at n: how many of the answers that were asked for are among the first n, of as many as could be.
    """

    r1: float
    r5: float
    r10: float
    mrr: float
    ndcg: float


class Outcome(NamedTuple):
    """A question with what came of it; `sessions` is None where only an item answers.  `empty`: nothing was found at all."""

    graded: Graded
    found_events: tuple[str, ...]
    found_sessions: tuple[str, ...]
    events: Scored
    sessions: Scored | None
    empty: bool


class Figures(NamedTuple):
    """The means over so many questions."""

    questions: int
    means: Scored


def put_all(questions: Iterable[Graded], ask: Ask) -> list[Outcome]:
    """Ask them all."""
    return [_put(one, ask) for one in questions]


def _put(graded: Graded, ask: Ask) -> Outcome:
    answer = ask(graded.asked.question(DEPTH), NOW)
    events = tuple(hit.event.id for hit in answer.hits)
    sessions = tuple(one.session for one in answer.sessions)
    # An answer that is folded into another one is shown with it.
    folded = {one.id for hit in answer.hits if hit.event.id in graded.events for one in hit.also}
    return Outcome(
        graded,
        events,
        sessions,
        score(events, {one: grade for one, grade in graded.events.items() if one not in folded}),
        score(sessions, graded.sessions) if graded.sessions else None,
        not events and not sessions,
    )


def score(found: Sequence[str], grades: Mapping[str, int]) -> Scored:
    """The figures of what was found, best first."""
    wanted = {one for one, grade in grades.items() if grade == _ASKED_FOR}
    first = next((1 / rank for rank, one in enumerate(found, 1) if one in wanted), 0.0)

    def recall(depth: int) -> float:
        return len(wanted.intersection(found[:depth])) / min(depth, len(wanted))

    best = sorted(grades.values(), reverse=True)[:DEPTH]
    gained = _gain([grades.get(one, 0) for one in found[:DEPTH]])
    return Scored(recall(1), recall(5), recall(DEPTH), first, gained / _gain(best))


def _gain(grades: Sequence[int]) -> float:
    return sum(((1 << grade) - 1) / log2(rank + 1) for rank, grade in enumerate(grades, 1))


def figures_by(outcomes: Iterable[Outcome], side: str, key: Callable[[Outcome], str]) -> dict[str, Figures]:
    """The means of one side, `events` or `sessions`, by what `key` says of a question, and of all."""
    by: dict[str, list[Scored]] = {"all": []}
    for one in outcomes:
        scored: Scored | None = getattr(one, side)
        if scored:
            by.setdefault(key(one), []).append(scored)
            by["all"].append(scored)
    return {name: Figures(len(some), _means(some)) for name, some in by.items()}


def _means(scored: Sequence[Scored]) -> Scored:
    return Scored(*(fmean(column) for column in zip(*scored, strict=True)))
