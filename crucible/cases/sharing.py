"""The cases of many sessions, and their rows, made on all cores.

Owns how sessions are dealt out: neighbours go together, since a session's subagents began soon after it.  Everything comes in the order of the
sessions, whoever made it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

from crucible.cases.card import Tally
from crucible.cases.gathering import Gathered, Gatherer, Wanted
from crucible.cases.model import Review
from crucible.cases.rows import Export, Line, lines_of
from crucible.cases.scrubbing import Scrubber
from crucible.processes import cores, spread
from crucible.secrets.redacting import redact_of, remembering
from crucible.settings import VaultSettings
from crucible.vault.store import Vault

__all__ = ["Made", "gather_all", "make_rows", "worth_sharing"]

_WORTH_PROCESSES = 200
"""Sessions; fewer are gathered sooner by one process than by several that must start."""
_CHUNK = 32


class Made(NamedTuple):
    """What came of some sessions: what was gathered, without the cases, and the rows of all that were not rejected."""

    gathered: tuple[Gathered, ...]
    rejected: int
    lines: list[Line]
    tally: Tally


class _Hand(NamedTuple):
    """What a process works with."""

    gatherer: Gatherer
    scrubber: Scrubber


_HANDS: list[_Hand] = []
"""Of a process that works for another."""


def worth_sharing(paths: Sequence[Path]) -> bool:
    """Whether there are enough sessions, and cores."""
    return len(paths) >= _WORTH_PROCESSES and cores() > 1


def gather_all(vault: Vault, gatherer: Gatherer, paths: Sequence[Path]) -> Iterator[Gathered]:
    """What `gatherer` gathers of each session, in their order; where they are many, others of its kind do it in processes of their own."""
    if not worth_sharing(paths):
        yield from map(gatherer.gather, paths)
        return
    begin = partial(_begin, vault.root, vault.settings, gatherer.wanted, "")
    try:
        for some in spread(_gather, _chunks(paths), cores(), begin):
            yield from some
    finally:
        _HANDS.clear()


def make_rows(
    vault: Vault, wanted: Wanted, paths: Sequence[Path], export: Export, home: str
) -> Iterator[Made]:
    """The rows of the sessions' cases, some sessions at a time, in their order; of a shape in which each row stands for itself.

    `home` is `Scrubber`'s.
    """
    begin = partial(_begin, vault.root, vault.settings, wanted, home)
    try:
        yield from spread(partial(_make, export), _chunks(paths), cores(), begin)
    finally:
        _HANDS.clear()


def _chunks(paths: Sequence[Path]) -> list[Sequence[Path]]:
    return [paths[at : at + _CHUNK] for at in range(0, len(paths), _CHUNK)]


def _begin(root: Path, settings: VaultSettings, wanted: Wanted, home: str) -> None:
    redact = remembering(redact_of(settings.secrets))
    _HANDS[:] = [_Hand(Gatherer(Vault(root, settings), redact, wanted), Scrubber(redact, home))]


def _gather(paths: Sequence[Path]) -> list[Gathered]:
    return [_HANDS[0].gatherer.gather(path) for path in paths]


def _make(export: Export, paths: Sequence[Path]) -> Made:
    gathered = _gather(paths)
    cases = [case for one in gathered for case in one.cases]
    left = [case for case in cases if case.review is not Review.REJECTED]
    tally = Tally()
    lines = list(lines_of(left, export, _HANDS[0].scrubber, tally))
    return Made(tuple(one._replace(cases=()) for one in gathered), len(cases) - len(left), lines, tally)
