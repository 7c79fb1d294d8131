"""One log of a native session during an import: its recorder, its note, and its events.

An event is recorded and stored at once, so that memory does not grow with the transcript.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TypeAlias

from crucible.analysis.findings.detector import Detector
from crucible.clients.events import (
    Answered,
    ContinuedIn,
    Event,
    Faulted,
    Interrupted,
    Prompted,
    PromptKind,
    Replied,
    Resumed,
    Rewound,
    ToolUsed,
    Unknown,
    Unreadable,
)
from crucible.documents.recording.entry_texts import intervention
from crucible.documents.recording.session_draft import Draft
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.markup import render_entry
from crucible.documents.session.refresh import TranscriptText
from crucible.documents.session.session import Prose, Session, Status
from crucible.documents.session.shared_notes import holds_others, place_in
from crucible.documents.session.status_rules import is_our_reason
from crucible.documents.session.sync_mark import rows_by_source
from crucible.vault.events.event_recorder import FlightWriter
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


OpenWriter: TypeAlias = Callable[["Strand"], FlightWriter | None]
"""Gives a strand its id, and a writer unless nothing may be written."""

_HELD = 500
"""Events before the first word that are kept in memory; more are read again later."""


class Strand:
    """A trunk, or one subagent's log.

    `note` is the note that holds it already, or that it joins, `title` what a subagent was asked for in a few words.
    `id` is the session's id, "" until somebody said something.  A subagent is named after its `trunk`, and waits until that has an id.
    `said`, where it is set, keeps what was said, for a refresh.
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
        self.overflowed = False
        self.saw_rows = False
        self.ends_before = False
        self._open_writer = open_writer
        self._writer: FlightWriter | None = None
        self._opened = False
        self._held: list[tuple[Event, str]] = []
        self.said: TranscriptText | None = None

    @property
    def mark(self) -> str:
        """The row that its note is synced to, "" when that does not say."""
        return mark_of(self.note, self.source)

    @property
    def base(self) -> Draft:
        """What the note holds of this log; all of it when nothing came after."""
        return self.recorder.base or self.recorder.draft()

    @property
    def has_news(self) -> bool:
        """Whether something came after what the note holds."""
        return self.note is None or self.recorder.base is not None

    def take(self, event: Event, secrets: Mapping[str, int]) -> None:
        """Record one event, from which `secrets` were taken out, and keep it whole."""
        recorder = self.recorder
        recorder.add(event, secrets)
        if self.said:
            self.said.add(event)
        if isinstance(event, Unknown | Unreadable):
            return
        self.saw_rows = True
        if isinstance(event, Prompted) and not self.first_prompt:
            self.first_prompt = event.text
        if self._opened:
            self._write(event, self._place())
        elif self._is_due and self._can_be_named:
            self._begin()
            self._write(event, self._place())
        elif self.note is None or self._is_due:
            self._hold(event)

    def hear(self, event: Event, secrets: Mapping[str, int]) -> None:
        """Record what another log tells of this one; whole it is kept there."""
        self.recorder.add(event, secrets)
        if self.said:
            self.said.hear(event)
        self.open()

    def open(self) -> None:
        """Begin, if that is due and was not done."""
        if not self._opened and self._is_due and self._can_be_named:
            self._begin()

    @property
    def _is_due(self) -> bool:
        return self.has_news if self.note else self.recorder.has_work

    @property
    def _can_be_named(self) -> bool:
        return bool(self.id or self.trunk is None or self.trunk.id)

    def keep(self, event: Event) -> None:
        """Keep an event whole and know its place; what is kept already is not kept twice."""
        self.recorder.add(event)
        if not self._opened:
            self._begin()
        self._write(event, self._place())

    def _place(self) -> str:
        """The phase in the note, where others are told in it, too."""
        place, base = self.recorder.place, self.recorder.base
        if self.note is None or base is None or not holds_others(self.note.session, self.source):
            return place
        return place_in(self.note.session, [phase.head for phase in base.phases], place)

    def _begin(self) -> None:
        self._opened = True
        writer = self._open_writer(self)
        if self.overflowed:
            return  # all of it is read again, so that events keep their order
        self._writer = writer
        for event, place in self._held:
            self._write(event, place)
        self._held.clear()

    def _hold(self, event: Event) -> None:
        if len(self._held) < _HELD:
            self._held.append((event, self.recorder.place))
        else:
            self.overflowed = True

    def _write(self, event: Event, place: str) -> None:
        if self._writer:
            self._writer.write(event, place, self.source)

    @property
    def is_waiting(self) -> bool:
        """Whether the note's status may change without a row more; not when this is an older copy of what it tells.

        One that says `active` waits for its client's end, or for time to pass.  A pause of ours ends when a human ticks its
        tasks, or was for a reason that is none any more.
        """
        if self.note is None or self.ends_before:
            return False
        session = self.note.session
        return session.status is Status.ACTIVE or (
            session.status is Status.PAUSED and is_our_reason(session.pause_reason)
        )

    def again(self, open_writer: OpenWriter, lost: LastSecond) -> Strand:
        """The same log from its start, with what is later than all that the note tells as its news."""
        old = self.recorder
        recorder = Recorder(
            old.client,
            agent=old.agent,
            kind=self.kind,
            work_name=old.work_name,
            known_until=lost.known_until,
            cwd=old.calling.folder,
            details=old.details,
            judge=Detector(),
        )
        new = Strand(recorder, self.source, self.note, open_writer)
        new.title, new.kind, new.call, new.said = self.title, self.kind, self.call, self.said
        new.ends_before = lost.ends_before
        return new


def mark_of(note: Note | None, source: str) -> str:
    """The row in `synced_to` for a source, "" if there is none."""
    if note is None:
        return ""
    return rows_by_source(note.session.sources, note.session.synced_to).get(source, "").partition(":")[2]


def written_at(path: Path) -> datetime:
    """When a file was last written to."""
    return datetime.fromtimestamp(path.stat().st_mtime, UTC).replace(microsecond=0)


_BEGINS = Prompted | Resumed | Replied | ToolUsed
_ENDS = Answered | Interrupted | Faulted | Rewound | ContinuedIn


class WholeTurns:
    """`cut` tells, once all events were asked for, whether some were left for the next time."""

    def __init__(self) -> None:
        self.cut = False

    def until_last_end(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events without those of a turn that has no end yet; a turn is held in memory until its end."""
        held: list[Event] = []
        for event in events:
            if _is_end(event):
                yield from held
                held.clear()
                yield event
            elif held or isinstance(event, _BEGINS):
                held.append(event)
            else:
                yield event
        self.cut = bool(held)


def _is_end(event: Event) -> bool:
    """Whether the trunk's own turn is over; the oldest versions have a subagent's rows between."""
    return not event.at.agent and (isinstance(event, _ENDS) or (isinstance(event, Replied) and event.final))
