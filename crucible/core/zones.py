"""The user's time zone and days.  Notes keep UTC; ids, lists and filters use the day in the zone of `now`."""

from __future__ import annotations

import time
from datetime import UTC, date, datetime, timedelta, tzinfo


class _SystemZone(tzinfo):
    """This machine's time zone, including daylight saving time."""

    def utcoffset(self, dt: datetime | None) -> timedelta | None:
        try:
            return None if dt is None else dt.replace(tzinfo=None).astimezone().utcoffset()
        except (OverflowError, ValueError, OSError):  # outside the range of the system's clock
            return timedelta(seconds=-time.timezone)

    def fromutc(self, dt: datetime) -> datetime:
        try:
            offset = dt.replace(tzinfo=UTC).astimezone().utcoffset()
        except (OverflowError, ValueError, OSError):
            offset = None
        offset = timedelta(seconds=-time.timezone) if offset is None else offset
        local = dt + offset
        # In the hour that is repeated in autumn, the second one has another offset.
        return local if self.utcoffset(local) == offset else local.replace(fold=1)

    def dst(self, dt: datetime | None) -> timedelta | None:  # noqa: ARG002  the base class calls it
        return None

    def tzname(self, dt: datetime | None) -> str | None:  # noqa: ARG002  as above
        return None


SYSTEM = _SystemZone()


def find_zone(name: str) -> tzinfo | None:
    """Return an IANA time zone; None if this machine does not know it.  "" is the system's zone."""
    if not name:
        return SYSTEM
    from zoneinfo import ZoneInfo  # noqa: PLC0415  slow, and few users set a zone

    try:
        return ZoneInfo(name)
    except (ValueError, OSError, LookupError):
        return None


def in_zone(at: datetime, zone: tzinfo | None) -> datetime:
    """Return a time in a zone (None for the system's); as it is if no zone can show it: year 1 or 9999."""
    try:
        return at.astimezone(zone)
    except (OverflowError, ValueError, OSError):
        return at


def local_day(at: datetime, now: datetime) -> date:
    """Return the day of a time in the zone of `now`.  A time without a zone counts as UTC."""
    aware = at if at.tzinfo else at.replace(tzinfo=UTC)
    return in_zone(aware, now.tzinfo or UTC).date()
