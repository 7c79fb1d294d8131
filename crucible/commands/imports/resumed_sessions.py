"""Transcripts of sessions that `cru` had a client go on with: known by the ticket in their prompt.

Owns what a prompt with a mark is taken for, and which note a transcript is folded into that no note names.  A ticket that
was never issued is just text: foreign words can not adopt a note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime

from crucible.clients.events import At, Event, Prompted, PromptKind, Resumed
from crucible.clients.launch.session_marks import find_resume_mark
from crucible.clients.registry import Dialect
from crucible.clients.session_files import Transcript
from crucible.commands.imports.note_sources import SourceTable
from crucible.core.errors import TranscriptError, VaultError
from crucible.documents.recording.entry_texts import whole_seconds
from crucible.documents.session.session import Session
from crucible.documents.session.titles import RESUMED
from crucible.memory.bookmarks.resume_tickets import Ticket, find_ticket, has_tickets, name_now
from crucible.vault.notes.vault import Note, Vault

_SAID = frozenset((PromptKind.TYPED, PromptKind.STEERING))


@dataclass(frozen=True, slots=True)
class Joining:
    """A transcript that begins with a ticket: `at` is where, `note` the session it goes on with, None where that is gone."""

    ticket: Ticket
    at: At
    note: Note | None

    @property
    def time(self) -> datetime:
        """When it began: of several the first one is folded in first."""
        return self.at.time or self.ticket.at


class Tickets:
    """The tickets of a vault, as an import of one transcript asks for them; a vault without any costs one look."""

    def __init__(self, vault: Vault, table: SourceTable) -> None:
        self._vault = vault
        self._table = table
        self._are_there = has_tickets(vault.root)
        self._known: dict[tuple[str, str], Ticket | None] = {}

    def told(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with prompts that `cru` gave as what they are."""
        for event in events:
            ticket = self._ticket(event)
            if ticket and isinstance(event, Prompted):
                size = len(event.text.encode("utf-8", "surrogatepass"))
                yield Resumed(event.at, ticket.session, ticket.phase, size)
            else:
                yield event

    def first(self, dialect: Dialect, transcript: Transcript, source: str) -> Joining | None:
        """What a transcript that no note names goes on with: its first prompt says so.  Only its head is read."""
        if not self._are_there:
            return None
        with closing(dialect.read(transcript)) as events:  # type: ignore[type-var]  # dialects' are generators
            prompts = (e for e in events if isinstance(e, Prompted) and e.kind in _SAID and not e.at.agent)
            first = next(prompts, None)
        ticket = self._ticket(first) if first else None
        if first is None or ticket is None:
            return None
        note = self._note_of(ticket)
        # A copy of a transcript that was folded in, as a fork is: it makes a note of its own, as other copies do.
        is_copy = note is not None and source not in note.session.sources and _is_told(note.session, first.at)
        return None if is_copy else Joining(ticket, first.at, note)

    def _ticket(self, event: Event | None) -> Ticket | None:
        if not self._are_there or not isinstance(event, Prompted) or event.kind not in _SAID or event.at.agent:
            return None
        mark = find_resume_mark(event.text.lstrip().removeprefix('"'))  # some clients put what they are given in quotes
        if mark is None:
            return None
        if mark not in self._known:
            self._known[mark] = self._find(*mark)
        return self._known[mark]

    def _find(self, session: str, token: str) -> Ticket | None:
        try:
            ticket = find_ticket(self._vault.root, token)
        except VaultError as error:
            # Nobody knows then whose this is: it waits, and the others are imported.
            raise TranscriptError(f"begins with a ticket that cannot be looked up ({error})", error.hint) from error
        return ticket if ticket and ticket.session == session else None

    def _note_of(self, ticket: Ticket) -> Note | None:
        named = [self._read(ticket.session), self._read(name_now(self._vault.root, ticket.session))]
        found = [note for note in named if note]
        # After a rename somebody else may have got the name: who began after the ticket was issued is not meant.
        there = (note for note in found if not (note.session.started and note.session.started > ticket.at))
        return next(there, next(iter(found), None))

    def _read(self, session_id: str) -> Note | None:
        path = self._table.path_of(session_id)
        return self._vault.read(path) if path else None


def _is_told(session: Session, at: At) -> bool:
    """Whether a phase of the note was opened by this very prompt."""
    time = whole_seconds(at.time)
    return time is not None and any(p.started == time and p.name.startswith(RESUMED) for p in session.phases)


def who_was_before(session: Session) -> str:
    """Who a note says was at work last, `name@version`."""
    agents = [phase.agent for phase in session.phases if phase.agent] or list(session.participants)
    return str(agents[-1]) if agents else ""
