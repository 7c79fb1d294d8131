"""What the disk shows of the session notes: all of them, or only of some places.

Owns what a place means: a note, a folder, or something that is no more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from crucible.index.scanning import UNKNOWN, FolderScan, Stamp, scan_folders, stamp_of

__all__ = ["Seen", "look"]


class Seen(NamedTuple):
    """Whole folders in `scans`, single notes in `names` (None: there is none), by path from the vault.

    Of what lies in or below the folders `within` nothing was left out, so what no scan shows is gone; "" is the vault.
    """

    scans: list[FolderScan]
    names: dict[str, Stamp | None]
    within: tuple[str, ...]
    unwalked: list[str]

    @property
    def whole(self) -> bool:
        """Whether every note was looked at."""
        return "" in self.within


def look(root: str, sessions: str, places: Sequence[str] | None) -> Seen:
    """Everything below the sessions folder, or only the `places`, seen from the vault; `root` must be real."""
    if places is None:
        return _everything(root, sessions)
    names: dict[str, Stamp | None] = {}
    folders = []
    for place in dict.fromkeys(places):
        if not _may_hold_notes(place, sessions):
            continue
        if _is_reached_by_symlink(root, place):
            # A folder counts once, under one name: which one only the whole walk knows.
            return _everything(root, sessions)
        stamp = _stamp_at(root, place)
        if stamp is None or stamp == _FOLDER:
            folders.append(place)
        if stamp != _FOLDER and place[-3:].lower() == ".md":
            names[place] = stamp
    found = scan_folders(root, folders)
    return Seen(found.folders, names, tuple(folders), found.unwalked)


_FOLDER: Stamp = (-2, -2, -2, -2)


def _everything(root: str, sessions: str) -> Seen:
    found = scan_folders(root, [sessions])
    return Seen(found.folders, {}, ("",), found.unwalked)


def _may_hold_notes(place: str, sessions: str) -> bool:
    inside = place == sessions or place.startswith(f"{sessions}/") or sessions == "."
    return inside and not any(part.startswith(".") for part in place.split("/"))


def _is_reached_by_symlink(root: str, place: str) -> bool:
    folder = os.path.join(root, os.path.dirname(place))
    return os.path.realpath(folder) != os.path.normpath(folder) or os.path.islink(os.path.join(root, place))


def _stamp_at(root: str, place: str) -> Stamp | None:
    try:
        found = os.lstat(os.path.join(root, place))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return UNKNOWN
    if stat.S_ISDIR(found.st_mode):
        return _FOLDER
    return stamp_of(found) if stat.S_ISREG(found.st_mode) else UNKNOWN
