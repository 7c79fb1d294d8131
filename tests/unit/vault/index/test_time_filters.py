"""Times as users write them, and as the tables hold them."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta, timezone

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crucible.core.errors import UsageError
from crucible.vault.index.time_filters import parse_when, utc
from tests.cases import for_each

NOW = datetime(2026, 11, 21, 22, 30, 15, tzinfo=timezone(timedelta(hours=1)))


@pytest.mark.parametrize(
    ("moment", "text"),
    [
        (datetime(2026, 1, 2, 3, 4, 5, tzinfo=timezone(timedelta(hours=2))), "2026-01-02T01:04:05Z"),
        (datetime(2026, 1, 2, 3, 4, 5), "2026-01-02T03:04:05Z"),  # noqa: DTZ001  a human left the zone out
        (datetime.min.replace(tzinfo=timezone(timedelta(hours=2))), "0001-01-01T00:00:00Z"),
        (datetime.max.replace(tzinfo=timezone(timedelta(hours=-2))), "9999-12-31T23:59:59Z"),
    ],
)
def test_times_are_written_in_utc(moment: datetime, text: str) -> None:
    assert utc(moment) == text


@given(st.datetimes(timezones=st.timezones()), st.datetimes(timezones=st.timezones()))
def test_texts_sort_as_the_moments_do(one: datetime, other: datetime) -> None:
    one, other = one.replace(microsecond=0), other.replace(microsecond=0)
    if all(1 < moment.year < 9999 for moment in (one, other)):
        assert (utc(one) < utc(other)) is (one.astimezone(UTC) < other.astimezone(UTC))


@for_each(
    ("text", "moment"),
    [
        ("now", "2026-11-21T22:30:15+01:00"),
        ("today", "2026-11-21T00:00:00+01:00"),
        ("Yesterday", "2026-11-20T00:00:00+01:00"),
        ("7d", "2026-11-14T22:30:15+01:00"),
        ("2w", "2026-11-07T22:30:15+01:00"),
        ("12h", "2026-11-21T10:30:15+01:00"),
        ("90 M", "2026-11-21T21:00:15+01:00"),
        ("15s", "2026-11-21T22:30:00+01:00"),
        ("2026-01-02", "2026-01-02T00:00:00+01:00"),
        ("20260102", "2026-01-02T00:00:00+01:00"),
        (" 2026-01-02T03:04 ", "2026-01-02T03:04:00+01:00"),
        ("2026-01-02 03:04:05", "2026-01-02T03:04:05+01:00"),
        ("2026-01-02t03:04:05z", "2026-01-02T03:04:05+00:00"),
        ("2026-01-02T03:04:05-05:00", "2026-01-02T03:04:05-05:00"),
    ],
)
def test_a_moment_is_read_as_people_write_it(text: str, moment: str) -> None:
    assert parse_when(text, NOW) == datetime.fromisoformat(moment)


def test_until_a_day_means_its_end() -> None:
    assert parse_when("2026-01-02", NOW, end=True).isoformat() == "2026-01-02T23:59:59+01:00"
    assert parse_when("yesterday", NOW, end=True).isoformat() == "2026-11-20T23:59:59+01:00"
    assert parse_when("2026-01-02T03:04", NOW, end=True).isoformat() == "2026-01-02T03:04:00+01:00"


@pytest.mark.parametrize("text", ["", "soon", "2026-13-01", "7x", "-7d", "999999w", "12:30"])
def test_what_is_no_time_is_refused_with_examples(text: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_when(text, NOW)
    assert "7d" in caught.value.hint


@given(
    st.text()
    | st.from_regex(r"\d{1,5}[smhdw]", fullmatch=True)
    | st.from_regex(r"\d{4}-\d\d-\d\d.{0,9}", fullmatch=True)
)
def test_any_text_is_a_moment_or_refused(text: str) -> None:
    for end in (False, True):
        try:
            found = parse_when(text, NOW, end=end)
        except UsageError:
            continue
        assert len(utc(found)) == 20
