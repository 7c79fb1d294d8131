"""A vault's notes and items as what is pushed to a team's server.

Owns which of them there are and when one changed: as the embedded index knows it, by the hash of a note and the state of its flight record.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

from crucible.errors import CrucibleError
from crucible.index.store import Index
from crucible.recall.deriving import place_note
from crucible.recall.model import Document
from crucible.recall.noticing import flight_states, look
from crucible.recall.shelf import NOTHING, Shelf
from crucible.settings import VaultSettings
from crucible.vault.files import inside, read_bytes

__all__ = ["VaultDocuments"]


class VaultDocuments:
    """Fulfils `postgres_writing.Documents`."""

    def __init__(self, root: Path, settings: VaultSettings, shelf: Shelf = NOTHING) -> None:
        """`shelf` has items that are no sessions."""
        self._root = os.path.realpath(root)
        self._settings = settings
        self._shelf = shelf

    def digests(self) -> Mapping[str, str]:
        """Every note and item, and what changes whenever its words do."""
        notes = look(self._root, self._settings, None, "").shas or {}
        view = Index(self._root, self._settings, None).refresh().view
        sessions = {str(row["path"]): str(row["id"]) for row in view.rows("sessions")}
        flights = flight_states(self._root)
        found = {path: f"{sha}:{flights.get(sessions.get(path, ''), '')}" for path, sha in notes.items()}
        return {**found, **self._shelf.stamps()}

    def document(self, path: str) -> Document | None:
        """A note or an item as it is searched; None where it is gone or cannot be read."""
        if path in self._shelf.stamps():
            return self._shelf.document(path)
        try:
            data, _ = read_bytes(inside(Path(self._root), Path(self._root, path)))
            return place_note(self._root, path, data)[0]
        except CrucibleError:
            return None
