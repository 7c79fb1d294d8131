"""How well cases found are the cases planted: precision and recall by type.

Owns which found case is which planted one.  Workflows are not scored, nor is a failure that is typed as somebody else's
fault: that is the other way to tell it apart.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from crucible.cases.model import Body, Case, CaseType, Choice, Correction, Delegation, Fault, Puzzle, Turn
from tests.cases.planted.truth import Generated, Planted

__all__ = ["Score", "is_of", "score"]


@dataclass
class Score:
    """Of one type: what was found, what was missed, and found cases that are none (or the same one twice)."""

    found: list[tuple[Planted, Case]] = field(default_factory=list)
    missed: list[Planted] = field(default_factory=list)
    wrong: list[Case] = field(default_factory=list)

    @property
    def precision(self) -> float:
        """Of the found ones, how many are right."""
        return len(self.found) / ((len(self.found) + len(self.wrong)) or 1)

    @property
    def recall(self) -> float:
        """Of the planted ones, how many were found."""
        return len(self.found) / ((len(self.found) + len(self.missed)) or 1)


def score(found: Iterable[tuple[Generated, Iterable[Case]]]) -> dict[CaseType, Score]:
    """Each generated session with the cases that were extracted from it and from its subagents' notes."""
    scores: dict[CaseType, Score] = {kind: Score() for kind in CaseType if kind is not CaseType.WORKFLOW}
    for generated, cases in found:
        left = [case for case in cases if case.type in scores and case.fault is Fault.AGENT]
        for planted in generated.planted:
            match = next((case for case in left if is_of(case, planted)), None)
            if match is None:
                scores[planted.type].missed.append(planted)
            else:
                left.remove(match)
                scores[planted.type].found.append((planted, match))
        for case in left:
            scores[case.type].wrong.append(case)
    return scores


def is_of(case: Case, planted: Planted) -> bool:
    """Whether a case is the planted one: its type, session and phase are, and it says an anchor."""
    same_place = case.place.session == planted.session and case.place.phase in planted.phases
    return case.type is planted.type and same_place and _says(case.body, planted)


def _says(body: Body, planted: Planted) -> bool:
    match body:
        case Puzzle():
            told = _plain(body.failure)
            return bool(told) and (_any_in(planted.anchors, body.failure) or told in _plain(planted.message))
        case Correction():
            if planted.words:
                return _plain(planted.words) == _plain(body.words)
            did = " ".join([body.rejected, *_texts(body.did)])
            return not body.words.strip() and _plain(planted.rejected.partition(" ")[2]) in _plain(did)
        case Choice():
            return _any_in(
                (planted.choice, *planted.anchors), f"{body.choice} {body.rationale} {body.situation}"
            )
        case Delegation():
            return _any_in(planted.anchors, f"{body.task} {body.result} {body.evidence}")
        case _:
            return False


def _texts(turns: Iterable[Turn]) -> Iterable[str]:
    for turn in turns:
        yield turn.text
        yield from (str(value) for call in turn.calls for value in call.arguments.values())


def _any_in(anchors: Iterable[str], text: str) -> bool:
    plain = _plain(text)
    return any(_plain(anchor) in plain for anchor in anchors if anchor)


def _plain(text: str) -> str:
    """Case, blanks, line marks and the cut at a line's end do not count."""
    return re.sub(r"[\s⏎]+", " ", text).strip().rstrip("….").casefold()
