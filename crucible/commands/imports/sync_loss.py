"""What a note holds of a transcript in which the row it was synced to is not to be found.

Owns the last second that the note tells of: notes tell whole seconds, so a row of that second may be in the note or be
new, and only its words tell which.  What is done about it is `folding`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta

from crucible.clients.events import Event, Prompted, PromptKind, Replied
from crucible.documents.recording.entry_texts import intervention
from crucible.documents.session.markup import render_entry
from crucible.documents.session.session import Prose, Session
from crucible.vault.notes.vault import Note

_SECOND = timedelta(seconds=1)
_INSTANT = timedelta(microseconds=1)
_SAID = {PromptKind.TYPED, PromptKind.STEERING}
"""Prompts whose words a note holds as they are."""


@dataclass(frozen=True, slots=True)
class LastSecond:
    """`known_until` is the time after which all is new, None when the note tells no time.

    `ends_before`: the transcript stops before the note does.  `undecided`: words of that second are not in the note, and
    no time parts them from words that are.
    """

    known_until: datetime | None
    ends_before: bool = False
    undecided: bool = False


def look_at_last_second(note: Note, events: Iterable[Event]) -> LastSecond:
    """Where the note ends among these events of one log."""
    last = _last_told(note.session)
    if last is None:
        return LastSecond(None)
    lines = set(map(_bare, note.source.text.split("\n")))
    known = last
    ends_before = True
    new: list[datetime] = []
    for event in events:
        time = event.at.time
        ends_before = ends_before and (time is None or time < last)
        if time is None or not last <= time <= last + _SECOND:
            continue
        words = _lines(event)
        if not words <= lines:
            new.append(time)
        elif words:
            known = max(known, time)
    if new and min(new) > known:
        return LastSecond(min(new) - _INSTANT)
    return LastSecond(last + _SECOND, ends_before, bool(new))


def _last_told(session: Session) -> datetime | None:
    phases = (time for phase in session.all_phases() for time in (phase.started, phase.ended))
    return max((t for t in (session.started, session.ended, *phases) if t), default=None)


def _lines(event: Event) -> set[str]:
    """The lines that a prompt or an answer has in a note."""
    if isinstance(event, Replied):
        rendered = render_entry(Prose(event.text))
    elif isinstance(event, Prompted) and event.kind in _SAID and event.text.strip():
        rendered = render_entry(intervention(event))
    else:
        return set()
    return set(map(_bare, rendered)) - {""}


def _bare(line: str) -> str:
    """Without the marks of the quotes it stands in; inline work stands in more of them."""
    return line.strip("> \t\r")
