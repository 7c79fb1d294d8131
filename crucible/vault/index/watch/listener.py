"""Hearing what happens in the sessions folder of a vault, and knowing what of it cannot be heard.

Owns the listener, the folder to ask in beside it, and the notes with a second name.  What the system tells is
`listening`'s, what follows from it `watching`'s.
"""

from __future__ import annotations

import os
import time
from collections.abc import Collection, Iterator

from crucible.core.errors import CrucibleError
from crucible.vault.index.watch import vouching
from crucible.vault.index.watch.file_events import Heard, Listener, linked_still, survey, unheard_mount
from crucible.vault.index.watch.watched_vault import Place, line_of

_LAST_WORDS = 0.3
"""Seconds that queries are waited for at the end: longer than they wait for an answer."""


class Hearing:
    """The listener in the place, or none; `folder` is where it listens, or tried to, and real."""

    def __init__(self, place: Place) -> None:
        self.place = place
        self.folder = ""
        self._listener: Listener | None = None
        self._handle: int | None = None
        """Of the folder, to clean up there when the vault was moved away."""
        self._lie: object = None
        self._deaf = ""
        self._linked: frozenset[str] = frozenset()

    def begin(self, *, anew: bool) -> None:
        """Listen, from now on; once more from the beginning with `anew`, and where it is not certain to hear all."""
        if self._listener and not anew and not self._is_lost():
            self._listener.refusing = True
            return
        if self._lie != self.place.lie_of_sessions():
            # The folder we listened in lies elsewhere now.
            self.clean()
        self._stop()
        try:
            folder = self.place.sessions()
            vouching.prepare(folder)
            self.folder, self._handle = folder, vouching.handle_of(folder)
            self._listener = Listener(folder)
        except (CrucibleError, OSError) as error:
            self._deaf = line_of(error)
        self._lie = self.place.lie_of_sessions()

    def end(self) -> None:
        """Leave nothing in the sessions folder, wherever it is now."""
        deadline = time.monotonic() + _LAST_WORDS
        self.drain()
        # Who has just asked needs a moment to take the answer and go.
        while not self.clean() and time.monotonic() < deadline:
            time.sleep(0.01)
        self._stop()

    def clean(self) -> bool:
        """Take away the folder to ask in, unless somebody is asking; whether it is gone."""
        return not self.folder or vouching.clean(self.folder, self._handle)

    def _stop(self) -> None:
        listener, handle = self._listener, self._handle
        self.folder, self._listener, self._handle = "", None, None
        try:
            if listener:
                listener.close()
        finally:
            if handle is not None:
                os.close(handle)

    def next(self, seconds: float) -> Heard | None:
        """The next thing that is heard; None when nothing was for so long, or nothing can be."""
        return self._listener.next(seconds) if self._listener else None

    def drain(self) -> None:
        """Forget what was heard, with a no to those who asked: before a look at everything it is no news."""
        while heard := self.next(0):
            if heard.question:
                vouching.answer(heard.question, vouching.NO)

    def refuse(self, *, all_questions: bool) -> None:
        """Answer every question with no at once; or tell of it."""
        if self._listener:
            self._listener.refusing = all_questions

    def can(self) -> bool:
        """Whether anything is heard at all."""
        return self._listener is not None

    def is_certain(self) -> bool:
        """Whether all that happened so far was heard."""
        self._linked = linked_still(self._linked)
        return self.can() and not self._linked and not self._is_lost()

    def needs_new_look(self) -> bool:
        """Whether something was lost, or may be from now on."""
        return bool(self._linked) or self._is_lost()

    def _is_lost(self) -> bool:
        unsound = self._listener is not None and not self._listener.is_sound()
        return unsound or self._lie != self.place.lie_of_sessions()

    def hears(self, notes: Collection[str], folders: Collection[str]) -> bool:
        """Whether all changes to these, which something happened to, can be heard from now on."""
        self._linked |= linked_still(notes)
        for folder in folders:
            if self._listener and os.path.isdir(folder):
                found = survey(self.folder, folder)
                self._linked |= found.linked
                if found.unheard:
                    return False
        return not self._linked and not any(os.path.islink(path) for path in notes)

    def gaps(self) -> Iterator[str]:
        """Why changes to anything in the folder may pass unheard, "" among them; looks at all of it."""
        if not self._listener:
            yield self._deaf
            return
        found = survey(self.folder)
        self._linked = linked_still(found.linked)
        yield unheard_mount(self.folder)
        yield found.unheard
        yield from (f"{path} has a second name, a hard link" for path in sorted(self._linked))

    def prepare(self) -> str:
        """See that the folder to ask in is there; why not, or ""."""
        try:
            if self._listener:
                vouching.prepare(self.folder)
        except OSError as error:
            return line_of(error)
        return ""

    def seen_from_vault(self, path: str) -> str:
        """The note or folder as the index names it."""
        below = path[len(self.folder) :]
        return os.path.normpath(self.place.settings.sessions + below).replace(os.sep, "/")
