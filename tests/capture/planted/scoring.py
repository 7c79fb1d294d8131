"""How well candidates are the things planted: precision and recall, by kind; and what of the noise was proposed.

Owns which candidate is which planted thing: the same kind, a line within its stretches, and one of its terms in the summary.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from tests.capture.planted.truth import NEVER, Generated, Kind, Noise, Planted, Reason

__all__ = ["Candidate", "Found", "Score", "Scores", "is_of", "score"]


class Candidate(Protocol):
    """What a detector proposes; `line` counts from 1 in the note's file, `phase` is the phase's id."""

    @property
    def kind(self) -> str:
        """A value of `Kind`."""

    @property
    def confidence(self) -> float:
        """From 0 to 1."""

    @property
    def summary(self) -> str:
        """One line."""

    @property
    def phase(self) -> str:
        """Where it stands."""

    @property
    def line(self) -> int:
        """Where it stands, from 1."""


class Found(NamedTuple):
    """The plainest candidate."""

    kind: str
    confidence: float
    summary: str
    phase: str
    line: int


@dataclass
class Score:
    """What was found, what was missed, and candidates that are none, or the same one twice, each with why."""

    found: list[tuple[Planted, Candidate]] = field(default_factory=list)
    missed: list[tuple[Generated, Planted]] = field(default_factory=list)
    wrong: list[tuple[Generated, Candidate, str]] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Of the candidates, how many are right; 1 where there are none."""
        return _share(len(self.found), len(self.wrong))

    @property
    def recall(self) -> float:
        """Of the planted things, how many were found; 1 where there are none."""
        return _share(len(self.found), len(self.missed))

    @property
    def in_band(self) -> float:
        """Of the found ones, how many have the confidence that was expected."""
        right = sum(p.band.floor <= c.confidence < p.band.ceiling for p, c in self.found)
        return _share(right, len(self.found) - right)


@dataclass
class Scores:
    """`all`, and the same by kind; `noise` are the proposals on what must not be proposed, `leaks` those that hold a secret.

    `excused` counts second proposals under a kind that is a twin.
    """

    all: Score = field(default_factory=Score)
    by_kind: dict[Kind, Score] = field(default_factory=lambda: {kind: Score() for kind in Kind})
    noise: Counter[Reason] = field(default_factory=Counter)
    leaks: list[tuple[Generated, Candidate]] = field(default_factory=list)
    excused: int = 0

    @property
    def never(self) -> int:
        """Proposals on the issue's list of what is never proposed, leaks included."""
        return sum(self.noise[reason] for reason in NEVER) + len(self.leaks)


def score(found: Iterable[tuple[Generated, Iterable[Candidate]]], at: float = 0.6) -> Scores:
    """Each generated session with its candidates; those below the confidence `at` are not looked at."""
    scores = Scores()
    for generated, candidates in found:
        sure = sorted((c for c in candidates if c.confidence >= at), key=lambda c: -c.confidence)
        scores.leaks += [
            (generated, c) for c in sure if any(n.secret and n.secret in _said(c) for n in generated.noise)
        ]
        _score_one(scores, generated, sure)
    return scores


def _score_one(scores: Scores, generated: Generated, candidates: Sequence[Candidate]) -> None:
    left = list(candidates)
    matched: list[Planted] = []
    for planted in generated.planted:
        match = next((c for c in left if is_of(c, planted)), None)
        for each in (scores.all, scores.by_kind[planted.kind]):
            if match is None:
                each.missed.append((generated, planted))
            else:
                each.found.append((planted, match))
        if match is not None:
            left = [c for c in left if c is not match]
            matched.append(planted)
    excused: set[int] = set()
    for candidate in left:
        twin = next((p for p in matched if id(p) not in excused and _is_twin(candidate, p)), None)
        if twin is not None:
            excused.add(id(twin))
            scores.excused += 1
            continue
        _count_wrong(scores, generated, candidate, matched)


def _count_wrong(
    scores: Scores, generated: Generated, candidate: Candidate, matched: Sequence[Planted]
) -> None:
    noise = next((n for n in generated.noise if _stands_in(candidate, n)), None)
    if noise is not None:
        scores.noise[noise.reason] += 1
    why = f"noise: {noise.reason} ({noise.form})" if noise else _why(generated, candidate, matched)
    kinds = [scores.by_kind[Kind(candidate.kind)]] if candidate.kind in [*Kind] else []
    for each in (scores.all, *kinds):
        each.wrong.append((generated, candidate, why))


def _why(generated: Generated, candidate: Candidate, matched: Sequence[Planted]) -> str:
    here = next((p for p in generated.planted if _stands_in(candidate, p)), None)
    if here is None:
        return "nothing planted there"
    if here.kind != candidate.kind:
        return f"of another kind: {here.kind}"
    return "found twice" if here in matched else "no key term in the summary"


def is_of(candidate: Candidate, planted: Planted) -> bool:
    """Whether a candidate is the planted thing."""
    return candidate.kind == planted.kind and _tells(candidate, planted)


def _is_twin(candidate: Candidate, planted: Planted) -> bool:
    return candidate.kind in planted.twins and _tells(candidate, planted)


def _tells(candidate: Candidate, planted: Planted) -> bool:
    summary = candidate.summary.casefold()
    return _stands_in(candidate, planted) and any(term in summary for term in planted.terms)


def _said(candidate: Candidate) -> str:
    """All that it says: a detector's candidates may also have a `detail`."""
    return f"{candidate.summary}\n{getattr(candidate, 'detail', '')}"


def _stands_in(candidate: Candidate, what: Planted | Noise) -> bool:
    return any(span.first < candidate.line <= span.end for span in what.spans)


def _share(part: int, rest: int) -> float:
    return part / (part + rest) if part + rest else 1.0
