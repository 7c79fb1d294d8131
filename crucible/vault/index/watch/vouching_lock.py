"""Whether queries may ask the watcher, and the reason when they may not.

Owns the lock of the vault.  What queries read in it is `vouching`'s, what a yes needs `watching`'s.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from crucible.core.errors import VaultError
from crucible.vault.index.watch import vouching

__all__ = ["Warrant"]


class Warrant:
    """The right to watch the vault at `root`.  `VaultError` when another process has it.

    `reason` is why queries may not ask, "" when they may; every new one goes to `say`.
    """

    def __init__(self, root: Path, say: Callable[[str], None]) -> None:
        self.reason = ""
        self._root = root
        self._say = say
        self._said = {""}
        self._lock = _hold(root)

    def is_in_place(self) -> bool:
        """Whether the lock is still where queries look for it."""
        return self._lock.is_in_place()

    def renew(self) -> None:
        """Take the lock again, after somebody removed it."""
        before, self._lock = self._lock, _hold(self._root)
        before.release()

    def settle(self, reason: str, folder: str) -> None:
        """Let queries ask in that sessions folder; in none, with a reason or without a folder."""
        self.reason = reason
        if reason not in self._said:
            self._said.add(reason)
            self._say(reason)
        vouched = "" if reason or not folder else os.path.relpath(folder, self._root)
        self._lock.vouch_for(vouched)

    def release(self) -> None:
        """Leave the vault to other watchers."""
        self._lock.release()


def _hold(root: Path) -> vouching.Lock:
    lock = vouching.hold(str(root))
    if lock is None:
        raise VaultError(f"{root}: watched already by another `cru watch`", "one is enough: it serves every query")
    return lock
