"""A session's whole events under another id.

Owns that folder and archive go together, or neither when the new id has one of them already.
"""

from __future__ import annotations

import os
from contextlib import nullcontext, suppress
from pathlib import Path

from crucible.core.errors import reason_of
from crucible.vault.events.event_files import LOCK_SECONDS, held
from crucible.vault.events.event_keys import forget_keys
from crucible.vault.events.event_paths import archive_path, flight_folder, flights_folder
from crucible.vault.events.event_summary import rename_in_meta

__all__ = ["move_flight"]


def move_flight(vault_root: Path, old_id: str, new_id: str, *, lock_seconds: float = LOCK_SECONDS) -> str:
    """Why nothing was moved, or "".  Raises `BadSessionId`, `OutsideVault`, `LockTimeout` and `VaultError`."""
    real = flight_folder(vault_root, old_id)
    flight_folder(vault_root, new_id)
    flights = flights_folder(vault_root)
    # A folder's own name counts, though it be a symlink.
    pairs = [
        (archive_path(vault_root, old_id), archive_path(vault_root, new_id)),
        (flights / old_id, flights / new_id),
    ]
    there = [(old, new) for old, new in pairs if os.path.lexists(old)]
    taken = [new for _, new in there if os.path.lexists(new)]
    if taken:
        return f"{taken[0]} exists already"
    # What is open cannot be moved on Windows.
    waiting = held(real, lock_seconds, make=False) if real.is_dir() and os.name != "nt" else nullcontext()
    with waiting:
        try:
            for old, new in there:
                old.rename(new)
        except OSError as error:
            return reason_of(error)
        with suppress(OSError):  # the next writer tells it
            rename_in_meta(flights / new_id, new_id)
    forget_keys(vault_root, old_id)
    return ""
