"""What a record's values are when written: JSON of any object, long texts cut.

Owns what JSON cannot say (a lone surrogate, a bottomless list) and how it is written all the same.
"""

from __future__ import annotations

import dataclasses
import json
import math
import re
from collections.abc import Mapping
from datetime import datetime

import orjson

__all__ = ["cut_values", "dump_record"]

_DEEPEST = 100
"""Lists in lists beyond this are left out: a hostile log must not exhaust the stack."""
_SURROGATE = re.compile("[\ud800-\udfff]")


def cut_values(value: object, path: str, limit: int, cut: dict[str, int], depth: int = 0) -> object:
    """A JSON value with texts of at most `limit` bytes; `cut` gets the path and bytes of each longer one (0: too deep)."""
    if isinstance(value, str):
        return _cut_text(value, path, limit, cut)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        value = {f.name: getattr(value, f.name) for f in dataclasses.fields(value)}
    if isinstance(value, Mapping | list | tuple) and depth >= _DEEPEST:
        cut[path] = 0
        return "…"
    if isinstance(value, Mapping):
        return {str(k): cut_values(inner, f"{path}.{k}", limit, cut, depth + 1) for k, inner in value.items()}
    if isinstance(value, list | tuple):
        return [cut_values(inner, f"{path}.{at}", limit, cut, depth + 1) for at, inner in enumerate(value)]
    return value


def _cut_text(text: str, path: str, limit: int, cut: dict[str, int]) -> str:
    if len(text) * 4 <= limit or len(data := text.encode("utf-8", "surrogatepass")) <= limit:
        return text
    cut[path] = len(data)
    return data[:limit].decode("utf-8", "ignore")


def dump_record(record: Mapping[str, object]) -> bytes:
    """A record as JSON in one line, without its end."""
    try:
        return orjson.dumps(record, option=orjson.OPT_UTC_Z)
    except TypeError:  # a lone surrogate, an integer beyond 64 bits, a type that JSON has not
        text = json.dumps(_finite(record), ensure_ascii=False, separators=(",", ":"), default=_plain)
        return _SURROGATE.sub("\ufffd", text).encode("utf-8")


def _plain(value: object) -> str:
    return value.isoformat() if isinstance(value, datetime) else str(value)


def _finite(value: object) -> object:
    """The same without what `json` writes though it is no JSON: orjson would not read the line again."""
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(name): _finite(inner) for name, inner in value.items()}
    return [_finite(inner) for inner in value] if isinstance(value, list | tuple) else value
