"""Keep the state of a log's fold near its end, so that a log that has grown is read from there.

The files in `.crucible/cache/folds` are caches: a lost or outdated one costs time.  They hold no text that redaction
would change, and may come from a stranger's vault, so only plain values of known classes are loaded.
"""

from __future__ import annotations

import hashlib
import io
import os
import pickle
import sys
from collections.abc import Iterator
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any, NamedTuple

from crucible.clients.log_files import LogPlace
from crucible.commands.imports.import_report import ImportOptions
from crucible.core.errors import CrucibleError, NoteChanged
from crucible.core.file_stamps import digest_of
from crucible.core.files import make_folders, write_atomic
from crucible.core.pickled_values import BROKEN, ValueTypes
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit
from crucible.documents.recording.kept_recording import ClosedPhase
from crucible.documents.session.merge import merge
from crucible.documents.session.session import Mode, Session
from crucible.documents.session.shared_notes import has_other_sources
from crucible.documents.session.shortened import Middle, find_middle
from crucible.vault.events.event_files import fold_path
from crucible.vault.notes.short_notes import ShortNote, short_note
from crucible.vault.notes.vault import Note, Vault

_CODE = (
    "analysis/findings",
    "clients",
    "clients/claude_code",
    "commands/imports",
    "core",
    "documents/markdown",
    "documents/recording",
    "documents/session",
)
"""The packages on which a fold depends: it is good only for the version that made it."""
WORTH_IT = 1 << 19
"""Minimum size of a log whose fold is kept."""
BEFORE_END = 1 << 18
"""Bytes at the end of a log that are read again: its last rows may be incomplete, or not be in the note yet."""
_MOST = 200
"""Maximum folds kept: the oldest are deleted."""
_BLOCK, _SAMPLES = 4096, 16
_BROKEN = (*BROKEN, CrucibleError)


def keeps_folds(settings: VaultSettings, options: ImportOptions) -> bool:
    """True if an import with these options may go on from kept folds."""
    return not (options.dry_run or options.refresh or options.redact) and settings.subagents != Mode.INLINE


class StaleFoldError(Exception):
    """New rows change what was left out of a kept fold: the log must be read whole."""


class Snapshot(NamedTuple):
    """The pickled state of reading a log, with the place up to which it was read, and the heads of closed phases."""

    offset: int
    lines: int
    closed: list[ClosedPhase]
    data: bytes


def short_edits(fresh: Note, note: ShortNote, base: Session, now: Session) -> list[Edit]:
    """Return the edits that update a note, like `merge`, of which only the open phases are read."""
    short = short_note(fresh, note.middle)
    if short is None:
        raise NoteChanged(f"{fresh.path}: changed on disk since it was read", "import again")
    return short.short.edits(merge(short.source, short.session, base, now))


class KeptFold(NamedTuple):
    """A fold as it was kept: the place to read on from, what the session's logs held, and what the note may leave out."""

    place: LogPlace
    values: dict[str, Any]
    middle: Middle | None


class KeptFolds:
    """The kept folds of one vault."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def load(self, source: str, log: Path) -> KeptFold | None:
        """Return the fold of a log that has only grown since; None if there is none."""
        with suppress(*_BROKEN):
            data = self._path(source).read_bytes()
            head, _, body = data.partition(b"\n")
            if head == self._head(log, int(head.split(b" ")[0]), body):
                stream = io.BytesIO(body)
                middle = _VALUES.load(stream)
                place, values = _VALUES.load(stream)
                return KeptFold(place, values, middle)
        return None

    def save(self, source: str, log: Path, snapshot: Snapshot, path: Path, before: Note | None) -> None:
        """Keep a snapshot of a session whose note, at `path`, has been written.  A failure is ignored.

        `before` is the note as the import read it.
        """
        with suppress(*_BROKEN):
            middle = _middle_of(self._vault.read(path), before, source, snapshot.closed)
            if middle is None and snapshot.closed:
                self.drop(source)
                return
            body = pickle.dumps(middle, pickle.HIGHEST_PROTOCOL) + snapshot.data
            fold = self._path(source)
            make_folders(self._vault.root, fold.parent)
            data = self._head(log, snapshot.offset, body) + b"\n" + body
            write_atomic(fold, data, fsync=False)
            _drop_oldest(fold.parent)

    def drop(self, source: str) -> None:
        """Delete the fold of a log."""
        with suppress(*_BROKEN):
            self._path(source).unlink(missing_ok=True)

    def _path(self, source: str) -> Path:
        return fold_path(self._vault.root, source)

    def _head(self, log: Path, offset: int, body: bytes) -> bytes:
        """Return what identifies the program, the log as far as it was read, and the fold."""
        digest = hashlib.blake2b(body, digest_size=16)
        made = digest_of(_code(), sys.version_info[:3], self._vault.settings)
        digest.update(f"{made} {log}".encode("utf-8", "surrogateescape"))
        with log.open("rb") as file:
            status = os.fstat(file.fileno())
            if status.st_size < offset:
                raise ValueError
            digest.update(f" {status.st_dev} {status.st_ino}".encode())
            for start in _samples(offset):
                file.seek(start)
                digest.update(file.read(min(_BLOCK, offset - start)))
        return b"%d %s" % (offset, digest.hexdigest().encode())


def _drop_oldest(folder: Path) -> None:
    kept = [(path.stat().st_mtime_ns, path) for path in folder.glob("*.fold")]
    for _, path in sorted(kept)[:-_MOST]:
        path.unlink(missing_ok=True)


@cache
def _code() -> list[tuple[str, int, int]]:
    """Return the names, sizes and times of the modules in these packages."""
    folders = (Path(__file__).parents[2] / name for name in _CODE)
    found = (entry for folder in folders if folder.is_dir() for entry in os.scandir(folder))
    stamps = ((entry.path, entry.stat()) for entry in found if entry.name.endswith(".py"))
    return sorted((path, at.st_size, at.st_mtime_ns) for path, at in stamps)


def _samples(offset: int) -> Iterator[int]:
    """Yield where blocks of a log are compared: here and there, and before the end of what was read."""
    yield from range(0, offset, max(_BLOCK, offset // _SAMPLES))
    yield from range(max(0, offset - _SAMPLES * _BLOCK), offset, _BLOCK)


def _middle_of(note: Note, before: Note | None, source: str, closed: list[ClosedPhase]) -> Middle | None:
    """Return the part of a note that holds these phases; None if a user has changed their names or number."""
    short = short_note(note, before.middle) if isinstance(before, ShortNote) else None
    session = (short or note).session
    above = session.above.phases
    heads = [(phase.name, phase.started) for phase in closed[above:]]
    if heads != [(phase.name, phase.started) for phase in session.phases[: len(heads)]]:
        return None
    if has_other_sources(session, source) or any("/" in one for one in session.sources):
        return None
    agents = tuple(phase.agent for phase in closed if phase.agent)
    return find_middle(note.source, session, short.short if short else None, len(closed), agents)


# --- loading ---------------------------------------------------------------------------------------------------------

_VALUES = ValueTypes(
    {
        "crucible.clients.log_files": {"LogPlace"},
        "crucible.commands.imports.trunk_events": {"SubagentResults"},
    },
    (
        "crucible.clients.events",
        "crucible.clients.claude_code.state",
        "crucible.documents.",
        "crucible.analysis.findings.",
    ),
)
"""Values, and states of a fold."""
