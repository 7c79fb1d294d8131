"""The kinds of rows, and their fields, in the recorded logs of each client.

`known_fields.json` is made from the recordings in `tests/data/transcripts` by `docs/formats.py`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from crucible.clients.log_values import Row, as_dict, as_str

Shapes = Mapping[str, frozenset[str]]
"""The fields of each kind of row."""
KNOWN_FIELDS = Path(__file__).with_name("known_fields.json")
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
    """Yield what no recording has: the kind of a row, or else its new fields."""
    kind, fields = shape_of(row)
    if kind not in known:
        yield f"row {kind}"
    else:
        yield from (f"field {name} in {kind}" for name in sorted(fields - known[kind]))


@cache
def known_shapes(client: str) -> Shapes:
    """Return what the recordings of a client have; empty if its logs are no JSON lines, or if there are no recordings."""
    stored = as_dict(json.loads(KNOWN_FIELDS.read_bytes()).get(client))
    return {kind: frozenset(fields) for kind, fields in stored.items()}
