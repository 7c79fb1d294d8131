"""A strand is one log of a native session during an import: its recorder, its note and its events.

Events are recorded and stored as they are read, so memory does not grow with the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Protocol, TypeAlias

from crucible.analysis.findings.detector import Detector
from crucible.clients.events import (
    Event,
    Prompted,
    PromptKind,
    Replied,
    Unknown,
    Unreadable,
)
from crucible.documents.recording.entry_texts import intervention
from crucible.documents.recording.session_draft import Draft
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.import_properties import rows_by_source
from crucible.documents.session.markup import render_entry
from crucible.documents.session.refresh import TranscriptText
from crucible.documents.session.session import Prose, Session, Status
from crucible.documents.session.shared_notes import has_other_sources, phase_id_in_note
from crucible.documents.session.status_rules import is_our_reason
from crucible.vault.notes.vault import Note

_SECOND = timedelta(seconds=1)
_INSTANT = timedelta(microseconds=1)
_QUOTED = {PromptKind.TYPED, PromptKind.STEERING}
"""Kinds of prompts that a note quotes verbatim."""


@dataclass(frozen=True, slots=True)
class LastSecond:
    """Where a note ends in a log, found by time.

    Events after `known_until` are new; None if the note has no times. `ends_before`: the log ends before the note
    does. `undecided`: the note's last second includes text that is not in the note, and times do not separate it from
    text that is.
    """

    known_until: datetime | None
    ends_before: bool = False
    undecided: bool = False


def find_last_second(note: Note, events: Iterable[Event]) -> LastSecond:
    """Find where the note ends among the events of one log."""
    last = _last_time(note.session)
    if last is None:
        return LastSecond(None)
    lines = set(map(_unquoted, note.source.text.split("\n")))
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


def _last_time(session: Session) -> datetime | None:
    phases = (time for phase in session.all_phases() for time in (phase.started, phase.ended))
    return max((t for t in (session.started, session.ended, *phases) if t), default=None)


def _lines(event: Event) -> set[str]:
    """Return the lines that a prompt or an answer has in a note."""
    if isinstance(event, Replied):
        rendered = render_entry(Prose(event.text))
    elif isinstance(event, Prompted) and event.kind in _QUOTED and event.text.strip():
        rendered = render_entry(intervention(event))
    else:
        return set()
    return set(map(_unquoted, rendered)) - {""}


def _unquoted(line: str) -> str:
    """Return the line without quote marks, because inline work is nested more deeply."""
    return line.strip("> \t\r")


class EventSink(Protocol):
    """Stores events, such as `FlightWriter`."""

    def write(self, event: Event, phase: str = "", source: str = "") -> bool:
        """Store an event; False if it is stored already."""


OpenWriter: TypeAlias = Callable[["Strand"], EventSink | None]
"""Assigns a strand its id; returns a writer, or None in a dry run."""

_HELD = 500
"""Maximum events kept in memory before the first message; if there are more, the log is read again."""


class Strand:
    """The log of the trunk or of one subagent.

    `note` is the existing note that the log belongs to or will join. For a subagent, `title` is its task in a few
    words, `kind` its type, and `call` the id of the call that started it. `id` is the session id, "" before the first
    message; a subagent's id starts with the id of its `trunk`. `text`, if set, collects the log's text for a refresh.
    """

    def __init__(
        self,
        recorder: Recorder,
        source: str,
        note: Note | None,
        open_writer: OpenWriter,
        trunk: Strand | None = None,
    ) -> None:
        self.recorder = recorder
        self.source = source
        self.note = note
        self.title = ""
        self.kind = ""
        self.call = ""
        self.parent: Strand | None = None
        self.trunk = trunk
        self.id = note.name if note else ""
        self.first_prompt = ""
        self.text: TranscriptText | None = None
        self.overflowed = False
        """True if events were dropped from memory: the log must be read again to store them."""
        self.has_rows = False
        """True if the log has a row that this version understands."""
        self.ends_before = False
        self._open_writer = open_writer
        self._writer: EventSink | None = None
        self._opened = False
        self._held: list[tuple[Event, str]] = []
        self._pending: list[tuple[Event, str]] = []
        """Recorded events that are not stored yet, with the ids of their phases."""

    def __getstate__(self) -> dict[str, object]:
        """Return what another process can use: all but the means to store more events."""
        return self.__dict__ | {"_open_writer": None, "_writer": None}

    @property
    def mark(self) -> str:
        """The last row synced to the note, "" if the note has none."""
        return synced_row(self.note, self.source)

    @property
    def base(self) -> Draft:
        """The part of this log that the note already holds: all of it if no events are new."""
        return self.recorder.base or self.recorder.draft()

    @property
    def has_news(self) -> bool:
        """True if there is no note yet, or if the log has events that are not in the note."""
        return self.note is None or self.recorder.base is not None

    def take(self, *events: tuple[Event, Mapping[str, int]]) -> None:
        """Record redacted events, then store them; each comes with the number of redacted secrets by rule."""
        try:
            for event, secrets in events:
                self._record(event, secrets)
        finally:
            self._write_pending()

    def _record(self, event: Event, secrets: Mapping[str, int]) -> None:
        recorder = self.recorder
        recorder.add(event, secrets)
        if self.text:
            self.text.add(event)
        if isinstance(event, Unknown | Unreadable):
            return
        self.has_rows = True
        if isinstance(event, Prompted) and not self.first_prompt:
            self.first_prompt = event.text
        if self._opened:
            self._pending.append((event, self._place()))
        elif self._is_due and self._can_be_named:
            self._begin()
            self._pending.append((event, self._place()))
        elif self.has_news:
            self._hold(event)

    def add_from_parent(self, event: Event, secrets: Mapping[str, int]) -> None:
        """Record an event about this subagent from the parent's log; the event is stored with the parent's events."""
        self.recorder.add(event, secrets)
        if self.text:
            self.text.add_from_parent(event)
        self.open()

    def open(self) -> None:
        """Start storing events if there are any to store."""
        if not self._opened and self._is_due and self._can_be_named:
            self._begin()
            self._write_pending()

    @property
    def _is_due(self) -> bool:
        # A log without work adds nothing to a note, like the file that a client begins on a resume and then leaves.
        return self.recorder.has_work and self.has_news

    @property
    def _can_be_named(self) -> bool:
        return bool(self.id or self.trunk is None or self.trunk.id)

    def store(self, event: Event) -> None:
        """Store an event unless it is stored already. It is recorded only to determine its phase."""
        self.recorder.add(event)
        if not self._opened:
            self._begin()
        self._pending.append((event, self._place()))
        self._write_pending()

    def _place(self) -> str:
        """The current phase's id in the note, which may also hold phases of other sessions."""
        place, base = self.recorder.place, self.recorder.base
        if self.note is None or base is None or not has_other_sources(self.note.session, self.source):
            return place
        return phase_id_in_note(self.note.session, [phase.head for phase in base.phases], place)

    def _begin(self) -> None:
        self._opened = True
        writer = self._open_writer(self)
        if self.overflowed:
            return  # the entire log is read again, which keeps the events in order
        self._writer = writer
        self._pending += self._held
        self._held.clear()

    def _hold(self, event: Event) -> None:
        if len(self._held) < _HELD:
            self._held.append((event, self.recorder.place))
        else:
            self.overflowed = True

    def _write_pending(self) -> None:
        pending, self._pending = self._pending, []
        if self._writer:
            for event, place in pending:
                self._writer.write(event, place, self.source)

    @property
    def is_waiting(self) -> bool:
        """True if the note's status may change without a new row; False for an older copy of the log.

        An active session becomes final when its client ends, or pauses after the idle time. A pause set by `cru` ends
        when the user completes the tasks or when its reason no longer applies.
        """
        if self.note is None or self.ends_before:
            return False
        session = self.note.session
        return session.status is Status.ACTIVE or (
            session.status is Status.PAUSED and is_our_reason(session.pause_reason)
        )

    def reread(self, open_writer: OpenWriter, last: LastSecond) -> Strand:
        """Return a strand for reading the same log from its start; events later than the note's times are new."""
        old = self.recorder
        recorder = Recorder(
            old.client,
            agent=old.agent,
            kind=self.kind,
            work_name=old.work_name,
            known_until=last.known_until,
            cwd=old.calling.folder,
            details=old.details,
            judge=Detector(),
            zone=old.zone,
        )
        new = Strand(recorder, self.source, self.note, open_writer)
        new.title, new.kind, new.call, new.text = self.title, self.kind, self.call, self.text
        new.ends_before = last.ends_before
        return new


def synced_row(note: Note | None, source: str) -> str:
    """Return the row in `synced_to` for a source, "" if there is none."""
    if note is None:
        return ""
    return rows_by_source(note.session.sources, note.session.synced_to).get(source, "").partition(":")[2]


def written_at(path: Path) -> datetime:
    """Return a file's modification time in whole seconds."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)
