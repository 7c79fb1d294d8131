"""Decisions: a question of this work that the user or the agent settled.

Findings say what was decided.  The situation never says what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.cases.excerpts import SIDE, brief
from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Choice
from crucible.cases.placing import placed
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.verifying import verification_after
from crucible.session.findings import Finding, Kind
from crucible.session.model import Intervention, Prose

__all__ = ["find_choices"]


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """The decisions of a session, in the order of its note."""
    for finding, moment in placed(timeline, Kind.DECISION):
        found = verification_after(timeline, moment.at)
        outcome = f"`{found.command}` passed afterwards." if found.command else ""
        body = _choice(timeline, moment, finding, outcome)
        yield make_case(timeline, CaseType.DECISION, moment, body, finding.summary, finding, found)


def _choice(timeline: Timeline, moment: Moment, finding: Finding, outcome: str) -> Choice:
    question, mark, answer = finding.summary.partition("? ")
    asked, choice = (
        (f"{question}?", answer.removeprefix("— ")) if mark and answer.strip() else ("", finding.summary)
    )
    others = [one.strip() for one in finding.alternatives.split(";") if one.strip()]
    # In alphabetical order their place does not tell which one was chosen.
    options = tuple(sorted([choice, *others], key=str.casefold)) if others else ()
    situation = _situation(timeline, moment, asked, choice, others)
    return Choice(situation, options, choice, finding.details, outcome)


def _situation(timeline: Timeline, moment: Moment, asked: str, choice: str, others: list[str]) -> str:
    """The goal, what the agent said just before, and the question; a text that names the choice must name the alternatives, too."""
    earlier = timeline.moments[: moment.at]
    before = next((one.entry.text for one in reversed(earlier[-8:]) if isinstance(one.entry, Prose)), "")
    # A reply that opens its phase is the choice itself; what was asked for stands in a phase before.
    goals = (one.entry.words for one in reversed(earlier) if isinstance(one.entry, Intervention))
    goal = next((one for one in goals if len(one.split()) > _FEW and not _tells(one, choice, others)), "")
    parts = [brief(goal, SIDE // 4), brief(before, SIDE // 2), asked]
    return "\n\n".join(one for one in parts if one.strip() and not _tells(one, choice, others))


_FEW = 2


def _tells(text: str, choice: str, others: list[str]) -> bool:
    words = text.casefold()
    is_named = choice.casefold().rstrip(" .") in words
    return is_named and not (others and all(one.casefold() in words for one in others))
