"""Find where a value ends: at its quote, at a space, at the end of its line.

`assignments` finds where a value begins.
"""

from __future__ import annotations

import re
from string import ascii_letters

from crucible.core.patterns import late_pattern

_LONGEST_QUOTED = 64 * 1024
_MOST_SIGNS = 20
"""Maximum number of `=` in a value."""
_WIDE = late_pattern(r"(?>(?:[^\s\"'`\\]|\\(?![nrtu\"'`\\]))*)")
_TIGHT = late_pattern(r"(?>(?:[^\s\"'`\\,;&|<>(){}\[\]]|&(?=[\w!@\#$%^*.-]{1,64}(?:[\s\"'`]|\Z))|\\(?![nrtu\"'`\\]))*)")
_SHELL = late_pattern(r"(?>(?:[^\s\"'`\\;&|<>]|\\(?![nrtu\"'`\\]))*)")
LINE_START = late_pattern(
    r"(?:\A|\n|\\n|[;|]|&&|[\"'`])[ \t]*[+\-<>|#*]{0,2}[ \t]*(?:(?:export|set|setx|SET|ENV|ARG|env|declare -x|\$env:|-e|--env|--build-arg|-D)[ \t:=]*)?[A-Za-z0-9_.\-/:]*\Z"
)
JUDGED = 512
"""Maximum characters at the start of a value that are judged."""


def end_of_quoted(text: str, quote: str, at: int) -> int:
    """Return where a quoted text ends: at the closing quote or, if it is cut off, at the end of its line."""
    mark = quote.lstrip("\\")
    longest = at + _LONGEST_QUOTED
    end = text.find(quote, at, longest)
    while end > at and quote == mark and len(mark) == 1 and _is_escaped(text, end):
        end = text.find(quote, end + 1, longest)
    limit = min(longest, len(text)) if end < 0 else end
    line = text.find("\n", at, limit)
    return limit if line < 0 or len(mark) == 3 else line


def _is_escaped(text: str, at: int) -> bool:
    before = at
    while before and text[before - 1] == "\\":
        before -= 1
    return (at - before) % 2 == 1


def end_of_bare(text: str, first: int, at: int, kind: str, between: re.Match[str]) -> int:
    """Return the end of the unquoted value at `at` for the name at `first`.  `between` matched the text in between."""
    if kind == "block":
        return _match_end(_WIDE, text, at)
    if kind in {"xml", "plist"}:
        end = text.find("</", at, at + 4096)
        return end if end >= 0 and "\n" not in text[at:end].strip() else at
    if kind in {"space", "option"}:
        return _match_end(_SHELL, text, at)
    if kind in {"name", "part"}:
        return _match_end(_WIDE, text, at)
    if text.count("=", at, _match_end(_TIGHT, text, at)) > _MOST_SIGNS:
        return at
    own_line = LINE_START.search(text, max(0, first - 40), first) is not None
    if own_line and kind == "sep" and not between["close"]:
        end = _match_end(_WIDE, text, at)
        return at + len(text[at:end].rstrip(",;:")) if _looks_whole(text[at:end]) else _match_end(_TIGHT, text, at)
    end = _match_end(_TIGHT, text, at)
    return end - text[at:end].endswith(":")  # `if token == last:`


def _looks_whole(value: str) -> bool:
    """Return whether a value extends to the next space, and is not part of code, a query or minified text."""
    return re.search(r"[&;,]\w+=|[({\[]|^[\w.]*\)", value) is None


def _match_end(pattern: re.Pattern[str], text: str, at: int) -> int:
    found = pattern.match(text, at, at + JUDGED)
    return found.end() if found else at


def full_end(text: str, at: int, stop: int) -> int:
    """Return the end of an unquoted value that has been examined only in part."""
    return _match_whole(text, stop) if stop - at >= JUDGED else stop


def _match_whole(text: str, at: int) -> int:
    found = _TIGHT.match(text, at)
    return found.end() if found else at


def inside_quotes(text: str, at: int, stop: int) -> tuple[int, int]:
    """Return the span of a quoted text without inner quotes."""
    inner = _INNER_QUOTED.fullmatch(text, at, stop)
    return inner.span("s") if inner else (at, stop)


_INNER_QUOTED = late_pattern(r"(?P<mark>\\{0,8}[\"'])(?P<s>[^\"'\\]{1,4096})(?P=mark)")


def is_key(text: str, first: int, stop: int) -> bool:
    """Return whether the name is part of a database key or image tag: `user:token:<md5>`, `team/password:617b3d3c`."""
    low = max(0, first - 64)
    low += len(text[low:first].rstrip(ascii_letters + "_-:/"))
    return _KEY.fullmatch(text, low, stop) is not None


_KEY = late_pattern(r"(?:[A-Za-z_-]*/){1,8}[\w-]{1,64}:[0-9a-f]{7,64}|(?:[A-Za-z_-]{1,64}:){2,8}[0-9a-f]{7,64}")
