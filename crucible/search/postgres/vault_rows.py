"""The notes and items of a vault to push, without secrets, and the ids by which a server knows the vault."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
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
from crucible.search.embedded.note_changes import NoteChanges, flight_states
from crucible.search.postgres.terms import Shelved, digest_of_item
from crucible.search.recall import Document, Event, ItemCatalog
from crucible.vault.index.index import Index

_VAULT, _CLONE = ".crucible/memory/vault-id", ".crucible/clone-id"
"""The first is in a folder that git keeps, the second in none."""
_ID = late_pattern(r"[0-9a-f]{32}")


class Identities(NamedTuple):
    """Random texts: `vault` is the same in every copy of a vault, `clone` is this copy's own."""

    vault: str
    clone: str


def identities(root: Path) -> Identities:
    """The ids of the vault at `root`, created at first use.  `VaultError` if one is damaged or cannot be written."""
    return Identities(_identity(root, _VAULT), _identity(root, _CLONE))


def _identity(root: Path, name: str) -> str:
    path = root / name
    if not path.exists():
        make_folders(root, path.parent)
        with suppress(NoteExists):  # somebody else was faster: theirs counts
            create_exclusive(inside(root, path), f"{token_hex(16)}\n".encode())
    found = read_bytes(inside(root, path))[0].decode("utf-8", "replace").strip()
    if not _ID.fullmatch(found):
        hint = (
            "take it from another copy of the vault; a new one would have everything pushed again beside what is there"
        )
        raise VaultError(f"{path}: no id of a vault", hint)
    return found


class Items(ItemCatalog, Protocol):
    """Items of knowledge by their notes' paths."""

    def shelved(self) -> Mapping[str, Shelved]:
        """What is known of each, without its words."""
        ...


class VaultDocuments:
    """Implements `push.Documents`.  Every text is redacted: a user may have typed a secret into a note."""

    def __init__(self, root: Path, settings: VaultSettings, items: Items | None = None) -> None:
        """`items` are those of the vault's knowledge."""
        self._root = os.path.realpath(root)
        self._settings = settings
        self._items = items
        self._shelved: Mapping[str, Shelved] = {}

    def digests(self) -> Mapping[str, str]:
        """Every note and item, and what changes whenever its words do, or what an item weighs."""
        notes = NoteChanges(self._root, self._settings).look("").shas or {}
        view = Index(self._root, self._settings).refresh().view
        sessions = {str(row["path"]): str(row["id"]) for row in view.rows("sessions")}
        flights = flight_states(self._root)
        found = {path: f"{sha}:{flights.get(sessions.get(path, ''), '')}" for path, sha in notes.items()}
        words = self._items.stamps() if self._items else {}
        self._shelved = self._items.shelved() if self._items else {}
        return {
            **found,
            **{path: f"{words.get(path, '')}:{digest_of_item(one)}" for path, one in self._shelved.items()},
        }

    def document(self, path: str) -> Document | None:
        """A note or item, None if it cannot be read.  `VaultError` if it cannot be scanned for secrets."""
        found = self._document(path)
        return found and _without_secrets(found, self._redact)

    def _document(self, path: str) -> Document | None:
        if self._items and path in self._shelved:
            return self._items.document(path)
        try:
            data, _ = read_bytes(inside(Path(self._root), Path(self._root, path)))
            return place_note(self._root, path, data)[0]
        except CrucibleError:
            return None

    @cached_property
    def _redact(self) -> Redact:
        return redact_of(self._settings.secrets)

    def shelved(self, path: str) -> Shelved | None:
        """What is known of an item beside its words, as `digests` found it; None of a session."""
        return self._shelved.get(path)


def _without_secrets(document: Document, redact: Redact) -> Document:
    def clean(text: str) -> str:
        return redact(text)[0] if text else ""

    def said(event: Event) -> Event:
        return replace(event, text=clean(event.text), title=clean(event.title), phase_name=clean(event.phase_name))

    return replace(
        document,
        title=clean(document.title),
        events=tuple(map(said, document.events)),
        branch=clean(document.branch),
        tags=tuple(map(clean, document.tags)),
    )
