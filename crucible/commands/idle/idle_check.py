"""Check for idle sessions while another command runs.

A check is due every few minutes at most, so a command normally pays only for reading one file time. The check asks
the index for active sessions and imports `idle_timeout`, which pauses them, only if one is quiet. Nothing here
raises, since the command has other work to do.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime

from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.index import Index
from crucible.vault.index.schema import Row, View, path_of_cell

Whence = Callable[[], tuple[str, Mapping[str, Sequence[str]]]]
"""Returns the working directory ("" for none) and the user's projects with their folders, for the bookmarks."""

_SECONDS = 180.0
"""Time between two checks; the idle time if that is shorter."""
_STAMP = os.path.join(".crucible", "cache", "idle")
_FEW = 500
"""Without an index, a vault with more notes than this is not checked."""


def is_due(root: str | os.PathLike[str], settings: VaultSettings) -> bool:
    """True if the last check was some minutes ago."""
    try:
        age = time.time() - os.stat(os.path.join(root, _STAMP)).st_mtime
    except OSError:
        return True
    # A time in the future, from a wrong clock, must not block checks.
    return not 0 <= age < min(_SECONDS, settings.idle_minutes * 60)


def look(index: Index, now: datetime, whence: Whence = lambda: ("", {}), *, is_true: bool = False) -> list[str]:
    """Pause idle sessions if a check is due; the changed notes' paths from the vault's root.

    With `is_true` the index is up to date, because the caller watches the vault, and is not compared with the disk.
    """
    try:
        if not is_due(index.root, index.settings) or not _is_cheap(index) or not _stamped(index.root):
            return []
        rows = _active(index.refresh(()).view) if is_true else index.ask(_active)[0]
        return _pause_quiet(index, rows, now, whence)
    except Exception:  # noqa: BLE001  the next check tries again
        return []


def look_at(view: View, index: Index, now: datetime, whence: Whence = lambda: ("", {})) -> list[str]:
    """Like `look`, with a `view` of the index that is up to date."""
    try:
        if not is_due(index.root, index.settings) or not _stamped(index.root):
            return []
        return _pause_quiet(index, _active(view), now, whence)
    except Exception:  # noqa: BLE001  as above
        return []


def _active(view: View) -> list[Row]:
    """The active sessions, subagents' too."""
    return [row for row in view.rows("sessions", needles=["active"]) if row["status"] == "active"]


def _is_cheap(index: Index) -> bool:
    """True if there is an index, or few notes to build one from."""
    if index.is_kept():
        return True
    count = 0
    for _, _, names in os.walk(os.path.join(index.root, index.settings.sessions)):
        count += len(names)
        if count > _FEW:
            return False
    return True


def _stamped(root: str) -> bool:
    """Touch the stamp file before a check; False if that fails, as in a read-only vault."""
    path = os.path.join(root, _STAMP)
    try:
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), _STAMP):
            return False  # a symlink leads outside the vault
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True


def _pause_quiet(index: Index, rows: list[Row], now: datetime, whence: Whence) -> list[str]:
    oldest = now.timestamp() - index.settings.idle_minutes * 60
    paths = [path_of_cell(str(row["path"])) for row in rows]
    quiet = [path for path in paths if _modified(os.path.join(index.root, path)) <= oldest]
    if not quiet:
        return []
    from crucible.commands.idle.idle_timeout import pause_idle  # noqa: PLC0415  slow to import

    return pause_idle(index.root, index.settings, quiet, now, whence())


def _modified(path: str) -> float:
    """The modification time of a file; infinity if there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")
