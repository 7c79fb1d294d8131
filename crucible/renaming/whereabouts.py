"""What a rename moves: which notes may have another id, and the folder of whole events that has the session's.

Owns the refusals before anything is changed, and that events which cannot follow are told.  The note's file itself is
moved by `vault.store`.
"""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

from crucible.errors import BadSessionId, CrucibleError, UsageError, reason_of
from crucible.flight.recorder import flight_folder
from crucible.note.source import Problem
from crucible.vault.store import Note, Vault

__all__ = ["Left", "check_is_session", "move_events"]


@dataclass(frozen=True, slots=True)
class Left:
    """What a rename did not change, where, and why."""

    path: Path
    problem: Problem


def check_is_session(vault: Vault, note: Note) -> None:
    """Raises UsageError for what is no session's own file."""
    if note.path.is_symlink():
        target = Path(os.path.realpath(note.path))
        raise UsageError(
            f"{note.path}: a link to {target}", "rename that note, or the link in your file manager"
        )
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
    """The whole events go along: their folder has the session's id.  What keeps them where they are is returned."""
    folder = vault.root / ".crucible" / "flight"
    try:
        reason = _move(vault, folder / old_id, folder / new_id)
    except BadSessionId:
        return None  # a name that is no id, as a human may give a file, never had any events
    except OSError as error:
        reason = reason_of(error)
    except CrucibleError as error:
        reason = str(error)
    return Left(folder / old_id, Problem("events-not-moved", 1, reason)) if reason else None


def _move(vault: Vault, old: Path, new: Path) -> str:
    """Why not, or "".  The folder's own name counts, though it be a symlink."""
    flight_folder(vault.root, old.name)
    flight_folder(vault.root, new.name)
    if not os.path.lexists(old):
        return ""
    if os.path.lexists(new):
        return f"{new} exists already"
    old.rename(new)
    return ""
