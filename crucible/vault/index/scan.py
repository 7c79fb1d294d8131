"""What the disk shows of the session notes: all of them, or only of some places.

Owns what a place means: a note, a folder, or something that is no more.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from typing import NamedTuple

from crucible.vault.index.scan__scanning import UNKNOWN, FolderScan, Stamp, scan_folders, stamp_of

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
    wanted = [place for place in dict.fromkeys(places) if _may_hold_notes(place, sessions)]
    if any(_is_symlink(root, folder) for folder in {os.path.dirname(place) for place in wanted}):
        # A folder counts once, under one name: which one only the whole walk knows.
        return _everything(root, sessions)
    for place in wanted:
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
    inside = place == sessions or place.startswith(f"{sessions}/") or (sessions == "." and place != ".")
    return inside and not any(part.startswith(".") for part in place.split("/"))


def _is_symlink(root: str, folder: str) -> bool:
    path = os.path.normpath(os.path.join(root, folder))
    return os.path.realpath(path) != path


def _stamp_at(root: str, place: str) -> Stamp | None:
    try:
        found = os.lstat(os.path.join(root, place))
    except (FileNotFoundError, NotADirectoryError):
        return None
    except OSError:
        return UNKNOWN
    if stat.S_ISDIR(found.st_mode):
        return _FOLDER
    # A symlink is read like a note; one to a folder shows nothing here, and the next whole look finds what it holds.
    return stamp_of(found) if stat.S_ISREG(found.st_mode) else UNKNOWN
