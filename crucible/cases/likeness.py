"""Which cases say the same as another, exactly or nearly, and which of them is kept.

Owns `--dedupe`.  Exactly: the same type and digest.  Nearly: the same type, and four fifths of all runs of three words in common, as MinHash
estimates it (one permutation, 128 values), looked for among those that share one of sixteen bands.  The best comes first and stays: whose
outcome was verified, which a human accepted, the earliest, the first by its id.  Each is compared with those that stay and share a band, a
bounded number of them, so the time grows with the text.

It is our own, and no library's: the one that is well kept brings numpy and scipy, a hundred megabytes for this option, and a
library's next version may hash otherwise, where an export has the same bytes for ever.
"""

from __future__ import annotations

import re
import sys
from array import array
from collections.abc import Iterator, Mapping, Sequence
from enum import StrEnum
from itertools import pairwise
from typing import NamedTuple
from zlib import crc32

from crucible.cases.model import Case, Puzzle, Review
from crucible.cases.texts import texts_of
from crucible.patterns import late_pattern

__all__ = ["Dedupe", "Duplicates", "likeness", "sketch_of"]


class Dedupe(StrEnum):
    """What counts as the same."""

    EXACT = "exact"
    NEAR = "near"


_WORD = late_pattern(r"\w+", re.UNICODE)
_RUN = 3
_BINS = 128
_BAND = 8
_ALIKE = 0.8
_MOST = 64
"""Cases that are compared with one, for each band."""


_LOW = int.from_bytes(b"\xff" * 7 + b"\x7f", "little") * sum(1 << (64 * at) for at in range(_BINS))
_HIGH = _LOW + sum(1 << (64 * at) for at in range(_BINS))
"""The lowest 63 bits of each lane, and the highest one."""


class _Seen(NamedTuple):
    rank: tuple[bool, bool, str, str]
    type: str
    digest: str
    lanes: int
    keys: tuple[int, ...]


class Duplicates:
    """Cases as they come, of which only a sketch is kept; then, which are to be left out."""

    def __init__(self, mode: Dedupe) -> None:
        self._mode = mode
        self._seen: list[_Seen] = []

    def see(self, case: Case) -> None:
        """Take a case into account."""
        started = case.started.isoformat() if case.started else "~"
        rank = not case.verification.verified, case.review is not Review.ACCEPTED, started, case.id
        sketch = sketch_of(case) if self._mode is Dedupe.NEAR else array("Q")
        keys = tuple(_keys(case.type.value, sketch))
        self._seen.append(_Seen(rank, case.type.value, case.digest, _lanes(sketch), keys))

    def dropped(self) -> dict[str, str]:
        """The ids of those that another one stands for, each with that one's."""
        kept: dict[tuple[str, str], str] = {}
        bands: dict[int, list[int]] = {}
        dropped: dict[str, str] = {}
        ranked = sorted(self._seen, key=lambda seen: seen.rank)
        for at, one in enumerate(ranked):
            own = one.rank[-1]
            same = kept.get((one.type, one.digest)) if one.digest else None
            same = same or _near(one, ranked, bands)
            if same is None:
                _keep(at, one, bands)
            elif same != own:
                dropped[own] = same
            if one.digest:
                kept.setdefault((one.type, one.digest), same or own)
        return dropped


def _near(one: _Seen, ranked: Sequence[_Seen], bands: Mapping[int, Sequence[int]]) -> str | None:
    """Who of those that stay is most like it, the best of them where several are."""
    others = {other for key in one.keys for other in bands.get(key, ())}
    found = [(_apart(one.lanes, ranked[other].lanes), other) for other in others]
    apart, best = min(found, default=(_BINS, -1))
    return ranked[best].rank[-1] if 1 - apart / _BINS >= _ALIKE else None


def _keep(at: int, one: _Seen, bands: dict[int, list[int]]) -> None:
    for key in one.keys:
        there = bands.setdefault(key, [])
        if len(there) < _MOST:
            there.append(at)


def _keys(type_: str, sketch: array[int]) -> Iterator[int]:
    start = crc32(type_.encode())
    for at, end in pairwise(range(0, len(sketch) + 1, _BAND)):
        yield crc32(sketch[at:end].tobytes(), start + at)


def likeness(one: array[int], other: array[int]) -> float:
    """The part of all runs of words that both have, as two sketches tell it."""
    return 1 - _apart(_lanes(one), _lanes(other)) / _BINS


def _lanes(sketch: array[int]) -> int:
    """All values side by side, so that two sketches are compared in a few steps, and not in 128."""
    return int.from_bytes(sketch.tobytes(), sys.byteorder)


def _apart(one: int, other: int) -> int:
    """How many values differ: what is not 0 in the lowest 63 bits of a lane carries into its highest one, which no value has."""
    return (((one ^ other) + _LOW) & _HIGH).bit_count()


def sketch_of(case: Case) -> array[int]:
    """The least hash of a run of words in each of 128 bins; a bin without any takes the next one's."""
    body = case.body
    if isinstance(body, Puzzle):  # what was made of it, and not what happened
        texts = [body.goal, body.failure, body.expected, *texts_of(body.tried), *texts_of(body.solution)]
    else:
        texts = list(texts_of(body))
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    bins = [-1] * _BINS
    for at in range(max(len(words) - _RUN + 1, 1)):
        hashed = _mixed(" ".join(words[at : at + _RUN]))
        place, value = hashed % _BINS, hashed // _BINS
        if bins[place] < 0 or value < bins[place]:
            bins[place] = value
    return _filled(bins)


def _mixed(text: str) -> int:
    """32 bits, the lowest of which depend on all of the text's."""
    value = crc32(text.encode("utf-8", "surrogatepass"))
    value = (value ^ (value >> 16)) * 0x85EBCA6B & 0xFFFFFFFF
    value = (value ^ (value >> 13)) * 0xC2B2AE35 & 0xFFFFFFFF
    return value ^ (value >> 16)


def _filled(bins: list[int]) -> array[int]:
    filled = array("Q", [0]) * _BINS
    distance, value = 0, 0
    for at in range(2 * _BINS - 1, -1, -1):
        here = bins[at % _BINS]
        distance, value = (0, here) if here >= 0 else (distance + 1, value)
        if at < _BINS:  # those from further away are another value than the same one nearer
            filled[at] = value + (distance << 25)
    return filled
