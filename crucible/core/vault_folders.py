"""Find the vault around a folder.  Imports next to nothing, because every hook needs it."""

from __future__ import annotations

import os
import stat
import sys

_LONGEST = 1 << 15
"""Maximum characters of a path: each folder above it is looked at."""


def is_vault(folder: str) -> bool:
    """Return whether the folder contains `.crucible/`."""
    return os.path.isdir(os.path.join(folder, ".crucible"))


def nearest_vault(folder: str) -> str:
    """Return the nearest vault in or above an absolute path; "" if there is none."""
    folder, above = folder[:_LONGEST], ""
    while os.path.isabs(folder) and folder != above:
        if is_vault(folder) and not _is_planted(folder):
            return folder
        above, folder = folder, os.path.dirname(folder)
    return ""


def _is_planted(folder: str) -> bool:
    """Return whether another user made `.crucible/` in a folder where everyone can, such as `/tmp`.

    Otherwise that user would get the sessions of everyone who works below it.
    """
    if sys.platform == "win32":
        return False
    is_open = os.stat(folder).st_mode & stat.S_IWOTH
    return bool(is_open) and os.lstat(os.path.join(folder, ".crucible")).st_uid != os.geteuid()
