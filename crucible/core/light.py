"""Hashes and JSON without the libraries that a short command would load only for them.

`hashlib` loads OpenSSL and `json` compiles patterns, which takes milliseconds each.
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
    """Parse JSON that `json` wrote, also with lone surrogates, as in file names that are not UTF-8."""
    try:
        return orjson.loads(data)
    except orjson.JSONDecodeError:
        import json  # noqa: PLC0415  rarely needed, see above

        return json.loads(data)
