"""What a Codex row may hold where it should hold something else: the few coercions that every row needs."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from typing import Any, TypeAlias

import orjson

__all__ = ["Row", "as_dict", "as_list", "as_str", "as_time", "count", "dicts", "made_at", "number", "parsed"]

Row: TypeAlias = dict[str, Any]
_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def as_str(value: object) -> str:
    """A string as it is, "" for anything else."""
    return value if isinstance(value, str) else ""


def as_dict(value: object) -> Row:
    """An object as it is, an empty one for anything else."""
    return value if isinstance(value, dict) else {}


def as_list(value: object) -> list[Any]:
    """A list as it is, an empty one for anything else."""
    return value if isinstance(value, list) else []


def dicts(value: object) -> list[Row]:
    """The objects of a list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


def number(value: object) -> int | None:
    """A whole number, None for anything else, truth values included."""
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def count(value: object) -> int:
    """A count as the client gave it, 0 for anything else."""
    return max(number(value) or 0, 0)


def as_time(value: object) -> datetime | None:
    """An ISO 8601 time as UTC; None when it is none."""
    if not isinstance(value, str):
        return None
    try:
        time = datetime.fromisoformat(value)
        return time.replace(tzinfo=UTC) if time.tzinfo is None else time.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


def parsed(text: object) -> Row:
    """The object that a string holds as JSON; an object that is none yet comes back as it is."""
    if not isinstance(text, str):
        return as_dict(text)
    try:
        return as_dict(orjson.loads(text)) if text[:1] in "{ \n" else {}
    except ValueError:
        return {}


def made_at(ident: str) -> int:
    """When an id of version 7 was made, in milliseconds; 0 for any other id."""
    found = _UUID7.match(ident)
    return int(found[1] + found[2], 16) if found else 0
