"""Parting cases into training and test data: `train=0.9,test=0.1`.

Owns that no session stands on two sides, nor do a session and its subagents, or what went on with it.  The side comes from a hash of the
family's name alone: what joins the vault later moves nobody.  The shares are those of very many families; of few, one side may get none.

A family is named after its first id.  Ids begin with their date, so a session that comes later names no family anew; only one that joins two
families does (a subagent of the one that goes on with the other), and then one of the two may move.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from typing import NamedTuple

from crucible.core.errors import UsageError
from crucible.core.patterns import late_pattern

_NAME = late_pattern(r"[a-z][a-z0-9_]{0,39}")
_SHARE = late_pattern(r"[01]?(?:\.[0-9]{1,9})?")
_HINT = "such as --split train=0.9,test=0.1"


class Kin(NamedTuple):
    """A session, and those that it comes from: its parent, what it goes on with, what goes on with it."""

    session: str
    others: tuple[str, ...] = ()


class Families:
    """Which sessions belong together.  Who is not known is a family alone."""

    def __init__(self, kin: Iterable[Kin] = ()) -> None:
        self._above: dict[str, str] = {}
        for one in kin:
            for other in one.others:
                self._join(one.session, other)

    def of(self, session: str) -> str:
        """The name of a session's family: the first of its ids."""
        while (above := self._above.get(session, session)) != session:
            session = above
        return session

    def _join(self, one: str, other: str) -> None:
        first, second = sorted((self.of(one), self.of(other)))
        self._above[second] = first


@dataclass(frozen=True, slots=True)
class Splits:
    """Names with their shares, which together are 1, in the order they were given."""

    shares: Mapping[str, float]
    seed: int = 0

    def side(self, family: str) -> str:
        """The name of the split that a family belongs to, always the same one."""
        digest = sha256(f"{self.seed}\0{family}".encode("utf-8", "surrogatepass")).digest()
        place = int.from_bytes(digest[:7], "big") / (1 << 56)
        passed = 0.0
        for name, share in self.shares.items():
            passed += share
            if place < passed:
                return name
        return list(self.shares)[-1]


def parse_splits(text: str, *, seed: int = 0) -> Splits:
    """Parse `--split`: names with shares, as parts of 1.  `UsageError` for an invalid value."""
    shares: dict[str, float] = {}
    for part in text.split(","):
        name, _, share = (piece.strip() for piece in part.partition("="))
        if not _NAME.fullmatch(name):
            raise UsageError(f"{name!r}: no name of a split (small letters, digits and _)", _HINT)
        if name in shares:
            raise UsageError(f"the split {name!r} stands there twice", _HINT)
        shares[name] = _share(name, share)
    if not math.isclose(sum(shares.values()), 1.0, abs_tol=1e-6):
        raise UsageError(f"the shares of --split come to {sum(shares.values()):g}, and not to 1", _HINT)
    return Splits(shares, seed)


def _share(name: str, text: str) -> float:
    share = float(text or 0) if _SHARE.fullmatch(text) else 0.0
    if not 0 < share <= 1:
        raise UsageError(f"{text!r}: no share for {name!r}, which is above 0 and up to 1", _HINT)
    return share
