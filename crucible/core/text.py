"""Words and sentences in plain text, and durations as text.  Markdown is not interpreted."""

from __future__ import annotations

import os
import re
from collections.abc import Set as AbstractSet
from datetime import datetime, timedelta
from functools import cache, lru_cache
from typing import Literal, TypeVar

from crucible.core.patterns import late_pattern
from crucible.core.zones import local_day

WORD = late_pattern(r"[^\W_]+")
"""A run of letters and digits: `token_bucket` is two words."""
_LONG_WORD = late_pattern(r"\w{4,}")
_STOP_WORDS = os.path.join(os.path.dirname(__file__), "stop_words.txt")
_SHORTEST_STEM = 3

T = TypeVar("T")


@cache
def stop_words(name: str) -> frozenset[str]:
    """Return a list of words from `stop_words.txt`, in lower case, split at apostrophes: `don't` is `don` and `t`."""
    with open(_STOP_WORDS, encoding="utf-8") as file:
        section = file.read().partition(f"[{name}]\n")[2].partition("\n[")[0]
    words = [word for line in section.split("\n") if not line.startswith("#") for word in line.split()]
    included = (stop_words(word[1:]) for word in words if word[0] == "+")
    return frozenset(word for word in words if word[0] != "+").union(*included)


def long_words(text: str) -> set[str]:
    """Return the words with at least four characters, in lower case; `token_bucket` is one word."""
    return set(_LONG_WORD.findall(text.casefold()))


@lru_cache(20_000)
def stem(word: str, endings: tuple[str, ...]) -> str:
    """Remove the first matching ending that leaves at least three letters.

    Cruder than the Snowball stemmer for English that search uses: `retries`, `retry` and `retried` become `retr`.
    """
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def overlap(
    one: AbstractSet[T], other: AbstractSet[T], of: Literal["first", "smaller", "larger", "union"] = "smaller"
) -> float:
    """Return the shared fraction of the first, smaller or larger set, or of the union (Jaccard), from 0 to 1."""
    shared = len(one & other)
    if not shared:
        return 0.0
    match of:
        case "first":
            return shared / len(one)
        case "smaller":
            return shared / min(len(one), len(other))
        case "larger":
            return shared / max(len(one), len(other))
        case "union":
            return shared / (len(one) + len(other) - shared)


# Each pattern matches the end of a sentence with its closing marks.  They differ in the cost of a wrong split.  They
# begin with a set of characters, which the regex engine finds far faster than the conditions after it.
_ABBREVIATIONS = "".join(rf"(?<!\b{word}[.!?…])" for word in (r"e\.g", r"i\.e", "vs", "etc", "cf"))
PROSE_END = late_pattern(
    rf"[.!?…。！？:](?:(?<=[。！？])|(?<=:)(?=\n)|(?<=[.!?…]){_ABBREVIATIONS}(?<![(.][.!?…])"
    r"[.!?…]*[\"'”’)\]]*(?=\s+[^\sa-z]))"
)
"""Careful: abbreviations, and marks before a lower-case letter, do not end a sentence; a colon at a line's end does."""
TITLE_END = late_pattern(
    rf"[.!?…。！？](?:(?<=[。！？])|(?<=[.!?…]){_ABBREVIATIONS}(?<!\bapprox[.!?…])[.!?…]*[\"')\]]*(?=\s+\S))"
)
"""For titles: the first sentence of a prompt is its title, and a lower-case letter may follow the mark."""
CLAUSE_END = late_pattern(r"[.!?:…。！？][\"'`)\]*_]*(?=\s+\S)")
"""Eager: any mark ends a clause, even a colon, so that the question in a closing line is separated."""
LINE_END = late_pattern(r"[.!?](?=\s)|\n")
"""Simple: a mark before whitespace, or any line end."""


def split_sentences(text: str, end: re.Pattern[str] = PROSE_END) -> list[str]:
    """Split a text into sentences with their marks and spaces; joined, they give the text."""
    stops = [found.end() for found in end.finditer(text)]
    return [text[start:stop] for start, stop in zip([0, *stops], [*stops, len(text)], strict=True)]


def cut_at_word(text: str, limit: int) -> str:
    """Shorten a text to `limit` code points, ending in `…`.  Cuts after a word if one ends in the second half."""
    if len(text) <= limit:
        return text
    head = text[: limit - 1]
    if text[limit - 1] != " ":
        space = head.rfind(" ")
        head = head[:space] if space >= limit // 2 else head
    return head.rstrip(" ,;:.-–—([") + "…"


_UNITS = ((86_400, "d"), (3600, "h"), (60, "min"))
_PAIRS = ((86_400, "d", 3600, "h"), (3600, "h", 60, "m"), (60, "m", 1, "s"))


def age_words(age: timedelta) -> str:
    """Format an age as `2 h ago`, or `just now` if under a minute or in the future (another machine's clock)."""
    seconds = int(age.total_seconds())
    return next((f"{seconds // size} {unit} ago" for size, unit in _UNITS if seconds >= size), "just now")


def day_words(time: datetime, now: datetime) -> str:
    """Return `today`, `yesterday` or `3 days ago`."""
    days = (now.date() - local_day(time, now)).days
    if days <= 0:
        return "today"
    return "yesterday" if days == 1 else f"{days} days ago"


def counted(count: int, noun: str, many: str = "", *, zero: str = "0") -> str:
    """Return a count with its noun: `1 step`, `2 steps`.  `many` is an irregular plural, or includes a verb."""
    return f"{f'{count:,}' if count else zero} {noun if count == 1 else many or f'{noun}s'}"


def dollars(micros: int) -> str:
    """Show micro-dollars as dollars: `$1,234.50`, and `<$0.01` instead of nothing."""
    return "<$0.01" if 0 < micros < 5_000 else f"${micros / 1_000_000:,.2f}"


def short_duration(seconds: float) -> str:
    """Format seconds for a column: `45s`, `12m 5s`, `1h 23m`, `3d 4h`."""
    total = round(seconds)
    for size, unit, part, smaller in _PAIRS:
        if total >= size:
            return f"{total // size:,}{unit} {total % size // part}{smaller}"
    return f"{total}s"


def elapsed_words(ms: int | None) -> str:
    """Format milliseconds as `3.2 s` or `4 min 10 s`; "" if unknown."""
    if ms is None:
        return ""
    seconds = ms / 1000
    if seconds < 60:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest:02} s"
