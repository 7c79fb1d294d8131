"""One native session from its files to the sessions its notes will hold.

Decides which transcript an event belongs to, the parent of each subagent, and the ids of new notes.  Writes whole events only.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import replace
from datetime import datetime
from functools import partial
from pathlib import Path

from crucible.analysis.findings.detector import Detector
from crucible.clients.events import (
    At,
    Event,
    SubagentReturned,
    SubagentStarted,
    Titled,
    Unknown,
    Unreadable,
)
from crucible.clients.launch.session_marks import OWN_MARK
from crucible.clients.log_files import SubagentFile, Transcript
from crucible.clients.redact import redactor_of
from crucible.clients.registry import Dialect
from crucible.commands.imports.import_report import Importing, ImportOptions, UnreadableRow, told_rows
from crucible.commands.imports.note_families import Family, Returns, is_inline
from crucible.commands.imports.note_sources import SourceTable, Tickets, source_name, who_was_before
from crucible.commands.imports.strands import LastSecond, Strand, WholeTurns, look_at_last_second, mark_of, written_at
from crucible.commands.imports.transcript_search import reason_at
from crucible.core.errors import TranscriptError
from crucible.documents.recording.pending_calls import Details
from crucible.documents.recording.session_recorder import Recorder
from crucible.documents.session.names import new_session_id, slugify
from crucible.documents.session.refresh import TranscriptText
from crucible.documents.session.session import Session
from crucible.documents.session.session_id import LONGEST_ID
from crucible.documents.session.titles import UNTITLED, key_words
from crucible.vault.events.event_recorder import FlightWriter
from crucible.vault.notes.projects import project_of
from crucible.vault.notes.vault import Note, Vault

_HOPELESS = 1000
"""Unreadable rows, and nothing else, after which a file is given up."""
_TITLE_SLUG, _SLUG = 40, 24
"""Code points of a trunk's title and of a subagent's in a file's name."""


class LeftOutError(Exception):
    """This session is not wanted; `reason` is a key of the report's `left_out`."""

    def __init__(self, reason: str) -> None:
        super().__init__(reason)
        self.reason = reason


class JoinsError(Exception):
    """This session goes on with another one, at `time`: its turn comes when the others' notes are there."""

    def __init__(self, time: datetime) -> None:
        super().__init__(str(time))
        self.time = time


class Folding:
    """One transcript.  `strands` has the trunk first, every parent before its children; `events` counts what was read.

    Without `may_join` one that goes on with another session's note is put off by a `JoinsError`.
    """

    def __init__(
        self,
        vault: Vault,
        dialect: Dialect,
        transcript: Transcript,
        *,
        options: ImportOptions,
        table: SourceTable,
        outcome: Importing,
        stack: ExitStack,
        may_join: bool = True,
    ) -> None:
        self.vault = vault
        self.dialect = dialect
        self.transcript = transcript
        self.options = options
        self.table = table
        self.outcome = outcome
        self.may_join = may_join
        self._stack = stack
        self._writers: dict[str, FlightWriter] = {}
        self._strands: dict[str, Strand] = {}
        self._returns = Returns(transcript.subagents)
        self._filed = {file.agent for file in transcript.subagents}
        self._project: str | None = None
        self._redact = options.redact or redactor_of(vault.settings.secrets)
        self._details = Details(vault.settings.details)
        self._turns = WholeTurns()
        self._tickets = Tickets(vault, table)
        self.events = 0

    @property
    def trunk(self) -> Strand:
        """The session's own log."""
        return self._strands[""]

    @property
    def strands(self) -> list[Strand]:
        """Every log in which somebody did something."""
        return [strand for strand in self._strands.values() if strand.recorder.has_work]

    # --- reading -----------------------------------------------------------------------------------------------------

    def fold(self) -> None:
        """Read all files.  Raises `LeftOutError`, `JoinsError`, and `TranscriptError` when the trunk cannot be opened."""
        self._strands[""] = self._strand("", "", "Work")
        if self.trunk.note is None:
            self._join()
        self._check_session()
        self._check_project()
        self._read_whole("")
        if self.trunk.recorder.has_work:
            for strand in self.strands:
                strand.open()
            self._read_subagents()
            self._find_parents()

    def _join(self) -> None:
        """Go on in the note of the session that this one goes on with, if `cru` had it do so."""
        joining = self._tickets.first(self.dialect, self.transcript, self.trunk.source)
        if joining is None:
            return
        if not self.may_join:
            raise JoinsError(joining.time)
        note = joining.note
        # Another process may have folded it in since the notes were looked at.
        if note is not None and self.trunk.source in note.session.sources:
            self.table.add(self.trunk.source, note.path)
            self._strands[""] = self._strand("", "", "Work")
        elif note is not None:
            before = who_was_before(note.session)
            recorder = Recorder(
                self.transcript.client, joins=True, after=before, details=self._details, judge=Detector()
            )
            self._strands[""] = Strand(recorder, self.trunk.source, note, self._open)

    def _check_session(self) -> None:
        wanted, note = self.options.only_session, self.trunk.note
        if wanted and (note is None or note.name != wanted):
            raise LeftOutError("session")

    def _read_whole(self, agent: str) -> None:
        """Read a file, and again when the row that its note was synced to is gone."""
        self._read(agent)
        old = self._strands[agent]
        if old.note is None or old.recorder.joins or old.recorder.synced_found or not old.saw_rows:
            return
        events = (self._redact(event)[0] for event in self._events(agent))
        lost = look_at_last_second(old.note, (e for e in events if e.at.agent == agent))
        if not agent:
            self._strands.clear()  # logs inside the trunk are read again too
        # Only what is later than all that the note tells is certainly new.
        self._strands[agent] = old.again(self._open, lost)
        self._read(agent, again=True)
        self._tell_lost(self.transcript.path_of(agent), self._strands[agent], lost)

    def _events(self, agent: str) -> Iterator[Event]:
        events = self.dialect.read(self.transcript, agent)
        if agent:
            return self._returns.within(agent, events, self._strands[agent].mark)
        events = self._tickets.told(events)
        return self._turns.until_last_end(events) if self.options.whole_turns else events

    def _tell_lost(self, path: Path, strand: Strand, lost: LastSecond) -> None:
        """Say what a missing mark costs; it costs nothing where the note holds all there is, as of an older copy."""
        mark = strand.mark
        if lost.undecided or (mark and strand.has_news):
            gone = f"is gone from here ({mark})" if mark else "is not named in its `synced_to`"
            told = f"the last row in the note {strand.id} {gone}: only later rows are added"
            self.outcome.unreadable.append(UnreadableRow(path, 0, told))
        elif mark and strand is self.trunk:
            self.outcome.left_out["copy"] += 1

    def _read(self, agent: str, again: bool = False) -> None:
        unreadable: list[UnreadableRow] = []
        path, strand = self.transcript.path_of(agent), self._strands[agent]
        for event in self._events(agent):
            if isinstance(event, Unreadable):
                unreadable.append(UnreadableRow(path, event.at.line, event.reason))
                if len(unreadable) >= _HOPELESS and not strand.saw_rows:
                    break
            elif isinstance(event, Unknown):
                self.outcome.unknown_rows[event.type] += not again
            self._take(event, agent, strand)
        if not again:
            is_ours = strand.saw_rows or self.dialect.sniff(path)
            self.outcome.unreadable += told_rows(path, unreadable, "" if is_ours else self.dialect.name)
        if strand.overflowed and strand.id:
            self._keep_whole(agent)

    def _take(self, event: Event, agent: str, strand: Strand) -> None:
        self.events += 1
        if isinstance(event, SubagentReturned) and event.agent and event.agent == event.at.agent:
            strand.hear(*self._redact(event))
            return
        if event.at.agent == agent:
            strand.take(*self._redact(event))
        elif event.at.agent not in self._filed:
            self._inside(event.at.agent).take(*self._redact(event))
        else:
            return
        if isinstance(event, SubagentStarted):
            self._returns.ask(event)
        elif isinstance(event, SubagentReturned):
            self._tell_subagent(event)

    def _tell_subagent(self, event: SubagentReturned) -> None:
        """Add a result from the parent: a subagent's transcript may be missing, or lack the report."""
        told = self._returns.take(event)
        if told is None or told.agent in self._filed:
            return  # its own file is still to be read
        if told.agent not in self._strands:
            asked = self._returns.asked(told)
            if asked is None:
                return
            self._inside(told.agent).hear(*self._redact(replace(asked, at=told.at, agent=told.agent)))
        self._strands[told.agent].hear(*self._redact(told))

    def _keep_whole(self, agent: str) -> None:
        """Whole events of a file with so much before the first word that they were not held."""
        strand = self._strands[agent]
        again = Strand(Recorder(self.transcript.client, agent=agent), strand.source, None, self._open)
        again.id = strand.id
        for event in self._tickets.told(self.dialect.read(self.transcript, agent)):
            if event.at.agent == agent and not isinstance(event, Unknown | Unreadable):
                again.keep(self._redact(event)[0])

    # --- subagents ---------------------------------------------------------------------------------------------------

    def _read_subagents(self) -> None:
        waiting = [file for file in self.transcript.subagents if self._is_told_of(file)]
        while waiting:
            # Those whose call was seen come first, so that their parents can lend them a title.
            file = next((f for f in waiting if self._parent_of(f.call, f.agent)), waiting[0])
            waiting.remove(file)
            self._strands[file.agent] = self._subagent_strand(file)
            try:
                self._read_whole(file.agent)
            except TranscriptError as error:
                self.outcome.unreadable.append(UnreadableRow(file.path, 0, reason_at(error, file.path)))

    def _is_told_of(self, file: SubagentFile) -> bool:
        """Whether a subagent belongs to what was read of the trunk; one of a turn that is under way waits with it."""
        return not self._turns.cut or self._parent_of(file.call, file.agent) is not None or file.depth > 1

    def _inside(self, agent: str) -> Strand:
        """The log of a subagent that has no file of its own."""
        if agent not in self._strands:
            self._strands[agent] = self._subagent_strand(SubagentFile(agent, self.transcript.path))
        return self._strands[agent]

    def _subagent_strand(self, file: SubagentFile) -> Strand:
        parent = self._parent_of(file.call, file.agent)
        work = parent.recorder.calling.delegation(file.call, file.agent) if parent else None
        kind = self._clean(file.kind) or (work.kind if work else "")
        title = (self._clean(file.description) or (work.title if work else "")).rstrip(" .")
        strand = self._strand(file.agent, kind, title or kind or "Work")
        strand.title, strand.kind, strand.call = title, kind, file.call
        return strand

    def _clean(self, text: str) -> str:
        """A text that is no event's, and will stand in titles and names, without its secrets."""
        event, _ = self._redact(Titled(At(0), text))
        return event.title if isinstance(event, Titled) else ""

    def _parent_of(self, call: str, agent: str) -> Strand | None:
        found = (s for s in self._strands.values() if s.recorder.calling.delegation(call, agent))
        return next((strand for strand in found if strand.recorder.agent != agent), None)

    def _find_parents(self) -> None:
        for agent, strand in self._strands.items():
            if agent:
                strand.parent = self._parent_of(strand.call, agent) or self._by_task(strand)

    def _by_task(self, strand: Strand) -> Strand | None:
        """A subagent that nothing names is known by its task's words."""
        for other in self._strands.values():
            for work in other.recorder.calling.delegations:
                if not work.agent and work.task and work.task.strip() == strand.first_prompt.strip():
                    work.agent = strand.recorder.agent
                    if told := self._returns.name(work.call, work.agent):
                        strand.hear(*self._redact(told))
                    return other
        return None

    # --- strands and their ids ---------------------------------------------------------------------------------------

    def _strand(self, agent: str, kind: str, work_name: str) -> Strand:
        source = source_name(self.transcript.client, self.transcript.native_id, agent)
        note = self._note_of(source)
        recorder = Recorder(
            self.transcript.client,
            agent=agent,
            kind=kind,
            work_name=work_name,
            synced=mark_of(note, source),
            cwd=self.trunk.recorder.calling.folder if agent else "",
            details=self._details,
            judge=Detector(),
        )
        strand = Strand(recorder, source, note, self._open, self.trunk if agent else None)
        strand.said = TranscriptText() if note and self.options.refresh else None
        return strand

    def _note_of(self, source: str) -> Note | None:
        path = self.table.find(source)
        return self.vault.read(path) if path and path.exists() else None

    def _check_project(self) -> None:
        wanted, note = self.options.only_project, self.trunk.note
        if note:
            self._project = note.session.project
            if wanted is not None and self._project != wanted:
                raise LeftOutError("project")

    def _open(self, strand: Strand) -> FlightWriter | None:
        """Called when a strand has its first word, or its first news."""
        if not strand.id:
            strand.id = self._trunk_id(strand) if strand is self.trunk else self._subagent_id(strand)
        if self.options.dry_run:
            return None
        home = self.trunk.id if self.is_inline(strand) else strand.id
        if home not in self._writers:
            limit = self.vault.settings.flight.max_value_bytes
            self._writers[home] = self._stack.enter_context(FlightWriter(self.vault.root, home, limit))
        return self._writers[home]

    def _check_wanted(self, trunk: Strand) -> None:
        if OWN_MARK in trunk.first_prompt:
            raise LeftOutError("own")
        self._project = self._clean(project_of(trunk.recorder.calling.folder, self.options.projects)) or None
        if self.options.only_project is not None and self._project != self.options.only_project:
            raise LeftOutError("project")

    def _trunk_id(self, strand: Strand) -> str:
        self._check_wanted(strand)
        day = (strand.recorder.started or written_at(self.transcript.path)).date()
        name = new_session_id(
            key_words(strand.recorder.title or UNTITLED, _TITLE_SLUG), day, partial(self._is_taken, strand)
        )
        self.table.plan(name)
        return name

    def _is_taken(self, strand: Strand, name: str) -> bool:
        """Whether the name is another session's; it may be this one's own, in a note that cannot be read."""
        taken = self.table.is_taken(name)
        if taken:
            self.table.check_collision(name, strand.source)
        return taken

    def _subagent_id(self, strand: Strand) -> str:
        agent = strand.recorder.agent
        slug = slugify(
            key_words(strand.title, _SLUG) if strand.title else f"{strand.kind or 'agent'}-{agent[:8]}", _SLUG
        )
        name = f"{self.trunk.id[: LONGEST_ID - _SLUG - 5]}-{slug}"
        free, number = name, 2
        while self._is_taken(strand, free):
            free, number = f"{name}-{number}", number + 1
        self.table.plan(free)
        return free

    # --- sessions ----------------------------------------------------------------------------------------------------

    def is_inline(self, strand: Strand) -> bool:
        """Whether a subagent's work stands in its parent's note, now or by the setting."""
        return is_inline(strand, self.trunk, self.vault.settings.subagents)

    def sessions(self) -> dict[Strand, tuple[Session, Session]]:
        """What each strand's note held, and what it is to hold: `(base, now)`; inline work is in its parent's."""
        family = Family(
            self.trunk,
            self.strands,
            self.vault.settings,
            self.options,
            project=self._project,
            started=written_at(self.transcript.path),
        )
        return family.sessions()
