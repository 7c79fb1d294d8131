"""The notes in `history/`: write, list, search, move and prune them.

An existing note is updated, never overwritten.  A note is pruned only if git or the trash can restore it.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from pathlib import Path

from crucible.analysis.tools.recorded_calls import load_recorded_calls
from crucible.core import files
from crucible.core.errors import CrucibleError, EditRefused, NoteExists, VaultError
from crucible.core.git import digest_of, run_git
from crucible.core.named_tuples import NamedTuple
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Edit, Problem, Source
from crucible.documents.session.session_id import check_session_id
from crucible.memory.history.history import (
    HEADINGS,
    Captures,
    HistoryEntry,
    lines_of,
    shortened_captures,
    shortener,
    tidy_entry,
)
from crucible.memory.history.history_notes import properties_of, read_entry, render_history
from crucible.memory.history.history_revision import revised, with_property
from crucible.vault.notes.note_folder import FolderNotes, create_note, replacement
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import OnError

HISTORY = "history"
"""The folder of history notes in the vault."""
SUFFIX = "-history"
"""The end of a history's name, so that no session has the same."""
_ENTRIES = FolderNotes(HISTORY, "history", "histories", "cru history list")

NEVER = datetime.min.replace(tzinfo=UTC)


class HistoryNote(NamedTuple):
    """A history note.  If it cannot be parsed, `entry` is None and `problems` say why."""

    note: Note
    entry: HistoryEntry | None
    problems: tuple[Problem, ...]

    @property
    def at(self) -> datetime:
        """When the session began or, if unknown, ended; `NEVER` if both are unknown."""
        return (self.entry and (self.entry.started or self.entry.ended)) or NEVER


class HistoryFilter(NamedTuple):
    """A filter; None or "" matches all.  `until` is exclusive; `agent` is a name with or without version."""

    since: datetime | None = None
    until: datetime | None = None
    agent: str = ""
    captures: bool | None = None
    project: str = ""
    limit: int | None = None


# --- writing ---------------------------------------------------------------------------------------------------------


def keep_entry(vault: Vault, entry: HistoryEntry, place: str = "") -> Path:
    """Write or update the history note of a session; `place` is the path of the session's note.

    Raises `EditRefused` if another note has this path, `BadSessionId` for an id that is not a valid file name, and
    `VaultError` if the note cannot be written.
    """
    path = entry_path(vault, entry.session_id)
    if not path.is_file():
        files.make_folders(vault.root, path.parent)
        with suppress(NoteExists):  # another process created it first
            create_note(vault, path, Source(render_history(entry, place)).to_bytes())
            return path
    try:
        vault.update(path, lambda note: replacement(note.source, revised(note.source, entry).text))
    except EditRefused as error:
        raise EditRefused(f"{path}: {error}", error.hint) from error
    return path


def add_captures(vault: Vault, session_id: str, captures: Captures) -> Path | None:
    """Update the captures in a session's history, unless a user edited them; None if there is no history.

    Answered captures in the note are kept.  Suggested ones are replaced, since a user may have reworded a proposal.
    """
    path = entry_path(vault, session_id)
    if not path.is_file():
        return None

    captures = shortened_captures(captures, shortener(load_recorded_calls(vault.root, session_id).roots))

    def intention(note: Note) -> list[Edit]:
        entry = read_entry(note.source, _session_of(note)).entry
        if entry is None:
            return []
        joined = entry.captures._replace(suggested=()).joined(captures)
        listed = properties_of(tidy_entry(replace(entry, captures=joined))).get("captures")
        return replacement(note.source, with_property(note.source, "captures", listed).text)

    vault.update(path, intention)
    return path


def move_entry(vault: Vault, old_id: str, new_id: str) -> Path:
    """Move the history of a renamed session, and return its path.  If already moved, only its id is updated.

    Raises `NoteExists` if another note has the new path, `OutsideVault`, `VaultError`, `LockTimeout`, and what
    `Vault.update` raises.
    """
    old, new = entry_path(vault, old_id), entry_path(vault, new_id)
    if old.is_file():
        new = new.with_name(dict(history_names(old_id, new_id))[vault.relative(old)].rpartition("/")[2])
    for path in (old, new):
        files.inside(vault.root, path)
    with vault.locked(old), vault.locked(new):
        if os.path.lexists(old):
            files.move_exclusive(old, new, fsync=vault.settings.fsync)
        vault.touched |= {old, new}

    def intention(note: Note) -> list[Edit]:
        is_old = find_frontmatter(note.source).values.get("session_id") == old_id
        return replacement(note.source, with_property(note.source, "session_id", new_id).text) if is_old else []

    vault.update(new, intention)
    return new


def entry_path(vault: Vault, session_id: str) -> Path:
    """Return the path of a session's history, `history/ID-history.md`, or `history/ID.md` from an older version.

    Raises `BadSessionId` for an id that is not a valid file name.
    """
    check_session_id(session_id)
    path, old = (vault.root / HISTORY / f"{session_id}{end}.md" for end in (SUFFIX, ""))
    return old if old.is_file() and not path.is_file() else path


def history_names(old_id: str, new_id: str) -> tuple[tuple[str, str], ...]:
    """Return what a history may be called before and after a rename, as paths in the vault: today's names first."""
    return tuple((f"{HISTORY}/{old_id}{end}.md", f"{HISTORY}/{new_id}{end}.md") for end in (SUFFIX, ""))


# --- reading ---------------------------------------------------------------------------------------------------------


def load_entry(vault: Vault, path: Path) -> HistoryNote:
    """Return the entry in a note."""
    note = vault.read(path)
    return HistoryNote(note, *read_entry(note.source, _session_of(note)))


def _session_of(note: Note) -> str:
    """Return the session's id by the name of its history; the property `session_id` takes precedence."""
    return note.name.removesuffix(SUFFIX)


def load_entries(vault: Vault, on_error: OnError | None = None) -> Iterator[HistoryNote]:
    """Read all notes in the folder; errors are passed to `on_error`."""
    return _ENTRIES.load(vault, load_entry, on_error)


def list_entries(notes: Iterable[HistoryNote], only: HistoryFilter) -> list[HistoryNote]:
    """Return the notes whose entry matches a filter, newest first."""
    found = [one for one in notes if one.entry and _matches(one, one.entry, only)]
    found.sort(key=lambda one: (one.at, one.note.name), reverse=True)
    return found if only.limit is None else found[: only.limit]


def _matches(one: HistoryNote, entry: HistoryEntry, only: HistoryFilter) -> bool:
    agent = entry.agent.casefold()
    return (
        (only.since is None or one.at >= only.since)
        and (only.until is None or one.at < only.until)
        and (not only.agent or only.agent.casefold() in (agent, agent.partition("@")[0]))
        and (only.captures is None or any(entry.captures) is only.captures)
        and (not only.project or entry.project.casefold() == only.project.casefold())
    )


def search_entries(notes: Iterable[HistoryNote], words: str) -> list[HistoryNote]:
    """Return the notes that contain all of these words, ignoring case, newest first."""
    terms = words.casefold().split()

    def matches(entry: HistoryEntry) -> bool:
        text = _searched_text(entry)
        return all(term in text for term in terms)

    return list_entries((one for one in notes if one.entry and matches(one.entry)), HistoryFilter())


def _searched_text(entry: HistoryEntry) -> str:
    items = (line for part in HEADINGS for line in lines_of(entry, part))
    lines = [" ".join((line.text, line.why, *line.points)) for line in items]
    captures = [one.summary for group in entry.captures for one in group]
    names = (entry.session_id, entry.title, entry.project, entry.agent)
    return "\n".join((*names, *entry.files_modified, *captures, *lines)).casefold()


# --- removing ---------------------------------------------------------------------------------------------------------

_MOST_DAYS = 10_000_000
"""Maximum number of days; more would be out of range for `datetime`."""


def too_many(notes: Iterable[HistoryNote], now: datetime, most: int, days: int) -> list[HistoryNote]:
    """Return the notes beyond the newest `most`, or older than `days`, oldest first; 0 means no limit.

    Notes that cannot be read, and notes of unknown age, are kept.
    """
    found = list_entries(notes, HistoryFilter())
    age = timedelta(days=min(days, _MOST_DAYS))
    many = found[most:] if most else []
    old = [one for one in found if days and one.at != NEVER and now - one.at > age]
    beyond = {one.note.path for one in (*many, *old)}
    return [one for one in reversed(found) if one.note.path in beyond]


def prune(vault: Vault, notes: Sequence[HistoryNote], removed: Callable[[Path, str], None], on_error: OnError) -> None:
    """Remove notes, and call `removed` with each path and its new location.  Notes changed in the meantime are kept."""
    for one in notes:
        path = one.note.path
        try:
            with vault.locked(path):
                if files.holds(files.inside(vault.root, path), one.note.data):
                    removed(path, _discard(vault.root, path))
        except CrucibleError as error:
            on_error(error)


def _discard(root: Path, path: Path) -> str:
    """Remove a note, and return its new location.  If it could not be restored, keep it and raise `VaultError`."""
    if not _is_committed(root, path):
        _to_trash(path)
        return "in the trash"
    try:
        path.unlink()
    except OSError as error:
        raise VaultError(f"{path}: cannot be removed: {error.strerror or error}") from error
    return "still in git"


def _is_committed(root: Path, path: Path) -> bool:
    """Return whether the last commit of the vault's repository has this file with the same content."""
    name = os.path.relpath(path, root).replace(os.sep, "/")
    kept = run_git(root, "rev-parse", "-q", "--verify", f"HEAD:./{name}")
    return bool(kept) and kept == f"{digest_of(path)}\n"


def _to_trash(path: Path) -> None:
    # Importing this takes 12 ms and reads the environment.
    from send2trash import send2trash  # noqa: PLC0415

    try:
        send2trash(path)
    except Exception as error:  # each platform raises its own errors
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:200]
        raise VaultError(
            f"{path}: not removed: it is not in git, and moving it to the trash failed: {reason or type(error).__name__}",
            "commit it first; committed notes can be removed",
        ) from error
    if os.path.lexists(path):
        raise VaultError(f"{path}: not removed: moving it to the trash failed", "commit it first")
