"""Report a rename that was interrupted."""

from __future__ import annotations

from collections.abc import Iterator

from crucible.core.errors import VaultError
from crucible.integrations.doctor.check_results import Finding, State
from crucible.vault.notes.discovery import is_unfinished
from crucible.vault.notes.rename_journal import journal_path, load_journal
from crucible.vault.notes.vault import Vault

__all__ = ["check_renames"]


def check_renames(vault: Vault) -> Iterator[Finding]:
    """Report the journal of an unfinished rename.  A rename that is running has one too."""
    if not is_unfinished(vault.root):
        return
    try:
        journal = load_journal(vault)
    except VaultError as error:
        yield Finding("rename", State.BAD, str(error), error.hint)
        return
    if journal is None:
        yield Finding("rename", State.BAD, f"{journal_path(vault.root)} is not a rename journal", "remove it")
        return
    old, new = journal.ids
    what = f"the rename of {old} to {new} was interrupted; the next command that opens the vault finishes it"
    yield Finding("rename", State.BAD, what, f"cru session rename {old} {new}")
