"""Edit the files of other programs, which those write too: only a file that is still as it was read."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from crucible.core import files
from crucible.core.errors import UsageError, VaultError, reason_of


def changed(path: Path, edit: Callable[[str | None], str | None], folders: int = 0) -> bool:
    """Give a file the text that `edit` makes of its own; None is a file that is not there.  Whether anything changed."""
    old = load(path)
    with named(path):
        new = edit(old)
    if new == old:
        return False
    if new is None:
        _drop(path, folders)
    else:
        _save(path, new, old)
    return True


@contextmanager
def named(path: Path) -> Iterator[None]:
    """A fault in a text is a fault in its file."""
    try:
        yield
    except UsageError as error:
        raise VaultError(f"{path}: {error}", error.hint or "mend the file by hand; nothing was changed") from None


def load(path: Path) -> str | None:
    """The text, None for no file; `VaultError` for what is no UTF-8 or cannot be read."""
    try:
        if not stat.S_ISREG(path.stat().st_mode) and not path.is_dir():
            # A named pipe would keep us waiting for ever.
            raise VaultError(f"{path}: no regular file")
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError as error:
        raise VaultError(f"{path}: not UTF-8 at byte {error.start}", "save the file as UTF-8") from error
    except OSError as error:
        raise VaultError(f"{path}: {reason_of(error)}") from error


def _save(path: Path, text: str, old: str | None) -> None:
    """Write a file that is still as it was read: the client, and others, write it too."""
    # Settings are often a link into a folder of dotfiles: the file that it means is written.
    real = Path(os.path.realpath(path))
    try:
        real.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise VaultError(f"{path}: cannot be written: {reason_of(error)}") from error
    if old is None:
        files.create_exclusive(real, text.encode("utf-8"))
    else:
        files.write_atomic(real, text.encode("utf-8"), expected=old.encode("utf-8"))


def _drop(path: Path, folders: int) -> None:
    """Remove a file, and of the folders around it so many as are empty then."""
    try:
        Path(os.path.realpath(path)).unlink()
    except OSError as error:
        raise VaultError(f"{path}: cannot be removed: {reason_of(error)}") from error
    with suppress(OSError):  # the first one that holds something else stays
        for folder in list(path.parents)[:folders]:
            folder.rmdir()
