"""Swap two files in one step, where the system can: Linux's `renameat2`, macOS's `renamex_np`."""

from __future__ import annotations

import errno
import os
import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import ctypes


_AT_FDCWD, _RENAME_EXCHANGE, _RENAME_SWAP = -100, 2, 2


def exchange(one: Path, other: Path) -> bool:
    """Each file has the other's name afterwards; False, and nothing changed, when the system cannot.

    Raises FileNotFoundError when one of them is gone.
    """
    libc = _libc()
    if libc is None:
        return False
    import ctypes  # noqa: PLC0415  only writers need it

    names = os.fsencode(one), os.fsencode(other)
    if sys.platform == "darwin":
        refused = libc.renamex_np(*names, _RENAME_SWAP)
    else:
        refused = libc.renameat2(_AT_FDCWD, names[0], _AT_FDCWD, names[1], _RENAME_EXCHANGE)
    if refused and ctypes.get_errno() == errno.ENOENT:
        raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), str(other))
    # Any other reason (an old kernel, a network drive, a sandbox) is met again by an ordinary rename, or is no matter.
    return not refused


@cache
def _libc() -> ctypes.CDLL | None:
    """The C library, when it has the call."""
    if not (sys.platform.startswith("linux") or sys.platform == "darwin"):
        return None
    import ctypes  # noqa: PLC0415

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc if getattr(libc, "renamex_np" if sys.platform == "darwin" else "renameat2") else None
    except (OSError, AttributeError):
        return None
