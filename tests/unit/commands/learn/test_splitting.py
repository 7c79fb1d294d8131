"""Splits: what may be asked for, and that nobody moves."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.commands.learn.selection import Families, SessionRelations, parse_splits
from crucible.core.errors import UsageError

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
def test_shares_are_parts_of_one(text: str, shares: dict[str, float]) -> None:
    assert parse_splits(text).shares == pytest.approx(shares)


@pytest.mark.parametrize(
    "text",
    ["", "train", "train=0.9", "train=0.9,test=0.2", "train=0.5,train=0.5", "train=1,test=0", "train=-1,test=2",
     "../up=1", "Train=1", "a b=1", "train=nan", "train=1e0", "train=٠.٥,test=0.5", "train=0.9,test=0.1,"],
)  # fmt: skip
def test_what_makes_no_sense_is_refused_with_an_example(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_splits(text)
    assert "train=0.9,test=0.1" in caught.value.hint


def test_the_same_family_is_on_the_same_side_for_ever() -> None:
    splits = parse_splits("train=0.5,test=0.5")
    names = [f"2026-05-0{number}-a" for number in range(1, 10)]
    assert [splits.side(name) for name in names] == [
        "test", "train", "test", "test", "train", "test", "train", "train", "test"
    ]  # fmt: skip


def test_another_seed_parts_otherwise() -> None:
    names = [str(number) for number in range(100)]
    one, other = (parse_splits("a=0.5,b=0.5", seed=seed) for seed in (0, 1))
    assert [one.side(name) for name in names] != [other.side(name) for name in names]


def test_the_shares_of_many_are_those_asked_for() -> None:
    splits = parse_splits("train=0.7,validation=0.2,test=0.1")
    sides = [splits.side(f"session-{number}") for number in range(20_000)]
    for name, share in splits.shares.items():
        assert sides.count(name) / len(sides) == pytest.approx(share, abs=0.015)


def test_a_subagent_and_what_went_on_are_of_one_family() -> None:
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
def test_kin_are_never_parted(kin: list[SessionRelations]) -> None:
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
def test_a_session_that_comes_later_moves_nobody(kin: list[SessionRelations], data: st.DataObject) -> None:
    before = Families(kin)
    known = sorted({one for each in kin for one in (each.session, *each.others)})
    was = {one: before.of(one) for one in known}
    other = data.draw(st.sampled_from(known)) if known else "2026-05-01-x"
    after = Families([*kin, SessionRelations("2026-06-01-new", (other,))])
    assert {one: after.of(one) for one in known} == was
