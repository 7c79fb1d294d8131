"""Which of many cases go out."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.learn.case import Case
from crucible.commands.learn.selection import Dedupe, pick
from tests.unit.commands.learn.made import WORKFLOW, case_of

COUNTS = st.integers(min_value=0, max_value=30)


def many(count: int) -> list[Case]:
    return [case_of(WORKFLOW, f"c{number}") for number in range(count)]


def drawn(cases: list[Case], limit: int, seed: int) -> list[str]:
    return [case.id for case in pick(cases, limit=limit, seed=seed).cases]


@given(COUNTS, st.integers(min_value=1, max_value=40), st.integers())
def test_a_sample_is_of_its_size_in_the_order_of_the_cases(count: int, limit: int, seed: int) -> None:
    found = drawn(many(count), limit, seed)
    assert len(found) == min(count, limit)
    assert found == [case.id for case in many(count) if case.id in found]


@given(st.integers(min_value=5, max_value=30), COUNTS, st.integers())
def test_what_joins_later_only_takes_places(count: int, more: int, seed: int) -> None:
    before, after = drawn(many(count), 5, seed), drawn(many(count + more), 5, seed)
    joined = {f"c{number}" for number in range(count, count + more)}
    assert set(after) - joined <= set(before)


@given(COUNTS, st.integers(min_value=1, max_value=40))
def test_without_a_seed_the_first_ones_go_out_and_no_more_are_looked_at(count: int, limit: int) -> None:
    looked: list[str] = []

    def cases() -> Iterator[Case]:
        for case in many(count):
            looked.append(case.id)
            yield case

    found = [case.id for case in pick(cases(), limit=limit).cases]
    assert found == looked == [f"c{n}" for n in range(min(count, limit))]


def test_duplicates_go_before_a_sample_is_drawn() -> None:
    twins = [replace(case, digest="same") for case in many(10)]
    other = case_of(WORKFLOW, "other", digest="another")
    picked = pick([*twins, other], dedupe=Dedupe.EXACT, limit=2, seed=1)
    assert [case.id for case in picked.cases] == ["c0", "other"]
    assert picked.dropped == 9
