"""Where a note goes that is taken away: git has it already, or the system's trash takes it.

Owns that it can be brought back.  Where neither is the case it stays, and a line says why.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from crucible.bookmarks.repository import digest_of, run_git
from crucible.errors import VaultError

__all__ = ["GIT", "TRASH", "discarding", "is_committed"]

GIT = "git has it"
TRASH = "in the trash"


def discarding(root: Path, told: Callable[[Path, str], None]) -> Callable[[Path], None]:
    """What `keeping.prune` hands notes to, for the vault at `root`; `told` hears where each went, `GIT` or `TRASH`.

    It raises `VaultError` for one that could not be brought back, and leaves it.
    """

    def discard(path: Path) -> None:
        if is_committed(root, path):
            _remove(path)
            told(path, GIT)
        else:
            _to_trash(path)
            told(path, TRASH)

    return discard


def is_committed(root: Path, path: Path) -> bool:
    """Whether the last commit of the repository around the vault holds the file's very bytes under its name."""
    name = os.path.relpath(path, root).replace(os.sep, "/")
    kept = run_git(root, "rev-parse", "-q", "--verify", f"HEAD:./{name}")
    return bool(kept) and kept == f"{digest_of(path)}\n"


def _remove(path: Path) -> None:
    try:
        path.unlink()
    except OSError as error:
        raise VaultError(f"{path}: it cannot be removed: {error.strerror or error}") from error


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
