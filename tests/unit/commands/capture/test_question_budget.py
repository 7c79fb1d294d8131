"""What questions may cost in one session."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.capture.question import COSTS, MOST_PROMPTS, Interaction, QuestionBudget, budget_of, cost_of
from crucible.core.settings.session_settings import FrictionSettings

PROMPT, MID = Interaction.CAPTURE_PROMPT, Interaction.MID_SESSION_PROMPT
REVIEW = Interaction.FAILURE_REVIEW
DEFAULT = FrictionSettings()


@pytest.mark.parametrize(("minutes", "limit"), [(None, 2), (0, 2), (29.9, 2), (30, 4), (89.9, 4), (90, 6), (5000, 6)])
def test_a_longer_session_may_ask_more(minutes: float | None, limit: int) -> None:
    assert budget_of(minutes, DEFAULT) == QuestionBudget(limit)


def test_the_settings_say_how_much() -> None:
    assert budget_of(10, FrictionSettings(0, 1, 2)).limit == 0
    assert not budget_of(10, FrictionSettings(0, 1, 2)).allows(PROMPT)


def test_costs_match_the_specification() -> None:
    assert {str(one): cost for one, cost in COSTS.items()} == {
        "capture_prompt": 1,
        "mid_session_prompt": 2,
        "failure_review": 1,
    }
    assert set(COSTS) == set(Interaction)


def test_what_was_spent_is_gone() -> None:
    budget = budget_of(10, DEFAULT).after([PROMPT])
    assert (budget.left, budget.prompts) == (1, 1)
    assert budget.allows(PROMPT)
    assert not budget.allows(MID)
    assert not budget.allows(PROMPT, REVIEW)


def test_more_than_the_limit_that_happened_leaves_nothing_and_not_less() -> None:
    assert budget_of(10, DEFAULT).after([MID], [MID]).left == 0


@given(
    st.one_of(st.none(), st.floats(0, 1e4)),
    st.lists(st.lists(st.sampled_from([*Interaction]), min_size=1, max_size=3), max_size=12),
)
def test_asking_only_when_allowed_never_exceeds_the_budget(
    minutes: float | None, asked: list[list[Interaction]]
) -> None:
    budget, done = budget_of(minutes, DEFAULT), []
    for what in asked:
        if budget.allows(*what):
            budget = budget.after(what)
            done.append(what)
    assert sum(map(cost_of, done)) == budget.spent <= budget.limit
    assert len(done) == budget.prompts <= MOST_PROMPTS
    assert budget == budget_of(minutes, DEFAULT).after(*done)
