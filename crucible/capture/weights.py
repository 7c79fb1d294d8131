"""How much the words of a sentence speak for a choice, for a way worth doing again and for taking something back, by weights that were fitted.

Owns which features a sentence has and the reading of the table `weights.tsv`, which `python -m benchmarks.capture_fit` writes and nobody changes by
hand.  A feature is a mark of the hand-made families, or how the small words of a sentence stand to each other; the names of things are all the same to
it, so it knows a choice whatever is chosen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, lru_cache
from itertools import pairwise
from pathlib import Path
from typing import NamedTuple

from crucible.capture.sentences import Sentence
from crucible.patterns import late_pattern

__all__ = [
    "TABLE",
    "UNIT",
    "Chances",
    "beginnings",
    "chances",
    "features_of",
    "known_words",
    "shaped",
    "together",
]

TABLE = Path(__file__).parent / "weights.tsv"
"""A line each: the feature, and behind tabs what it speaks for each of `Chances`, in units of `UNIT`.  A line that begins with # is a remark; the line
of `words` holds the small words that are told apart."""
UNIT = 0.05

_STEM = 6
_MOST = 40
"""Tokens of a sentence that are looked at."""
_FEW, _SOME, _MANY = 5, 9, 16
_TOKEN = late_pattern(
    r"[\w.@~-]*/[\w./@~-]+|[\w-]+\.[a-z]{1,5}\b(?!\.)|\w+_\w+|\w+\(\)|\d[\d.,%]*|[^\W\d_]+(?:['-][^\W\d_]+)*|[:;,()=?!→—-]"
)
_NAMED = late_pattern(
    r"\b[a-z]+[A-Z]\w*\b|\b[a-z]+_\w+|\w/\w+\.|\w\.(?:py|ts|tsx|go|rs|java|rb|php|c|h|sql|md|js|ex|exs|kt|swift|ya?ml|json|toml)\b|`"
)


class Chances(NamedTuple):
    """From 0 to 1 each, together 1 at most."""

    choice: float
    way: float
    back: float


def features_of(
    one: Sentence,
    behind: Sentence | None,
    marks: Iterable[str],
    behind_marks: Iterable[str],
    known: frozenset[str],
    *,
    by_user: bool,
) -> set[str]:
    """The features of a sentence by name: `marks` it bears, its `known` words and how they stand, what stands behind it."""
    shape, own = shaped(one.plain, known), [*marks]
    found = {*_of_marks(own), *_of_shape(shape), *_of_size(one, shape)}
    if not behind:
        found.add("last")
    elif own:  # what stands behind a sentence that says nothing says nothing of it
        found |= {f"behind {mark}" for mark in behind_marks}
        found |= {f"behind {word}" for word in shaped(behind.plain, known)[:3]}
    if one.at:
        found.add("further")
    if by_user:
        found |= {f"user {each}" for each in found}
        found.add("user")
    return found


@lru_cache(maxsize=4)  # a sentence is asked for with its own marks and without, and as the one behind
def shaped(plain: str, known: frozenset[str]) -> tuple[str, ...]:
    """A sentence's known words by their beginnings, its signs, and a * where other words stand."""
    row: list[str] = []
    for token in _TOKEN.findall(plain)[:_MOST]:
        if not token[0].isalpha():
            word = token if len(token) == 1 and not token.isdigit() else "#"
        elif "/" in token or "_" in token or "." in token or "(" in token:
            word = "@"
        else:
            word = token[:_STEM] if token[:_STEM] in known else "*"
        if word != "*" or row[-1:] != ["*"]:
            row.append(word)
    return tuple(row)


def beginnings(text: str) -> set[str]:
    """The beginnings of words by which those of a text would be known."""
    return {token[:_STEM] for token in _TOKEN.findall(text.lower().replace("’", "'")) if token[0].isalpha()}


def _of_marks(marks: Sequence[str]) -> Iterator[str]:
    ordered = sorted(marks)
    yield from (f"mark {one}" for one in ordered)
    yield from (f"mark {one} {two}" for place, one in enumerate(ordered) for two in ordered[place + 1 :])


def _of_shape(shape: Sequence[str]) -> Iterator[str]:
    row = ["^", *shape, "$"]
    yield from (f"word {one}" for one in row[1:-1])
    yield from (f"pair {one} {two}" for one, two in pairwise(row))
    small = [one for one in row if one not in "*#@,"]
    yield from (f"skip {one} {two}" for one, two in pairwise(small))


def _of_size(one: Sentence, shape: Sequence[str]) -> Iterator[str]:
    words = one.plain.count(" ") + 1
    yield "size " + (
        "few" if words < _FEW else "some" if words < _SOME else "many" if words < _MANY else "most"
    )
    yield f"things {min(4, shape.count('*'))}"
    if _NAMED.search(one.text):
        yield "names code"
    if one.asks:
        yield "asks"


def chances(features: set[str]) -> Chances:
    """How likely a sentence with these features settles something, tells a way worth doing again, and takes something back."""
    table, _ = _table()
    rows = [table[one] for one in features if one in table]
    return together([sum(column) for column in zip(*rows, strict=True)], max(1, len(rows)))


def together(sums: Sequence[float], many: int) -> Chances:
    """The chances by the sums of the weights of `many` features, which are logarithms beside 0 for none of them; no sums are zeros."""
    share = 1 / math.sqrt(many)
    odds = [math.exp(min(50.0, each * share)) for each in sums] or [1.0] * len(Chances._fields)
    whole = 1 + sum(odds)
    return Chances(*(each / whole for each in odds))


def known_words() -> frozenset[str]:
    """The beginnings of words that are told apart."""
    return _table()[1]


@cache
def _table() -> tuple[Mapping[str, tuple[float, ...]], frozenset[str]]:
    rows = [line.split("\t") for line in TABLE.read_text("utf-8").splitlines() if not line.startswith("#")]
    known = next((frozenset(row[1].split()) for row in rows if row[0] == "words"), frozenset())
    return {row[0]: tuple(UNIT * int(each) for each in row[1:]) for row in rows if row[0] != "words"}, known
