"""Selecting cases: duplicates, samples, splits and families."""

from __future__ import annotations

import time
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.learn.case import Case, CaseStatus, Choice, Delegation
from crucible.commands.learn.selection import (
    Dedupe,
    Families,
    SessionRelations,
    duplicates,
    parse_splits,
    select_cases,
    sketch_of,
)
from crucible.core.errors import UsageError
from crucible.core.text import overlap
from tests.cases import fewer, for_each
from tests.unit.commands.learn.sample_cases import WORKFLOW, any_case, case_of, made_cases

WORDS = [f"word{number}" for number in range(200)]


def _delegation(id_: str, words: list[str], digest: str = "") -> Case:
    return case_of(Delegation("a", "Look.", " ".join(words)), id_, digest=digest or id_)


def _dropped(mode: Dedupe, *cases: Case) -> dict[str, str]:
    return duplicates(cases, mode)


def test_cases_with_equal_digest_and_type_are_duplicates() -> None:
    one, two = _delegation("1", WORDS, "same"), _delegation("2", WORDS[:9], "same")
    other = case_of(Choice("s", (), "c"), "3", digest="same")
    assert _dropped(Dedupe.EXACT, one, two, other) == {"2": "1"}


def test_cases_that_differ_in_few_words_are_near_duplicates() -> None:
    near = [*WORDS[:100], "other", *WORDS[101:]]
    far = [*WORDS[:60], *(f"else{number}" for number in range(140))]
    cases = (_delegation("1", WORDS), _delegation("2", near), _delegation("3", far))
    assert _dropped(Dedupe.NEAR, *cases) == {"2": "1"}
    assert _dropped(Dedupe.EXACT, *cases) == {}


def test_cases_of_different_types_are_no_duplicates() -> None:
    text = " ".join(WORDS)
    assert _dropped(Dedupe.NEAR, case_of(Choice(text, (), "c"), "1"), _delegation("2", WORDS)) == {}


def test_the_verified_then_accepted_then_earliest_duplicate_is_kept() -> None:
    bare = replace(_delegation("a", WORDS, "d"), verification="")
    early = replace(bare, id="b", started=datetime(2020, 1, 1, tzinfo=UTC))
    accepted = replace(bare, id="c", review=CaseStatus.ACCEPTED)
    verified = replace(bare, id="d", verification="make test")
    undated = replace(bare, id="0", started=None)
    for mode in Dedupe:
        assert _dropped(mode, undated, bare, early) == {"0": "b", "a": "b"}
        assert _dropped(mode, bare, early, accepted) == {"a": "c", "b": "c"}
        assert _dropped(mode, bare, early, accepted, verified) == {"a": "d", "b": "d", "c": "d"}


@fewer(2)
@given(st.lists(any_case(), max_size=3), st.randoms())
def test_the_kept_duplicates_do_not_depend_on_the_order(cases: list[Case], random: object) -> None:
    named = [replace(case, id=str(at), digest=f"{at % 2}") for at, case in enumerate(cases)]
    mixed = list(named)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    for mode in Dedupe:
        dropped = _dropped(mode, *named)
        assert dropped == _dropped(mode, *mixed)
        assert not dropped.keys() & set(dropped.values())


@fewer(2)
@given(any_case())
def test_a_case_is_most_similar_to_itself(case: Case) -> None:
    assert overlap(sketch_of(case), sketch_of(case), "union") == 1


@fewer(2)
@given(any_case(), any_case())
def test_similarity_is_the_share_of_common_runs(one: Case, other: Case) -> None:
    first, second = sketch_of(one), sketch_of(other)
    assert overlap(first, first, "union") == 1
    assert overlap(first, second, "union") == overlap(second, first, "union")
    assert (overlap(first, second, "union") == 0) is first.isdisjoint(second)


def test_a_sketch_estimates_the_share_of_common_runs() -> None:
    for same in (20, 50, 80, 95):
        one = [f"w{number}" for number in range(2_000)]
        other = [*one[: 20 * same], *(f"v{number}" for number in range(2_000 - 20 * same))]
        true = 20 * same / (4_000 - 20 * same)
        found = overlap(sketch_of(_delegation("1", one)), sketch_of(_delegation("2", other)), "union")
        assert abs(found - true) < 0.15


def test_different_cases_are_all_kept() -> None:
    assert _dropped(Dedupe.NEAR, *made_cases()) == {}


@pytest.mark.timed
def test_deduplication_takes_linear_time() -> None:
    def seconds(count: int) -> float:
        cases = [_delegation(str(at), [f"{word}{at // 2}" for word in WORDS[:60]]) for at in range(count)]
        start = time.process_time()
        dropped = _dropped(Dedupe.NEAR, *cases)
        assert len(dropped) == count // 2
        return time.process_time() - start

    assert seconds(3_000) < 40 * max(seconds(300), 0.01)


COUNTS = st.integers(min_value=0, max_value=30)


def many(count: int) -> list[Case]:
    return [case_of(WORKFLOW, f"c{number}") for number in range(count)]


def drawn(cases: list[Case], limit: int, seed: int) -> list[str]:
    return [case.id for case in select_cases(cases, limit=limit, seed=seed).cases]


@given(COUNTS, st.integers(min_value=1, max_value=40), st.integers())
def test_a_sample_has_its_size_and_the_order_of_the_cases(count: int, limit: int, seed: int) -> None:
    found = drawn(many(count), limit, seed)
    assert len(found) == min(count, limit)
    assert found == [case.id for case in many(count) if case.id in found]


@given(st.integers(min_value=5, max_value=30), COUNTS, st.integers())
def test_new_cases_only_replace_cases_of_a_sample(count: int, more: int, seed: int) -> None:
    before, after = drawn(many(count), 5, seed), drawn(many(count + more), 5, seed)
    joined = {f"c{number}" for number in range(count, count + more)}
    assert set(after) - joined <= set(before)


@given(COUNTS, st.integers(min_value=1, max_value=40))
def test_without_a_seed_only_the_first_cases_are_read(count: int, limit: int) -> None:
    looked: list[str] = []

    def cases() -> Iterator[Case]:
        for case in many(count):
            looked.append(case.id)
            yield case

    found = [case.id for case in select_cases(cases(), limit=limit).cases]
    assert found == looked == [f"c{n}" for n in range(min(count, limit))]


def test_duplicates_are_dropped_before_sampling() -> None:
    twins = [replace(case, digest="same") for case in many(10)]
    other = case_of(WORKFLOW, "other", digest="another")
    picked = select_cases([*twins, other], dedupe=Dedupe.EXACT, limit=2, seed=1)
    assert [case.id for case in picked.cases] == ["c0", "other"]
    assert picked.dropped == 9


_IDS = st.integers(0, 30).map(lambda number: f"2026-05-{number:02d}-x")
_KIN = st.lists(st.builds(SessionRelations, _IDS, st.lists(_IDS, max_size=2).map(tuple)), max_size=30)


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("train=0.9,test=0.1", {"train": 0.9, "test": 0.1}),
        (" train = 0.8 , validation=0.1,test=.1", {"train": 0.8, "validation": 0.1, "test": 0.1}),
        ("all=1", {"all": 1.0}),
    ],
)
def test_shares_are_parsed(text: str, shares: dict[str, float]) -> None:
    assert parse_splits(text).shares == pytest.approx(shares)


@for_each(
    "text",
    ["", "train", "train=0.9", "train=0.9,test=0.2", "train=0.5,train=0.5", "train=1,test=0", "train=-1,test=2",
     "../up=1", "Train=1", "a b=1", "train=nan", "train=1e0", "train=٠.٥,test=0.5", "train=0.9,test=0.1,"],
)  # fmt: skip
def test_an_invalid_split_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_splits(text)
    assert "train=0.9,test=0.1" in caught.value.hint


def test_a_family_is_always_in_the_same_split() -> None:
    splits = parse_splits("train=0.5,test=0.5")
    names = [f"2026-05-0{number}-a" for number in range(1, 10)]
    assert [splits.side(name) for name in names] == [
        "test", "train", "test", "test", "train", "test", "train", "train", "test"
    ]  # fmt: skip


def test_another_seed_splits_differently() -> None:
    names = [str(number) for number in range(100)]
    one, other = (parse_splits("a=0.5,b=0.5", seed=seed) for seed in (0, 1))
    assert [one.side(name) for name in names] != [other.side(name) for name in names]


def test_many_families_match_the_requested_shares() -> None:
    splits = parse_splits("train=0.7,validation=0.2,test=0.1")
    sides = [splits.side(f"session-{number}") for number in range(20_000)]
    for name, share in splits.shares.items():
        assert sides.count(name) / len(sides) == pytest.approx(share, abs=0.015)


def test_subagents_and_continuations_share_a_family() -> None:
    families = Families(
        [
            SessionRelations("3-more", ("1-first",)),
            SessionRelations("2-sub", ("1-first",)),
            SessionRelations("4-sub-of-more", ("3-more",)),
        ]
    )
    assert {families.of(one) for one in ("1-first", "2-sub", "3-more", "4-sub-of-more")} == {"1-first"}
    assert families.of("5-alone") == "5-alone"


@given(_KIN)
def test_related_sessions_share_a_family(kin: list[SessionRelations]) -> None:
    families = Families(kin)
    for one in kin:
        assert {families.of(other) for other in one.others} <= {families.of(one.session)}


@given(_KIN, st.randoms())
def test_families_do_not_depend_on_the_order(kin: list[SessionRelations], random: object) -> None:
    mixed = list(kin)
    random.shuffle(mixed)  # type: ignore[attr-defined]
    ids = {one.session for one in kin}
    first, second = Families(kin), Families(mixed)
    assert {one: first.of(one) for one in ids} == {one: second.of(one) for one in ids}


@given(_KIN, st.data())
def test_a_new_session_moves_no_other(kin: list[SessionRelations], data: st.DataObject) -> None:
    before = Families(kin)
    known = sorted({one for each in kin for one in (each.session, *each.others)})
    was = {one: before.of(one) for one in known}
    other = data.draw(st.sampled_from(known)) if known else "2026-05-01-x"
    after = Families([*kin, SessionRelations("2026-06-01-new", (other,))])
    assert {one: after.of(one) for one in known} == was
