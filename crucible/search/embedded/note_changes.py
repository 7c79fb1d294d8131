"""What is there to index: the hash of every note, and the state of each session's event log."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import IndexBroken
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.freshness import FolderRows, compare_folders
from crucible.vault.index.index_files import EMPTY, IndexFolder, Manifest
from crucible.vault.index.scan import joined
from crucible.vault.index.scan import scan_notes as look_at_notes

_ARCHIVED = ".jsonl.zst"
_Stamp = tuple[int, ...]


class Notes(NamedTuple):
    """The hashes of all notes by path, None if nothing changed since `token`; "" is no token."""

    token: str
    shas: Mapping[str, str] | None


class NoteChanges:
    """Watches the vault at `root`, a real path, for changes; reads the index of notes only when it changed."""

    def __init__(self, root: str, settings: VaultSettings) -> None:
        self._root = root
        self._settings = settings
        self._loaded: tuple[_Stamp, Manifest] = ((), EMPTY)

    def look(self, known: str) -> Notes:
        """Bring the index of notes up to date, and say what it says where it is another than the one `known`."""
        folder = IndexFolder(self._root)
        manifest = self._load(folder)
        if not (manifest.whole and manifest.token and self._is_true(folder, manifest)):
            # Late: mostly nothing differs, and who reads notes takes as long to load as to look.
            from crucible.vault.index.index import Index  # noqa: PLC0415

            refreshed = Index(self._root, self._settings).refresh()
            manifest = self._load(folder)
            if refreshed.unsaved or not manifest.token:
                return Notes("", _hashed(self._root, [str(row["path"]) for row in refreshed.view.rows("sessions")]))
        if manifest.token == known:
            return Notes(known, None)
        shas = {}
        for name, lines in folder.read_blocks(manifest, set(manifest.folders)).items():
            rows = FolderRows(name, lines)
            for note in rows.names():
                row = rows.get(note)
                shas[joined(name, note)] = row.sha if row else ""
        return Notes(manifest.token if manifest.whole else "", shas)

    def _is_true(self, folder: IndexFolder, manifest: Manifest) -> bool:
        """Whether nothing on the disk differs from it."""
        seen = look_at_notes(self._root, self._settings.sessions, None)
        try:
            return compare_folders(folder, manifest, seen.scans, seen.within).is_empty()
        except IndexBroken:
            return False

    def _load(self, folder: IndexFolder) -> Manifest:
        """As long as its file stays, it is the same value."""
        stamp = _stamp_of(folder)
        if not stamp or stamp != self._loaded[0]:
            # The stamp is the older of the two: who replaces the file meanwhile has us read it again.
            self._loaded = (stamp, folder.load())
        return self._loaded[1]


def _stamp_of(folder: IndexFolder) -> _Stamp:
    if folder.unusable:
        return ()
    try:
        found = os.lstat(f"{folder.path}/manifest.toon")
        return (
            found.st_size,
            found.st_mtime_ns,
            found.st_ctime_ns,
            found.st_ino,
            os.stat(folder.path).st_ino,
        )
    except OSError:
        return ()


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
                status = os.stat(f"{entry.path}/tools.jsonl")
                found[entry.name] = f"{status.st_size}-{status.st_mtime_ns}"
    with suppress(OSError), os.scandir(os.path.join(root, ".crucible", "archive")) as entries:
        for entry in entries:
            if entry.name.endswith(_ARCHIVED):
                with suppress(OSError):
                    status = entry.stat()
                    session = entry.name.removesuffix(_ARCHIVED)
                    found[session] = f"{found.get(session, '')}a{status.st_size}-{status.st_mtime_ns}"
    return found
