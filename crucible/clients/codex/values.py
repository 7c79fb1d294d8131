"""What Codex alone writes: JSON inside of strings, lists of objects, ids that tell a time.

Owns those; what every dialect coerces with is `transcript.values`'.
"""

from __future__ import annotations

import re

import orjson

from crucible.clients.log_values import Row, as_dict, as_list

_UUID7 = re.compile(r"([0-9a-f]{8})-([0-9a-f]{4})-7[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}\Z")


def dicts(value: object) -> list[Row]:
    """The objects of a list."""
    return [item for item in as_list(value) if isinstance(item, dict)]


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
