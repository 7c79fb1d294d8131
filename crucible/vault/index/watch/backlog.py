"""What was heard of and not yet read, and whether anything may have passed unheard.

Owns when a burst of changes is over.  Reading is `watching`'s.
"""

from __future__ import annotations

import time

from crucible.vault.index.watch.file_events import Heard

_LONGEST = 2.0
"""Seconds that somebody who writes all the time is waited for."""

_PAUSE = 0.5
"""Seconds without an event after which the kernel's queue is empty."""

_BURST = 1000
"""Events without a pause after which the kernel may have lost some: its queue holds 16,384."""


class Backlog:
    """Notes and folders that wait for a look; `doubt` when everything must be looked at.

    `settle` seconds of quiet end a burst.
    """

    def __init__(self, settle: float) -> None:
        self.doubt = True
        self._settle = settle
        self._notes: set[str] = set()
        self._folders: set[str] = set()
        self._first = self._last = 0.0
        """When the oldest and the newest came; `_first` is 0 when nothing is to be done."""
        self._count = 0

    def add(self, heard: Heard) -> None:
        """What happened to a note or a folder, or to nobody knows what."""
        now = time.monotonic()
        self._count += 1
        self.doubt = self.doubt or heard == Heard() or self._count > _BURST
        self._notes |= {heard.note} - {""}
        self._folders |= {heard.folder} - {""}
        self._last = now
        self._first = self._first or now

    def look_at_everything(self) -> None:
        """As soon as it is quiet."""
        self.doubt = True
        self._first = self._first or time.monotonic()

    def was_quiet(self) -> None:
        """Nothing came for a moment."""
        if time.monotonic() - self._last > _PAUSE:
            self._count = 0

    def was_asked(self) -> None:
        """A question came through the kernel's queue, so that has room again, unless it lost something."""
        if not self.doubt:
            self._count = 0

    def patience(self, longest: float) -> float:
        """Seconds to wait for more."""
        return min(self._settle, longest) if self._first else longest

    def is_due(self) -> bool:
        """Whether the burst is over, or has lasted too long."""
        now = time.monotonic()
        return bool(self._first) and (now - self._last >= self._settle or now - self._first >= _LONGEST)

    def has_notes(self) -> bool:
        """Whether any note or folder waits."""
        return bool(self._notes or self._folders)

    def needs_all(self) -> bool:
        """Whether to look at everything.

        With a folder too: a note that was moved into it is told as one change only when both places are looked at.
        """
        return self.doubt or bool(self._folders)

    def take(self) -> tuple[set[str], set[str]]:
        """The notes and the folders, which no longer wait; a doubt stays."""
        taken = self._notes, self._folders
        self._notes, self._folders, self._first = set(), set(), 0.0
        return taken

    def begin_anew(self) -> None:
        """Everything is looked at now; what is heard from here on counts."""
        self.take()
        self.doubt, self._count = False, 0
