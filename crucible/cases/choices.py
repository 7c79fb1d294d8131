"""Decisions: a question of this work that the user or the agent settled.

Findings say what was decided.  The situation never says what was chosen.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.cases.excerpts import SIDE, brief
from crucible.cases.making import make_case
from crucible.cases.model import Case, Choice
from crucible.cases.placing import placed
from crucible.cases.timeline import Moment, Timeline
from crucible.cases.verifying import verification_after
from crucible.session.findings import Kind, Source
from crucible.session.model import Intervention, Prose

__all__ = ["find_choices"]


def find_choices(timeline: Timeline) -> Iterator[Case]:
    """The decisions of a session, in the order of its note; of replies those to a question, which are more than a yes."""
    for finding, moment in placed(timeline, Kind.DECISION):
        asked, choice = _answered(finding.summary)
        if finding.source == Source.REPLY and not (asked.endswith("?") and len(choice.split()) >= _ANSWER):
            continue
        found = verification_after(timeline, moment.at)
        outcome = f"`{found.command}` passed afterwards." if found.command else ""
        others = [one.strip() for one in finding.alternatives.split(";") if one.strip()]
        # In alphabetical order their place does not tell which one was chosen.
        options = tuple(sorted([choice, *others], key=str.casefold)) if others else ()
        situation = _situation(timeline, moment, asked, choice, others)
        body = Choice(situation, options, choice, finding.details, outcome)
        yield make_case(timeline, moment, body, finding.summary, finding=finding, verification=found)


def _answered(summary: str) -> tuple[str, str]:
    """The question and its answer; the question is "" if the summary has none."""
    asked, mark, choice = summary.rpartition(" → ")
    if not mark:
        asked, mark, choice = summary.partition("? ")
        asked += mark.strip()
    return (asked, choice) if mark and choice.strip() else ("", summary)


_ANSWER, _FEW = 5, 2


def _situation(timeline: Timeline, moment: Moment, asked: str, choice: str, others: list[str]) -> str:
    """The goal, what the agent said before the answer, and the question; a text that names the choice must name the alternatives, too."""
    earlier = timeline.moments[: moment.at]
    said = [one.at for one in earlier if isinstance(one.entry, Intervention)]
    if len(said) > 1 and said[-1] >= len(earlier) - _LATE:  # the answer
        earlier = earlier[: said[-1]]
    before = next((one.entry.text for one in reversed(earlier[-_NEAR:]) if isinstance(one.entry, Prose)), "")
    # A reply that opens its phase is the choice itself; what was asked for stands in a phase before.
    goals = (one.entry.words for one in reversed(earlier) if isinstance(one.entry, Intervention))
    goal = next((one for one in goals if len(one.split()) > _FEW and not _tells(one, choice, others)), "")
    texts = [brief(goal, SIDE // 4), brief(before, SIDE // 2), asked]
    parts = [one for one in texts if one.strip() and not _tells(one, choice, others)]
    return "\n\n".join(parts) if len(parts) > 1 or not asked else ""


_NEAR, _LATE = 8, 40
"""How many moments before the answer are searched for what the agent said, and at most between the answer and its callout."""


def _tells(text: str, choice: str, others: list[str]) -> bool:
    words = _bare(text)
    return _bare(choice) in words and not (others and all(_bare(one) in words for one in others))


def _bare(text: str) -> str:
    return "".join(filter(str.isalnum, text.casefold()))
