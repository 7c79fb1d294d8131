"""Which of many cases go out: without duplicates, and a number of them.

Owns the order in which that is decided: duplicates go first, then a sample is drawn.  Both are known only when every case was seen, so cases
are asked for twice and none is held.  A sample goes by a hash of each id: what joins the vault later moves few of those that were drawn.
"""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from hashlib import blake2b
from itertools import islice

from crucible.cases.likeness import Dedupe, Duplicates
from crucible.cases.model import Case

__all__ = ["Picked"]


class Picked:
    """The cases that go out, as often as they are asked for.

    `cases` is called once to look, where that is needed, and once for each time the answer is read.
    """

    def __init__(
        self,
        cases: Callable[[], Iterable[Case]],
        *,
        dedupe: Dedupe | None = None,
        limit: int | None = None,
        seed: int | None = None,
    ) -> None:
        self._cases = cases
        self._limit = limit
        self._seed = seed
        self._gone: dict[str, str] = {}
        self._drawn: set[str] | None = None
        if dedupe is not None or (limit is not None and seed is not None):
            self._look(dedupe)

    @property
    def dropped(self) -> int:
        """How many said what another one says."""
        return len(self._gone)

    def __iter__(self) -> Iterator[Case]:
        """In the order of the cases; without a seed the first ones."""
        left = (case for case in self._cases() if case.id not in self._gone)
        if self._drawn is not None:
            return (case for case in left if case.id in self._drawn)
        return islice(left, self._limit)

    def _look(self, dedupe: Dedupe | None) -> None:
        duplicates = Duplicates(dedupe) if dedupe else None
        ids = []
        for case in self._cases():
            ids.append(case.id)
            if duplicates:
                duplicates.see(case)
        self._gone = duplicates.dropped() if duplicates else {}
        if self._limit is not None and self._seed is not None:
            left = (one for one in ids if one not in self._gone)
            self._drawn = set(heapq.nsmallest(self._limit, left, key=lambda one: _rank(self._seed, one)))


def _rank(seed: int | None, id_: str) -> bytes:
    return blake2b(f"{seed}\0{id_}".encode("utf-8", "surrogatepass"), digest_size=16).digest()
