"""Parse times as users write them, and format times for the tables.  `now` is passed in."""

from __future__ import annotations

import re
from contextlib import suppress
from datetime import UTC, datetime, time, timedelta
from typing import TYPE_CHECKING

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern

if TYPE_CHECKING:  # options parse times, and most commands need no tables
    from crucible.vault.index.schema import Row


_AGO = late_pattern(r"(\d{1,5})\s*([smhdw])", re.IGNORECASE)
_UNITS = {"s": "seconds", "m": "minutes", "h": "hours", "d": "days", "w": "weeks"}


def parse_when(text: str, now: datetime, *, end: bool = False) -> datetime:
    """Parse an ISO date or time, `today`, `yesterday`, `now`, or an age (`90m`, `12h`, `7d`, `2w`).

    Times without a zone are in the zone of `now`, which must be aware.  A date means its first second, or its last with
    `end`.
    """
    word = text.strip().lower()
    ago = _AGO.fullmatch(word)
    if word == "now" or ago:
        # In UTC: after the clock is set back, the local time an hour ago may equal the current one.
        return now.astimezone(UTC) - timedelta(**{_UNITS[ago[2].lower()]: int(ago[1])}) if ago else now
    try:
        days = {"today": 0, "yesterday": 1}
        if word in days:
            return _day(now - timedelta(days=days[word]), now, end)
        moment = datetime.fromisoformat(text.strip().upper())
    except ValueError:
        raise UsageError(
            f"{text!r} is not a time",
            "use a form such as 2026-11-21, 2026-11-21T20:30, today, yesterday, 5m, 12h, 7d or 2w",
        ) from None
    if len(word) <= len("2026-11-21"):
        return _day(moment, now, end)
    return moment if moment.tzinfo else moment.replace(tzinfo=now.tzinfo)


def _day(day: datetime, now: datetime, end: bool) -> datetime:
    return datetime.combine(day.date(), time(23, 59, 59) if end else time(), now.tzinfo)


def utc(moment: datetime) -> str:
    """Format a time as `2026-11-21T20:26:47Z`, which sorts by time.  A time without a zone counts as UTC."""
    aware = moment if moment.tzinfo else moment.replace(tzinfo=UTC)
    try:
        return aware.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")
    except OverflowError:  # year 1 or 9999 near the date line
        return aware.strftime("%Y-%m-%dT%H:%M:%SZ").rjust(20, "0")


# --- when a session was active ---------------------------------------------------------------------------------------

_DAY = late_pattern(r"\d{4}-\d\d-\d\d(?!\d)")
AFTERWARDS = frozenset(("idle", "manual", "died"))
"""Stop reasons of bookmarks that are made some time after the last activity."""


def begun(row: Row) -> str:
    """Return when a session began, in the index's format; if unknown, the day in its id, else ""."""
    day = _DAY.match(str(row["id"]))
    return str(row["started"] or (day[0] if day and time_of(day[0]) else ""))


def last_active(row: Row, at: datetime | None = None, why: str = "") -> datetime | None:
    """Return when a session was last active.  `at` and `why` are the time and stop reason of its bookmark."""
    started, lasted = time_of(begun(row)), row["duration_s"]
    times = [started, time_of(row["ended"]), None if why in AFTERWARDS else at]
    with suppress(OverflowError):
        times.append(started + timedelta(seconds=lasted) if started and isinstance(lasted, int) else None)
    return max(filter(None, times), default=at)


def time_of(cell: object) -> datetime | None:
    """Parse a time from the index; None for anything else."""
    try:
        found = datetime.fromisoformat(str(cell or ""))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
