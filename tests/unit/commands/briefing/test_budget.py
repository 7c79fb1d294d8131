"""What fits: the budget is kept but for where the work stands, and things go in their order."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.briefing.briefing_parts import Cut, Item, Rank, Section
from crucible.commands.briefing.build_briefing import Frame, fit
from crucible.core.settings.settings import VaultSettings
from crucible.core.tokens import Estimate

POSITION = "```text\nsession: 2026-11-21-clock\n```"
COUNT = Estimate().count

items = st.builds(
    Item,
    st.text(st.sampled_from("ab `<#日\t"), min_size=1, max_size=60).map(lambda text: text.strip() or "x"),
    st.sampled_from(Rank),
    st.sampled_from(["", "one", "two"]),
    st.booleans(),
)
many = st.lists(
    st.builds(Section, st.just("n"), st.just("Title"), st.lists(items, max_size=6).map(tuple), st.just(0)),
    max_size=4,
)


def render(sections: Sequence[Section], left_out: Sequence[Cut], position: str = POSITION) -> str:
    values = {"project": "shop", "position": position, "explained": "", "failed": ()}
    return Frame(VaultSettings(), pytest.fail).render(values, sections, left_out)


def test_what_a_section_could_have_shown_counts_as_left_out() -> None:
    section = Section("n", "Title", (Item("one", Rank.DECISION), Item("two", Rank.DECISION)), 34)
    assert fit([section], render, COUNT, 10_000).left_out == (Cut("decisions", 34),)
    assert fit([section], render, COUNT, 1).left_out == (Cut("decisions", 36),)


@given(many, st.integers(1, 700))
def test_a_budget_is_kept_except_for_the_position(sections: list[Section], budget: int) -> None:
    found = fit(sections, render, COUNT, budget)
    assert POSITION in found.text
    assert found.size == COUNT(found.text)
    assert found.size <= budget or not found.sections
    there = [item for section in found.sections for item in section.items]
    count = sum(len(section.items) for section in sections)
    assert len(there) + sum(cut.count for cut in found.left_out) == count


@given(many, st.integers(1, 700))
def test_nothing_goes_while_something_of_less_worth_stays(sections: list[Section], budget: int) -> None:
    found = fit(sections, render, COUNT, budget)
    kept = [item for section in found.sections for item in section.items]
    words = {rank.word: rank for rank in Rank} | {rank.name.lower(): rank for rank in Rank}
    gone = max((words[cut.what] for cut in found.left_out), default=None)
    assert all(gone is None or item.rank >= gone for item in kept)


def test_things_go_in_the_order_conventions_lessons_decisions_todos() -> None:
    ranks = [Rank.TODO, Rank.CONVENTION, Rank.DECISION, Rank.LESSON]
    sections = [Section("n", "Title", tuple(Item(f"{rank.word} {'x' * 80}", rank) for rank in ranks))]
    seen: dict[tuple[str, ...], None] = {}
    for budget in range(400, 60, -5):
        found = fit(sections, partial(render, position=""), COUNT, budget)
        seen[tuple(item.rank.word for section in found.sections for item in section.items)] = None
    assert list(seen) == [
        ("todos", "conventions", "decisions", "lessons"),
        ("todos", "decisions", "lessons"),
        ("todos", "decisions"),
        ("todos",),
        (),
    ]


def test_of_a_rank_the_last_goes_first_and_what_has_to_do_with_the_workflow_last() -> None:
    told = [Item("first", Rank.TODO), Item("related", Rank.TODO, related=True), Item("last", Rank.TODO)]

    def render(sections: Sequence[Section], _: Sequence[Cut]) -> str:
        return " ".join(item.text for section in sections for item in section.items)

    left = [fit([Section("n", "T", tuple(told))], render, len, size).text for size in (18, 13, 7)]
    assert left == ["first related last", "first related", "related"]
