"""Near words: for a stem, the stems of the vault with a similar meaning, from a table made of a model's word vectors.

The table is a cache beside recall's index.  It is read once, and a question needs neither the model nor numpy.
"""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Mapping
from contextlib import suppress
from pathlib import Path

NEAR_TABLE = "near.txt"
"""The table's name in the folder of the index: a line with its source, then for each stem, in order, a line with the
stem and its near stems, each followed by its similarity."""
INDEX_FOLDER = (".crucible", "cache", "recall")
"""The folder of the index in a vault."""
HEAD = "!"
"""The stem of the first line: no word sorts before it."""

_LARGEST = 64_000_000
_READ = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0)

FindNear = Callable[[str], Mapping[str, float]]
"""Returns the near stems of a stem with their similarity, from 0 to 1."""


def no_near(stem: str) -> Mapping[str, float]:
    """Return no near words."""
    del stem
    return {}


def near_table_path(root: str) -> Path:
    """Return the path of the table of the vault at `root`."""
    return Path(root, *INDEX_FOLDER, NEAR_TABLE)


class NearTable:
    """The table at a path, or an empty one if there is none.  It is read when the first word is looked up."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._data: bytes | None = None

    def head(self) -> tuple[str, ...]:
        """Return what the table was made of; empty if there is no table."""
        return self._line(HEAD)

    def near(self, stem: str) -> Mapping[str, float]:
        """Return the near stems of a stem, and their similarity."""
        found = {}
        with suppress(ValueError):  # a table that a user edited
            for one in self._line(stem) if stem > HEAD else ():
                word, _, similarity = one.rpartition(":")
                found[word] = min(max(float(similarity), 0.0), 1.0)
        return found

    def forget(self) -> None:
        """Read the table again at the next look-up."""
        self._data = None

    def _line(self, stem: str) -> tuple[str, ...]:
        """Return the values of a stem's line, by bisection."""
        if self._data is None:
            self._data = _bytes_of(self._path)
        data, wanted = self._data, stem.encode("utf-8", "replace")
        low, high = 0, len(data)
        while low < high:
            start = data.rfind(b"\n", low, (low + high) // 2) + 1 or low
            end = data.find(b"\n", start)
            end = high if end < 0 else end
            key, _, values = data[start:end].partition(b"\t")
            if key == wanted:
                return tuple(values.decode("utf-8", "replace").split("\t"))
            low, high = (end + 1, high) if key < wanted else (low, start)
        return ()


def _bytes_of(path: Path) -> bytes:
    try:
        descriptor = os.open(path, _READ)
        with os.fdopen(descriptor, "rb") as file:
            return file.read(_LARGEST) if stat.S_ISREG(os.fstat(descriptor).st_mode) else b""
    except OSError:
        return b""
