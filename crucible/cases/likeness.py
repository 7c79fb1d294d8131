"""Which cases say the same as another, exactly or nearly, and which of them is kept.

Owns `--dedupe`.  Exactly: the same type and digest.  Nearly: the same type, and four fifths of all runs of three words in common, looked for
among those that share one of their sixteen least hashes.  The best comes first and stays: whose outcome was verified, which a human
accepted, the earliest, the first by its id.  Each is compared with a bounded number of those that stay, so the time grows with the text.
"""

from __future__ import annotations

from collections.abc import Iterator
from enum import StrEnum
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


_WORD = late_pattern(r"\w+")
_RUN, _KEYS, _ALIKE = 3, 16, 0.8
_MOST = 64
"""Cases that are compared with one, for each key."""


class _Seen(NamedTuple):
    rank: tuple[bool, bool, str, str]
    type: str
    digest: str
    runs: frozenset[int]

    def marks(self) -> Iterator[tuple[str, int]]:
        return ((self.type, key) for key in sorted(self.runs)[:_KEYS])


class Duplicates:
    """Cases as they come, of which only hashes are kept; then, which are to be left out."""

    def __init__(self, mode: Dedupe) -> None:
        self._mode = mode
        self._seen: list[_Seen] = []

    def see(self, case: Case) -> None:
        """Take a case into account."""
        started = case.started.isoformat() if case.started else "~"
        rank = not case.verification.verified, case.review is not Review.ACCEPTED, started, case.id
        runs = sketch_of(case) if self._mode is Dedupe.NEAR else frozenset[int]()
        self._seen.append(_Seen(rank, case.type.value, case.digest, runs))

    def dropped(self) -> dict[str, str]:
        """The ids of those that another one stands for, each with that one's."""
        kept: dict[tuple[str, str], str] = {}
        near: dict[tuple[str, int], list[_Seen]] = {}
        dropped: dict[str, str] = {}
        for one in sorted(self._seen, key=lambda seen: seen.rank):
            own = one.rank[-1]
            same = kept.get((one.type, one.digest)) if one.digest else None
            same = same or _like(one, near)
            if same is None:
                for key in one.marks():
                    there = near.setdefault(key, [])
                    there += [one] if len(there) < _MOST else []
            elif same != own:
                dropped[own] = same
            if one.digest:
                kept.setdefault((one.type, one.digest), same or own)
        return dropped


def _like(one: _Seen, near: dict[tuple[str, int], list[_Seen]]) -> str | None:
    """Who of those that stay is most like it, the best of them where several are."""
    others = {other.rank: other for key in one.marks() for other in near.get(key, ())}
    found = [(-likeness(one.runs, other.runs), rank) for rank, other in others.items()]
    alike, rank = min(found, default=(0.0, one.rank))
    return rank[-1] if -alike >= _ALIKE else None


def likeness(one: frozenset[int], other: frozenset[int]) -> float:
    """The part of all runs of words that both have."""
    return len(one & other) / (len(one | other) or 1)


def sketch_of(case: Case) -> frozenset[int]:
    """The hashes of all runs of three words."""
    body = case.body
    if isinstance(body, Puzzle):  # what was made of it, and not what happened
        texts = [body.goal, body.failure, body.expected, *texts_of(body.tried), *texts_of(body.solution)]
    else:
        texts = [*texts_of(body)]
    words = [word for text in texts for word in _WORD.findall(text.casefold())]
    runs = (" ".join(words[at : at + _RUN]) for at in range(max(len(words) - _RUN + 1, 1)))
    return frozenset(crc32(run.encode("utf-8", "surrogatepass")) for run in runs)
