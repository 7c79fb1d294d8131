"""What there is to be indexed now: every note by its hash, and what the flight recorder has of each session.

Owns nothing: the index of notes knows the hashes, and finds changes itself or believes a watcher.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crucible.index.filerows import FolderRows
from crucible.index.folder import IndexFolder
from crucible.index.scanning import joined
from crucible.index.store import Index
from crucible.settings import VaultSettings

__all__ = ["Notes", "flight_states", "look"]

Vouched = Callable[[str], bool]

_ARCHIVED = ".jsonl.zst"


class Notes(NamedTuple):
    """The notes as they are: `shas` by path from the vault, None when they are as they were for `token`; "" is no token."""

    token: str
    shas: Mapping[str, str] | None


def look(root: str, settings: VaultSettings, vouched: Vouched | None, known: str) -> Notes:
    """Bring the index of notes up to date, and say what it says where it is another than the one `known`."""
    refreshed = Index(root, settings, vouched).refresh()
    folder = IndexFolder(root)
    manifest = folder.load()
    if refreshed.unsaved or not manifest.token:
        return Notes("", _hashed(root, [str(row["path"]) for row in refreshed.view.rows("sessions")]))
    if manifest.token == known:
        return Notes(known, None)
    shas = {}
    for name, lines in folder.read_blocks(manifest, set(manifest.folders)).items():
        rows = FolderRows(name, lines)
        for note in rows.names():
            row = rows.get(note)
            shas[joined(name, note)] = row.sha if row else ""
    return Notes(manifest.token if manifest.whole else "", shas)


def _hashed(root: str, paths: list[str]) -> dict[str, str]:
    """In a vault that may only be read there may be no index of notes to ask."""
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path] = sha256(Path(root, path).read_bytes()).hexdigest()[:32]
    return found


def flight_states(root: str) -> dict[str, str]:
    """What changes when the whole events of a session are more, other, put away or gone; by session, "" for none."""
    found: dict[str, str] = {}
    with suppress(OSError), os.scandir(os.path.join(root, ".crucible", "flight")) as entries:
        for entry in entries:
            with suppress(OSError):
                status = os.stat(os.path.join(entry.path, "tools.jsonl"))
                found[entry.name] = f"{status.st_size}-{status.st_mtime_ns}"
    with suppress(OSError), os.scandir(os.path.join(root, ".crucible", "archive")) as entries:
        for entry in entries:
            if entry.name.endswith(_ARCHIVED):
                with suppress(OSError):
                    status = entry.stat()
                    session = entry.name.removesuffix(_ARCHIVED)
                    found[session] = f"{found.get(session, '')}a{status.st_size}-{status.st_mtime_ns}"
    return found
