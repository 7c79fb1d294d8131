"""Write the record of what the user accepted; it is beside the user's own settings, never in the vault.

`crucible.core.settings.trust` reads it, and says what can be accepted.
"""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from crucible.core import files
from crucible.core.errors import VaultError, reason_of
from crucible.core.settings.settings import UserSettings
from crucible.core.settings.trust import Ask, is_inside, record_line


def keep_accepted(user: UserSettings, root: str, asks: Iterable[Ask]) -> bool:
    """Replace what `user` accepted for the vault at `root`, a real path, with `asks`; return whether that changed anything.

    Raises `VaultError` if there is no place for the record, and `NoteChanged` if another process wrote it meanwhile.
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
    hint = "set CRUCIBLE_CONFIG to a file outside the vault, or unset it"
    if not user.trusted:
        raise VaultError("cannot keep what you accept: you have no settings file", hint)
    if is_inside(user.trusted, root):
        raise VaultError(f"{user.trusted}: what you accept cannot be kept inside the vault", hint)
    return Path(user.trusted).resolve()
