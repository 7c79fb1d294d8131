"""The user's days: several zones, both changes of the clock, and the boundary of a day."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from zoneinfo import ZoneInfo

import pytest

from crucible.core.settings.settings import UserSettings, read_user_settings
from crucible.core.text import day_words
from crucible.core.zones import SYSTEM, find_zone, local_day
from crucible.search.question_words import is_at_time, times_in
from tests.cases import for_each

BERLIN, TOKYO, LA = (ZoneInfo(name) for name in ("Europe/Berlin", "Asia/Tokyo", "America/Los_Angeles"))


@for_each(
    ("at", "zone", "day"),
    [
        ("2026-11-21T22:59:59Z", BERLIN, "2026-11-21"),
        ("2026-11-21T23:00:00Z", BERLIN, "2026-11-22"),
        ("2026-07-21T21:59:59Z", BERLIN, "2026-07-21"),
        ("2026-07-21T22:00:00Z", BERLIN, "2026-07-22"),
        ("2026-11-21T15:00:00Z", TOKYO, "2026-11-22"),
        ("2026-11-21T07:59:59Z", LA, "2026-11-20"),
        ("2026-11-21T08:00:00Z", LA, "2026-11-21"),
        ("2026-11-21T08:00:00", LA, "2026-11-21"),
        ("0001-01-01T00:00:00Z", LA, "0001-01-01"),
        ("9999-12-31T23:59:59Z", TOKYO, "9999-12-31"),
    ],
)
def test_a_day_is_the_day_in_the_zone_of_now(at: str, zone: ZoneInfo, day: str) -> None:
    now = datetime(2026, 3, 1, tzinfo=zone)  # a season of its own
    assert local_day(datetime.fromisoformat(at), now).isoformat() == day


def test_yesterday_begins_at_the_users_midnight() -> None:
    now = datetime(2026, 11, 22, 0, 30, tzinfo=BERLIN)
    assert day_words(datetime(2026, 11, 21, 22, 30, tzinfo=UTC), now) == "yesterday"
    assert day_words(datetime(2026, 11, 21, 23, 15, tzinfo=UTC), now) == "today"


def test_a_question_about_a_day_means_the_users() -> None:
    times = times_in("what failed on 22 November")
    late = int(datetime(2026, 11, 21, 23, 30, tzinfo=UTC).timestamp())  # the 22nd in Berlin
    assert is_at_time(times, late, BERLIN)
    assert not is_at_time(times, late, UTC)


@pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set")
def test_the_systems_zone_is_as_exact_as_a_named_one(monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", "CET-1CEST,M3.5.0,M10.5.0/3")
        time.tzset()
        for begin in ("2026-03-28T22:00:00Z", "2026-10-24T22:00:00Z"):
            for minutes in range(0, 8 * 60, 10):
                at = datetime.fromisoformat(begin) + timedelta(minutes=minutes)
                ours, named = at.astimezone(SYSTEM), at.astimezone(BERLIN)
                assert (ours.replace(tzinfo=None), ours.fold) == (named.replace(tzinfo=None), named.fold)
                assert ours.astimezone(UTC) == at
    time.tzset()


def test_a_zone_is_read_from_the_settings() -> None:
    settings = read_user_settings('timezone = "Asia/Tokyo"\n', "config.toml", "/home/ada")
    assert (settings.zone, settings.warnings) == (TOKYO, ())
    assert UserSettings().zone is SYSTEM


@pytest.mark.parametrize("name", ["Mars/Base", "../../etc/passwd", "/etc/localtime", "Europe", "a" * 300])
def test_an_unknown_zone_is_one_warning_and_the_systems_is_used(name: str) -> None:
    settings = read_user_settings(f'timezone = "{name}"\n', "config.toml", "/home/ada")
    assert settings.zone is SYSTEM
    assert len(settings.warnings) == 1
    assert "is not a known time zone; the system's is used" in settings.warnings[0]
    assert find_zone(name) is None
