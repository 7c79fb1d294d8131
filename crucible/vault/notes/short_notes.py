"""Long notes read without their closed phases, so that a turn costs by what is new and not by the note's length."""

from __future__ import annotations

from dataclasses import dataclass

from crucible.documents.session.session import Session
from crucible.documents.session.session_reader import read_session
from crucible.documents.session.shortened import Middle, Shortened, begins_at, shorten
from crucible.vault.notes.vault import Note, Vault


@dataclass(frozen=True)
class ShortNote(Note):
    """A note without its closed phases."""

    middle: Middle
    short: Shortened

    @property
    def session(self) -> Session:
        """The session without these phases."""
        if "_session" not in self.__dict__:
            self.__dict__["_session"] = read_session(self.source, self.name, above=self.middle.above)
        found: Session = self.__dict__["_session"]
        return found


def short_note(note: Note, middle: Middle) -> ShortNote | None:
    """Return a note without its closed phases; None if they have changed."""
    short = shorten(note.source, middle)
    if short is None:
        return None
    found = ShortNote(note.path, short.source, note.stamp, middle, short)
    return found if begins_at(found.session, short) and not found.session.problems else None


def shortest(vault: Vault, note: Note) -> Note:
    """Return a note without the phases that `vault` knows to be closed and unchanged; the note itself if there are none."""
    middle = vault.middles.get(note.path)
    return (short_note(note, middle) if middle else None) or note
