"""Duplicates: what is the same, and which one stays."""

from __future__ import annotations

import time
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crucible.commands.learn.case import Case, CaseStatus, Choice, Delegation
from crucible.commands.learn.selection import Dedupe, duplicates, sketch_of
from crucible.core.text.words import overlap
from tests.unit.commands.learn.made import any_case, case_of, made_cases

WORDS = [f"word{number}" for number in range(200)]


def _delegation(id_: str, words: list[str], digest: str = "") -> Case:
    return case_of(Delegation("a", "Look.", " ".join(words)), id_, digest=digest or id_)


def _dropped(mode: Dedupe, *cases: Case) -> dict[str, str]:
    return duplicates(cases, mode)


def test_exactly_the_same_digest_and_type_is_the_same() -> None:
    one, two = _delegation("1", WORDS, "same"), _delegation("2", WORDS[:9], "same")
    other = case_of(Choice("s", (), "c"), "3", digest="same")
    assert _dropped(Dedupe.EXACT, one, two, other) == {"2": "1"}


def test_a_few_other_words_are_nearly_the_same() -> None:
    near = [*WORDS[:100], "other", *WORDS[101:]]
    far = [*WORDS[:60], *(f"else{number}" for number in range(140))]
    cases = (_delegation("1", WORDS), _delegation("2", near), _delegation("3", far))
    assert _dropped(Dedupe.NEAR, *cases) == {"2": "1"}
    assert _dropped(Dedupe.EXACT, *cases) == {}


def test_another_type_is_never_the_same() -> None:
    text = " ".join(WORDS)
    assert _dropped(Dedupe.NEAR, case_of(Choice(text, (), "c"), "1"), _delegation("2", WORDS)) == {}


def test_the_best_stays_verified_then_accepted_then_the_earliest() -> None:
    bare = replace(_delegation("a", WORDS, "d"), verification="")
    early = replace(bare, id="b", started=datetime(2020, 1, 1, tzinfo=UTC))
    accepted = replace(bare, id="c", review=CaseStatus.ACCEPTED)
    verified = replace(bare, id="d", verification="make test")
    undated = replace(bare, id="0", started=None)
    for mode in Dedupe:
        assert _dropped(mode, undated, bare, early) == {"0": "b", "a": "b"}
        assert _dropped(mode, bare, early, accepted) == {"a": "c", "b": "c"}
        assert _dropped(mode, bare, early, accepted, verified) == {"a": "d", "b": "d", "c": "d"}


@settings(max_examples=settings().max_examples // 2)
@given(st.lists(any_case(), max_size=3), st.randoms())
def test_what_stays_does_not_depend_on_the_order(cases: list[Case], random: object) -> None:
    named = [replace(case, id=str(at), digest=f"{at % 2}") for at, case in enumerate(cases)]
    mixed = list(named)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for mode in Dedupe:
        dropped = _dropped(mode, *named)
        assert dropped == _dropped(mode, *mixed)
        assert not dropped.keys() & set(dropped.values())


@settings(max_examples=settings().max_examples // 2)
@given(any_case())
def test_a_case_is_like_itself(case: Case) -> None:
    assert overlap(sketch_of(case), sketch_of(case), "union") == 1


@settings(max_examples=settings().max_examples // 2)
@given(any_case(), any_case())
def test_likeness_is_the_share_of_runs_that_both_have(one: Case, other: Case) -> None:
    first, second = sketch_of(one), sketch_of(other)
    assert overlap(first, first, "union") == 1
    assert overlap(first, second, "union") == overlap(second, first, "union")
    assert (overlap(first, second, "union") == 0) is first.isdisjoint(second)


def test_a_sketch_tells_the_share_of_common_runs() -> None:
    for same in (20, 50, 80, 95):
        one = [f"w{number}" for number in range(2_000)]
        other = [*one[: 20 * same], *(f"v{number}" for number in range(2_000 - 20 * same))]
        true = 20 * same / (4_000 - 20 * same)
        found = overlap(sketch_of(_delegation("1", one)), sketch_of(_delegation("2", other)), "union")
        assert abs(found - true) < 0.15


def test_made_cases_all_stay() -> None:
    assert _dropped(Dedupe.NEAR, *made_cases()) == {}


@pytest.mark.timed
def test_ten_times_as_many_take_some_ten_times_as_long() -> None:
    def seconds(count: int) -> float:
        cases = [_delegation(str(at), [f"{word}{at // 2}" for word in WORDS[:60]]) for at in range(count)]
        start = time.process_time()
        dropped = _dropped(Dedupe.NEAR, *cases)
        assert len(dropped) == count // 2
        return time.process_time() - start

    assert seconds(3_000) < 40 * max(seconds(300), 0.01)
