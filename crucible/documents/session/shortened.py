"""A note without its closed phases, to be edited in time that does not depend on the note's length.

The phases that are left out must have the bytes that they had when the note was last read whole.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import NamedTuple

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Edit, Source, Span
from crucible.documents.session.findings import item_places
from crucible.documents.session.merge import entry_mark
from crucible.documents.session.session import Above, Phase, Session

_START = 200
"""Code points at the beginning of the part that is left out, by which it is found."""


class Middle(NamedTuple):
    """The part of a note that is left out: its beginning, its length in code points and its digest."""

    start: str
    length: int
    digest: str
    above: Above


def find_middle(
    source: Source, session: Session, short: Shortened | None, phases: int, agents: tuple[str, ...]
) -> Middle | None:
    """Return the first phases of a note as a part to leave out; None if it cannot be left out.

    `session` was read from `short`, or from all of `source`.
    """
    count = phases - session.above.phases
    if session.problems or count < 0 or not phases or count >= len(session.phases) or "\r" in source.text:
        return None
    read, more = (short.source, short.length) if short else (source, 0)
    start, end = (read.starts[phase.lines.first] for phase in (session.phases[0], session.phases[count]))
    text, closed = source.text[start : end + more], session.phases[:count]
    # Outside a fence, these hide what follows up to the next ones, wherever they are.
    if "%%" in text:
        return None
    found = (entry_mark(entry) for phase in closed for entry in phase.all_entries())
    marks = {*session.above.marks, *(mark for mark in found if mark)}
    ids = {part.id for phase in closed for part in (phase, *phase.subphases)}
    placed = {item: phase for item, phase in item_places(session).items() if phase in ids}
    above = Above(phases, frozenset(marks), agents, (*session.above.places, *placed.items()))
    return Middle(text[:_START], len(text), _digest(text), above)


class Shortened(NamedTuple):
    """A note without the `length` code points that begin at the offset `at`."""

    source: Source
    at: int
    length: int

    def edits(self, edits: Iterable[Edit]) -> list[Edit]:
        """Return edits of the short note as edits of the whole one.  Raises `EditRefused` for the place of the cut."""
        return [Edit(self._moved(span), text) for span, text in edits]

    def _moved(self, span: Span) -> Span:
        if span.end < self.at or (span.end == self.at and span.start < self.at):
            return span
        if span.start <= self.at:
            raise EditRefused("an edit at a phase that was left out")
        return Span(span.start + self.length, span.end + self.length)


def shorten(source: Source, middle: Middle) -> Shortened | None:
    """Return the note without this part; None if the note does not hold it."""
    at = source.text.find(f"\n{middle.start}") + 1
    if not at or _digest(source.text[at : at + middle.length]) != middle.digest:
        return None
    text = source.text[:at] + source.text[at + middle.length :]
    return Shortened(Source(text, source.bom), at, middle.length)


def begins_at(session: Session, short: Shortened) -> bool:
    """True if the first phase of the short note begins where phases were left out."""
    first: Phase | None = session.phases[0] if session.phases else None
    return first is not None and short.source.starts[first.lines.first] == short.at


def _digest(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).hexdigest()
