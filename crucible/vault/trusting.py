"""Keeping what a user accepted of a vault: the record beside the user's own settings, and never in the vault.

Owns writing it.  Reading it, and what can be accepted, is `crucible.trust`'s.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crucible.errors import VaultError, reason_of
from crucible.settings import UserSettings
from crucible.trust import Ask, is_inside, record_line
from crucible.vault import files

__all__ = ["keep_accepted"]


def keep_accepted(user: UserSettings, root: str, asks: Iterable[Ask]) -> bool:
    """Replace what `user` accepted of the vault at `root`, a real path, by `asks`; whether that changed anything.

    Raises `VaultError` where there is no place for it, and `NoteChanged` when another process wrote the record meanwhile.
    """
    path = _path(user, root)
    try:
        old = path.read_bytes() if path.exists() else b""
        before = old.decode("ascii").splitlines()
        after = [line for line in before if line.split(" ", 2)[2:] != [ascii(root)]]
        after += [record_line(ask, root) for ask in asks if not ask.fault]
        if after == before:
            return False
        path.parent.mkdir(parents=True, exist_ok=True)
        data = "".join(f"{line}\n" for line in after).encode("ascii")
        if path.exists():
            files.write_atomic(path, data, expected=old)
        else:
            files.create_exclusive(path, data)
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: not written by `cru trust`", "move it away") from error
    except OSError as error:
        raise VaultError(f"{path}: {reason_of(error)}") from error
    return True


def _path(user: UserSettings, root: str) -> Path:
    hint = "let CRUCIBLE_CONFIG name a file outside of the vault, or unset it"
    if not user.trusted:
        raise VaultError("nothing can be accepted without settings of your own", hint)
    if is_inside(user.trusted, root):
        raise VaultError(f"{user.trusted}: what you accept cannot be kept in the vault itself", hint)
    return Path(user.trusted).resolve()
