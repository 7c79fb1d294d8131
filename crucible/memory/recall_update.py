"""The background process that brings recall's index up to date, then ends.  It can be killed at any time.

One runs per vault: it looks for changed notes again before it ends, so a second process need not wait for it.
"""

from __future__ import annotations

import gc
import os
import sys
from contextlib import suppress
from pathlib import Path

from crucible.core.background import run_after_others
from crucible.core.errors import CrucibleError
from crucible.core.files import make_folders
from crucible.core.locks import hold
from crucible.core.settings.settings import load_user_settings, load_vault_settings
from crucible.core.settings.toml_scan import user_settings_path
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.vault.notes.vault import Vault

_LOCK = Path(".crucible", "cache", "recall-update", "lock")
_PATIENCE = 60.0
"""Seconds to wait for a query that is updating the index."""
_ROUNDS = 20
"""Maximum number of updates, if notes keep changing."""


def update_index(vault: Vault, near: str = "") -> None:
    """Update the index until it holds all notes, then the near words; does nothing if another process does this.

    `near` is the folder of the word vectors, or "".
    """
    path = vault.root / _LOCK
    make_folders(vault.root, path.parent)
    with hold(path, 0) as lock:
        recall = EmbeddedRecall(vault.root, vault.settings, items=ItemShelf(vault), near=near)
        for _ in range(_ROUNDS if lock else 0):
            if not recall.refresh(patience=_PATIENCE).changed:
                recall.update_near()
                break


def main(root: str) -> None:
    """Update the index of the vault at `root`.  Errors are left to the next query, which reports them."""
    run_after_others()
    gc.set_threshold(100_000, 10, 10)  # an index is built from many small values, none of which is in a cycle
    home = os.path.expanduser("~")
    with suppress(CrucibleError, OSError):
        user = load_user_settings(user_settings_path(os.environ, home), home)
        update_index(Vault(Path(root), load_vault_settings(root, user)), user.recall.near)


if __name__ == "__main__":
    main(sys.argv[1])
