"""The notes and items of a vault to push, without secrets, and the ids that identify the vault on a server."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from functools import cached_property
from pathlib import Path
from secrets import token_hex
from typing import NamedTuple, Protocol

from crucible.core.errors import CrucibleError, NoteExists, VaultError
from crucible.core.files import create_exclusive, inside, make_folders, read_bytes
from crucible.core.patterns import late_pattern
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.documents import place_note
from crucible.search.embedded.index_update import NoteChanges, event_log_states
from crucible.search.recall import Document, Event, ItemCatalog
from crucible.search.team.terms import ItemFacts, digest_of_item
from crucible.vault.index.index import Index

_VAULT, _CLONE = ".crucible/memory/vault-id", ".crucible/clone-id"
"""The first file is committed to git, the second is not."""
_ID = late_pattern(r"[0-9a-f]{32}")


class Identities(NamedTuple):
    """Random ids: `vault` is shared by all copies of a vault, `clone` identifies this copy."""

    vault: str
    clone: str


def identities(root: Path) -> Identities:
    """Return the vault's ids, creating them on first use.  Raises `VaultError` if one is damaged or not writable."""
    return Identities(_identity(root, _VAULT), _identity(root, _CLONE))


def _identity(root: Path, name: str) -> str:
    path = root / name
    if not path.exists():
        make_folders(root, path.parent)
        with suppress(NoteExists):  # another process created it first
            create_exclusive(inside(root, path), f"{token_hex(16)}\n".encode())
    found = read_bytes(inside(root, path))[0].decode("utf-8", "replace").strip()
    if not _ID.fullmatch(found):
        hint = "copy it from another clone of the vault; with a new id, everything would be pushed a second time"
        raise VaultError(f"{path}: not a vault id", hint)
    return found


class Items(ItemCatalog, Protocol):
    """Knowledge items, by their notes' paths."""

    def facts(self) -> Mapping[str, ItemFacts]:
        """Return the facts that determine each item's weight and audience."""
        ...


class VaultDocuments:
    """Implements `push.Documents`.  All text is redacted, since a user may have typed a secret into a note."""

    def __init__(self, root: Path, settings: VaultSettings, items: Items | None = None) -> None:
        """`items` are the knowledge items of the vault."""
        self._root = os.path.realpath(root)
        self._settings = settings
        self._items = items
        self._facts: Mapping[str, ItemFacts] = {}

    def digests(self) -> Mapping[str, str]:
        """Return a digest of each note and item, which changes with the text and with an item's weight."""
        notes = NoteChanges(self._root, self._settings).current("").hashes or {}
        view = Index(self._root, self._settings).refresh().view
        sessions = {str(row["path"]): str(row["id"]) for row in view.rows("sessions")}
        logs = event_log_states(self._root)
        found = {path: f"{sha}:{logs.get(sessions.get(path, ''), '')}" for path, sha in notes.items()}
        stamps = self._items.stamps() if self._items else {}
        self._facts = self._items.facts() if self._items else {}
        return {
            **found,
            **{path: f"{stamps.get(path, '')}:{digest_of_item(one)}" for path, one in self._facts.items()},
        }

    def document(self, path: str) -> Document | None:
        """Return a redacted note or item; None if it cannot be read.  Raises `VaultError` if redaction fails."""
        found = self._document(path)
        return found and _without_secrets(found, self._redact)

    def _document(self, path: str) -> Document | None:
        if self._items and path in self._facts:
            return self._items.document(path)
        try:
            data, _ = read_bytes(inside(Path(self._root), Path(self._root, path)))
            return place_note(self._root, path, data)[0]
        except CrucibleError:
            return None

    @cached_property
    def _redact(self) -> Redact:
        return redact_of(self._settings.secrets)

    def item_facts(self, path: str) -> ItemFacts | None:
        """Return the facts of an item, as of the last call of `digests`; None for a session."""
        return self._facts.get(path)


def _without_secrets(document: Document, redact: Redact) -> Document:
    def clean(text: str) -> str:
        return redact(text)[0] if text else ""

    def redacted(event: Event) -> Event:
        return event._replace(text=clean(event.text), title=clean(event.title), phase_name=clean(event.phase_name))

    return document._replace(
        title=clean(document.title),
        events=tuple(map(redacted, document.events)),
        branch=clean(document.branch),
        tags=tuple(map(clean, document.tags)),
    )
