"""What is taken of OpenCode's columns and JSON, whatever stands there: strings, counts, times.

Owns the coercions alone; nothing here raises.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any, TypeAlias

import orjson

__all__ = ["Row", "as_dict", "as_list", "as_str", "count", "millis", "parse", "utc"]

Row: TypeAlias = dict[str, Any]

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_LAST = 253_402_300_799_000
"""Milliseconds to the end of the year 9999."""


def as_str(value: object) -> str:
    """A string as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def as_dict(value: object) -> Row:
    """An object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list as it is, an empty one for anything else."""
    return value if isinstance(value, list) else []


def count(value: object) -> int:
    """A count as the client gave it, 0 for anything else."""
    return value if isinstance(value, int) and not isinstance(value, bool) and value > 0 else 0


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
