"""Words of plain text: stop words, stems, and how much two texts share."""

from __future__ import annotations

from collections.abc import Set as AbstractSet
from functools import cache, lru_cache
from pathlib import Path
from typing import Literal, TypeVar

from crucible.core.patterns import late_pattern

WORD = late_pattern(r"[^\W_]+")
"""A run of letters and digits: `token_bucket` is two words."""
_LONG_WORD = late_pattern(r"\w{4,}")
_STOP_WORDS = Path(__file__).with_name("stop_words.txt")
_SHORTEST_STEM = 3

T = TypeVar("T")


@cache
def stop_words(name: str) -> frozenset[str]:
    """The words of a list in `stop_words.txt`, in lower case, without apostrophes: `don't` is `don` and `t`."""
    section = _STOP_WORDS.read_text(encoding="utf-8").partition(f"[{name}]\n")[2].partition("\n[")[0]
    words = [word for line in section.split("\n") if not line.startswith("#") for word in line.split()]
    included = (stop_words(word[1:]) for word in words if word[0] == "+")
    return frozenset(word for word in words if word[0] != "+").union(*included)


def long_words(text: str) -> set[str]:
    """The words of at least four characters, in lower case; `token_bucket` is one word."""
    return set(_LONG_WORD.findall(text.casefold()))


@lru_cache(20_000)
def stem(word: str, endings: tuple[str, ...]) -> str:
    """The word without the first of the endings that it has and that leaves three letters or more.

    Rougher than Snowball's English stemmer, which search uses: `retries`, `retry` and `retried` become `retr`.
    """
    for ending in endings:
        if word.endswith(ending) and len(word) - len(ending) >= _SHORTEST_STEM:
            return word.removesuffix(ending)
    return word


def overlap(
    one: AbstractSet[T], other: AbstractSet[T], of: Literal["first", "smaller", "larger", "union"] = "smaller"
) -> float:
    """The shared part of the first set, the smaller or larger one, or the union (Jaccard), from 0 to 1."""
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
