"""Rows as TOON, a table notation that models read cheaply."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import toons

_SURROGATE = re.compile("[\ud800-\udfff]")


def dump_rows(rows: Sequence[Mapping[str, object]], name: str = "") -> str:
    """Rows of one shape as a TOON table, two spaces deep; `name` is the table's.

    A list in a row would lose the table form, so its items are joined with `, `.
    """
    flat = [{key: _flat(value) for key, value in row.items()} for row in rows]
    return toons.dumps({name: flat} if name else flat)


def _flat(value: object) -> object:
    text = ", ".join(map(str, value)) if isinstance(value, list | tuple) else value
    # A byte that was no UTF-8 travels as a lone surrogate, which TOON cannot hold.
    return _SURROGATE.sub("\ufffd", text) if isinstance(text, str) else text
