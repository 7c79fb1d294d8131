"""The journal of a deletion or of archiving, with which the next command finishes an interrupted one.

The vault may be untrusted: a path in the journal must be a session note of the vault.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from contextlib import AbstractContextManager, suppress
from dataclasses import asdict, dataclass
from typing import TypeAlias

from crucible.core import files
from crucible.core.errors import OutsideVault, VaultError, reason_of
from crucible.core.files import locked
from crucible.core.locks import Lock
from crucible.documents.markdown.source import Edit
from crucible.documents.session.task_edits import set_fields
from crucible.vault.logs.jsonl_store import is_inner_path
from crucible.vault.notes.discovery import DELETING
from crucible.vault.notes.vault import Note, Vault

_LARGEST = 1 << 20


@dataclass(frozen=True, slots=True)
class Deleting:
    """A deletion, or its undoing, by the name of its entry in the trash."""

    entry: str
    undo: bool = False


@dataclass(frozen=True, slots=True)
class Archiving:
    """Notes to archive or, with `undo`, to bring back; paths relative to the vault."""

    notes: tuple[str, ...]
    undo: bool = False


Journal: TypeAlias = Deleting | Archiving


def hold_journal(vault: Vault, seconds: float) -> AbstractContextManager[Lock]:
    """Return the lock for all deletions in a vault, which share one journal."""
    return locked(vault.root, vault.root / DELETING, seconds)


def write_journal(vault: Vault, journal: Journal) -> None:
    """Record what is about to be done."""
    data = json.dumps(asdict(journal)).encode()
    files.write_atomic(files.inside(vault.root, vault.root / DELETING), data, fsync=vault.settings.fsync)


def load_journal(vault: Vault) -> Journal | None:
    """Return what was interrupted; None if nothing was, or if the journal cannot be parsed."""
    path = vault.root / DELETING
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        return _journal(vault, json.loads(path.read_bytes()))
    except OSError as error:
        raise VaultError(f"{DELETING}: {reason_of(error)}", "make it readable, then try again") from error
    except (ValueError, KeyError, TypeError, RecursionError):
        return None


def forget_journal(vault: Vault) -> None:
    """Remove the journal: nothing is left to be done."""
    with files.append_errors(vault.root / DELETING, "removed"):
        (vault.root / DELETING).unlink(missing_ok=True)


def mark_notes(vault: Vault, journal: Archiving) -> None:
    """Set or remove the property `archived` of the notes. Notes that are gone are skipped. Can be repeated."""

    def edits_of(note: Note) -> list[Edit]:
        return archiving_edits(note, undo=journal.undo)

    for each in journal.notes:
        if (vault.root / each).is_file():
            vault.update(vault.root / each, edits_of)


def archiving_edits(note: Note, *, undo: bool) -> list[Edit]:
    """Return the edits that archive a note or, with `undo`, bring it back; none if it is so already."""
    if note.session.archived is not undo:
        return []
    return set_fields(note.source, note.session, {"archived": None if undo else True})


def _journal(vault: Vault, values: Mapping[str, object]) -> Journal:
    undo = values["undo"] is True
    if "entry" in values:
        return Deleting(str(values["entry"]), undo)
    notes = values["notes"]
    if not isinstance(notes, list):
        raise TypeError(DELETING)
    return Archiving(tuple(each for each in map(str, notes) if _is_session(vault, each)), undo)


def _is_session(vault: Vault, path: str) -> bool:
    if not is_inner_path(path) or path[-3:].lower() != ".md":
        return False
    with suppress(OutsideVault):  # through a symlink
        return files.inside(vault.root, vault.root / path).is_relative_to(os.path.realpath(vault.sessions))
    return False
