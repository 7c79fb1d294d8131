"""The vault: find, read, create and save notes.

A session is identified by its file: `sessions/**/<id>.md`.  If the property `session_id` differs, that is a problem in
the note, not a second name for the session.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from crucible.core import files
from crucible.core.errors import (
    AmbiguousSession,
    CrucibleError,
    NoteChanged,
    NoteExists,
    NoteUnreadable,
    OutsideVault,
    SessionNotFound,
    UsageError,
    VaultError,
    no_match,
)
from crucible.core.files import Stamp, locked
from crucible.core.locks import Lock
from crucible.core.settings.settings import VaultSettings, load_vault_settings
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.session.session_id import check_new_id, check_session_id
from crucible.vault.notes.walk import OnError, find_notes, is_markdown, note_name

if TYPE_CHECKING:
    from crucible.documents.session.session import Session
    from crucible.documents.session.shortened import Middle


_BOM = b"\xef\xbb\xbf"
_SETTLE_SECONDS = 0.05
"""Seconds to wait for an editor that is in the middle of saving."""


@dataclass(frozen=True)
class Note:
    """A note as it was read.  `path` is absolute and inside the vault."""

    path: Path
    source: Source
    stamp: Stamp

    @cached_property
    def session(self) -> Session:
        """The parsed session; parsed on first use.  Raises `NoteUnreadable` if parsing fails."""
        # Imported here, which halves the startup time of commands that only find and move notes.
        from crucible.documents.session.session_reader import read_session  # noqa: PLC0415

        try:
            return read_session(self.source, self.name)
        except MemoryError:
            raise
        except Exception as error:  # a bug with one note must not break an entire list
            what = f"{type(error).__name__}: {error}".partition("\n")[0]
            message = f"{self.path}: cannot be parsed ({what})"
            raise NoteUnreadable(message, "this is a bug in cru") from error

    @cached_property
    def data(self) -> bytes:
        """The file's bytes."""
        return self.source.to_bytes()

    @property
    def name(self) -> str:
        """The file's name without `.md`, which is also the session's id."""
        return note_name(self.path.name)


class Vault:
    """A folder that contains `.crucible/`.  `root` is its real path, without symlinks."""

    def __init__(self, root: Path, settings: VaultSettings | None = None) -> None:
        self.root = Path(os.path.realpath(root))
        if not self.root.is_dir():
            raise VaultError(f"{root}: not a folder", 'run "cru init" to create a vault')
        self.settings = load_vault_settings(self.root) if settings is None else settings
        self._folders: set[Path] | None = None
        self._written: dict[Path, Stamp] = {}
        """The stamps of our own last writes.  These files are complete, however recently they were written."""
        self._last: tuple[Path, bytes, Source] | None = None
        """The most recent write: path, bytes and source."""
        self.touched: set[Path] = set()
        """Notes created, changed or moved through this object."""
        self.left_to_queries: set[Path] = set()
        """Those of them that are long and changed little: the next query reads them for the index."""
        self.middles: dict[Path, Middle] = {}
        """The closed phases of long notes, for `short_notes`."""

    @property
    def sessions(self) -> Path:
        """The folder for session notes, which may not exist."""
        return self.root / self.settings.sessions

    @property
    def to_index(self) -> set[Path]:
        """The notes whose index rows are to be updated."""
        return self.touched - self.left_to_queries

    def session_paths(self, on_error: OnError | None = None) -> list[Path]:
        """List all notes in the sessions folder, sorted.

        `on_error` receives errors for folders that cannot be read.
        """
        return self._notes(self.sessions, on_error)

    def note_paths(self, on_error: OnError | None = None) -> list[Path]:
        """List all `.md` files in the vault, sorted, except those in dot-folders."""
        return self._notes(self.root, on_error)

    def session_ids(self) -> set[str]:
        """Return the ids of all sessions, for `names.new_session_id`."""
        return {note_name(path.name) for path in self.session_paths()}

    def relative(self, path: Path) -> str:
        """Return the path relative to the vault, with `/`."""
        return path.relative_to(self.root).as_posix()

    def find(self, ref: str, cwd: Path | None = None) -> Path:
        """Find a note by session id, path (absolute, from `cwd` or from the vault), or unique id prefix.

        Raises `BadSessionId` for an invalid id, `SessionNotFound`, or `AmbiguousSession` with the candidates.
        """
        by_path = self._find_path(ref, cwd)
        if by_path:
            return by_path
        paths = self.session_paths()
        exact = [path for path in paths if note_name(path.name) in (ref, note_name(ref))]
        if len(exact) == 1:
            return exact[0]
        if exact:
            raise AmbiguousSession(ref, [self.relative(path) for path in exact])
        return self._find_prefix(ref, paths)

    def path_of(self, session_id: str) -> Path | None:
        """Return the path of the session with exactly this id; the vault is walked only if it was moved."""
        name = f"{session_id}.md"
        if os.path.lexists(self.sessions / name):
            return self.sessions / name
        return next((path for f in sorted(self._known_folders()) if os.path.lexists(path := f / name)), None)

    def load(self, ref: str, cwd: Path | None = None) -> Note:
        """Find a note and read it."""
        return self.read(self.find(ref, cwd))

    def read(self, path: Path) -> Note:
        """Read the note at a path.  `OutsideVault` if it is a symlink that points outside the vault."""
        data, stamp = files.read_bytes(files.inside(self.root, path))
        return Note(path, Source.from_bytes(data), stamp)

    def create(self, session_id: str, text: str | bytes, folder: str = "") -> Note:
        """Create a note in `folder` of the sessions folder.  `NoteExists` if any folder has a note with that id."""
        check_session_id(session_id)
        where = self._sessions_folder(folder)
        data = text if isinstance(text, bytes) else Source(text).to_bytes()
        _check_size(session_id, data)
        for other in self._known_folders():
            if os.path.lexists(other / f"{session_id}.md"):
                raise NoteExists(f"{self.relative(other)}/{session_id}.md: already exists", "choose another id")
        real = files.make_folders(self.root, where)
        files.create_exclusive(real / f"{session_id}.md", data, fsync=self.settings.fsync)
        self._known_folders().add(where)
        stamp = files.stamp_of(real / f"{session_id}.md", data)
        self._written[real / f"{session_id}.md"] = stamp
        self.touched.add(where / f"{session_id}.md")
        return Note(where / f"{session_id}.md", Source.from_bytes(data), stamp)

    def save(self, note: Note, edits: Iterable[Edit]) -> Note:
        """Apply the edits and write the note.  `NoteChanged` if the file changed since `note` was read.

        If the edits change nothing, nothing is written.
        """
        changed = apply_edits(note.source, edits)
        if changed == note.source:
            return note
        with self.locked(note.path):
            self._check_settled(note)
            return self._replace(note, changed, changed.to_bytes())

    def update(self, ref: str | Path, intention: Callable[[Note], Iterable[Edit]], attempts: int = 5) -> Note:
        """Read the note, get edits from `intention`, and save.  Starts over if an editor changed the note in between.

        The lock is held throughout, so other processes wait.  `intention` may be called several times, and must not
        write to the vault itself.
        """
        path = self.find(ref) if isinstance(ref, str) else ref
        with self.locked(path) as lock:
            for left in reversed(range(attempts)):
                try:
                    note = self._update_once(path, intention, patient=left > 0, last_identity=lock.word())
                except NoteChanged:
                    if not left:
                        raise
                    time.sleep(_SETTLE_SECONDS)
                else:
                    # Other processes then need not wait to see whether an editor is still writing.
                    lock.leave(note.stamp.identity)
                    return note
        raise UsageError("attempts must be 1 or more")

    def rename(self, note: Note, new_id: str) -> Path:
        """Move the file to a new id in the same folder.  The caller edits the note's text and the links to it."""
        check_new_id(new_id)
        if new_id in self.session_ids():
            raise NoteExists(f"{new_id}: already exists", "choose another id")
        files.inside(self.root, note.path)
        new = note.path.with_name(f"{new_id}.md")
        with self.locked(note.path), self.locked(new):
            self._check_settled(note)
            files.move_exclusive(note.path, new, fsync=self.settings.fsync)
            self.touched |= {note.path, new}
        return new

    def locked(self, path: Path) -> AbstractContextManager[Lock]:
        """Hold a note's lock.  `save` and `update` do this themselves."""
        return locked(self.root, path, self.settings.lock_seconds)

    def locked_for_import(self, seconds: float) -> AbstractContextManager[Lock]:
        """Hold the lock of imports, which create notes and event logs."""
        return locked(self.root, self.root / ".crucible" / "import", seconds)

    def _notes(self, start: Path, on_error: OnError | None) -> list[Path]:
        found = [folder / name for folder, names in find_notes(self.root, start, on_error) for name in names]
        return sorted(found, key=str)

    def _update_once(
        self, path: Path, intention: Callable[[Note], Iterable[Edit]], *, patient: bool, last_identity: str
    ) -> Note:
        note = self._read_settled(path, last_identity)
        if patient and not note.stamp.size:
            # Editors truncate a file before they fill it.  Writing now would overwrite what they write next.
            raise NoteChanged(f"{path}: empty")
        edits = list(intention(note))
        changed = apply_edits(note.source, edits)
        return note if changed == note.source else self._replace(note, changed, _spliced(note, edits))

    def _read_settled(self, path: Path, last_write: str = "") -> Note:
        """Read the note once no other program is writing it.  `last_write` is the identity of the last write by `cru`.

        If the bytes are those that we wrote last, they are not decoded again: decoding takes longer than writing.
        """
        real = files.inside(self.root, path)
        last_path, last_data, source = self._last or (None, None, None)
        ours = [self._written[real].identity] if real in self._written else []
        data, stamp = files.read_settled(real, [*ours, last_write])
        if source is None or last_path != real or last_data != data:
            source = Source.from_bytes(data)
        note = Note(path, source, stamp)
        note.__dict__["data"] = data  # already known, so it need not be encoded again
        return note

    def _replace(self, note: Note, changed: Source, data: bytes) -> Note:
        real = files.inside(self.root, note.path)
        _check_size(note.name, data)
        files.remove_leftovers(real)
        self.touched.add(note.path)
        # Check again just before the rename, so that only an editor's save in that instant can be missed, not one
        # during a disk flush.
        files.write_atomic(
            real,
            data,
            fsync=self.settings.fsync,
            before_replace=lambda: self._check_unchanged(note),
            expected=note.data,
        )
        self._written[real] = files.stamp_of(real, data)
        self._last = (real, data, changed)
        return Note(note.path, changed, self._written[real])

    def _check_settled(self, note: Note) -> None:
        """Raise `NoteChanged` unless the file still has the note's bytes once it has settled."""
        try:
            data = self._read_settled(note.path).data
        except NoteUnreadable as error:
            raise NoteChanged(f"{note.path}: deleted since it was read", "read it again") from error
        if data != note.data:
            raise NoteChanged(f"{note.path}: changed on disk since it was read", "read it again, then repeat")

    def _check_unchanged(self, note: Note) -> None:
        """Raise `NoteChanged` unless the file has the note's bytes right now."""
        try:
            same = files.holds(files.inside(self.root, note.path), note.data)
        except NoteUnreadable as error:
            raise NoteChanged(f"{note.path}: deleted since it was read", "read it again") from error
        if not same:
            raise NoteChanged(f"{note.path}: changed on disk since it was read", "read it again, then repeat")

    def _find_path(self, ref: str, cwd: Path | None) -> Path | None:
        """Find a note by path.  Tries only paths that end in `.md`, which is added if missing."""
        if "\0" in ref or not ref or ("/" not in ref and os.sep not in ref and not is_markdown(ref)):
            return None
        name = ref if is_markdown(ref) else f"{ref}.md"
        bases = [base for base in (cwd, self.root, self.sessions) if base]
        for candidate in dict.fromkeys(base / name for base in bases):
            if os.path.lexists(candidate):
                return self._own(candidate)
        if is_markdown(ref) and "/" in ref:
            raise SessionNotFound(f"{ref}: no such note", f"paths are relative to this folder or to {self.root}")
        return None

    def _own(self, path: Path) -> Path:
        """Return the note's path from the root.  A symlinked note keeps its own name."""
        files.inside(self.root, path)
        return files.inside(self.root, path.parent) / path.name

    def _find_prefix(self, ref: str, paths: list[Path]) -> Path:
        name = check_session_id(note_name(ref))
        found = [path for path in paths if path.name.startswith(name)]
        if len(found) > 1:
            # A subagent's id starts with its parent's, so an ambiguous prefix means the session that is not a subagent.
            found = [path for path in found if not self._is_subagent(path)] or found
        if len(found) == 1:
            return found[0]
        if found:
            raise AmbiguousSession(name, sorted(note_name(path.name) for path in found))
        raise SessionNotFound(*no_match("session", name, "cru session list", (note_name(path.name) for path in paths)))

    def _is_subagent(self, path: Path) -> bool:
        try:
            return self.read(path).session.parent is not None
        except CrucibleError:
            return False

    def _sessions_folder(self, folder: str) -> Path:
        parts = [part for part in folder.split("/") if part]
        if folder.startswith("/") or "\\" in folder or any(part.startswith(".") for part in parts):
            raise OutsideVault(f"{folder!r}: not a folder for sessions", "name a folder inside the sessions folder")
        where = self.sessions.joinpath(*parts)
        files.inside(self.root, where)
        return where

    def _known_folders(self) -> set[Path]:
        """Return all folders with sessions.  Cached, so that creating many notes walks the vault only once."""
        if self._folders is None:
            self._folders = {self.sessions, *(f for f, _ in find_notes(self.root, self.sessions))}
        return self._folders


def _check_size(name: str, data: bytes) -> None:
    """Refuse to write a note that would be too large to read."""
    if len(data) > files.LARGEST_NOTE:
        mega = 1024 * 1024
        raise VaultError(
            f"{name}: it would be {len(data) / mega:.0f} MB; notes can have at most {files.LARGEST_NOTE // mega} MB",
            "nothing was written; shorten the text, or continue in a new session",
        )


def _spliced(note: Note, edits: Iterable[Edit]) -> bytes:
    """Apply non-overlapping edits to the note's bytes.  Unchanged parts are copied without encoding them."""
    text, data = note.source.text, note.data
    view = memoryview(data)
    parts: list[bytes | memoryview] = []
    char, at = 0, len(_BOM) if note.source.bom else 0
    parts.append(view[:at])
    for edit in sorted(edits, key=lambda e: (e.span.start, e.span.end)):
        start = _byte_of(text, data, edit.span.start, char, at)
        parts += [view[at:start], edit.text.encode("utf-8", "surrogateescape")]
        char, at = edit.span.end, _byte_of(text, data, edit.span.end, edit.span.start, start)
    return b"".join([*parts, view[at:]])


def _byte_of(text: str, data: bytes, char: int, known: int, at: int) -> int:
    """Return the byte offset of a code point, counting from a known position or the end, whichever is nearer."""
    if char - known <= len(text) - char:
        return at + len(text[known:char].encode("utf-8", "surrogateescape"))
    return len(data) - len(text[char:].encode("utf-8", "surrogateescape"))
