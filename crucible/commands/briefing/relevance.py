"""How relevant a text is to the workflow about to run, and whether that workflow plans or executes.

A text is relevant by the words that it shares with the workflow, weighted by rarity and normalized by length.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from math import log, sqrt
from typing import NamedTuple

from crucible.commands.briefing.briefing_parts import Item, Rank, Section
from crucible.core.patterns import late_pattern
from crucible.core.text.words import WORD, stem, stop_words
from crucible.documents.workflow.workflow import Workflow


class Leaning(StrEnum):
    """The purpose of a workflow."""

    PLANNING = "planning"
    EXECUTING = "executing"
    NEITHER = "neither"


class Aim(NamedTuple):
    """A workflow's stems and purpose."""

    words: frozenset[str]
    leaning: Leaning


_HUMP = late_pattern(r"(?<=[a-z0-9])(?=[A-Z])")
_ENDINGS = ("ations", "ation", "ings", "ing", "ers", "ies", "ied", "er", "ed", "es", "s", "e", "y")
_SHORTEST = 3
_READ = 20_000
_LEAST = 0.25
"""The share of the best score that a text needs to be relevant."""
_PLANNING_WORDS = """
plan design research discuss spec specify specification explore propose proposal brainstorm outline scope
draft architect architecture roadmap rfc requirement requirements estimate investigate
"""

_EXECUTING_WORDS = """
execute run build implement fix release deploy ship migrate test refactor add write publish upgrade debug
repair install remove update
"""


def aim_of(workflow: Workflow) -> Aim:
    """The aim by a workflow's name, title, preamble, tags and steps."""
    steps = list(workflow.walk())
    tags = workflow.properties.get("tags")
    named = [workflow.name, workflow.title, *(map(str, tags) if isinstance(tags, list) else [])]
    prose = [workflow.preamble, *(text for step in steps for text in (step.name, step.prose))]
    data = [datum.name for step in steps for datum in (*step.inputs(), *step.outputs())]
    words = stems(" ".join((*named, *prose, *data))[:_READ])
    return Aim(words - stems("workflow"), _leaning(named, [step.name for step in steps]))


def _leaning(named: Sequence[str], steps: Sequence[str]) -> Leaning:
    """Count names with words of planning and of executing; the workflow's own name counts as three steps."""
    plans, executes = stems(_PLANNING_WORDS), stems(_EXECUTING_WORDS)
    words = [stems(text) for text in (*named, *named, *named, *steps)]
    more = sum(bool(one & plans) - bool(one & executes) for one in words)
    return Leaning.NEITHER if not more else Leaning.PLANNING if more > 0 else Leaning.EXECUTING


def stems(text: str) -> frozenset[str]:
    """The stems of a text without stop words: `RerunIntegrationTests` are three."""
    parted = text if text.islower() else _HUMP.sub(" ", text).casefold()
    found = {*WORD.findall(parted)} - stop_words("workflows")
    return frozenset(stem(word, _ENDINGS) for word in found if len(word) >= _SHORTEST)


def rank_alike(texts: Sequence[str], aim: Aim | None) -> list[tuple[int, bool]]:
    """The positions of the texts and whether each is relevant; relevant ones first, the best first."""
    if aim is None or not aim.words:
        return [(at, False) for at in range(len(texts))]
    words = [stems(text) for text in texts]
    held = Counter(word for one in words for word in one & aim.words)
    weights = {word: log(1 + len(texts) / often) for word, often in held.items()}
    scores = [sum(weights[word] for word in one & aim.words) / sqrt(len(one)) if one else 0.0 for one in words]
    least = _LEAST * max(scores, default=0.0)
    related = [score > 0 and score >= least for score in scores]
    order = sorted(range(len(texts)), key=lambda at: (not related[at], -scores[at] if related[at] else 0.0, at))
    return [(at, related[at]) for at in order]


# --- a briefing for a workflow ---------------------------------------------------------------------------------------

_EXPLAINED = {
    Leaning.PLANNING: "which plans: all sections are shown",
    Leaning.EXECUTING: "which carries something out: conventions that have nothing to do with it are left out",
    Leaning.NEITHER: "of which nothing tells whether it plans or carries out: all sections are shown",
}


def aimed(sections: Sequence[Section], aim: Aim) -> list[Section]:
    """Mark relevant items; a workflow that executes needs no other conventions."""
    texts = [item.text for section in sections for item in section.items]
    related = {texts[at] for at, alike in rank_alike(texts, aim) if alike}

    def kept(item: Item) -> bool:
        is_needed = aim.leaning is not Leaning.EXECUTING or item.rank is not Rank.CONVENTION
        return is_needed or item.text in related

    marked = (
        [item._replace(related=item.text in related) for item in section.items if kept(item)] for section in sections
    )
    return [section._replace(items=tuple(items)) for section, items in zip(sections, marked, strict=True) if items]


def explain(aim: Aim, name: str) -> str:
    """The line that explains the selection; `name` is the workflow's, quoted."""
    return f"For the workflow `{name}`, {_EXPLAINED[aim.leaning]}; what has to do with it is kept longest."
