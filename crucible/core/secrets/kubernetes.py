"""Kubernetes secrets: all that stands under `data` and `stringData` of what says `kind: Secret`, whatever it is called.

Owns where the data of such a manifest begins and ends.  `kind` may stand before or after them.
"""

from __future__ import annotations

from collections.abc import Iterator

from crucible.core.patterns import late_pattern
from crucible.core.secrets.rule import Form
from crucible.core.secrets.secret_values import is_placeholder
from crucible.core.secrets.separators import EOL, LEAD

_LITERALS = (
    "kind: secret",
    'kind": "secret"',
    'kind":"secret"',
    'kind\\": \\"secret\\"',
    'kind\\":\\"secret\\"',
)
_FARTHEST = 32 * 1024
_KIND = late_pattern(r"kind\\{0,4}\"?:[ ]?\\{0,4}\"?Secret(?![A-Za-z])")
_DOCUMENT = late_pattern(rf"(?:{EOL})[^\n\\]{{0,60}}?(?:---[ \t]*(?:{EOL}|\Z)|apiVersion:[ ]|- apiVersion:[ ])")
_BLOCK = late_pattern(rf"(?:\A|{EOL})(?P<lead>{LEAD})(?P<name>(?:stringData|data)):[ \t]*(?={EOL})")
_ENTRY = late_pattern(
    rf"{EOL}(?P<lead>{LEAD})[\w.\"'/-]{{1,253}}:[ \t]*(?:[|>][+-]?{EOL}{LEAD})?(?P<quote>\\*[\"'])?(?P<value>[^\s\"'\\]{{1,65536}}|)"
)
_OBJECT = late_pattern(r"\\{0,4}\"(?P<name>stringData|data)\\{0,4}\"[ \t]*:[ \t]*\{(?P<body>[^{}]{0,65536})\}")
_PAIR = late_pattern(r":\s*(?:\\{1,4}n)?\s*\\{0,4}\"(?P<value>[^\"\\]{1,65536})\\{0,4}\"")
_LINE = late_pattern(r"[^\n\\]*")
_BASE64 = late_pattern(r"(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?")


def manifest_forms() -> list[Form]:
    """The forms of such manifests."""
    return [Form("kubernetes-secret", _LITERALS, _find_manifest)]


def _find_manifest(text: str, start: int, passed: int) -> tuple[int, list[tuple[int, int]]]:
    """The values of the secret whose `kind: Secret` stands at `start`; nothing before `passed` is looked at again."""
    if not _KIND.match(text, start):
        return passed, []
    low, high = max(passed, start - _FARTHEST), min(len(text), start + _FARTHEST)
    if '"' in text[start : start + 8]:
        closed = text.find("}", high, high + _FARTHEST) + 1
        return max(high, closed), list(_of_json(text, low, max(high, closed)))
    if text.find("ata:", low, high) < 0:
        return high, []
    following = _DOCUMENT.search(text, start, high)
    high = following.start() if following else high
    begins = [match.start() for match in _DOCUMENT.finditer(text, low, start)]
    return high, list(_of_yaml(text, begins[-1] if begins else low, high))


def _of_yaml(text: str, at: int, high: int) -> Iterator[tuple[int, int]]:
    while block := _BLOCK.search(text, at, high):
        at, deep = block.end(), len(block["lead"])
        while (entry := _ENTRY.match(text, at, high)) and len(entry["lead"]) > deep:
            if _is_kept(entry["value"], block["name"]):
                yield entry.span("value")
            at = _line_end(text, entry.end(), high)


def _line_end(text: str, at: int, high: int) -> int:
    line = _LINE.match(text, at, high)
    return line.end() if line else at


def _of_json(text: str, low: int, high: int) -> Iterator[tuple[int, int]]:
    for found in _OBJECT.finditer(text, low, high):
        for pair in _PAIR.finditer(text, *found.span("body")):
            if _is_kept(pair["value"], found["name"]):
                yield pair.span("value")


def _is_kept(value: str, block: str) -> bool:
    if len(value) < 4 or is_placeholder(value):
        return False
    return block != "data" or _BASE64.fullmatch(value) is not None
