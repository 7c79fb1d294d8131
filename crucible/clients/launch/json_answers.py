"""JSON objects in what a model answers: alone, in a fence, or with talk around them.

Owns finding them, in bounded time whatever was answered.  What an object must hold is the caller's.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping

from crucible.core.patterns import late_pattern

_FENCE = late_pattern(r"^[ \t]*```+[ \t]*(?:json)?[ \t]*\n(.*?)^[ \t]*```", re.DOTALL | re.MULTILINE | re.IGNORECASE)
_LONGEST = 100_000
"""Code points of an answer that are looked at."""
_MOST_TRIES = 50


def objects_in(answer: str) -> Iterator[Mapping[str, object]]:
    """The JSON objects in an answer, those in a fence before all others; each may come twice."""
    answer = answer[:_LONGEST]
    for place in (*(found[1] for found in _FENCE.finditer(answer)), answer):
        yield from _objects(place)


def _objects(text: str) -> Iterator[Mapping[str, object]]:
    decoder = json.JSONDecoder()
    at = text.find("{")
    for _ in range(_MOST_TRIES):
        if at < 0:
            return
        try:
            row, end = decoder.raw_decode(text, at)
        except (ValueError, RecursionError):
            end = at + 1
        else:
            yield row
        at = text.find("{", end)
