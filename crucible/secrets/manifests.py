"""Kubernetes secrets: all that stands under `data` and `stringData` of what says `kind: Secret`, whatever it is called.

Owns where the data of such a manifest begins and ends.  `kind` may stand before or after them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crucible.patterns import late_pattern
from crucible.secrets.between import EOL, LEAD
from crucible.secrets.values import is_placeholder

__all__ = ["MANIFEST_LITERALS", "find_manifest"]

MANIFEST_LITERALS = (
    "kind: secret",
    'kind": "secret"',
    'kind":"secret"',
    'kind\\": \\"secret\\"',
    'kind\\":\\"secret\\"',
)
"""Where to look, in lower case."""

_FARTHEST = 32 * 1024
_KIND = late_pattern(r"kind\\{0,4}\"?:[ ]?\\{0,4}\"?Secret(?![A-Za-z])")
_DOCUMENT = late_pattern(
    rf"(?:{EOL})[^\n\\]{{0,60}}?(?:---[ \t]*(?:{EOL}|\Z)|apiVersion:[ ]|- apiVersion:[ ])"
)
_BLOCK = late_pattern(rf"(?:\A|{EOL})(?P<lead>{LEAD})(?P<name>(?:stringData|data)):[ \t]*(?={EOL})")
_ENTRY = late_pattern(
    rf"{EOL}(?P<lead>{LEAD})[\w.\"'/-]{{1,253}}:[ \t]*(?:[|>][+-]?{EOL}{LEAD})?(?P<quote>\\*[\"'])?(?P<value>[^\s\"'\\]{{1,65536}}|)"
)
_OBJECT = late_pattern(
    r"\\{0,4}\"(?P<name>stringData|data)\\{0,4}\"[ \t]*:[ \t]*\{(?P<body>[^{}]{0,65536})\}"
)
_PAIR = late_pattern(r":\s*(?:\\{1,4}n)?\s*\\{0,4}\"(?P<value>[^\"\\]{1,65536})\\{0,4}\"")
_BASE64 = late_pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def find_manifest(text: str, start: int) -> Iterator[tuple[int, int]]:
    """The places of the values of the secret whose `kind: Secret` stands at `start`."""
    if not _KIND.match(text, start):
        return
    low, high = max(0, start - _FARTHEST), min(len(text), start + _FARTHEST)
    if '"' in text[start : start + 8]:
        yield from _of_json(text, low, high)
        return
    ends = [match.start() for match in _DOCUMENT.finditer(text, start, high)]
    begins = [match.start() for match in _DOCUMENT.finditer(text, low, start)]
    for block in _BLOCK.finditer(text, begins[-1] if begins else low, ends[0] if ends else high):
        yield from _of_yaml(text, block, high)


def _of_yaml(text: str, block: re.Match[str], high: int) -> Iterator[tuple[int, int]]:
    at, deep = block.end(), len(block["lead"])
    while at < high and (entry := _ENTRY.match(text, at)):
        if len(entry["lead"]) <= deep:
            return
        if _is_kept(entry["value"], block["name"]):
            yield entry.span("value")
        line = re.compile(r"[^\n\\]*").match(text, entry.end())
        at = line.end() if line else entry.end()


def _of_json(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    for found in _OBJECT.finditer(text, low, high):
        for pair in _PAIR.finditer(text, *found.span("body")):
            if _is_kept(pair["value"], found["name"]):
                yield pair.span("value")


def _is_kept(value: str, block: str) -> bool:
    if len(value) < 4 or is_placeholder(value):
        return False
    return block != "data" or _BASE64.fullmatch(value) is not None
