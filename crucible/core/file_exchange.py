"""Swap two files atomically on systems that can: Linux (`renameat2`) and macOS (`renamex_np`)."""

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
    """Exchange the names of two files.  Returns False, and changes nothing, if the system cannot.

    Raises `FileNotFoundError` if one of them is missing.
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
    # For any other error (an old kernel, a network drive, a sandbox), the caller's ordinary rename either succeeds or
    # fails with the same error.
    return not refused


@cache
def _libc() -> ctypes.CDLL | None:
    """Return the C library; None if it lacks the call."""
    if not (sys.platform.startswith("linux") or sys.platform == "darwin"):
        return None
    import ctypes  # noqa: PLC0415

    try:
        libc = ctypes.CDLL(None, use_errno=True)
        return libc if getattr(libc, "renamex_np" if sys.platform == "darwin" else "renameat2") else None
    except (OSError, AttributeError):
        return None
