"""Hash functions and a JSON parser that import quickly, for commands that take only milliseconds.

`hashlib` loads OpenSSL, and `json` compiles regular expressions: 2 to 3 ms each.  `sha256` and `blake2b` are those of
`hashlib`, taken from the C modules behind it; `parse_json` loads `json` only for what `orjson` refuses.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from hashlib import blake2b, sha256
else:
    try:
        from _blake2 import blake2b

        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256
    except ImportError:
        from hashlib import blake2b, sha256

__all__ = ["blake2b", "parse_json", "sha256"]


def parse_json(data: bytes) -> Any:
    """Parse JSON written by `json`.  It may hold lone surrogates (from file names that are not UTF-8)."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        import json  # noqa: PLC0415  slow to load, and rarely needed

        return json.loads(data)
