"""Find the row up to which a note holds a transcript; `sources` and `synced_to` list sources and rows in one order."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from datetime import datetime

from crucible.clients.events import Event

HEARD = "+"
"""Separates, in `synced_to`, the last row of a transcript from a row of the parent's transcript, such as a subagent's report."""

_LENGTH = 8


def _short_mark(event: Event) -> str:
    """The first 8 of a row's id, or of a hash of the event when it has none."""
    if event.at.row:
        return event.at.row[:_LENGTH]
    return hashlib.blake2b(repr(event).encode("utf-8", "replace"), digest_size=_LENGTH // 2).hexdigest()


def rows_by_source(sources: Sequence[str], synced_to: Sequence[str]) -> dict[str, str]:
    """Which row belongs to which source: `client:row`, or `client:` where nothing of it was folded in yet.

    They stand in one order.  Where a human took one out, or one has no row, each row is taken for the next source of its
    client.
    """
    if len(sources) == len(synced_to):
        return dict(zip(sources, synced_to, strict=True))
    found: dict[str, str] = {}
    rows = list(synced_to)
    for source in sources:
        client = source.partition(":")[0]
        if rows and rows[0].partition(":")[0] == client:
            found[source] = rows.pop(0)
    return found


def rows_in_step(sources: Sequence[str], rows: Mapping[str, str]) -> list[str]:
    """What `synced_to` holds: a row for each source; those at the end that have none are left out."""
    told = [rows.get(source, f"{source.partition(':')[0]}:") for source in sources]
    while told and sources[len(told) - 1] not in rows:
        told.pop()
    return told


class SyncPoint:
    """The last row that a note holds, looked for in the order of events.

    `synced` is its mark; where that row is gone, `known_until` takes its place: what is later is new.
    """

    __slots__ = ("_known_until", "_line", "_lines", "_synced")

    def __init__(self, synced: str = "", known_until: datetime | None = None) -> None:
        self._synced = synced.rpartition(HEARD)[2]
        self._known_until = known_until
        self._line = 0
        self._lines: dict[str, int] = {}

    @property
    def found(self) -> bool:
        """Whether the row was seen."""
        return self._line > 0

    def is_behind(self, event: Event) -> bool:
        """Whether an event comes after what the note holds."""
        at = event.at
        if at.row:
            self._lines.setdefault(at.row[:_LENGTH], at.line)
        if self._known_until is not None:
            return at.time is not None and at.time > self._known_until
        if not self._line or at.line < self._line:
            return False
        # A damaged line may hold two rows.
        return at.line > self._line or (at.row != "" and not self._is_synced(event))

    def pass_by(self, event: Event) -> None:
        """Look at an event that was folded."""
        if self._synced and not self._line and self._is_synced(event):
            self._line = event.at.line

    def mark(self, event: Event, own: str | None = None) -> str:
        """What `synced_to` keeps of an event's row: 8 characters, or the whole id if an earlier row begins with the same 8.

        With `own`, the mark until now, it is a row of another log, which stands behind that.
        """
        short = _short_mark(event)
        alone = not event.at.row or self._lines.get(short, event.at.line) == event.at.line
        before = "" if own is None else f"{own.partition(HEARD)[0]}{HEARD}"
        return f"{before}{short if alone else event.at.row}"

    def _is_synced(self, event: Event) -> bool:
        return self._synced in (_short_mark(event), event.at.row)
