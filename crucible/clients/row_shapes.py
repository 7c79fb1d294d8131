"""The kinds of rows, and their fields, in the recorded logs of each client.

`known_fields.json` is made from the recordings in `tests/data/transcripts` by `docs/formats.py`.
"""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from crucible.clients.client import printable
from crucible.clients.log_values import Row, as_dict, as_str

Shapes = Mapping[str, frozenset[str]]
"""The fields of each kind of row."""
KNOWN_FIELDS = Path(__file__).with_name("known_fields.json")
_MOST_KINDS = 100
_OTHERS = "others"
_INNER = ("data", "payload", "message", "systemPayload", "toolCallResult")
"""Objects in a row whose fields are listed too; others hold arguments or text."""


def shape_of(row: Row) -> tuple[str, set[str]]:
    """Return the kind of a row, such as `event_msg/token_count`, and its fields, such as `payload.info`."""
    payload, message = as_dict(row.get("payload")), as_dict(row.get("message"))
    parts = (row.get("type"), row.get("subtype"), payload.get("type"), row.get("role") or message.get("role"))
    kind = "/".join(filter(None, map(as_str, parts))) or "row"
    inner = {f"{name}.{key}" for name in _INNER for key in as_dict(row.get(name))}
    return kind, {*row, *inner}


def unknown_in(row: Row, known: Shapes) -> Iterator[str]:
    """Yield what is in no recording: the kind of a row, or else its new fields."""
    kind, fields = shape_of(row)
    if kind not in known:
        yield f"row {kind}"
    else:
        yield from (f"field {name} in {kind}" for name in sorted(fields - known[kind]))


def count_kinds(counts: Counter[str], more: Mapping[str, int]) -> None:
    """Add counts of kinds of rows and fields, which come from a log and must be redacted.

    Their number and length are limited, so that a log cannot fill a report or a cache.
    """
    for kind, number in more.items():
        name = printable(kind)
        counts[name if name in counts or len(counts) < _MOST_KINDS else _OTHERS] += number


@cache
def known_shapes(client: str) -> Shapes:
    """Return what the recordings of a client have; empty if its logs are no JSON lines, or if there are no recordings."""
    stored = as_dict(json.loads(KNOWN_FIELDS.read_bytes()).get(client))
    return {kind: frozenset(fields) for kind, fields in stored.items()}
