"""Read the logs of one native session: its trunk and its subagents.

Finds the parent of each subagent and picks the ids of new notes. `session_notes` decides what the notes contain.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime, timedelta
from itertools import chain
from pathlib import Path

from crucible.analysis.findings.detector import Detector
from crucible.clients.events import (
    At,
    Event,
    Prompted,
    QuestionsAnswered,
    SubagentReturned,
    SubagentStarted,
    Titled,
    Unknown,
    Unreadable,
)
from crucible.clients.log_files import SubagentFile, Transcript, source_name
from crucible.clients.redact import redactor_of
from crucible.clients.registry import Dialect
from crucible.clients.row_shapes import count_kinds
from crucible.commands.imports.import_report import ImportOptions, ReportDraft, reason_at, unreadable_rows
from crucible.commands.imports.import_result import UnreadableRow
from crucible.commands.imports.kept_folds import KeptFolds
from crucible.commands.imports.note_sources import SourceTable, Tickets, last_agent
from crucible.commands.imports.session_ids import Opening, SessionIds, SessionSkippedError
from crucible.commands.imports.session_notes import is_inline
from crucible.commands.imports.strands import EventSink, LastSecond, Strand, find_last_second, synced_row
from crucible.commands.imports.transcript_search import is_growing
from crucible.commands.imports.trunk_fold import TrunkFold
from crucible.core.errors import TranscriptError
from crucible.documents.recording.pending_calls import Details
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.refresh import TranscriptText
from crucible.documents.session.status_rules import Client
from crucible.vault.events.event_recorder import FlightWriter, Record
from crucible.vault.notes.short_notes import shortest
from crucible.vault.notes.vault import Note, Vault

_MOST_UNREADABLE = 1000
"""Stop reading a file that begins with this many unreadable rows."""
_ALONE = (Prompted, QuestionsAnswered, SubagentReturned, SubagentStarted, Unknown, Unreadable)
"""Events that are recorded before the next one is redacted: they may say what is private, or begin a note."""


class SessionDeferredError(Exception):
    """This session continues another one from `time` on; it is imported after all others have been written."""

    def __init__(self, time: datetime) -> None:
        super().__init__(str(time))
        self.time = time


class SessionLogs(TrunkFold):
    """The logs of one transcript. `events` counts the events read.

    Without `may_join`, a session that continues another session's note
    raises `SessionDeferredError`.
    """

    def __init__(
        self,
        vault: Vault,
        dialect: Dialect,
        transcript: Transcript,
        *,
        options: ImportOptions,
        table: SourceTable,
        report: ReportDraft,
        may_join: bool = True,
        folds: KeptFolds | None = None,
    ) -> None:
        super().__init__(dialect, transcript, vault.settings, report, folds)
        self.moves: list[tuple[str, str]] = []
        """Pairs of sources; the second session continues the first."""
        self._vault = vault
        self._options = options
        self.table = table
        self._may_join = may_join
        self._stack = ExitStack()
        self._writers: dict[str, FlightWriter] = {}
        self._with_file = {file.agent for file in transcript.subagents}
        self._redact = options.redact or redactor_of(vault.settings.secrets, self._private)
        self._details = Details(vault.settings.details)
        self.tickets = Tickets(vault, table)
        self.lost_mark = False
        self._ids = SessionIds(vault, options, table, transcript, self._redact_text)

    @property
    def strands(self) -> list[Strand]:
        """Every log that contains work, trunk first and parents before children."""
        return [strand for strand in self._strands.values() if strand.recorder.has_work]

    @property
    def by_agent(self) -> dict[str, Strand]:
        """Every log that was read, by the id of its subagent."""
        return self._strands

    @property
    def project(self) -> str | None:
        """The session's project, known after `read`."""
        return self._ids.project

    # --- reading -----------------------------------------------------------------------------------------------------

    def read(self) -> None:
        """Read all files; every event is on disk when this returns.

        Raises `SessionSkippedError`, `SessionDeferredError`, and `TranscriptError` if the trunk cannot be opened.
        """
        with self._stack:
            self._strands[""] = self._strand("", "", "Work")
            self._resume(self.trunk)
            if self.trunk.note is None:
                self._join()
            self._check_options()
            self._read_log("")
            self._check_fold()
            if self.trunk.recorder.has_work:
                for strand in self.strands:
                    strand.open()
                self._read_subagents()
                self._find_parents()

    def _join(self) -> None:
        """If a ticket shows that this session resumes another one, record it in the other session's note."""
        continued = self.tickets.first(self._dialect, self.transcript, self.trunk.source)
        if continued is None:
            return
        if continued.is_deleted(self._vault.root, self.table.deleted.ids):
            raise SessionSkippedError("deleted")
        if not self._may_join:
            raise SessionDeferredError(continued.time)
        note = continued.note
        # Another process may have added this session to the note since the table was read.
        if note is not None and self.trunk.source in note.session.sources:
            self.table.add(self.trunk.source, note.path)
            self._strands[""] = self._strand("", "", "Work")
        elif note is not None:
            recorder = Recorder(
                self.transcript.client,
                joins=True,
                after=last_agent(note.session),
                details=self._details,
                judge=Detector(),
                zone=self._options.now.tzinfo,
            )
            self._strands[""] = Strand(recorder, self.trunk.source, note, self._open)

    def _check_options(self) -> None:
        """Skip a session whose note is excluded by the options; a new session's project is checked later."""
        options, note = self._options, self.trunk.note
        if options.only_session and (note is None or note.name != options.only_session):
            raise SessionSkippedError("session")
        if note:
            self._ids.project = note.session.project
            self._ids.check_project()

    def _read_log(self, agent: str) -> None:
        """Read a log. If the last synced row is missing, find the new events by time and read the log again."""
        self._read_events(agent)
        old = self._strands[agent]
        if not agent and self._kept:
            return
        if old.note is None or old.recorder.joins or old.recorder.synced_found or not old.recorder.has_work:
            return
        if not agent:
            self._forget_fold()
        events = (self._redact(event)[0] for event in self._events(agent))
        last = find_last_second(old.note, (e for e in events if e.at.agent == agent))
        if not agent:
            self._strands.clear()  # logs inside the trunk's file are also read again
        self.lost_mark = True
        self._strands[agent] = old.reread(self._open, last)
        self._read_events(agent, again=True)
        self._report_lost_mark(self.transcript.path_of(agent), self._strands[agent], last)

    def _events(self, agent: str) -> Iterator[Event]:
        if agent:
            return self._results.merge(agent, self._dialect.read(self.transcript, agent), self._strands[agent].mark)
        events = self.tickets.mark_resumed(self._trunk_events())
        if is_growing(self._dialect, self.transcript, self._options):
            return self._turns.until_last_end(events, self._held)
        return chain(self._held, events)

    def _read_events(self, agent: str, again: bool = False) -> None:
        unreadable: list[UnreadableRow] = [] if agent or again else self._unreadable
        path, strand = self.transcript.path_of(agent), self._strands[agent]
        try:
            for event in self._events(agent):
                self.events += 1
                if event.at.agent == agent and not isinstance(event, _ALONE):
                    self._add_to_run(event)
                    continue
                self._take_run()
                if isinstance(event, Unreadable):
                    unreadable.append(UnreadableRow(path, event.at.line, event.reason))
                    if len(unreadable) >= _MOST_UNREADABLE and not strand.has_rows:
                        break
                elif isinstance(event, Unknown):
                    count_kinds(self._report.unknown_rows, {self._redact_text(event.type): not again})
                self._take_alone(agent, event)
        finally:
            self._take_run()
        if not again:
            is_ours = strand.has_rows or self._dialect.sniff(path)
            self._report.unreadable += unreadable_rows(path, unreadable, "" if is_ours else self._dialect.name)
        if strand.overflowed and strand.id:
            self._store_events(agent)

    def _take_alone(self, agent: str, event: Event) -> None:
        """Record one event of a subagent, or one that other events depend on."""
        if isinstance(event, SubagentReturned) and event.agent and event.agent == event.at.agent:
            self._strands[agent].add_from_parent(*self._redact(event))
            return
        if event.at.agent == agent:
            self._strands[agent].take(self._redact(event))
        elif event.at.agent not in self._with_file:
            self._strand_inside(event.at.agent).take(self._redact(event))
        else:
            return
        if isinstance(event, SubagentStarted):
            self._results.add_task(event)
        elif isinstance(event, SubagentReturned):
            self._pass_result(event)

    def _pass_result(self, event: SubagentReturned) -> None:
        """Pass a result from the parent's log to the subagent, whose own log may be missing or lack the report."""
        result = self._results.add_result(event)
        if result and result.agent not in self._with_file and result.agent not in self._strands:
            self._with_file = self._find_subagents()
        if result is None or result.agent in self._with_file:
            return  # the result is merged when the subagent's own file is read
        if result.agent not in self._strands:
            task = self._results.task_of(result)
            if task is None:
                return
            strand = self._strand_inside(result.agent)
            strand.add_from_parent(*self._redact(replace(task, at=result.at, agent=result.agent)))
        self._strands[result.agent].add_from_parent(*self._redact(result))

    def _report_lost_mark(self, path: Path, strand: Strand, last: LastSecond) -> None:
        """Report a missing sync mark if rows may be lost; otherwise count the transcript as an older copy."""
        mark = strand.mark
        if last.undecided or (mark and strand.has_news):
            gone = f"is missing from the transcript ({mark})" if mark else "is not named in its `synced_to`"
            reason = f"the last row in the note {strand.id} {gone}: only later rows are added"
            self._report.unreadable.append(UnreadableRow(path, 0, reason))
        elif mark and strand is self.trunk:
            self._report.left_out["copy"] += 1

    def _store_events(self, agent: str) -> None:
        """Store a log's events by reading it again, because too many came before its first message."""
        strand = self._strands[agent]
        again = Strand(Recorder(self.transcript.client, agent=agent), strand.source, None, self._open)
        again.id = strand.id
        for event in self.tickets.mark_resumed(self._dialect.read(self.transcript, agent)):
            if event.at.agent == agent and not isinstance(event, Unknown | Unreadable):
                again.store(self._redact(event)[0])

    # --- subagents ---------------------------------------------------------------------------------------------------

    def _read_subagents(self) -> None:
        pending = [file for file in self.transcript.subagents if self._is_due(file)]
        while pending:
            # Files whose call has been read come first, because their parents' logs contain their titles.
            file = next((f for f in pending if self._parent_of(f.call, f.agent)), pending[0])
            pending.remove(file)
            self._strands[file.agent] = self._subagent_strand(file)
            try:
                self._read_log(file.agent)
            except TranscriptError as error:
                self._report.unreadable.append(UnreadableRow(file.path, 0, reason_at(error, file.path)))

    def _is_due(self, file: SubagentFile) -> bool:
        """False for a subagent of an unfinished turn, which is imported when the turn has ended."""
        return not self._turns.cut or self._parent_of(file.call, file.agent) is not None or file.depth > 1

    def _strand_inside(self, agent: str) -> Strand:
        """Return the log of a subagent that has no file of its own."""
        if agent not in self._strands:
            self._strands[agent] = self._subagent_strand(SubagentFile(agent, self.transcript.path))
        return self._strands[agent]

    def _subagent_strand(self, file: SubagentFile) -> Strand:
        parent = self._parent_of(file.call, file.agent)
        work = parent.recorder.calling.delegation(file.call, file.agent) if parent else None
        kind = self._redact_text(file.kind) or (work.kind if work else "")
        title = (self._redact_text(file.description) or (work.title if work else "")).rstrip(" .")
        strand = self._strand(file.agent, kind, title or kind or "Work")
        strand.title, strand.kind, strand.call = title, kind, file.call
        return strand

    def _redact_text(self, text: str) -> str:
        """Redact text that goes into titles and file names but is not part of an event."""
        event, _ = self._redact(Titled(At(0), text))
        return event.title if isinstance(event, Titled) else ""

    def _parent_of(self, call: str, agent: str) -> Strand | None:
        found = (s for s in self._strands.values() if s.recorder.calling.delegation(call, agent))
        return next((strand for strand in found if strand.recorder.agent != agent), None)

    def _find_parents(self) -> None:
        for agent, strand in self._strands.items():
            if agent:
                strand.parent = self._parent_of(strand.call, agent) or self._parent_by_task(strand)

    def _parent_by_task(self, strand: Strand) -> Strand | None:
        """Return the log that contains a call whose task text equals this subagent's first prompt."""
        for other in self._strands.values():
            for work in other.recorder.calling.delegations:
                if not work.agent and work.task and work.task.strip() == strand.first_prompt.strip():
                    work.agent = strand.recorder.agent
                    if result := self._results.assign(work.call, work.agent):
                        strand.add_from_parent(*self._redact(result))
                    return other
        return None

    # --- strands and their ids ---------------------------------------------------------------------------------------

    def _strand(self, agent: str, kind: str, work_name: str) -> Strand:
        source = source_name(self.transcript.client, self.transcript.native_id, agent)
        path = self.table.find(source)
        note: Note | None = self._vault.read(path) if path and path.exists() else None
        if note and self._kept and self._kept.middle and not agent:
            self._vault.middles[note.path] = self._kept.middle
            note = shortest(self._vault, note)
        recorder = Recorder(
            self.transcript.client,
            agent=agent,
            kind=kind,
            work_name=work_name,
            synced=synced_row(note, source),
            cwd=self.trunk.recorder.calling.folder if agent else "",
            details=self._details,
            judge=Detector(),
            zone=self._options.now.tzinfo,
        )
        strand = Strand(recorder, source, note, self._open, self.trunk if agent else None)
        strand.text = TranscriptText() if note and self._options.refresh else None
        return strand

    def _open(self, strand: Strand) -> EventSink | None:
        """Assign a strand its id and open its event log (None in a dry run), at the first message or new event."""
        if not strand.id:
            strand.id = self._pick_id(strand)
        return None if self._options.dry_run else self._writer_of(self._home_of(strand))

    def _pick_id(self, strand: Strand) -> str:
        return self._ids.pick(Opening.of(strand), self.trunk)

    def _home_of(self, strand: Strand) -> str:
        """Return the id of the note that holds a log."""
        inline = is_inline(strand, self.trunk, self._vault.settings.subagents)
        return self.trunk.id if inline else strand.id

    def _writer_of(self, home: str) -> EventSink:
        return self._flight_writer(home)

    def _flight_writer(self, home: str) -> FlightWriter:
        if home not in self._writers:
            limit = self._vault.settings.events.max_value_bytes
            writer = FlightWriter(self._vault.root, home, limit, ended_by=self._ended_by())
            self._writers[home] = self._stack.enter_context(writer)
        return self._writers[home]

    def _ended_by(self) -> datetime | None:
        """Return the time by which a session's last event must have happened if it has ended; None if it runs."""
        options, settings = self._options, self._vault.settings
        if options.client is Client.RUNNING or settings.events.track:
            return None
        return options.now - timedelta(minutes=settings.idle_minutes if options.client is Client.UNKNOWN else 0)

    def adopt(
        self, strands: dict[str, Strand], openings: Iterable[Opening], records: Iterable[tuple[int, Record]]
    ) -> None:
        """Name the logs that a worker read, and store their events. Raises like `read`."""
        self._strands = strands
        homes = []
        with self._stack:
            for opening in openings:
                opening.strand.id = self._ids.pick(opening, self.trunk)
                homes.append(self._home_of(opening.strand))
            if self._options.dry_run:
                return
            writers = [self._flight_writer(home) for home in homes]
            for number, record in records:
                writers[number].add(record)
