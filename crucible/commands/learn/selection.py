"""Which of many cases go out: without duplicates, and a number of them.

Owns `--dedupe`, `--limit` and `--seed`.  Duplicates go first, then a sample is drawn, by a hash of each id: what joins the vault later moves few of
those that were drawn.  Exactly the same is what has the same type and digest; nearly, the same type and four fifths of all runs of three words,
looked for among those that share one of their sixteen least hashes.  The best comes first and stays: whose outcome was verified, which a human
accepted, the earliest, the first by its id.
"""

from __future__ import annotations

import heapq
from collections import defaultdict
from collections.abc import Iterable
from dataclasses import replace
from enum import StrEnum
from hashlib import blake2b
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from crucible.commands.learn.case import Case, Puzzle, Review
from crucible.commands.learn.case_texts import texts_of
from crucible.core.patterns import late_pattern
from crucible.core.text.words import overlap


class Dedupe(StrEnum):
    """What counts as the same."""

    EXACT = "exact"
    NEAR = "near"


class Picked(NamedTuple):
    """The cases that go out, in their order, and how many said what another one says."""

    cases: Iterable[Case]
    dropped: int = 0


_WORD = late_pattern(r"\w+")
_RUN, _KEYS, _ALIKE = 3, 16, 0.8
_MOST = 64
"""Cases that are compared with one, for each key: so the time grows with the text."""


def pick(
    cases: Iterable[Case], dedupe: Dedupe | None = None, limit: int | None = None, seed: int | None = None
) -> Picked:
    """Those that go out; all are held where they must be known together, else none is."""
    dropped: set[str] = set()
    if dedupe:
        cases = list(cases)
        dropped = {*duplicates(cases, dedupe)}
        cases = [case for case in cases if case.id not in dropped]
    if limit is None or seed is None:
        return Picked(islice(cases, limit), len(dropped))
    cases = list(cases)
    drawn = set(heapq.nsmallest(limit, (case.id for case in cases), key=lambda one: _place(seed, one)))
    return Picked([case for case in cases if case.id in drawn], len(dropped))


def _place(seed: int, id_: str) -> bytes:
    return blake2b(f"{seed}\0{id_}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def duplicates(cases: Iterable[Case], mode: Dedupe) -> dict[str, str]:
    """The ids of those that another one stands for, each with that one's."""
    exact: dict[tuple[str, str], str] = {}
    near: defaultdict[tuple[str, int], list[tuple[str, frozenset[int]]]] = defaultdict(list)
    dropped: dict[str, str] = {}
    for case in sorted(cases, key=_rank):
        runs = sketch_of(case) if mode is Dedupe.NEAR else frozenset[int]()
        keys = [(case.type.value, run) for run in sorted(runs)[:_KEYS]]
        alike = ((overlap(runs, other, "union"), id_) for key in keys for id_, other in near[key] if id_ != case.id)
        mark = (case.type.value, case.digest or case.id)
        same = exact.get(mark) or next((id_ for share, id_ in alike if share >= _ALIKE), None)
        exact.setdefault(mark, same or case.id)
        if same:
            dropped[case.id] = same
            continue
        for key in keys:
            if len(near[key]) < _MOST:
                near[key].append((case.id, runs))
    return dropped


def _rank(case: Case) -> tuple[bool, bool, str, str]:
    started = case.started.isoformat() if case.started else "~"
    return not case.verification, case.review is not Review.ACCEPTED, started, case.id


def sketch_of(case: Case) -> frozenset[int]:
    """The hashes of all runs of three words."""
    body = case.body
    if isinstance(body, Puzzle):  # what happened, and not what was made of it
        body = replace(body, state="", hints=(), attribution=None)
    words = [word for text in texts_of(body) for word in _WORD.findall(text.casefold())]
    runs = (" ".join(words[at : at + _RUN]) for at in range(max(len(words) - _RUN + 1, 1)))
    return frozenset(crc32(run.encode("utf-8", "surrogatepass")) for run in runs)
