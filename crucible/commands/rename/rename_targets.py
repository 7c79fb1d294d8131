"""Find what a rename must change besides the note: other notes' references, and the session's history note."""

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
from crucible.memory.history.history_folder import HISTORY, move_entry
from crucible.memory.history.history_notes import read_entry
from crucible.memory.history.memory_log import move_memories
from crucible.memory.tasks.annotations import move_annotations, shelf_of
from crucible.vault.events.event_retention import move_flight
from crucible.vault.notes.links import plan_rename
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


class Followed(NamedTuple):
    """How many links were changed, by the notes' paths seen from the vault, and what could not be."""

    links: Mapping[str, int]
    left: tuple[Left, ...] = ()


def move_history(vault: Vault, old_id: str, new_id: str, notes: Mapping[str, Note]) -> Followed:
    """Move the history of the session that was called `old_id`; `notes` are the vault's as they are now, by their paths.

    Nothing is done where it has none, or a note of another kind is there.
    """
    old, new = (f"{HISTORY}/{name}.md" for name in (old_id, new_id))
    try:
        if old not in notes:
            return _finish(vault, old_id, new_id)
        if read_entry(notes[old].source).entry is None:
            return Followed({})
        plan = plan_rename({at: note.source for at, note in notes.items()}, old, new)
        others = [at for at, edits in plan.edits.items() if edits]
        links = {at: _mend(vault, notes[at], at, (old, new), plan.edits[at]) for at in others}
        move_entry(vault, old_id, new_id)
    except CrucibleError as error:
        return Followed({}, (Left(vault.root / old, Problem("history-not-moved", 1, str(error))),))
    return Followed({new: 0} | {new if at == old else at: count for at, count in links.items()})


def _finish(vault: Vault, old_id: str, new_id: str) -> Followed:
    """After a move, or if there was nothing to move: update a history that still has the old id."""
    new = f"{HISTORY}/{new_id}.md"
    if not (vault.root / new).is_file():
        return Followed({})
    before = vault.read(vault.root / new)
    entry = read_entry(before.source).entry
    if entry is None or entry.session_id != old_id:
        return Followed({})
    path = move_entry(vault, old_id, new_id)
    return Followed({} if vault.read(path).data == before.data else {new: 0})


def _mend(vault: Vault, note: Note, at: str, names: tuple[str, str], planned: list[Edit]) -> int:
    """Write the links of one note; one that changed meanwhile is looked at anew."""
    edits = planned

    def wanted(now: Note) -> list[Edit]:
        nonlocal edits
        if now.source != note.source:
            others = [] if at == names[0] else [names[0]]
            edits = plan_rename({at: now.source}, *names, others).edits.get(at, [])
        return edits

    vault.update(vault.root / at, wanted)
    return len(edits)
