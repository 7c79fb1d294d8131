"""Import transcripts: find them, read each session's logs, and create or update its notes.

An import can be killed at any time and repeated. A parent's note is written before its subagents' notes.
"""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from functools import cache
from itertools import chain, islice
from pathlib import Path

from crucible.clients.log_files import Reach, Transcript, files_below, source_name
from crucible.clients.registry import DIALECTS, Dialect, sniff
from crucible.commands.imports.import_report import (
    SESSION_ERRORS,
    ImportOptions,
    ImportReport,
    ReportDraft,
    UnreadableRow,
    reason_at,
)
from crucible.commands.imports.note_sources import SourceTable
from crucible.commands.imports.session_logs import SessionDeferredError, SessionLogs, SessionSkippedError
from crucible.commands.imports.session_notes import PlannedNote, is_inline, plan_notes, write_notes
from crucible.commands.imports.strands import written_at
from crucible.core.errors import CrucibleError, TranscriptError, reason_of
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
"""Called with the reports so far when an error, such as a full disk, ends the import; the error is then raised."""

_LOCK_SECONDS = 600.0
"""Seconds to wait for the lock: another import may be reading a large transcript."""
_BATCH, _BATCH_EVENTS = 32, 50_000
"""Maximum sessions and events in a batch; the session that reaches a limit completes it."""
_SNIFFED_FILES = 200
"""Maximum files in a folder to open when detecting which client wrote it."""
_NEVER = datetime.min.replace(tzinfo=UTC)


@dataclass(frozen=True, slots=True)
class Search:
    """Where to look for one client's sessions. `is_sniffed`: skip files that other clients wrote."""

    dialect: Dialect
    paths: tuple[Path, ...]
    is_sniffed: bool = False


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
) -> list[ImportReport]:
    """Import the sessions of several clients, with one report per search. The vault's notes are read only once."""
    options = replace(options, projects=with_known(options.projects, vault.root))
    imports = [_ClientImport(search.dialect, ReportDraft()) for search in searches]
    found = [find_transcripts(search, each.report) for search, each in zip(searches, imports, strict=True)]
    for each, transcripts in zip(imports, found, strict=True):
        each.report.sessions = len(transcripts)
    total, done = sum(map(len, found)), 0
    if imports:
        table = _source_table(vault, imports[0].report)
        with _report_on_stop(imports, on_stop):
            for each, transcripts in zip(imports, found, strict=True):
                _import_sessions(vault, table, options, each, _counted(transcripts, done, total, progress))
                done += len(transcripts)
            # The earlier session has a note by now, whichever client wrote it.
            deferred = [(time, each, transcript) for each in imports for time, transcript in each.deferred]
            for _, each, transcript in sorted(deferred, key=lambda one: one[0]):
                _import_sessions(vault, table, options, each, iter((transcript,)), may_join=True)
    progress(total, total, "")
    return [each.report.report() for each in imports]


@contextmanager
def _report_on_stop(imports: Sequence[_ClientImport], on_stop: OnStop) -> Iterator[None]:
    try:
        yield
    except (CrucibleError, OSError):
        on_stop([each.report.report() for each in imports])
        raise


def _source_table(vault: Vault, report: ReportDraft) -> SourceTable:
    # An unreadable folder may hold notes of these sessions; without them, duplicate notes would be created.
    return SourceTable(vault, lambda error: report.unreadable.append(UnreadableRow(vault.sessions, 0, str(error))))


def _counted(transcripts: list[Transcript], before: int, total: int, progress: Progress) -> Iterator[Transcript]:
    for done, transcript in enumerate(transcripts, before):
        progress(done, total, transcript.path.name)
        yield transcript


# --- gather: the transcripts -----------------------------------------------------------------------------------------


def searches_here(env: Mapping[str, str], home: Path) -> tuple[Search, ...]:
    """Return a search for each client whose default folder exists on this machine."""
    folders = ((dialect, dialect.default_folder(env, home)) for dialect in DIALECTS.values())
    return tuple(Search(dialect, (folder,)) for dialect, folder in folders if folder.exists())


def searches_at(paths: Iterable[Path]) -> tuple[tuple[Search, ...], tuple[UnreadableRow, ...]]:
    """Return a search for each client that may have written files at these paths, and a row for each other path.

    A file belongs to one client; a folder may hold logs from several.
    """
    files: dict[str, list[Path]] = {name: [] for name in DIALECTS}
    unknown: list[UnreadableRow] = []
    for path in paths:
        reason = ""
        try:
            writers = list(DIALECTS) if any(path.iterdir()) else []
        except NotADirectoryError:
            writer = sniff(path)
            writers = [writer.name] if writer else []
            reason = "" if writer else "not a transcript of a supported client"
        except OSError as error:
            writers, reason = [], reason_of(error)
        for name in writers:
            files[name].append(path)
        if reason:
            unknown.append(UnreadableRow(path, 0, reason))
    searches = (Search(DIALECTS[name], tuple(found), is_sniffed=True) for name, found in files.items() if found)
    return tuple(searches), tuple(unknown)


def other_writer(dialect: Dialect, path: Path) -> Dialect | None:
    """Return the client that wrote a file, or one of the files in a folder.

    None if `dialect`'s client wrote one, or if no known client did.
    """
    found: Dialect | None = None
    for file in islice(_files(path), _SNIFFED_FILES):
        if dialect.sniff(file):
            return None
        found = found or sniff(file)
    return found


def _files(path: Path) -> Iterator[Path]:
    if path.is_file():
        yield path
        return
    # Only regular files: reading a pipe would block.
    yield from (file for file in files_below(path) if file.is_file())


def find_transcripts(search: Search, report: ReportDraft) -> list[Transcript]:
    """Return one transcript per session, even if paths overlap or hold copies. Unreadable paths are reported."""
    sessions: dict[str, list[Transcript]] = {}
    for transcript in _transcripts_at(search, report):
        sessions.setdefault(source_name(transcript.client, transcript.native_id), []).append(transcript)
    # Two transcripts of one session would create two notes with the same source.
    return [
        copies[0] if len(copies) == 1 else _furthest(search.dialect, copies, report) for copies in sessions.values()
    ]


def _transcripts_at(search: Search, report: ReportDraft) -> Iterator[Transcript]:
    """Yield each transcript once, even if paths overlap."""
    seen: set[tuple[str, str]] = set()
    # Cached, since one database holds many sessions.
    is_ours = cache(search.dialect.sniff) if search.is_sniffed else lambda _path: True
    for path in search.paths:
        try:
            for transcript in search.dialect.find(path):
                real = (os.path.realpath(transcript.path), transcript.native_id)
                if real not in seen and is_ours(transcript.path):
                    seen.add(real)
                    yield transcript
        except (TranscriptError, OSError) as error:
            report.unreadable.append(UnreadableRow(path, 0, reason_at(error, path)))
        if path.is_dir() and path.suffix == ".jsonl" and not search.is_sniffed:
            report.unreadable.append(UnreadableRow(path, 0, "a folder, not a transcript"))


def _furthest(dialect: Dialect, copies: list[Transcript], report: ReportDraft) -> Transcript:
    """Return the copy with the latest event, and report the other copies."""
    reaches = [_reach(dialect, copy) for copy in copies]
    far = max(range(len(copies)), key=lambda at: (reaches[at].last or _NEVER, reaches[at].size))
    best = copies[far]
    for copy, reach in zip(copies, reaches, strict=True):
        rows = {reach.first, reaches[far].first} - {""}
        if len(rows) > 1:
            reason = f"differs from {best.path}, an imported file of the same name: rename one of them"
            report.unreadable.append(UnreadableRow(copy.path, 0, reason))
        elif copy is not best:
            report.left_out["copy"] += 1
    return best


def _reach(dialect: Dialect, transcript: Transcript) -> Reach:
    try:
        return dialect.reach(transcript)
    except OSError:
        return Reach(None, -1)


# --- the sessions ----------------------------------------------------------------------------------------------------


def _import_sessions(
    vault: Vault,
    table: SourceTable,
    options: ImportOptions,
    of: _ClientImport,
    transcripts: Iterator[Transcript],
    *,
    may_join: bool = False,
) -> None:
    """Import sessions in batches. Without `may_join`, sessions that continue another session's note are deferred.

    The lock is held while a batch is read and written, so concurrent imports see each other's notes.
    """
    for first in transcripts:
        with ExitStack() as stack:
            if not options.dry_run:
                stack.enter_context(vault.locked_for_import(_LOCK_SECONDS))
            table.refresh()
            batch: list[list[PlannedNote]] = []
            events = 0
            for transcript in chain((first,), transcripts):
                notes, count = _plan_session(vault, table, options, of, transcript, may_join=may_join)
                batch += [notes] if notes else []
                events += count
                if len(batch) >= _BATCH or events >= _BATCH_EVENTS:
                    break
            write_notes(vault, table, options, batch, of.report)
    _link_moves(vault, table, of.moves, set(of.report.created))


def _plan_session(
    vault: Vault,
    table: SourceTable,
    options: ImportOptions,
    of: _ClientImport,
    transcript: Transcript,
    *,
    may_join: bool,
) -> tuple[list[PlannedNote], int]:
    """Return a session's planned notes and its number of events.

    There are none if the session is skipped, unreadable, unchanged or empty.
    """
    report = of.report
    try:
        if options.since and _last_written(of.dialect, transcript) < options.since:
            report.left_out["since"] += 1
            return [], 0
        source = source_name(transcript.client, transcript.native_id)
        if table.find(source) is None and table.deleted.has(source, transcript.path):
            report.left_out["deleted"] += 1
            return [], 0
        with ExitStack() as stack:
            logs = SessionLogs(
                vault,
                of.dialect,
                transcript,
                options=options,
                table=table,
                report=report,
                stack=stack,
                may_join=may_join,
            )
            logs.read()
        if options.met:
            options.met(logs.trunk.id, logs.trunk.note, logs.trunk.recorder.calling.folder)
        of.moves += _moves_of(logs, options.follows)
        if not _has_changes(logs, vault.settings.subagents, report):
            return [], 0
        started = written_at(transcript.path)
        home = note_home(vault, logs.project, options.now.tzinfo)
        notes = plan_notes(logs.strands, vault.settings, options, project=logs.project, started=started, home=home)
        report.redacted += Counter({transcript.path: sum(map(_newly_redacted, notes))})
    except SessionDeferredError as deferred:
        of.deferred.append((deferred.time, transcript))
    except SessionSkippedError as skipped:
        report.left_out[skipped.reason] += 1
    except (*SESSION_ERRORS, OSError) as error:
        report.unreadable.append(UnreadableRow(transcript.path, 0, reason_at(error, transcript.path)))
    else:
        return notes, logs.events
    return [], 0


def _last_written(dialect: Dialect, transcript: Transcript) -> datetime:
    """Return the time of a transcript's last event, else the file's modification time."""
    last = dialect.reach(transcript).last
    return last or datetime.fromtimestamp(transcript.path.stat().st_mtime, UTC)


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
