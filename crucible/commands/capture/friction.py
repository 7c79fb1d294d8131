"""What questions may cost in one session, so that nobody is nagged.

Owns the prices and the limits; pure.  What was spent stands in `records`, whom to ask is the caller's.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from enum import StrEnum
from typing import NamedTuple, Self

from crucible.core.settings.lifecycle import FrictionSettings

__all__ = ["COSTS", "MOST_PROMPTS", "Budget", "Interaction", "budget_of", "cost_of"]

MOST_PROMPTS = 3
"""Prompts of a session, however long it is."""

_SHORT, _MEDIUM = 30, 90
"""Minutes."""


class Interaction(StrEnum):
    """What a human is asked to do."""

    CAPTURE_PROMPT = "capture_prompt"
    MID_SESSION_PROMPT = "mid_session_prompt"
    FAILURE_REVIEW = "failure_review"


COSTS: Mapping[Interaction, int] = {
    Interaction.CAPTURE_PROMPT: 1,
    Interaction.MID_SESSION_PROMPT: 2,
    Interaction.FAILURE_REVIEW: 1,
}
"""What each costs; an interruption costs more than a question at the end.  A briefing asks nobody anything, so that it costs nothing."""


def cost_of(what: Iterable[Interaction]) -> int:
    """What these cost together."""
    return sum(COSTS[one] for one in what)


class Budget(NamedTuple):
    """What a session may spend, what it has spent, and how many prompts there were."""

    limit: int
    spent: int = 0
    prompts: int = 0

    @property
    def left(self) -> int:
        """What may still be spent, never less than 0."""
        return max(0, self.limit - self.spent)

    def allows(self, *what: Interaction) -> bool:
        """Whether these may come at once, as one prompt."""
        return cost_of(what) <= self.left and self.prompts < MOST_PROMPTS

    def after(self, *prompts: Iterable[Interaction]) -> Self:
        """The budget after these prompts, each with all its questions, allowed or not."""
        return self._replace(spent=self.spent + sum(map(cost_of, prompts)), prompts=self.prompts + len(prompts))


def budget_of(minutes: float | None, settings: FrictionSettings) -> Budget:
    """The budget of a session by its minutes; a session of unknown length counts as short."""
    if minutes is None or minutes < _SHORT:
        return Budget(settings.short_session)
    return Budget(settings.medium_session if minutes < _MEDIUM else settings.long_session)
