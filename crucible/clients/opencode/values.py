"""What OpenCode alone writes: JSON in columns, times in milliseconds.

Owns those; what every dialect coerces with is `transcript.values`'.  Nothing here raises.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

import orjson

from crucible.clients.log_values import Row

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799_000
"""Milliseconds to the end of the year 9999."""


def millis(value: object) -> int:
    """A time in milliseconds since 1970, 0 for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not 0 < value <= _LAST:
        return 0
    return int(value)


def utc(time: int) -> datetime | None:
    """A time of `millis`; None for 0, which is no time."""
    return _EPOCH + timedelta(milliseconds=time) if time else None


def parse(text: object) -> Row | None:
    """A JSON object; None for what is none."""
    if not isinstance(text, str | bytes):
        return None
    try:
        value = orjson.loads(text)
    except ValueError:
        return None
    return value if isinstance(value, dict) else None
