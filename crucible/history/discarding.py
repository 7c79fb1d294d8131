"""Putting histories away that are too old or too many: git has them already, or the system's trash takes them.

Owns that nothing is lost: what can be brought back by neither stays, and a line says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime, timedelta
from pathlib import Path

from crucible.bookmarks.repository import digest_of, run_git
from crucible.errors import CrucibleError, VaultError
from crucible.history.keeping import NEVER, EntryNote, Wish, list_entries
from crucible.vault import files
from crucible.vault.store import Vault
from crucible.vault.walk import OnError

__all__ = ["prune", "too_many"]

_MOST_DAYS = 10_000_000
"""More than a calendar has."""


def too_many(notes: Iterable[EntryNote], now: datetime, most: int, days: int) -> list[EntryNote]:
    """The entries beyond so many, or older than so many days, the oldest first; 0 is no limit.

    A note that is not understood is nobody's to take away, and what nobody knows the age of is not old.
    """
    found = list_entries(notes, Wish())
    age = timedelta(days=min(days, _MOST_DAYS))
    many = found[most:] if most else []
    old = [one for one in found if days and one.at != NEVER and now - one.at > age]
    beyond = {one.note.path for one in (*many, *old)}
    return [one for one in reversed(found) if one.note.path in beyond]


def prune(
    vault: Vault, notes: Sequence[EntryNote], told: Callable[[Path, str], None], on_error: OnError
) -> None:
    """Put each note away; `told` hears where each went.  One that was changed since it was read stays."""
    for one in notes:
        path = one.note.path
        try:
            with vault.locked(path):
                if files.holds(files.inside(vault.root, path), one.note.data):
                    told(path, _discard(vault.root, path))
        except CrucibleError as error:
            on_error(error)


def _discard(root: Path, path: Path) -> str:
    """Where it went; `VaultError` for what could not be brought back, which stays."""
    if not _is_committed(root, path):
        _to_trash(path)
        return "in the trash"
    try:
        path.unlink()
    except OSError as error:
        raise VaultError(f"{path}: it cannot be removed: {error.strerror or error}") from error
    return "git has it"


def _is_committed(root: Path, path: Path) -> bool:
    """Whether the last commit of the repository around the vault holds the file's very bytes under its name."""
    name = os.path.relpath(path, root).replace(os.sep, "/")
    kept = run_git(root, "rev-parse", "-q", "--verify", f"HEAD:./{name}")
    return bool(kept) and kept == f"{digest_of(path)}\n"


def _to_trash(path: Path) -> None:
    # It asks the environment where the trash is, and takes 12 ms.
    from send2trash import send2trash  # noqa: PLC0415

    try:
        send2trash(path)
    except Exception as error:  # each system's has errors of its own
        reason = " ".join(str(getattr(error, "strerror", None) or error).split())[:200]
        raise VaultError(
            f"{path}: left where it is: git does not have it, and the trash does not take it: {reason or type(error).__name__}",
            "commit it first: what git has may go",
        ) from error
    if os.path.lexists(path):
        raise VaultError(f"{path}: left where it is: the trash did not take it", "commit it first")
