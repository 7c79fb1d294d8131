"""How well a search answers questions about real sessions, by kind, with intervals."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from statistics import fmean, quantiles
from typing import NamedTuple

from samples.recall_eval.real_questions import NONE, AnswerTexts, RealQuestion

DEPTH = 5
UNSURE = "nothing certain"
_DRAWS, _FEWER = 2000, 0.05


class Shown(NamedTuple):
    """A hit as printed, with the native ids of its session and of the sessions folded into it."""

    session: str
    text: str
    also: tuple[str, ...] = ()


class Found(NamedTuple):
    """What a search showed: native ids of sessions and hits, best first; `score` is the best hit's.

    `passages` are what is shown of sessions that have no hit.
    """

    sessions: tuple[str, ...] = ()
    hits: tuple[Shown, ...] = ()
    score: float = 0.0
    unsure: bool = False
    passages: tuple[Shown, ...] = ()


class RealOutcome(NamedTuple):
    """A question and how it was answered; the figures are 0 or 1, `mrr` is 1 / rank."""

    question: RealQuestion
    found: Found
    r1: float = 0.0
    r5: float = 0.0
    mrr: float = 0.0
    first: float = 0.0
    shown: float = 0.0
    whole: float = 0.0


FIGURES = {
    "r1": "R@1",
    "r5": "R@5",
    "mrr": "MRR",
    "first": "first hit answers",
    "shown": "a hit answers",
    "whole": "a hit or a session's passage answers",
}


def judge(question: RealQuestion, found: Found, texts: AnswerTexts) -> RealOutcome:
    """Return the figures of one question, from its first five sessions and hits."""
    rank = next((n for n, one in enumerate(found.sessions[:DEPTH], 1) if one in question.sessions), 0)
    hits, passages = (
        [any(texts.are_in(one, hit.text, question) for one in (hit.session, *hit.also)) for hit in some[:DEPTH]]
        for some in (found.hits, found.passages)
    )
    return RealOutcome(
        question,
        found,
        float(rank == 1),
        float(rank > 0),
        1 / rank if rank else 0.0,
        float(any(hits[:1])),
        float(any(hits)),
        float(any((*hits, *passages))),
    )


def interval(values: Sequence[float]) -> tuple[float, float]:
    """Return the 95 % bootstrap interval of the mean."""
    draw = random.Random(1)
    means = sorted(fmean(draw.choices(values, k=len(values))) for _ in range(_DRAWS))
    return means[int(0.025 * _DRAWS)], means[int(0.975 * _DRAWS) - 1]


def table(
    name: str,
    groups: Iterable[tuple[str, Sequence[RealOutcome]]],
    before: Mapping[str, Mapping[str, float]] | None = None,
) -> Iterator[str]:
    """Yield the lines of a table, one line a group, in per cent; with figures from `before`, the changes since."""
    yield f"| {name} | questions | " + " | ".join(FIGURES.values()) + " |"
    yield "|---" * (len(FIGURES) + 2) + "|"
    for group, outcomes in groups:
        rows = [(figures_of(one), before[one.question.text] if before else {}) for one in outcomes]
        cells = (_cell([now[each] - old.get(each, 0.0) for now, old in rows]) for each in FIGURES)
        yield f"| {group} | {len(outcomes)} | " + " | ".join(cells) + " |"


def figures_of(outcome: RealOutcome) -> dict[str, float]:
    """Return the figures of one question by name."""
    return {name: getattr(outcome, name) for name in FIGURES}


def _cell(values: Sequence[float]) -> str:
    low, high = interval(values)
    return f"{100 * fmean(values):.1f} [{100 * low:.0f}, {100 * high:.0f}]"


def groups_by(
    outcomes: Iterable[RealOutcome], key: Callable[[RealQuestion], str]
) -> Iterator[tuple[str, Sequence[RealOutcome]]]:
    """Yield the questions that have an answer by a key, and all of them last."""
    answered = [one for one in outcomes if one.question.kind != NONE]
    for name in sorted({key(one.question) for one in answered}):
        yield name, [one for one in answered if key(one.question) == name]
    yield "all", answered


def certainty(outcomes: Sequence[RealOutcome]) -> Iterator[str]:
    """Yield lines about questions without an answer: how often the search admits it, and what a threshold would do."""
    without = [one for one in outcomes if one.question.kind == NONE]
    answered = [one for one in outcomes if one.question.kind != NONE]
    named = (("no answer", without), ("answered", [one for one in answered if one.r5]))
    for name, some in (*named, ("missed", [one for one in answered if not one.r5])):
        unsure = sum(one.found.unsure for one in some)
        scores = ", ".join(f"{one:.2f}" for one in _quartiles([one.found.score for one in some]))
        yield f'{name}: "{UNSURE}" for {unsure} of {len(some)}; best scores (least, quartiles, most) {scores}'
    opened = sorted(one.found.score for one in answered if one.question.split == "open")
    if opened and without:
        least = opened[int(_FEWER * len(opened))]
        below = sum(one.found.score < least for one in without)
        yield f"below {least:.2f}, as {100 * _FEWER:.0f} % of the open questions with an answer: {below} of {len(without)} without"


def _quartiles(scores: Sequence[float]) -> Sequence[float]:
    if len(scores) < 2:
        return scores
    return min(scores), *quantiles(scores, n=4, method="inclusive"), max(scores)


_KEYS: Mapping[str, Callable[[RealQuestion], str]] = {"kind": lambda one: one.kind, "half": lambda one: one.split}


def report(outcomes: Sequence[RealOutcome]) -> Iterator[str]:
    """Yield the tables by kind and by half, and what is said about questions without an answer."""
    for name, key in _KEYS.items():
        yield ""
        yield from table(name, groups_by(outcomes, key))
    yield ""
    yield from certainty(outcomes)


def misses(outcomes: Sequence[RealOutcome]) -> Iterator[str]:
    """Yield the open questions that failed; held ones stay unseen."""
    for one in outcomes:
        question = one.question
        if question.split == "open" and question.kind != NONE and not one.r5:
            yield f"\n{question.kind}: {question.text}"
            yield f"  wanted {', '.join(sorted(question.sessions))}; found {', '.join(one.found.sessions)}"


def changes(outcomes: Sequence[RealOutcome], before: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the changes since an earlier run, by kind and by half, of the questions that were asked in both."""
    both = [one for one in outcomes if one.question.text in before]
    for name, key in _KEYS.items():
        yield ""
        yield from table(f"{name}, change", groups_by(both, key), before)
