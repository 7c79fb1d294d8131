"""Every entry of a session in the order of its note, with the phase that it stands in.

Owns that what inline subagents did counts too, behind their own callout.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import NamedTuple

from crucible.session.model import Entry, Intervention, Session, Subagent

__all__ = ["Placed", "line_of", "placed_entries"]


class Placed(NamedTuple):
    """An entry and the number of its phase, sub-phases counted, -1 before the first one."""

    phase: int
    entry: Entry


def placed_entries(session: Session) -> Iterator[Placed]:
    """Those before the first phase too.  What a subagent is told are no human's words, so these are left out."""
    yield from _placed(-1, session.preamble)
    for number, phase in enumerate(session.all_phases()):
        yield from _placed(number, phase.entries)


def _placed(phase: int, entries: Iterable[Entry]) -> Iterator[Placed]:
    for entry in entries:
        yield Placed(phase, entry)
        if isinstance(entry, Subagent) and entry.entries:
            inner = _placed(phase, entry.entries)
            yield from (one for one in inner if not isinstance(one.entry, Intervention))


def line_of(entry: Entry) -> int:
    """The entry's first line in the note, from 1; 0 for one that was made in memory."""
    return max(0, entry.lines.first + 1)
