"""The coercion of values in rows, which all dialects share."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.clients.log_values import arguments_of, as_dict, as_list, as_str, as_time, count, number

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner),
)


@given(ANYTHING)
def test_whatever_a_row_holds_a_coercion_gives_its_type(value: object) -> None:
    assert isinstance(as_str(value), str)
    assert isinstance(as_list(value), list)
    assert isinstance(as_dict(value), dict)
    assert isinstance(arguments_of(value), dict)
    assert type(count(value)) is int
    assert count(value) >= 0
    time = as_time(value)
    assert time is None or time.tzinfo is UTC


@pytest.mark.parametrize(("given", "arguments"), [(None, {}), ({"a": 1}, {"a": 1}), ("x", {"input": "x"})])
def test_arguments_that_are_no_object_stand_under_input(given: object, arguments: object) -> None:
    assert arguments_of(given) == arguments


def test_a_boolean_is_no_number_and_a_negative_number_no_count() -> None:
    assert [number(each) for each in (True, 3, -3, 3.0, "3")] == [None, 3, -3, None, None]
    assert [count(each) for each in (True, 3, -3)] == [0, 3, 0]


@pytest.mark.parametrize(
    "text", ["2026-01-02T03:04:05Z", "2026-01-02T03:04:05", "2026-01-02T04:04:05+01:00", "20260102T030405Z"]
)
def test_times_are_utc_and_one_without_a_zone_counts_as_utc(text: str) -> None:
    assert as_time(text) == datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC)


@pytest.mark.parametrize("value", ["yesterday", "", 1767322999, None, "9999-12-31T23:59:59-10:00"])
def test_an_invalid_time_is_none(value: object) -> None:
    assert as_time(value) is None
