"""Files of a project's folder, as far as a briefing may read them.

Owns that nothing outside the folder is read, whatever a path or a symlink says, that nobody is waited for, and that a file is text and is read to
an end of its own.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path, PurePosixPath

__all__ = ["LARGEST", "find_files", "read_text"]

LARGEST = 64 * 1024
"""Bytes that are read of one file."""
MOST_FILES = 20
"""Files that are read of all that were asked for."""

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)


def read_text(folder: Path, name: str, largest: int = LARGEST) -> str | None:
    """The beginning of a text file of the folder; None for one that is not there, lies elsewhere, or is no text."""
    path = _inside(folder, name)
    if path is None:
        return None
    try:
        descriptor = os.open(path, _FLAGS)
        with os.fdopen(descriptor, "rb") as file:
            if not stat.S_ISREG(os.fstat(descriptor).st_mode):
                return None
            data = file.read(largest + 1)
    except OSError:
        return None
    if b"\0" in data:
        return None
    try:
        # What is cut may end in the middle of a letter.
        return data[:largest].decode("utf-8-sig", "ignore" if len(data) > largest else "strict")
    except UnicodeDecodeError:
        return None


def find_files(folder: Path, named: Iterable[str]) -> Iterator[str]:
    """The files that are meant, seen from the folder: each that is named, and of a named folder those in it, by name; none twice."""
    told: set[str] = set()
    for one in chain.from_iterable(_files_of(folder, name) for name in named):
        if one not in told:
            told.add(one)
            yield one
        if len(told) >= MOST_FILES:
            return


def _files_of(folder: Path, name: str) -> Iterable[str]:
    path = _inside(folder, name)
    if path is None or not path.is_dir():
        return [name]
    try:
        found = sorted(os.listdir(path))
    except OSError:
        return [name]
    inner = (PurePosixPath(name, one).as_posix() for one in found if not one.startswith("."))
    return (one for one in inner if (real := _inside(folder, one)) and real.is_file())


def _inside(folder: Path, name: str) -> Path | None:
    """Where it really lies, when that is in the folder."""
    if not name or "\0" in name or os.path.isabs(name):
        return None
    top = Path(os.path.realpath(folder))
    real = Path(os.path.realpath(top / name))
    return real if real.is_relative_to(top) else None
