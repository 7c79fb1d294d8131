"""Check for idle sessions while another command runs.

Checks run at most every few minutes; in between, a command only reads one file time. `idle_timeout`, which pauses
sessions, is imported only if one seems idle. Nothing here raises, so that the command is not affected.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import TYPE_CHECKING

from crucible.core.settings.settings import VaultSettings

if TYPE_CHECKING:
    from crucible.vault.index.index import Index
    from crucible.vault.index.schema import Row, View

Whence = Callable[[], tuple[str, Mapping[str, Sequence[str]]]]
"""Returns the working directory ("" for none) and the user's projects with their folders, for the bookmarks."""

_SECONDS = 180.0
"""Seconds between two checks; the idle time if that is shorter."""
_STAMP = os.path.join(".crucible", "cache", "idle")
_FEW = 500
"""Maximum notes in a vault for it to be checked if it has no index."""


def is_due(root: str | os.PathLike[str], settings: VaultSettings) -> bool:
    """True if enough time has passed since the last check."""
    try:
        age = time.time() - os.stat(os.path.join(root, _STAMP)).st_mtime
    except OSError:
        return True
    # A time in the future, from a wrong clock, must not block checks.
    return not 0 <= age < min(_SECONDS, settings.idle_minutes * 60)


def look(index: Index, now: datetime, whence: Whence = lambda: ("", {}), *, is_true: bool = False) -> list[str]:
    """Pause idle sessions if a check is due; returns the changed notes' paths, relative to the vault's root.

    `is_true` means that the caller watches the vault, so the index is up to date and is not compared with the disk.
    """
    try:
        if not is_due(index.root, index.settings) or not _is_cheap(index) or not _stamped(index.root):
            return []
        rows = _active(index.refresh(()).view) if is_true else index.ask(_active)[0]
        return _pause_quiet(index, rows, now, whence)
    except Exception:  # noqa: BLE001  the next check tries again
        return []


def look_at(view: View, index: Index, now: datetime, whence: Whence = lambda: ("", {})) -> list[str]:
    """Like `look`, with an up-to-date `view` of the index."""
    try:
        if not is_due(index.root, index.settings) or not _stamped(index.root):
            return []
        return _pause_quiet(index, _active(view), now, whence)
    except Exception:  # noqa: BLE001  as above
        return []


def _active(view: View) -> list[Row]:
    """Return the active sessions, including subagents'."""
    return [row for row in view.rows("sessions", needles=["active"]) if row["status"] == "active"]


def _is_cheap(index: Index) -> bool:
    """True if there is an index, or if there are few notes to build one from."""
    if index.token():
        return True
    count = 0
    for _, _, names in os.walk(os.path.join(index.root, index.settings.sessions)):
        count += len(names)
        if count > _FEW:
            return False
    return True


def _stamped(root: str) -> bool:
    """Touch the stamp file before a check; False if that fails, for example in a read-only vault."""
    path = os.path.join(root, _STAMP)
    try:
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), _STAMP):
            return False  # a symlink may lead outside the vault
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True


def _pause_quiet(index: Index, rows: list[Row], now: datetime, whence: Whence) -> list[str]:
    from crucible.vault.index.schema import path_of_cell  # noqa: PLC0415  the index is open by now

    oldest = now.timestamp() - index.settings.idle_minutes * 60
    paths = [path_of_cell(str(row["path"])) for row in rows]
    quiet = [path for path in paths if _modified(os.path.join(index.root, path)) <= oldest]
    if not quiet:
        return []
    from crucible.commands.idle.idle_timeout import pause_idle  # noqa: PLC0415  slow to import

    return pause_idle(index.root, index.settings, quiet, now, whence())


def _modified(path: str) -> float:
    """Return a file's modification time, infinity if the file does not exist."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")
