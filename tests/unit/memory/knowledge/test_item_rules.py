"""The weight of an item, with default and changed settings."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.settings.settings import KnowledgeSettings
from crucible.documents.knowledge.item_rules import (
    EVERYTHING,
    Audience,
    WeightFacts,
    freshness,
    needs_verification,
    sees,
    type_weight,
    usefulness,
    weigh,
)
from crucible.documents.knowledge.items import ItemScope, ItemType, Verification
from tests.cases import for_each
from tests.unit.memory.knowledge.sample_items import NOW, item_of

DEFAULTS = KnowledgeSettings()


def _changed(type_: str) -> dict[str, Any]:
    return {type_: 2.0, "verified_bonus": 0.5}


def days(number: float) -> timedelta:
    return timedelta(days=number)


@pytest.mark.parametrize(
    ("type_", "weight"),
    [("evidence", 1.0), ("decision", 0.9), ("failure", 0.85), ("pattern", 0.75), ("observation", 0.5)],
)
def test_a_type_weighs_what_the_plan_says_and_a_verified_item_a_tenth_more(type_: str, weight: float) -> None:
    item = item_of("x", type=ItemType(type_))
    assert type_weight(WeightFacts.of(item), DEFAULTS) == weight
    verified = item_of("x", type=ItemType(type_), verification=Verification(True))
    assert type_weight(WeightFacts.of(verified), DEFAULTS) == pytest.approx(weight + 0.1)
    assert type_weight(WeightFacts.of(verified), DEFAULTS._replace(**_changed(type_))) == 2.5


@for_each(
    ("age", "fresh"), [(0, 1.0), (45, 0.5**0.5), (90, 0.5), (180, 0.25), (298, 0.5 ** (298 / 90)), (300, 0.1), (4000, 0.1), (-9, 1.0)]
)  # fmt: skip
def test_freshness_halves_each_ninety_days_down_to_a_tenth(age: float, fresh: float) -> None:
    assert freshness(WeightFacts.of(item_of("x", updated=NOW - days(age))), NOW, DEFAULTS) == pytest.approx(fresh)


def test_use_within_a_month_makes_an_item_a_fifth_fresher_and_never_more_than_new() -> None:
    def fresh(age: float, used: float, count: int = 1) -> float:
        item = item_of("x", updated=NOW - days(age), last_used=NOW - days(used), use_count=count)
        return freshness(WeightFacts.of(item), NOW, DEFAULTS)

    assert fresh(90, 29) == pytest.approx(0.6)
    assert fresh(90, 30) == pytest.approx(0.5)
    assert fresh(90, 1, count=0) == pytest.approx(0.5)
    assert fresh(1, 1) == 1.0
    assert fresh(5000, 1) == pytest.approx(0.12)


def test_an_item_counts_from_its_last_change_else_its_beginning_else_as_new() -> None:
    old = NOW - days(90)
    assert freshness(WeightFacts.of(item_of("x", created=old)), NOW, DEFAULTS) == 1.0
    assert freshness(WeightFacts.of(item_of("x", created=old, updated=None)), NOW, DEFAULTS) == pytest.approx(0.5)
    assert freshness(WeightFacts.of(item_of("x", created=None, updated=None)), NOW, DEFAULTS) == 1.0


@pytest.mark.parametrize(
    ("used", "helped", "factor"),
    [(0, 0, 1.0), (1, 0, 0.5), (2, 1, 1.0), (4, 3, 1.25), (9, 9, 1.5), (1, 5, 1.5)],
)
def test_usefulness_goes_from_a_half_to_one_and_a_half(used: int, helped: int, factor: float) -> None:
    assert usefulness(WeightFacts.of(item_of("x", use_count=used, useful_count=helped)), DEFAULTS) == factor


@pytest.mark.parametrize(
    ("change", "flagged"),
    [
        ({"updated": NOW - days(181)}, True),
        ({"updated": NOW - days(180)}, False),
        ({"updated": NOW - days(400), "verification": Verification(True)}, False),
        ({"updated": NOW - days(400), "verification": Verification(False, "looked")}, True),
    ],
)
def test_an_unverified_item_of_half_a_year_is_flagged(change: dict[str, Any], flagged: bool) -> None:
    assert needs_verification(WeightFacts.of(item_of("x", **change)), NOW, DEFAULTS) is flagged


@given(st.integers(0, 9), st.integers(0, 9), st.floats(-100, 9000), st.integers(1, 10_000), st.floats(0, 1))
def test_any_weight_is_the_product_of_parts_that_have_their_bounds(
    used: int, helped: int, age: float, half_life: int, floor: float
) -> None:
    settings = DEFAULTS._replace(half_life_days=half_life, freshness_floor=floor)
    weight = weigh(WeightFacts("pattern", False, used, helped, NOW, NOW - days(age)), NOW, settings)
    assert floor <= weight.freshness <= 1
    assert 0.5 <= weight.usefulness <= 1.5
    product = weight.parts["type"] * weight.parts["freshness"] * weight.parts["usefulness"]
    assert weight.total == pytest.approx(product)
    assert weigh(WeightFacts("one that comes later"), NOW, settings).type == DEFAULTS.observation


# --- scopes ----------------------------------------------------------------------------------------------------------

OWN = item_of("x")
OTHER = item_of("x", project="blog")
DOMAIN = item_of("x", scope=ItemScope.DOMAIN, project="blog", domain="Payments")
EVERYBODY = item_of("x", scope=ItemScope.GLOBAL, project="blog")


@for_each(
    ("viewer", "seen"),
    [
        (EVERYTHING, [OWN, OTHER, DOMAIN, EVERYBODY]),
        (Audience(ItemScope.PROJECT, "Shop"), [OWN, DOMAIN, EVERYBODY]),
        (Audience(ItemScope.PROJECT, "shop", "payments"), [OWN, DOMAIN, EVERYBODY]),
        (Audience(ItemScope.PROJECT, "shop", "search"), [OWN, EVERYBODY]),
        (Audience(ItemScope.PROJECT), [DOMAIN, EVERYBODY]),
        (Audience(ItemScope.DOMAIN, "shop", "payments"), [DOMAIN, EVERYBODY]),
        (Audience(ItemScope.DOMAIN, "shop", "search"), [EVERYBODY]),
        (Audience(ItemScope.GLOBAL, "shop", "payments"), [EVERYBODY]),
    ],
)
def test_a_project_sees_its_own_its_domains_and_everybodys(viewer: Audience, seen: list[Any]) -> None:
    assert [one for one in (OWN, OTHER, DOMAIN, EVERYBODY) if sees(viewer, Audience.of(one))] == seen
