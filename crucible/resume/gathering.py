"""What a session's context is built from, read from the vault: the subagents' notes beside its own.

Owns which notes those are.  Each is read once and none that it names in turn, so that notes that embed each other are no
circle here; one that is gone or cannot be read is None and stops nothing.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from crucible.bookmarks.keeping import latest
from crucible.errors import CrucibleError
from crucible.resume.drift import find_drift
from crucible.resume.model import Material
from crucible.session.model import Session, Subagent
from crucible.vault.store import Vault
from crucible.vault.walk import note_name

__all__ = ["find_material", "load_children"]


def find_material(
    vault: Vault, session: Session, folder: Path | None, now: datetime, *, recall: str = "", goal: str = ""
) -> Material:
    """With the newest bookmark, and what changed in `folder` since; of neither where it is missing."""
    mark = latest(vault.root, session.id)
    drift = find_drift(folder, mark) if folder and mark else None
    return Material(session, now, mark, drift, load_children(vault, session), recall, goal)


def load_children(vault: Vault, session: Session) -> dict[str, Session | None]:
    """The sessions of the subagents' notes by their id, in the order in which the note names them."""
    names = [name for name in dict.fromkeys(_named(session)) if name and name != session.id]
    if not names:
        return {}
    paths = {note_name(path.name): path for path in vault.session_paths()}
    found: dict[str, Session | None] = {}
    for name in names:
        try:
            found[name] = vault.read(paths[name]).session
        except (CrucibleError, KeyError):
            found[name] = None
    return found


def _named(session: Session) -> Iterator[str]:
    yield from (ref.session for ref in session.subagents)
    for entry in session.all_entries():
        if isinstance(entry, Subagent) and entry.link:
            # A link may be a path: `sessions/2026-11-21-add-clock`.
            yield note_name(entry.link.rpartition("/")[2])
