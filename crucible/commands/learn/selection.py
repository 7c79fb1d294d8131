"""Select the cases to export: drop duplicates, sample, and split into training and test data.

Hashes decide samples and splits, so new cases move few old ones. A session shares a split with its subagents and its
continuations.
"""

from __future__ import annotations

import heapq
import math
from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from hashlib import blake2b, sha256
from itertools import islice
from typing import NamedTuple
from zlib import crc32

from crucible.commands.learn.case import Case, CaseStatus, Puzzle, texts_of
from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern
from crucible.core.text import overlap


class Dedupe(StrEnum):
    """When two cases count as duplicates."""

    EXACT = "exact"
    NEAR = "near"


class SelectedCases(NamedTuple):
    """The selected cases in order, and the number of dropped duplicates."""

    cases: Iterable[Case]
    dropped: int = 0


_WORD = late_pattern(r"\w+")
_RUN, _KEYS, _ALIKE = 3, 16, 0.8
_MOST = 64
"""Maximum cases stored per key for comparison, so that the time stays linear."""


def select_cases(
    cases: Iterable[Case], dedupe: Dedupe | None = None, limit: int | None = None, seed: int | None = None
) -> SelectedCases:
    """Select cases. They are held in memory only for deduplication or a random sample."""
    dropped: set[str] = set()
    if dedupe:
        cases = list(cases)
        dropped = {*duplicates(cases, dedupe)}
        cases = [case for case in cases if case.id not in dropped]
    if limit is None or seed is None:
        return SelectedCases(islice(cases, limit), len(dropped))
    cases = list(cases)
    drawn = set(heapq.nsmallest(limit, (case.id for case in cases), key=lambda one: _place(seed, one)))
    return SelectedCases([case for case in cases if case.id in drawn], len(dropped))


def _place(seed: int, id_: str) -> bytes:
    return blake2b(f"{seed}\0{id_}".encode("utf-8", "surrogatepass"), digest_size=16).digest()


def duplicates(cases: Iterable[Case], mode: Dedupe) -> dict[str, str]:
    """Return the ids of duplicates, each with the id of the case that is kept instead."""
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
    return not case.verification, case.review is not CaseStatus.ACCEPTED, started, case.id


def sketch_of(case: Case) -> frozenset[int]:
    """Return the hashes of all sequences of three words."""
    body = case.body
    if isinstance(body, Puzzle):  # recorded text only, no derived fields
        body = replace(body, state="", hints=(), attribution=None)
    words = [word for text in texts_of(body) for word in _WORD.findall(text.casefold())]
    runs = (" ".join(words[at : at + _RUN]) for at in range(max(len(words) - _RUN + 1, 1)))
    return frozenset(crc32(run.encode("utf-8", "surrogatepass")) for run in runs)


_NAME = late_pattern(r"[a-z][a-z0-9_]{0,39}")
_SHARE = late_pattern(r"[01]?(?:\.[0-9]{1,9})?")
_HINT = "for example --split train=0.9,test=0.1"


class SessionRelations(NamedTuple):
    """A session and its relations: its parent, the session it continues, and the sessions that continue it."""

    session: str
    others: tuple[str, ...] = ()


class Families:
    """Groups of related sessions, which share a split. An unknown session is its own group."""

    def __init__(self, relations: Iterable[SessionRelations] = ()) -> None:
        self._above: dict[str, str] = {}
        for one in relations:
            for other in one.others:
                self._join(one.session, other)

    def of(self, session: str) -> str:
        """Return the name of a session's family: the lowest of its ids."""
        while (above := self._above.get(session, session)) != session:
            session = above
        return session

    def _join(self, one: str, other: str) -> None:
        first, second = sorted((self.of(one), self.of(other)))
        self._above[second] = first


@dataclass(frozen=True, slots=True)
class Splits:
    """Split names and their shares, which add up to 1, in the given order."""

    shares: Mapping[str, float]
    seed: int = 0

    def side(self, family: str) -> str:
        """Return the name of a family's split, which depends only on the family and the seed."""
        digest = sha256(f"{self.seed}\0{family}".encode("utf-8", "surrogatepass")).digest()
        place = int.from_bytes(digest[:7], "big") / (1 << 56)
        passed = 0.0
        for name, share in self.shares.items():
            passed += share
            if place < passed:
                return name
        return list(self.shares)[-1]


def parse_splits(text: str, *, seed: int = 0) -> Splits:
    """Parse `--split`: names with shares that add up to 1. Raises `UsageError` for an invalid value."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r}: not a valid split name (use lower-case letters, digits and _)", _HINT)
        if name in shares:
            raise UsageError(f"the split {name!r} is repeated", _HINT)
        shares[name] = _share(name, share)
    if not math.isclose(sum(shares.values()), 1.0, abs_tol=1e-6):
        raise UsageError(f"the shares of --split add up to {sum(shares.values()):g}, not 1", _HINT)
    return Splits(shares, seed)


def _share(name: str, text: str) -> float:
    share = float(text or 0) if _SHARE.fullmatch(text) else 0.0
    if not 0 < share <= 1:
        raise UsageError(f"{text!r}: the share of {name!r} must be above 0 and at most 1", _HINT)
    return share
