"""The rename journal: the old and new paths of the note that is being renamed.

A vault may be untrusted, so paths outside the sessions folder are rejected.  `commands.rename` performs renames and
completes interrupted ones.
"""

from __future__ import annotations

import json
import os
from contextlib import suppress
from pathlib import Path, PurePosixPath
from typing import NamedTuple

from crucible.core import files
from crucible.core.errors import CrucibleError, VaultError
from crucible.documents.session.session_id import check_new_id
from crucible.vault.notes.discovery import RENAMING
from crucible.vault.notes.vault import Vault

_LARGEST = 1 << 16


class Journal(NamedTuple):
    """The note's paths before and after the rename, relative to the vault."""

    old: str
    new: str

    @property
    def ids(self) -> tuple[str, str]:
        """The session's ids before and after the rename."""
        return PurePosixPath(self.old).name.removesuffix(".md"), PurePosixPath(self.new).name.removesuffix(".md")


def journal_path(root: Path) -> Path:
    """Return the journal's path, whose lock is also the lock for renames."""
    return root / RENAMING


def keep_journal(vault: Vault, journal: Journal) -> None:
    """Write the journal.  Call this before changing anything."""
    data = json.dumps(journal._asdict()).encode()
    files.write_atomic(files.inside(vault.root, journal_path(vault.root)), data, fsync=vault.settings.fsync)


def load_journal(vault: Vault) -> Journal | None:
    """Return the unfinished rename.  None without a journal, or if it does not name two session notes in one folder.

    Raises `VaultError` if the journal cannot be read.
    """
    path = journal_path(vault.root)
    try:
        if path.is_symlink() or not path.is_file() or path.stat().st_size > _LARGEST:
            return None
        values = json.loads(path.read_bytes())
        journal = Journal(values["old"], values["new"])
        return journal if _is_sound(vault, journal) else None
    except OSError as error:
        raise VaultError(f"{RENAMING}: {error.strerror or error}", "make it readable, then try again") from error
    except (ValueError, KeyError, TypeError, RecursionError, CrucibleError):
        return None


def forget_rename(root: Path) -> None:
    """Delete the journal after the rename is complete."""
    with suppress(OSError):
        journal_path(root).unlink()


def _is_sound(vault: Vault, journal: Journal) -> bool:
    old, new = PurePosixPath(journal.old), PurePosixPath(journal.new)
    check_new_id(journal.ids[1])
    inside = files.inside(vault.root, vault.root / old.parent)
    return (
        old.parent == new.parent
        and old.suffix == new.suffix == ".md"
        and old != new
        and inside.is_relative_to(os.path.realpath(vault.sessions))
        and not any(part.startswith(".") for part in old.parts)
    )
