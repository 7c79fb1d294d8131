"""Import transcripts: create notes, update old ones, and report both.

A run can be killed at any time and repeated: a parent's note is written before its subagents', ids are found again by `sources`,
and events are kept once.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import chain, groupby, starmap
from pathlib import Path
from typing import TypeAlias

from crucible.clients.log_files import Transcript
from crucible.clients.registry import Dialect
from crucible.commands.imports.fold import Folding, JoinsError, LeftOutError
from crucible.commands.imports.import_report import Importing, ImportOptions, ImportReport, UnreadableRow
from crucible.commands.imports.note_sources import SourceTable, source_name
from crucible.commands.imports.strands import Strand
from crucible.commands.imports.transcript_search import Search, find_transcripts, reason_at
from crucible.core.errors import (
    CrucibleError,
    EditRefused,
    LockTimeout,
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    TranscriptError,
)
from crucible.core.files import locked
from crucible.documents.markdown.source import Edit
from crucible.documents.session.edits import set_field
from crucible.documents.session.markup import render_session
from crucible.documents.session.merge import merge
from crucible.documents.session.properties import link_to
from crucible.documents.session.refresh import refresh
from crucible.documents.session.session import Session, Status
from crucible.documents.session.shared_notes import holds_others
from crucible.vault.events.event_summary import Facts, save_meta
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name


def link_moves(vault: Vault, table: SourceTable, moves: Iterable[tuple[str, str]], created: Collection[str]) -> None:
    """`moves` are pairs of sources, the earlier one first."""
    for earlier, later in moves:
        paths = table.find(earlier), table.find(later)
        if paths[0] is None or paths[1] is None or paths[0] == paths[1]:
            continue
        names = [note_name(path.name) for path in paths if path]
        if any(name in created for name in names):
            vault.update(paths[0], lambda note, to=names[1]: _linked(note, "continued_by", to))  # type: ignore[misc]
            vault.update(paths[1], lambda note, to=names[0]: _linked(note, "continues", to))  # type: ignore[misc]


def _linked(note: Note, key: str, to: str) -> list[Edit]:
    return set_field(note.source, note.session, key, link_to(to)) if note.session.properties.get(key) is None else []


Progress = Callable[[int, int, str], None]
"""Told how many transcripts are done, of how many, and which one is next ("" at the end)."""

OnStop = Callable[[Sequence[ImportReport]], None]
"""Told what is written already when a full disk, say, ends the run; the error goes on."""

_LOCK_SECONDS = 600.0
"""Another import may take as long as a large transcript takes."""
_BATCH, _BATCH_EVENTS, _THREADS = 32, 50_000, 8
"""Transcripts, and events, that make a batch."""
_OF_ONE = (EditRefused, LockTimeout, NoteChanged, NoteExists, NoteUnreadable, OutsideVault, TranscriptError)
"""What concerns one session only: it is told and the others go on.  A full disk, say, ends the run."""


def import_transcripts(
    vault: Vault,
    dialect: Dialect,
    paths: Iterable[Path],
    *,
    options: ImportOptions,
    progress: Progress = lambda _done, _total, _name: None,
    on_stop: OnStop = lambda _reports: None,
) -> ImportReport:
    """Import every session of one client found at `paths`: files, sessions' folders, a client's whole folder.

    Nothing that is wrong with a transcript or a note raises; it is a row of `unreadable`.
    """
    searches = [Search(dialect, tuple(paths))]
    return import_all(vault, searches, options=options, progress=progress, on_stop=on_stop)[0]


def import_all(
    vault: Vault,
    searches: Sequence[Search],
    *,
    options: ImportOptions,
    progress: Progress = lambda _done, _total, _name: None,
    on_stop: OnStop = lambda _reports: None,
) -> list[ImportReport]:
    """The same for several clients, a report for each search; the notes are looked at once for all of them."""
    outcomes = [Importing() for _ in searches]
    found = [find_transcripts(search, outcome) for search, outcome in zip(searches, outcomes, strict=True)]
    total = sum(map(len, found))
    done = 0
    table: SourceTable | None = None
    runs: list[_Run] = []
    for search, outcome, transcripts in zip(searches, outcomes, found, strict=True):
        outcome.sessions = len(transcripts)
        if table is None:
            table = _table(vault, outcome)
        run = _Run(vault, search.dialect, options, outcome, table)
        runs.append(run)
        with _told_on_stop(outcomes, on_stop):
            run.take(_counted(transcripts, done, total, progress))
        done += len(transcripts)
    with _told_on_stop(outcomes, on_stop):
        _take_joining(runs)
    progress(total, total, "")
    return [outcome.report() for outcome in outcomes]


@contextmanager
def _told_on_stop(outcomes: Sequence[Importing], on_stop: OnStop) -> Iterator[None]:
    try:
        yield
    except (CrucibleError, OSError):
        on_stop([outcome.report() for outcome in outcomes])
        raise


def _take_joining(runs: Sequence[_Run]) -> None:
    """Sessions that go on with another one's note, whatever client's, in the order of time and when all others are there."""
    joining = [(time, run, transcript) for run in runs for time, transcript in run.joining]
    for _, run, transcript in sorted(joining, key=lambda each: each[0]):
        run.take(iter((transcript,)), may_join=True)


def _table(vault: Vault, outcome: Importing) -> SourceTable:
    # A folder that cannot be read may hold notes of these sessions, which would be made again.
    return SourceTable(vault, lambda error: outcome.unreadable.append(UnreadableRow(vault.sessions, 0, str(error))))


def _counted(transcripts: list[Transcript], before: int, total: int, progress: Progress) -> Iterator[Transcript]:
    for done, transcript in enumerate(transcripts, before):
        progress(done, total, transcript.path.name)
        yield transcript


@dataclass(frozen=True, slots=True)
class _Notes:
    """What one transcript comes to: each strand with what its note held and is to hold, the parent first."""

    strands: tuple[tuple[Strand, Session, Session], ...]
    events: int


_Told: TypeAlias = "tuple[str, str] | UnreadableRow"
"""A list of the report and the id that belongs into it, or what went wrong."""


class _Run:
    """One import into one vault.

    Transcripts are read one after another and their notes written a batch at a time in several threads, since waiting for
    the disk costs far more than all the rest.  A batch is under one lock, so that of two imports of a session the second
    one sees the first one's note.
    """

    def __init__(
        self, vault: Vault, dialect: Dialect, options: ImportOptions, outcome: Importing, table: SourceTable
    ) -> None:
        self.vault = vault
        self.dialect = dialect
        self.options = options
        self.outcome = outcome
        self.table = table
        self.moves: list[tuple[str, str]] = []
        self.joining: list[tuple[datetime, Transcript]] = []
        """Sessions that go on with another one's note, and since when; their turn comes last."""
        self._may_join = False

    def take(self, transcripts: Iterator[Transcript], *, may_join: bool = False) -> None:
        """Import all sessions; without `may_join` those that go on with another one's note are put into `joining`."""
        self._may_join = may_join
        for first in transcripts:
            with ExitStack() as stack:
                if not self.options.dry_run:
                    place = self.vault.root / ".crucible" / "import"
                    stack.enter_context(locked(self.vault.root, place, _LOCK_SECONDS))
                self.table.refresh()
                self._write(self._batch(first, transcripts))
        link_moves(self.vault, self.table, self.moves, set(self.outcome.created))

    def _batch(self, first: Transcript, rest: Iterator[Transcript]) -> list[_Notes]:
        batch: list[_Notes] = []
        events = 0
        for transcript in chain((first,), rest):
            notes = list(self._notes(transcript))
            batch += notes
            events += sum(each.events for each in notes)
            if len(batch) >= _BATCH or events >= _BATCH_EVENTS:
                break
        return batch

    def _notes(self, transcript: Transcript) -> Iterator[_Notes]:
        """The notes of a session; nothing when it is left out, unreadable, unchanged or empty."""
        try:
            if self.options.since and self._last_written(transcript) < self.options.since:
                self.outcome.left_out["since"] += 1
                return
            with ExitStack() as stack:
                folding = Folding(
                    self.vault,
                    self.dialect,
                    transcript,
                    options=self.options,
                    table=self.table,
                    outcome=self.outcome,
                    stack=stack,
                    may_join=self._may_join,
                )
                folding.fold()
            if self.options.met:
                self.options.met(folding.trunk.id, folding.trunk.note, folding.trunk.recorder.calling.folder)
            moved_to = folding.trunk.recorder.moved_to
            if self.options.follows:
                self.moves.append((self.options.follows, folding.trunk.source))
            later = [*transcript.followed_by, *([moved_to] if moved_to else [])]
            self.moves += [(folding.trunk.source, source_name(transcript.client, name)) for name in later]
            if transcript.follows:
                self.moves.append((source_name(transcript.client, transcript.follows), folding.trunk.source))
            if self._has_notes(folding):
                sessions = folding.sessions().items()
                own = [(s, base, now) for s, (base, now) in sessions if not folding.is_inline(s)]
                self.outcome.redacted += Counter({transcript.path: sum(starmap(_more_redacted, own))})
                yield _Notes(tuple(own), folding.events)
        except JoinsError as joins:
            self.joining.append((joins.time, transcript))
        except LeftOutError as left_out:
            self.outcome.left_out[left_out.reason] += 1
        except (*_OF_ONE, OSError) as error:
            self.outcome.unreadable.append(UnreadableRow(transcript.path, 0, reason_at(error, transcript.path)))

    def _last_written(self, transcript: Transcript) -> datetime:
        """When a transcript was last written to; a copied file's own time is that of the copy."""
        told = self.dialect.reach(transcript).last
        return told or datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC)

    def _has_notes(self, folding: Folding) -> bool:
        strands = folding.strands
        if not folding.trunk.recorder.has_work:
            if folding.trunk.saw_rows or folding.transcript.follows:
                self.outcome.empty.append(folding.transcript.path)
            return False
        if any(s.has_news or s.note is None or s.said or s.is_waiting for s in strands):
            return True
        self.outcome.unchanged += [s.id for s in strands if not folding.is_inline(s)]
        return False

    # --- writing -----------------------------------------------------------------------------------------------------

    def _write(self, batch: list[_Notes]) -> None:
        groups = _by_note(batch)
        if len(groups) == 1 or self.options.dry_run:
            stops = list(map(self._write_one, batch))
        else:
            with ThreadPoolExecutor(_THREADS) as pool:
                stops = list(chain.from_iterable(pool.map(self._write_all, groups)))
        told = chain.from_iterable(each for each, _ in stops)
        for each in told:
            if isinstance(each, UnreadableRow):
                self.outcome.unreadable.append(each)
            else:
                getattr(self.outcome, each[0]).append(each[1])
        for _, error in stops:
            if error:
                raise error

    def _write_all(self, group: Sequence[_Notes]) -> list[tuple[list[_Told], Exception | None]]:
        return [self._write_one(notes) for notes in group]

    def _write_one(self, notes: _Notes) -> tuple[list[_Told], Exception | None]:
        """What became of each note, and what ended that: the other threads' notes are told, too."""
        told: list[_Told] = []
        try:
            told += (self._told(*each) for each in notes.strands)
        except (CrucibleError, OSError) as error:
            return told, error
        return told, None

    def _told(self, strand: Strand, base: Session, now: Session) -> _Told:
        try:
            written = now
            if strand.note is None:
                told = "created", self._create(now)
            else:
                changed = self._update(strand, strand.note, base, now)
                told = "updated" if changed else "unchanged", strand.id
                if changed and (strand.recorder.is_guest or holds_others(changed.session, strand.source)):
                    written = changed.session  # the transcript tells a part of it
            if not self.options.dry_run and told[0] != "unchanged":
                # An archived session gets no folder again for this.
                save_meta(self.vault.root, strand.id, _facts(written), make=False)
        except _OF_ONE as error:
            path = strand.note.path if strand.note else self.vault.sessions / f"{strand.id}.md"
            return UnreadableRow(path, 0, reason_at(error, path))
        return told

    def _create(self, session: Session) -> str:
        if not self.options.dry_run:
            note = self.vault.create(session.id, render_session(session))
            for source in session.sources:
                self.table.add(source, note.path)
        return session.id

    def _update(self, strand: Strand, note: Note, base: Session, now: Session) -> Note | None:
        """The note as it is now, None when nothing of it changed."""
        recorder = strand.recorder

        def wanted(fresh: Note) -> list[Edit]:
            if recorder.joins and strand.source in fresh.session.sources:
                return []  # somebody folded it in since the note was read
            return merge(fresh.source, fresh.session, base, now, is_guest=recorder.is_guest)

        if self.options.dry_run:
            changed = wanted(note) or self._refreshing(strand, note, now)
            return note if changed else None
        written = self.vault.update(note.path, wanted)
        if strand.said:
            written = self.vault.update(note.path, lambda fresh: self._refreshing(strand, fresh, now))
        for source in now.sources:
            self.table.add(source, note.path)
        return None if written.source == note.source else written

    def _refreshing(self, strand: Strand, note: Note, now: Session) -> list[Edit]:
        """What brings an older version's note to this one's; a note that tells several sessions stays as it is."""
        if strand.said is None or strand.recorder.is_guest or holds_others(note.session, strand.source):
            return []
        return refresh(note.source, note.session, now, strand.said)


def _more_redacted(strand: Strand, base: Session, now: Session) -> int:
    """How many secrets were taken out of what the note did not hold before."""
    return (now.redactions or 0) - ((base.redactions or 0) if strand.note else 0)


def _by_note(batch: Iterable[_Notes]) -> list[list[_Notes]]:
    """What is to be written into one note is written in its order, by one thread."""
    groups: dict[object, list[_Notes]] = {}
    for notes in batch:
        note = notes.strands[0][0].note if notes.strands else None
        groups.setdefault(note.path if note else id(notes), []).append(notes)
    return list(groups.values())


def _facts(session: Session) -> Facts:
    """What the flight recorder's summary says of a session."""
    agents = [str(phase.agent) for phase in session.all_phases() if phase.agent]
    switches = tuple(agent for agent, _ in groupby(agents))
    return Facts(
        started=session.started,
        ended=session.ended,
        initial_agent=switches[0] if switches else None,
        agent_switches=switches or None,
        project=session.project,
        ended_cleanly=session.status is Status.COMPLETED,
    )
