"""What a rename moves: which notes may have another id, and the whole events and bookmarks that have the session's.

Owns the refusals before anything is changed, and that what cannot follow is told.  The note's file itself is
moved by `vault.store`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from crucible.core.errors import BadSessionId, CrucibleError, UsageError
from crucible.documents.markdown.source import Problem
from crucible.memory.bookmarks.bookmark import BOOKMARKS, follow_rename
from crucible.memory.bookmarks.resume_tickets import keep_rename
from crucible.memory.history.memory_log import move_memories
from crucible.memory.tasks.annotations import move_annotations
from crucible.memory.tasks.task_knowledge import shelf_of
from crucible.vault.events.event_retention import move_flight
from crucible.vault.notes.vault import Note, Vault


@dataclass(frozen=True, slots=True)
class Left:
    """What a rename did not change, where, and why."""

    path: Path
    problem: Problem


def check_is_session(vault: Vault, note: Note) -> None:
    """Raises UsageError for what is no session's own file."""
    if note.path.is_symlink():
        target = Path(os.path.realpath(note.path))
        raise UsageError(f"{note.path}: a link to {target}", "rename that note, or the link in your file manager")
    for sessions, path in (
        (vault.sessions, note.path),
        (Path(os.path.realpath(vault.sessions)), Path(os.path.realpath(note.path))),
    ):
        if path.is_relative_to(sessions) and not _is_hidden(path.relative_to(sessions)):
            return
    raise UsageError(f"{note.path}: no session", f"sessions are the notes in {vault.sessions}")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def move_events(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """The whole events go along: folder and archive have the session's id.  What keeps them where they are is returned."""
    folder = vault.root / ".crucible" / "flight" / old_id
    try:
        reason = move_flight(vault.root, old_id, new_id, lock_seconds=vault.settings.lock_seconds)
    except BadSessionId:
        return None  # a name that is no id, as a human may give a file, never had any events
    except CrucibleError as error:
        reason = str(error)
    return Left(folder, Problem("events-not-moved", 1, reason)) if reason else None


def copy_bookmarks(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """The bookmarks are kept under the new id, too, tickets find it, and what is remembered of it goes along; what keeps them from it is returned."""
    try:
        follow_rename(vault.root, old_id, new_id, fsync=vault.settings.fsync)
        keep_rename(vault.root, old_id, new_id, fsync=vault.settings.fsync)
        move_memories(vault.root, old_id, new_id, fsync=vault.settings.fsync)
    except CrucibleError as error:
        path = vault.root / ".crucible" / "memory" / BOOKMARKS
        return Left(path, Problem("bookmarks-not-renamed", 1, str(error)))
    return None


def move_tasks(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """What is noted of the session's tasks goes along; what keeps it where it is, is returned."""
    shelf = shelf_of(vault)
    try:
        move_annotations(shelf, old_id, new_id, fsync=vault.settings.fsync)
    except BadSessionId:
        return None  # as above
    except CrucibleError as error:
        return Left(vault.root / shelf.folder, Problem("annotations-not-moved", 1, str(error)))
    return None
