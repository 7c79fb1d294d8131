"""Times as a user gives them, where clocks are changed twice a year."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import pytest

from crucible.cli.options import local_now
from crucible.vault.index.time_filters import parse_when, utc
from crucible.vault.notes.vault import Vault
from tests.journeys.notes import note, write
from tests.running import Cru, CruProcess

BERLIN = "CET-1CEST,M3.5.0,M10.5.0/3"
"""As a rule, for a system without the table of zones."""

pytestmark = pytest.mark.skipif(not hasattr(time, "tzset"), reason="the zone cannot be set")


@pytest.fixture
def berlin(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    with monkeypatch.context() as patch:
        patch.setenv("TZ", BERLIN)
        time.tzset()
        yield
    time.tzset()


@pytest.mark.parametrize(
    ("options", "found"),
    [
        (["--since", "2026-07-01"], ["in-july"]),
        (["--until", "2026-06-30"], ["in-february", "in-january", "in-june"]),
        (["--where", "started >= 2026-07-01"], ["in-july"]),
        (["--since", "2026-02-01", "--until", "2026-06-01"], ["in-february"]),
        (["--until", "2026-01-31"], ["in-january"]),
        (["--where", "started = 2026-07-01"], ["in-july"]),
    ],
    ids=lambda v: " ".join(v) if v[0].startswith("--") else None,
)
def test_a_day_is_the_day_of_its_own_season(
    vault: Vault, cru_process: CruProcess, options: list[str], found: list[str]
) -> None:
    """Half of these fail in any season when today's offset is taken for every day."""
    for name, started in (
        ("in-june", "2026-06-30T21:30:00Z"),
        ("in-july", "2026-06-30T22:30:00Z"),
        ("in-january", "2026-01-31T22:30:00Z"),
        ("in-february", "2026-01-31T23:30:00Z"),
    ):
        write(vault, name, note(name, started=started))
    done = cru_process("--vault", vault.root, "session", "list", "--format", "json", *options, env={"TZ": BERLIN})
    assert sorted(row["id"] for row in json.loads(done.stdout)["sessions"]) == found


@pytest.mark.usefixtures("berlin")
@pytest.mark.parametrize(
    ("now", "fold", "ago", "then"),
    [
        ("2026-10-25T02:30", 1, "1h", "2026-10-25T00:30:00Z"),
        ("2026-10-25T02:30", 0, "1h", "2026-10-24T23:30:00Z"),
        ("2026-10-25T03:30", 0, "90m", "2026-10-25T01:00:00Z"),
        ("2026-10-25T12:00", 0, "1d", "2026-10-24T11:00:00Z"),
        ("2026-03-29T03:30", 0, "1h", "2026-03-29T00:30:00Z"),
        ("2026-11-20T12:00", 0, "26w", "2026-05-22T11:00:00Z"),
    ],
)
def test_how_long_ago_is_counted_on_a_clock_that_is_never_changed(now: str, fold: int, ago: str, then: str) -> None:
    here = datetime.fromisoformat(now).replace(tzinfo=local_now().tzinfo, fold=fold)
    assert utc(parse_when(ago, here)) == then


@pytest.mark.usefixtures("berlin")
def test_yesterday_is_an_hour_longer_when_the_clock_was_turned_back() -> None:
    here = datetime(2026, 10, 26, 12, 0, tzinfo=local_now().tzinfo)
    assert utc(parse_when("yesterday", here)) == "2026-10-24T22:00:00Z"
    assert utc(parse_when("yesterday", here, end=True)) == "2026-10-25T22:59:59Z"


@pytest.mark.usefixtures("berlin")
def test_now_is_now_in_any_zone() -> None:
    before = datetime.now(UTC)
    assert before <= local_now() <= datetime.now(UTC)


def test_ids_and_filters_use_the_days_of_the_setting(vault: Vault, cru: Cru) -> None:
    settings = Path(os.environ["HOME"]) / ".config" / "crucible" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('timezone = "Asia/Tokyo"\n')
    made = cru("record", "start", "Late at night", "--at", "2026-07-01T15:30:00Z").stdout
    assert made == "2026-07-02-late-night\n"
    assert 'started: "2026-07-01T15:30:00Z"\n' in (vault.sessions / f"{made.strip()}.md").read_text()
    assert made.strip() in cru("session", "list", "--since", "2026-07-02").stdout
    assert made.strip() not in cru("session", "list", "--until", "2026-07-01").stdout


def test_an_unknown_zone_is_one_line_and_commands_go_on(vault: Vault, cru: Cru) -> None:
    settings = Path(os.environ["HOME"]) / ".config" / "crucible" / "config.toml"
    settings.parent.mkdir(parents=True)
    settings.write_text('timezone = "Mars/Base"\n')
    line = "timezone = 'Mars/Base' is not a known time zone; the system's is used"
    result = cru("session", "list", "--since", "today")
    assert (result.exit_code, result.stderr.count(line)) == (0, 1)
    assert cru("doctor").stdout.count(line) == 1


@pytest.mark.parametrize("command", ["doctor", "session show odd --format mermaid", "inbox", "session list", ""])
@pytest.mark.parametrize("zone", ["EST5", "JST-9"])
def test_times_that_no_zone_can_show_are_no_error(
    vault: Vault, cru: Cru, monkeypatch: pytest.MonkeyPatch, zone: str, command: str
) -> None:
    first, last = "0001-01-01T00:00:00Z", "9999-12-31T23:59:59Z"
    body = f"## A\n\nstarted:: {first}\nended:: {last}\n\n## B\n\nstarted:: {last}\n"
    write(vault, "odd", note("odd", body, started=f'"{first}"', ended=f'"{last}"'))
    monkeypatch.setenv("TZ", zone)
    try:
        time.tzset()
        assert cru(*command.split()).exit_code in (0, 3)
    finally:
        monkeypatch.undo()
        time.tzset()
