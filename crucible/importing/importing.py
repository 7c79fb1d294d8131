"""Transcripts into a vault: new notes, old notes brought up to date, and a report of both.

Owns the run: which transcripts, one at a time and under a lock, and what is done about one that cannot be read.  What
one transcript comes to is `folding`'s, which note it belongs to `sources`'.

A run can be killed at any time and repeated: a parent's note is written before its subagents', every id is found again
by the note's `sources`, and whole events that were kept already are not kept twice.
"""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path

from crucible.errors import (
    EditRefused,
    LockTimeout,
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    TranscriptError,
)
from crucible.importing.folding import Folding, LeftOutError
from crucible.importing.report import Importing, ImportOptions, ImportReport, UnreadableRow
from crucible.importing.sources import SourceTable, source_name
from crucible.importing.strands import Strand
from crucible.note.source import Edit, apply_edits
from crucible.session.markup import render_session
from crucible.session.merging import merge
from crucible.session.model import Session, Status
from crucible.transcript.dialects import Dialect
from crucible.transcript.files import Transcript
from crucible.vault import files
from crucible.vault.store import Note, Vault

__all__ = ["ImportOptions", "ImportReport", "Progress", "UnreadableRow", "import_transcripts"]

Progress = Callable[[int, int, str], None]
"""Told how many transcripts are done, of how many, and which one is next ("" at the end)."""

_LOCKS = 16
_LOCK_SECONDS = 600.0
"""An import of the same session by another process may take as long as a large transcript takes."""
_OF_ONE = (EditRefused, LockTimeout, NoteChanged, NoteExists, NoteUnreadable, OutsideVault, TranscriptError)
"""What concerns one session only: it is told and the others go on.  A full disk, say, ends the run."""


def import_transcripts(
    vault: Vault,
    dialect: Dialect,
    paths: Iterable[Path],
    *,
    options: ImportOptions,
    progress: Progress = lambda _done, _total, _name: None,
) -> ImportReport:
    """Import every session found at `paths`: files, sessions' folders, a client's whole folder.

    Nothing that is wrong with a transcript or a note raises; it is a row of `unreadable`.
    """
    outcome = Importing()
    transcripts = list(_find(dialect, paths, outcome))
    run = _Run(vault, dialect, options, outcome)
    for done, transcript in enumerate(transcripts):
        progress(done, len(transcripts), transcript.path.name)
        run.take(transcript)
    progress(len(transcripts), len(transcripts), "")
    return outcome.report()


def _find(dialect: Dialect, paths: Iterable[Path], outcome: Importing) -> Iterator[Transcript]:
    """Each transcript once, though the paths overlap."""
    seen: set[str] = set()
    for path in paths:
        try:
            for transcript in dialect.find(path):
                real = os.path.realpath(transcript.path)
                if real not in seen:
                    seen.add(real)
                    yield transcript
        except (TranscriptError, OSError) as error:
            outcome.unreadable.append(UnreadableRow(path, 0, _reason(error, path)))
        if path.is_dir() and path.suffix == ".jsonl":
            outcome.unreadable.append(UnreadableRow(path, 0, "a folder, where a transcript was expected"))


class _Run:
    """One import into one vault."""

    def __init__(self, vault: Vault, dialect: Dialect, options: ImportOptions, outcome: Importing) -> None:
        self.vault = vault
        self.dialect = dialect
        self.options = options
        self.outcome = outcome
        self.table = SourceTable(vault)

    def take(self, transcript: Transcript) -> None:
        """Import one session, or tell why not."""
        try:
            if self.options.since and _last_written(transcript.path) < self.options.since:
                self.outcome.left_out["since"] += 1
                return
            with ExitStack() as stack:
                self._lock(transcript, stack)
                self._import(transcript, stack)
        except LeftOutError as left_out:
            self.outcome.left_out[left_out.reason] += 1
        except (*_OF_ONE, OSError) as error:
            self.outcome.unreadable.append(UnreadableRow(transcript.path, 0, _reason(error, transcript.path)))

    def _lock(self, transcript: Transcript, stack: ExitStack) -> None:
        """Two imports of one session take turns, and the second one sees the first one's note."""
        source = source_name(transcript.client, transcript.native_id)
        if not self.options.dry_run:
            place = zlib.crc32(source.encode()) % _LOCKS
            path = self.vault.root / ".crucible" / "import" / str(place)
            stack.enter_context(files.locked(self.vault.root, path, _LOCK_SECONDS))
        if not self.table.find(source):
            self.table.refresh()

    def _import(self, transcript: Transcript, stack: ExitStack) -> None:
        folding = Folding(
            self.vault,
            self.dialect,
            transcript,
            options=self.options,
            table=self.table,
            outcome=self.outcome,
            stack=stack,
        )
        folding.fold()
        if not folding.trunk.recorder.has_work:
            if folding.trunk.saw_rows:
                self.outcome.empty.append(transcript.path)
            return
        if self._is_settled(folding):
            self.outcome.unchanged += [strand.id for strand in folding.strands if not folding.is_inline(strand)]
            return
        for strand, (base, now) in folding.sessions().items():
            if not folding.is_inline(strand):
                self._write(strand, base, now)

    def _is_settled(self, folding: Folding) -> bool:
        """Whether no log has news and no note waits for time to pass."""
        return not any(
            strand.has_news or strand.note is None or strand.note.session.status is Status.ACTIVE
            for strand in folding.strands
        )

    def _write(self, strand: Strand, base: Session, now: Session) -> None:
        try:
            if strand.note is None:
                self._create(strand, now)
            else:
                self._update(strand.note, base, now)
        except _OF_ONE as error:
            path = strand.note.path if strand.note else self.vault.sessions / f"{strand.id}.md"
            self.outcome.unreadable.append(UnreadableRow(path, 0, _reason(error, path)))

    def _create(self, strand: Strand, session: Session) -> None:
        if not self.options.dry_run:
            note = self.vault.create(session.id, render_session(session), self.options.folder)
            for source in session.sources:
                self.table.add(source, note.path)
        self.outcome.created.append(session.id)

    def _update(self, note: Note, base: Session, now: Session) -> None:
        def wanted(fresh: Note) -> list[Edit]:
            return merge(fresh.source, fresh.session, base, now)

        if self.options.dry_run:
            changed = apply_edits(note.source, wanted(note)) != note.source
        else:
            changed = self.vault.update(note.path, wanted).source != note.source
        (self.outcome.updated if changed else self.outcome.unchanged).append(note.name)


_STAMP = re.compile(rb'"timestamp"\s*:\s*"([^"]{10,40})"')
_TAIL = 1 << 16


def _last_written(path: Path) -> datetime:
    """The last time that the end of a transcript tells; a copied file's own time is that of the copy."""
    written = datetime.fromtimestamp(path.stat().st_mtime, UTC)
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _TAIL))
        told = (_time(stamp) for stamp in _STAMP.findall(file.read()))
        return max((time for time in told if time), default=written)


def _time(stamp: bytes) -> datetime | None:
    try:
        time = datetime.fromisoformat(stamp.decode("ascii"))
    except ValueError:
        return None
    return time if time.tzinfo else time.replace(tzinfo=UTC)


def _reason(error: Exception, path: Path) -> str:
    if isinstance(error, OSError):
        return (error.strerror or str(error)).lower()
    return str(error).removeprefix(f"{path}: ")
