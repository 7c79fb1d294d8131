"""Import transcripts: find them, read each session's logs, and create or update its notes.

An import can be killed at any time and repeated. A parent's note is written before its subagents' notes.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from copy import deepcopy
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import chain
from pathlib import Path
from typing import NamedTuple

from crucible.clients.log_files import Transcript, source_name
from crucible.clients.registry import Dialect
from crucible.commands.imports.import_report import SESSION_ERRORS, ImportOptions, ReportDraft, reason_at
from crucible.commands.imports.import_result import ImportReport, Search, UnreadableRow
from crucible.commands.imports.kept_folds import KeptFolds, StaleFoldError, keeps_folds
from crucible.commands.imports.known_logs import Files, KnownLogs, stamps_of
from crucible.commands.imports.note_sources import SourceTable, Tickets
from crucible.commands.imports.reading_ahead import Reading, ReadingAhead, Task, is_worth_it
from crucible.commands.imports.session_ids import SessionSkippedError
from crucible.commands.imports.session_logs import SessionDeferredError, SessionLogs
from crucible.commands.imports.session_notes import PlannedNote, is_inline, plan_notes, write_notes
from crucible.commands.imports.strands import written_at
from crucible.commands.imports.transcript_search import find_transcripts, is_growing
from crucible.core.errors import CrucibleError
from crucible.core.processes import cores
from crucible.documents.markdown.source import Edit
from crucible.documents.session.property_values import link_to
from crucible.documents.session.task_edits import set_field
from crucible.vault.notes.known_projects import with_known
from crucible.vault.notes.note_homes import folder_of, note_home
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

Progress = Callable[[int, int, str], None]
"""Called with the number of transcripts done, their total, and the name of the next one ("" at the end)."""

OnStop = Callable[[Sequence[ImportReport]], None]
"""Called with the reports so far when an error, such as a full disk, or Ctrl-C ends the import; it is then raised."""

_LOCK_SECONDS = 600.0
"""Seconds to wait for the lock: another import may be reading a large transcript."""
_BATCH, _BATCH_EVENTS = 32, 50_000
"""Maximum sessions and events in a batch; the session that reaches a limit completes it."""


@dataclass(slots=True)
class _ClientImport:
    """The import of one client's transcripts.

    `moves` are pairs of sources; the second session continues the first. `deferred` are sessions that continue another
    session's note, each with its start time. They are imported last.
    """

    dialect: Dialect
    report: ReportDraft
    moves: list[tuple[str, str]] = field(default_factory=list)
    deferred: list[tuple[datetime, Transcript]] = field(default_factory=list)


def import_transcripts(
    vault: Vault,
    dialect: Dialect,
    paths: Iterable[Path],
    *,
    options: ImportOptions,
    progress: Progress = lambda _done, _total, _name: None,
    on_stop: OnStop = lambda _reports: None,
) -> ImportReport:
    """Import every session of one client found at `paths`: files, session folders, or the client's data folder.

    Errors in transcripts and notes are not raised; they are listed in `unreadable`.
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
    known: KnownLogs | None = None,
    table: SourceTable | None = None,
) -> list[ImportReport]:
    """Import the sessions of several clients, with one report per search. The vault's notes are read only once.

    Logs in the table `known` are not opened; the options must be those of a plain import. `table` is that of an earlier
    import of this process.
    """
    options = replace(options, projects=with_known(options.projects, vault.root))
    imports = [_ClientImport(search.dialect, ReportDraft()) for search in searches]
    found = [find_transcripts(search, each.report) for search, each in zip(searches, imports, strict=True)]
    for each, transcripts in zip(imports, found, strict=True):
        each.report.sessions = len(transcripts)
        if known:
            known.found.append((transcripts, deepcopy(each.report)))
    total, done = sum(map(len, found)), 0
    if imports:
        folds = KeptFolds(vault) if keeps_folds(vault.settings, options) else None
        table = table or _source_table(vault, imports[0].report)
        if known:
            known.table = table
        place = _Place(vault, table, options, known, folds)
        with _report_on_stop(imports, on_stop), _reading_ahead(place, imports, found) as place:
            for each, transcripts in zip(imports, found, strict=True):
                _import_sessions(place, each, _counted(transcripts, done, total, progress))
                done += len(transcripts)
            # The earlier session has a note by now, whichever client wrote it.
            deferred = [(time, each, transcript) for each in imports for time, transcript in each.deferred]
            for _, each, transcript in sorted(deferred, key=lambda one: one[0]):
                _import_sessions(place, each, iter((transcript,)), may_join=True)
    for cache in () if options.dry_run else (known, table):
        if cache:
            cache.save()
    progress(total, total, "")
    return [each.report.report() for each in imports]


@contextmanager
def _report_on_stop(imports: Sequence[_ClientImport], on_stop: OnStop) -> Iterator[None]:
    try:
        yield
    except (CrucibleError, OSError, KeyboardInterrupt):
        on_stop([each.report.report() for each in imports])
        raise


def _source_table(vault: Vault, report: ReportDraft) -> SourceTable:
    # An unreadable folder may hold notes of these sessions; without them, duplicate notes would be created.
    return SourceTable(vault, lambda error: report.unreadable.append(UnreadableRow(vault.sessions, 0, str(error))))


def _counted(transcripts: list[Transcript], before: int, total: int, progress: Progress) -> Iterator[Transcript]:
    for done, transcript in enumerate(transcripts, before):
        progress(done, total, transcript.path.name)
        yield transcript


# --- the sessions ----------------------------------------------------------------------------------------------------


class _Place(NamedTuple):
    """Where sessions are imported to, and how."""

    vault: Vault
    table: SourceTable
    options: ImportOptions
    known: KnownLogs | None
    folds: KeptFolds | None
    ahead: ReadingAhead | None = None

    @property
    def keeps(self) -> KnownLogs | None:
        """The table to add to; None in a dry run."""
        return None if self.options.dry_run else self.known


@contextmanager
def _reading_ahead(
    place: _Place, imports: Sequence[_ClientImport], found: Sequence[Sequence[Transcript]]
) -> Iterator[_Place]:
    """Read the new sessions in worker processes, if there is enough to read and the options allow it."""
    options = place.options
    is_plain = options == ImportOptions(
        options.now,
        options.dry_run,
        options.since,
        projects=options.projects,
        client=options.client,
        growing_since=options.growing_since,
    )
    clients = zip(imports, found, strict=True) if is_plain and cores() > 1 else ()
    new = [one for each, transcripts in clients for one in transcripts if _is_new(place, each.dialect, one)]
    if not is_worth_it(new):
        yield place
        return
    tasks = [Task(one, place.known is not None) for one in new]
    with closing(ReadingAhead(place.vault, options, tasks)) as ahead:
        yield place._replace(ahead=ahead)


def _is_new(place: _Place, dialect: Dialect, transcript: Transcript) -> bool:
    """True if a session certainly gets a note of its own, or none, whatever else is imported."""
    vault, table, options, known, *_ = place
    source = transcript.source
    try:
        return not (
            table.knows(source)
            or table.deleted.has(source, transcript.path)
            or is_growing(dialect, transcript, options)
            or (options.since and dialect.last_written(transcript) < options.since)
            or (known and known.find(dialect, transcript))
            or Tickets(vault, table).first(dialect, transcript, source)
        )
    except (*SESSION_ERRORS, OSError):
        return False


class _Planned(NamedTuple):
    """A session's planned notes; `files` are its logs' stamps before reading, `read` what reading them reports."""

    notes: list[PlannedNote]
    logs: SessionLogs
    files: Files | None
    read: ReportDraft


def _import_sessions(
    place: _Place, of: _ClientImport, transcripts: Iterator[Transcript], *, may_join: bool = False
) -> None:
    """Import sessions in batches. Without `may_join`, sessions that continue another session's note are deferred.

    The lock is held while a batch is read and written, so concurrent imports see each other's notes.
    """
    vault, table, options, *_ = place
    for first in transcripts:
        with ExitStack() as stack:
            if not options.dry_run:
                stack.enter_context(vault.locked_for_import(_LOCK_SECONDS))
            table.refresh()
            batch: list[_Planned] = []
            events = 0
            for transcript in chain((first,), transcripts):
                planned = _plan_session(place, of, transcript, may_join=may_join)
                if planned:
                    batch.append(planned)
                    events += planned.logs.events
                if len(batch) >= _BATCH or events >= _BATCH_EVENTS:
                    break
            written = write_notes(vault, table, options, [each.notes for each in batch], of.report)
            for each in batch:
                if each.logs.trunk not in written:
                    if place.folds:
                        place.folds.drop(each.logs.trunk.source)
                    continue
                if place.keeps:
                    place.keeps.keep(each.logs, each.files, _unchanged(each), is_written=True)
                if place.folds:
                    each.logs.keep_fold(place.folds, table.find(each.logs.trunk.source))
    _link_moves(vault, table, of.moves, set(of.report.created))


def _unchanged(planned: _Planned) -> ReportDraft:
    """Return what the next import reports if nothing changes."""
    strands = [note.strand for note in planned.notes]
    names = [strand.id for strand in strands]
    return replace(planned.read, unchanged=names, subagents={strand.id for strand in strands if strand.trunk})


def _plan_session(place: _Place, of: _ClientImport, transcript: Transcript, *, may_join: bool) -> _Planned | None:
    """Return a session's planned notes; None if the session is skipped, unreadable, unchanged or empty."""
    try:
        return _try_to_plan(place, of, transcript, may_join=may_join)
    except StaleFoldError:
        if place.folds:
            place.folds.drop(transcript.source)
        return _try_to_plan(place, of, transcript, may_join=may_join)


def _try_to_plan(place: _Place, of: _ClientImport, transcript: Transcript, *, may_join: bool) -> _Planned | None:
    """Like `_plan_session`; raises `StaleFoldError` if the session must be read without its fold."""
    reading = place.ahead.take(transcript) if place.ahead else None
    # Another process may have written the session's note by now.
    usable = reading if reading and reading.is_usable and not place.table.knows(transcript.source) else None
    read = usable.report if usable else ReportDraft()
    try:
        if _is_left_out(place, of, transcript, read):
            return None
        logs = SessionLogs(
            place.vault,
            of.dialect,
            transcript,
            options=place.options,
            table=place.table,
            report=read,
            may_join=may_join,
            folds=place.folds,
        )
        return None if usable and usable.is_unreadable else _read_and_plan(place, of, logs, usable, read)
    except StaleFoldError:
        read = ReportDraft()
        raise
    except SessionDeferredError as deferred:
        of.deferred.append((deferred.time, transcript))
    except (*SESSION_ERRORS, OSError) as error:
        read.unreadable.append(UnreadableRow(transcript.path, 0, reason_at(error, transcript.path)))
    finally:
        of.report.add(read)
        if reading:
            reading.drop()
    return None


def _is_left_out(place: _Place, of: _ClientImport, transcript: Transcript, read: ReportDraft) -> bool:
    """True if a session need not be read; `read` then gets what reading it would report."""
    _, table, options, known, *_ = place
    source = transcript.source
    if options.since and of.dialect.last_written(transcript) < options.since:
        read.left_out["since"] += 1
    elif table.place_of(source) is None and table.deleted.has(source, transcript.path):
        read.left_out["deleted"] += 1
    elif known and (entry := known.find(of.dialect, transcript)):
        read.add_entry(entry["report"])
        of.moves += map(tuple, entry["moves"])
    else:
        return False
    return True


def _read_and_plan(
    place: _Place, of: _ClientImport, logs: SessionLogs, reading: Reading | None, read: ReportDraft
) -> _Planned | None:
    """Read a session, unless a worker did. Raises errors that affect only this session."""
    vault, options, transcript = place.vault, place.options, logs.transcript
    files = reading.files if reading else stamps_of(of.dialect, transcript) if place.keeps else None
    try:
        reading.fill(logs) if reading else logs.read()
    except SessionSkippedError as skipped:
        read.left_out[skipped.reason] += 1
        if place.keeps and skipped.reason == "own":
            place.keeps.keep(logs, files, read)
        return None
    if options.met:
        options.met(logs.trunk.id, logs.trunk.note, logs.trunk.recorder.calling.folder)
    logs.moves += _moves_of(logs, options.follows)
    of.moves += logs.moves
    if not _has_changes(logs, vault.settings.subagents, read):
        if place.keeps:
            place.keeps.keep(logs, files, read)
        return None
    started = written_at(transcript.path)
    home = note_home(vault, logs.project, options.now.tzinfo)
    notes = plan_notes(logs.strands, vault.settings, options, project=logs.project, started=started, home=home)
    of.report.redacted += Counter({transcript.path: sum(map(_newly_redacted, notes))})
    return _Planned(notes, logs, files, read)


def _moves_of(logs: SessionLogs, follows: str) -> Iterator[tuple[str, str]]:
    """Yield the (earlier, later) pairs of sources that include this session.

    `follows` is the source of the session that it continues, "" if unknown.
    """
    transcript, source = logs.transcript, logs.trunk.source
    if follows:
        yield follows, source
    for later in filter(None, (*transcript.followed_by, logs.trunk.recorder.moved_to)):
        yield source, source_name(transcript.client, later)
    if transcript.follows:
        yield source_name(transcript.client, transcript.follows), source


def _has_changes(logs: SessionLogs, mode: str, report: ReportDraft) -> bool:
    """Return whether a note may change; otherwise report the session as empty or unchanged.

    `mode` is the vault setting `subagents`.
    """
    trunk = logs.trunk
    if not trunk.recorder.has_work:
        if trunk.has_rows or logs.transcript.follows:
            report.empty.append(logs.transcript.path)
        return False
    strands = logs.strands
    if any(s.has_news or s.note is None or s.text or s.is_waiting for s in strands):
        return True
    report.unchanged += [s.id for s in strands if not is_inline(s, trunk, mode)]
    report.subagents.update(s.id for s in strands if s.trunk)
    return False


def _newly_redacted(note: PlannedNote) -> int:
    """Return how many secrets were redacted from text that is new in the note."""
    return (note.now.redactions or 0) - ((note.base.redactions or 0) if note.strand.note else 0)


def _link_moves(vault: Vault, table: SourceTable, moves: Iterable[tuple[str, str]], created: Collection[str]) -> None:
    """Link the notes of each (earlier, later) pair of sources if this import created one of them."""
    for earlier, later in moves:
        paths = table.find(earlier), table.find(later)
        if paths[0] is None or paths[1] is None or paths[0] == paths[1]:
            continue
        names = [note_name(path.name) for path in paths if path]
        if any(name in created for name in names):
            links = [link_to(note_name(path.name), folder_of(vault, path)) for path in paths if path]
            vault.update(paths[0], lambda note, to=links[1]: _link_edits(note, "continued_by", to))  # type: ignore[misc]
            vault.update(paths[1], lambda note, to=links[0]: _link_edits(note, "continues", to))  # type: ignore[misc]


def _link_edits(note: Note, key: str, to: str) -> list[Edit]:
    return set_field(note.source, note.session, key, to) if note.session.properties.get(key) is None else []
