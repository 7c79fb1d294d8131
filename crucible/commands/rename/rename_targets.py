"""What a rename changes in addition to the notes: event log, bookmarks, tasks, and the session's history note."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import BadSessionId, CrucibleError, UsageError
from crucible.documents.markdown.source import Edit, Problem
from crucible.memory.bookmarks.bookmark import BOOKMARKS, follow_rename
from crucible.memory.bookmarks.resume_tickets import keep_rename
from crucible.memory.history.history_folder import HISTORY, history_names, move_entry
from crucible.memory.history.history_notes import read_entry
from crucible.memory.history.memory_log import move_memories
from crucible.memory.tasks.annotations import move_annotations, shelf_of
from crucible.vault.events.event_retention import move_flight
from crucible.vault.notes.links import plan_rename
from crucible.vault.notes.vault import Note, Vault


@dataclass(frozen=True, slots=True)
class Left:
    """Something that a rename did not change, and the reason."""

    path: Path
    problem: Problem


def check_is_session(vault: Vault, note: Note) -> None:
    """Raise `UsageError` if the note is a symlink or not in the sessions folder."""
    if note.path.is_symlink():
        target = Path(os.path.realpath(note.path))
        raise UsageError(f"{note.path}: a link to {target}", "rename that note, or the link in your file manager")
    for sessions, path in (
        (vault.sessions, note.path),
        (Path(os.path.realpath(vault.sessions)), Path(os.path.realpath(note.path))),
    ):
        if path.is_relative_to(sessions) and not _is_hidden(path.relative_to(sessions)):
            return
    raise UsageError(f"{note.path}: not a session", f"sessions are the notes in {vault.sessions}")


def _is_hidden(path: Path) -> bool:
    return any(part.startswith(".") for part in path.parts)


def move_events(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """Rename the session's event log and archive. Returns the failure, if any."""
    folder = vault.root / ".crucible" / "flight" / old_id
    try:
        reason = move_flight(vault.root, old_id, new_id, lock_seconds=vault.settings.lock_seconds)
    except BadSessionId:
        return None  # a file name may not be a valid id; such a session has no events
    except CrucibleError as error:
        reason = str(error)
    return Left(folder, Problem("events-not-moved", 1, reason)) if reason else None


def copy_bookmarks(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """Copy bookmarks and memories to the new id, and update resume tickets. Returns the failure, if any."""
    try:
        follow_rename(vault.root, old_id, new_id, fsync=vault.settings.fsync)
        keep_rename(vault.root, old_id, new_id, fsync=vault.settings.fsync)
        move_memories(vault.root, old_id, new_id, fsync=vault.settings.fsync)
    except CrucibleError as error:
        path = vault.root / ".crucible" / "memory" / BOOKMARKS
        return Left(path, Problem("bookmarks-not-renamed", 1, str(error)))
    return None


def move_tasks(vault: Vault, old_id: str, new_id: str) -> Left | None:
    """Move the annotations of the session's tasks. Returns the failure, if any."""
    shelf = shelf_of(vault)
    try:
        move_annotations(shelf, old_id, new_id, fsync=vault.settings.fsync)
    except BadSessionId:
        return None  # not a valid id, as above
    except CrucibleError as error:
        return Left(vault.root / shelf.folder, Problem("annotations-not-moved", 1, str(error)))
    return None


class MovedHistory(NamedTuple):
    """The numbers of links changed, by note path relative to the vault's root, and what could not be changed."""

    links: Mapping[str, int]
    left: tuple[Left, ...] = ()


def move_history(vault: Vault, old_id: str, new_id: str, notes: Mapping[str, Note]) -> MovedHistory:
    """Move the history note of the session with `old_id`; `notes` has the vault's current notes by path.

    Does nothing if there is no history, or if another kind of note is at its path.
    """
    old, new = next((pair for pair in history_names(old_id, new_id) if pair[0] in notes), ("", ""))
    try:
        if old not in notes:
            return _finish(vault, old_id, new_id)
        if read_entry(notes[old].source).entry is None:
            return MovedHistory({})
        plan = plan_rename({at: note.source for at, note in notes.items()}, old, new)
        others = [at for at, edits in plan.edits.items() if edits]
        links = {at: _update_links(vault, notes[at], at, (old, new), plan.edits[at]) for at in others}
        move_entry(vault, old_id, new_id)
    except CrucibleError as error:
        path = vault.root / (old or HISTORY)
        return MovedHistory({}, (Left(path, Problem("history-not-moved", 1, str(error))),))
    return MovedHistory({new: 0} | {new if at == old else at: count for at, count in links.items()})


def _finish(vault: Vault, old_id: str, new_id: str) -> MovedHistory:
    """Update a history that still has the old id, after a move or if there was nothing to move."""
    new = next((new for _, new in history_names(old_id, new_id) if (vault.root / new).is_file()), "")
    if not new:
        return MovedHistory({})
    before = vault.read(vault.root / new)
    entry = read_entry(before.source).entry
    if entry is None or entry.session_id != old_id:
        return MovedHistory({})
    path = move_entry(vault, old_id, new_id)
    return MovedHistory({} if vault.read(path).data == before.data else {new: 0})


def _update_links(vault: Vault, note: Note, at: str, names: tuple[str, str], planned: list[Edit]) -> int:
    """Change the links in one note. If the note has changed since, plan it again."""
    edits = planned

    def plan_edits(now: Note) -> list[Edit]:
        nonlocal edits
        if now.source != note.source:
            others = [] if at == names[0] else [names[0]]
            edits = plan_rename({at: now.source}, *names, others).edits.get(at, [])
        return edits

    vault.update(vault.root / at, plan_edits)
    return len(edits)
