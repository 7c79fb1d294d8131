"""How far a note is in step with a transcript: the row it was synced to, found again.

Owns the mark of a row.  What a note does with what comes behind is `merging`'s.
"""

from __future__ import annotations

import hashlib
from datetime import datetime

from crucible.transcript.events import Event

__all__ = ["SyncPoint", "row_mark"]

_LENGTH = 8


def row_mark(event: Event) -> str:
    """What `synced_to` holds of a row: the first 8 of its id, or of a hash of the event when it has none."""
    if event.at.row:
        return event.at.row[:_LENGTH]
    return hashlib.blake2b(repr(event).encode("utf-8", "replace"), digest_size=_LENGTH // 2).hexdigest()


class SyncPoint:
    """The last row that a note holds, looked for in the order of events.

    `synced` is its mark; where that row is gone, `known_until` takes its place: what is later is new.
    """

    __slots__ = ("_known_until", "_line", "_synced")

    def __init__(self, synced: str = "", known_until: datetime | None = None) -> None:
        self._synced = synced
        self._known_until = known_until
        self._line = 0

    @property
    def found(self) -> bool:
        """Whether the row was seen."""
        return self._line > 0

    def is_behind(self, event: Event) -> bool:
        """Whether an event comes after what the note holds."""
        at = event.at
        if self._known_until is not None:
            return at.time is not None and at.time > self._known_until
        if not self._line or at.line < self._line:
            return False
        # A damaged line may hold two rows.
        return at.line > self._line or at.row[:_LENGTH] not in ("", self._synced)

    def pass_by(self, event: Event) -> None:
        """Look at an event that was folded."""
        if self._synced and not self._line and row_mark(event) == self._synced:
            self._line = event.at.line
