"""Sessions that say `active` and are quiet, noticed by whatever command comes next.

Owns when it is time for a look, and which notes are worth one.  A look is due every few minutes at most, so that a command
normally pays for the stamp's time alone, and it asks the index for active sessions only.  What is paused, and how, is
`timing_out`'s, which is imported when there is something for it.  Nothing raises: the command that this rides on has other
things to do.
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
"""Tells the working directory, "" for none, and the user's projects with their folders: for the bookmarks' sake."""

_SECONDS = 180.0
"""Between two looks; less where the idle time is shorter."""
_STAMP = os.path.join(".crucible", "cache", "idle")
_FEW = 500
"""Notes that are read for this alone where there is no index yet."""


def is_due(root: str | os.PathLike[str], settings: VaultSettings) -> bool:
    """Whether nobody has looked for some minutes."""
    try:
        age = time.time() - os.stat(os.path.join(root, _STAMP)).st_mtime
    except OSError:
        return True
    # A stamp from the future, of a clock that was wrong, must not keep us for ever.
    return not 0 <= age < min(_SECONDS, settings.idle_minutes * 60)


def look(index: Index, now: datetime, whence: Whence = lambda: ("", {}), *, is_true: bool = False) -> list[str]:
    """Pause what is quiet, if it is time to; the paths, seen from the vault, of the notes that were changed.

    An index that `is_true`, since its caller heard of every change, is not compared with the disk.
    """
    try:
        if not is_due(index.root, index.settings) or not _is_cheap(index) or not _stamped(index.root):
            return []
        rows = _active(index.refresh(()).view) if is_true else index.ask(_active)[0]
        return _pause_quiet(index, rows, now, whence)
    except Exception:  # noqa: BLE001  whatever it is, the next look may fare better
        return []


def look_at(view: View, index: Index, now: datetime, whence: Whence = lambda: ("", {})) -> list[str]:
    """The same, after a question: `view` is true now."""
    try:
        if not is_due(index.root, index.settings) or not _stamped(index.root):
            return []
        return _pause_quiet(index, _active(view), now, whence)
    except Exception:  # noqa: BLE001  as above
        return []


def _active(view: View) -> list[Row]:
    """The sessions that say so, subagents' too."""
    return [row for row in view.rows("sessions", needles=["active"]) if row["status"] == "active"]


def _is_cheap(index: Index) -> bool:
    """Whether there is an index, or few notes to make one of."""
    if index.is_kept():
        return True
    count = 0
    for _, _, names in os.walk(os.path.join(index.root, index.settings.sessions)):
        count += len(names)
        if count > _FEW:
            return False
    return True


def _stamped(root: str) -> bool:
    """Whether the look was noted, before it is taken: of two commands at once one looks, and none in a vault that takes no writes."""
    path = os.path.join(root, _STAMP)
    try:
        if os.path.realpath(path) != os.path.join(os.path.realpath(root), _STAMP):
            return False  # it would lie outside the vault
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "ab"):
            os.utime(path)
    except OSError:
        return False
    return True


def _pause_quiet(index: Index, rows: list[Row], now: datetime, whence: Whence) -> list[str]:
    oldest = now.timestamp() - index.settings.idle_minutes * 60
    paths = [path_of_cell(str(row["path"])) for row in rows]
    quiet = [path for path in paths if _written(os.path.join(index.root, path)) <= oldest]
    if not quiet:
        return []
    from crucible.commands.idle.idle_timeout import pause_idle  # noqa: PLC0415  it understands notes, which takes long to import

    return pause_idle(index.root, index.settings, quiet, now, whence())


def _written(path: str) -> float:
    """When a file was last written to; in the future when there is none."""
    try:
        return os.stat(path).st_mtime
    except OSError:
        return float("inf")
