"""Keeping candidates as items, one after the other, the silent ones and those that a human chose.

Owns that one that cannot be kept keeps no other one from it, and the line that says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from crucible.capture.asking import Proposal
from crucible.capture.records import State
from crucible.capture.saving import Kept, Saver
from crucible.errors import CrucibleError

__all__ = ["Came", "keep_all"]


class Came(NamedTuple):
    """What came of it, and lines on what could not be kept; a line that fits several stands once."""

    kept: tuple[Kept, ...] = ()
    problems: tuple[str, ...] = ()


def keep_all(saver: Saver, proposals: Iterable[Proposal], *, silent: bool) -> Came:
    """Keep each; never raises for one that the disk or the vault refuses."""
    kept: list[Kept] = []
    problems: dict[str, None] = {}
    for proposal in proposals:
        summary = proposal.candidate.summary
        try:
            one = saver.keep(proposal, silent=silent)
        except CrucibleError as error:
            problems[f"{summary}: not kept: {error}"] = None
            continue
        kept.append(one)
        if one.said.state is State.APPROVED:
            problems[f"{summary}: not kept: {one.line}"] = None
        problems.update(dict.fromkeys(one.warnings))
    return Came(tuple(kept), tuple(problems))
