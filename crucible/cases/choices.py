"""Decisions: a question of this work that the user or the agent settled.

Owns what of a session belongs to a decision.  Findings say what was decided; one without alternatives and without a reason makes no case, since
nothing can be learned from it.  The situation never says what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.cases.making import make_case
from crucible.cases.model import Case, CaseType, Choice
from crucible.cases.placing import placed
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.verifying import verification_after
from crucible.session.findings import Finding, Kind
from crucible.session.model import Prose

__all__ = ["find_choices"]


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """The decisions of a session, in the order of its note."""
    for finding, moment in placed(timeline, Kind.DECISION):
        if finding.alternatives or finding.details:
            found = verification_after(timeline, moment.at)
            outcome = f"`{found.command}` passed afterwards." if found.command else ""
            body = _choice(timeline, moment, finding, outcome)
            yield make_case(timeline, CaseType.DECISION, moment, body, finding.summary, verification=found)


def _choice(timeline: Timeline, moment: Moment, finding: Finding, outcome: str) -> Choice:
    question, mark, answer = finding.summary.partition("? ")
    asked, choice = (f"{question}?", answer) if mark and answer.strip() else ("", finding.summary)
    others = [one.strip() for one in finding.alternatives.split(";") if one.strip()]
    # In alphabetical order their place does not tell which one was chosen.
    options = tuple(sorted([choice, *others], key=str.casefold)) if others else ()
    return Choice(
        _situation(timeline, moment, asked, choice, others), options, choice, finding.details, outcome
    )


def _situation(timeline: Timeline, moment: Moment, asked: str, choice: str, others: list[str]) -> str:
    """The goal, what the agent said just before, and the question; a text that names the choice must name the alternatives, too."""
    before = timeline.moments[moment.at - 1].entry if moment.at else None
    parts = [timeline.goal_of(moment.phase), before.text if isinstance(before, Prose) else "", asked]
    return "\n\n".join(part for part in parts if part.strip() and not _tells(part.casefold(), choice, others))


def _tells(text: str, choice: str, others: list[str]) -> bool:
    is_named = choice.casefold().rstrip(" .") in text
    return is_named and not (others and all(one.casefold() in text for one in others))
