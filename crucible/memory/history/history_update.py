"""Compose a session's history from its note, without a model, and store it.  Earlier captures stay listed."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

from crucible.analysis.tools.recorded_calls import RecordedCalls, load_recorded_calls
from crucible.core import files
from crucible.core.errors import BadSessionId, CrucibleError, SessionNotFound
from crucible.core.named_tuples import NamedTuple
from crucible.core.secrets import Redact
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Session
from crucible.memory.bookmarks.bookmark import Bookmark, load_bookmarks
from crucible.memory.history.composition import compose_entry
from crucible.memory.history.history import (
    NO_CAPTURES,
    Captures,
    HistoryEntry,
    shortened_captures,
    shortened_entry,
    shortener,
)
from crucible.memory.history.history_folder import entry_path, keep_entry
from crucible.memory.history.history_notes import read_entry, read_marks
from crucible.memory.history.history_revision import own_entry
from crucible.memory.history.memory_log import MemoryKind, load_memories, remember
from crucible.memory.history.work_time import worked
from crucible.vault.index.later_sessions import NOTHING, LaterSessions
from crucible.vault.notes.vault import Note, Vault

_MOST_PARENTS = 20
_ATTEMPTS = 5


class MadeHistory(NamedTuple):
    """A session's history: its note, its content, and whether the note is new.

    `is_left` is True if the note was not changed because a user took it over.
    """

    path: Path
    entry: HistoryEntry
    is_new: bool
    is_left: bool = False


def compose_from_note(
    vault: Vault,
    note: Note,
    *,
    redact: Redact,
    roots: Sequence[str] = (),
    captures: Captures = NO_CAPTURES,
    evidence: RecordedCalls | None = None,
    following: LaterSessions = NOTHING,
) -> HistoryEntry:
    """Compose the history of the session in `note`, without secrets and absolute paths.

    `roots` are folders of the session's project; `following` is the work of the project's later sessions.
    """
    session = note.session
    marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
    entry = compose_entry(
        session,
        load_recorded_calls(vault.root, session.id) if evidence is None else evidence,
        captures=captures,
        blockers=_blockers(marks, session),
        roots=roots,
        children=[*_children(vault, note)],
        time_worked=worked(session, marks, timedelta(minutes=vault.settings.idle_minutes)),
        following=following,
    )
    return shortened_entry(entry, lambda text: redact(text)[0])


def make_history(
    vault: Vault,
    note: Note,
    *,
    redact: Redact,
    captures: Captures = NO_CAPTURES,
    roots: Sequence[str] = (),
) -> MadeHistory:
    """Write or update the history of the session in `note`.

    A history that a user took over is not changed.  `captures` are added to those in the history; `roots` are folders
    of the session's project.  In a history from an older version, text written by a model is replaced like our own.
    Raises what `keep_entry` raises, and `NoteUnreadable`.
    """
    session, path = note.session, entry_path(vault, note.session.id)
    evidence, before = load_recorded_calls(vault.root, session.id), _source_of(vault, path)
    marks = read_marks(before.lines) if before else {}
    old = own_entry(before, session.id) if before else None
    is_theirs = bool(before and marks is None and read_entry(before).entry)
    # Use only the session's own folders, so that captures have the same text wherever the command runs.
    shorten = shortener(evidence.roots)
    listed = old.captures if old else NO_CAPTURES
    joined = shortened_captures(listed, shorten).joined(shortened_captures(captures, shorten))
    entry = compose_from_note(vault, note, redact=redact, roots=roots, captures=joined, evidence=evidence)
    is_new = not path.is_file()
    keep_entry(vault, entry, vault.relative(note.path))
    return MadeHistory(path, entry, is_new, is_theirs)


def refresh_history(
    vault: Vault, path: Path, *, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> Path | None:
    """Update the history that covers the session at `path` after an answer, and return its note; None if there is none.

    A subagent's session is covered by its parent's history.  Todos in memory that the answer settled are marked done.
    Raises what `make_history` and `remember` raise.
    """
    found = None
    for _ in range(_ATTEMPTS):
        seen = vault.read(path)
        note = _covering_note(vault, seen)
        known = load_memories(vault.root, MemoryKind.TODO, session=note.session.id).found
        if any(one.session == note.session.id and not one.done for one in known):
            remember(vault, note.session, now=now, redact=redact, roots=roots)
        if _has_history(vault, note):
            found = make_history(vault, note, redact=redact, roots=roots).path
        if files.holds(path, seen.data):  # otherwise, another answer was written in the meantime
            break
    return found


def _covering_note(vault: Vault, note: Note) -> Note:
    """Return the nearest note, from this one up through its parents, that has a history, else the topmost one found."""
    for _ in range(_MOST_PARENTS):
        parent = note.session.parent
        if not parent or _has_history(vault, note):
            break
        with suppress(SessionNotFound):
            note = vault.load(parent)
            continue
        break
    return note


def _has_history(vault: Vault, note: Note) -> bool:
    try:
        return entry_path(vault, note.session.id).is_file()
    except BadSessionId:  # a user changed the id to one that is not a valid file name
        return False


# --- sources ---------------------------------------------------------------------------------------------------------


def _children(vault: Vault, note: Note) -> Iterator[Session]:
    """Yield the sessions of its subagents that can be read."""
    for ref in note.session.subagents:
        with suppress(CrucibleError):
            beside = note.path.with_name(f"{ref.session}.md")
            yield vault.read(beside if beside.is_file() else vault.find(ref.session)).session


def _blockers(marks: Sequence[Bookmark], session: Session) -> Sequence[str]:
    """Return the blockers of the last bookmark that has any; none if that bookmark belongs to an earlier phase."""
    last = session.phases[-1].id if session.phases else ""
    blocked = [one for one in marks if one.blockers]
    return blocked[-1].blockers if blocked and blocked[-1].phase.partition(".")[0] == last else ()


def _source_of(vault: Vault, path: Path) -> Source | None:
    """Return the note's source; None if it cannot be read, which the write will report."""
    with suppress(CrucibleError):
        return vault.read(path).source if path.is_file() else None
    return None
