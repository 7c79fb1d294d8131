"""Whether a rename was killed and waits for its end."""

from __future__ import annotations

from collections.abc import Iterator

from crucible.doctor.findings import Finding, State
from crucible.vault.discovery import is_unfinished
from crucible.vault.rename_journal import journal_path, load_journal
from crucible.vault.store import Vault

__all__ = ["check_renames"]


def check_renames(vault: Vault) -> Iterator[Finding]:
    """The journal that a rename leaves when it does not come to its end; one that runs this moment has it too."""
    if not is_unfinished(vault.root):
        return
    journal = load_journal(vault)
    if journal is None:
        yield Finding(
            "rename", State.BAD, f"{journal_path(vault.root)} is no journal of a rename", "remove it"
        )
        return
    old, new = journal.ids
    what = f"the rename of {old} to {new} was interrupted; the next command that opens the vault finishes it"
    yield Finding("rename", State.BAD, what, f"cru session rename {old} {new}")
