"""The folder of an exported site: a manifest of its pages, and writes and removals that never leave the folder.

The manifest is written before the pages, and again after them.  So an interrupted export is still an export, and the
next one finishes it.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from typing import NamedTuple

import orjson

from crucible.core.errors import UsageError
from crucible.core.files import write_atomic, write_errors
from crucible.core.locks import hold
from crucible.core.patterns import late_pattern
from crucible.core.quick_imports import sha256
from crucible.web.shared_session import Contents
from crucible.web.site_search import Entry, Part

_OWN = ".crucible-site"
"""The folder of the manifest and the lock."""
_HARMLESS = {_OWN, ".git", ".nojekyll", ".DS_Store"}
"""What a new folder may contain."""
_VERSION = 1
_PATH = late_pattern(r"(?:[a-z]+/)?[^/\x00-\x1f\\]+\.(?:html|css|js|svg)")
"""The paths of files of a site: in it or in a folder of it."""


class PageRow(NamedTuple):
    """A file's entry in the manifest.

    `key` stands for all that a page depends on but its links, "" if the page is made each time; `digest` for its bytes.
    `size` is their number.  The rest is what the page contributes to the search and to the summary before the next export.
    """

    path: str
    key: str = ""
    digest: str = ""
    size: int = -1
    links: Mapping[str, str] = {}
    found: Entry | None = None
    contents: Contents = Contents()
    redacted: Mapping[str, int] = {}
    private: Mapping[str, Mapping[str, int]] = {}


def digest_of_bytes(data: bytes) -> str:
    """Return the digest of a file."""
    return sha256(data).hexdigest()[:32]


class SiteFolder:
    """A folder for a site.  Raises `UsageError` if it has other files."""

    def __init__(self, root: Path) -> None:
        self.root = Path(os.path.realpath(root))
        if os.path.lexists(self.root) and not self.root.is_dir():
            raise UsageError(f"{root}: not a folder", "choose another folder")
        own = self.root / _OWN
        if own.is_symlink():
            raise UsageError(f"{own}: a link; nothing outside the site is written", "remove it")
        self._manifest = own / "pages.jsonl"
        self._text = self._read()
        if not self._text and self.root.is_dir() and {*os.listdir(self.root)} - _HARMLESS:
            raise UsageError(f"{root}: not empty, and not a site of cru", "choose a new or empty folder")
        self.rows = {row.path: row for row in _rows_in(self._text)}

    def _read(self) -> bytes:
        try:
            return self._manifest.read_bytes()
        except OSError:
            return b""

    def has(self, path: str) -> bool:
        """Return whether a file has the size that was written: after a crash of the machine, files may have lost their bytes."""
        try:
            found = (self.root / path).stat()
        except OSError:
            return False
        return S_ISREG(found.st_mode) and found.st_size == self.rows[path].size

    @contextmanager
    def writing(self) -> Iterator[None]:
        """Hold the folder's lock.  Raises `UsageError` if another export writes or has just written."""
        with write_errors(self.root):
            (self.root / _OWN).mkdir(parents=True, exist_ok=True)
            with hold(self.root / _OWN / "lock", 0) as lock:
                if lock is None or self._read() != self._text:
                    raise UsageError(f"{self.root}: another export is writing here", "run the command again")
                self._remove_leftovers()
                yield

    def _remove_leftovers(self) -> None:
        """Remove temporary files of killed exports."""
        for folder in {self._manifest.parent, *((self.root / path).parent for path in self.rows)}:
            if not folder.is_symlink():
                for file in folder.glob(".crucible-*.tmp"):
                    with suppress(OSError):
                        file.unlink()

    def save(self, rows: Iterable[PageRow]) -> None:
        """Write the manifest."""
        lines = [{"crucible_site": _VERSION}, *(row._asdict() for row in sorted(rows, key=lambda row: row.path))]
        self._text = b"".join(orjson.dumps(line, list, orjson.OPT_APPEND_NEWLINE) for line in lines)
        write_atomic(self._manifest, self._text)

    def write(self, path: str, data: bytes) -> None:
        """Replace a file of the site.  Raises `UsageError` for one that no export has written."""
        target = self._target(path)
        if path not in self.rows and os.path.lexists(target):
            raise UsageError(f"{target}: not written by an export", "move the file away, then run the command again")
        with write_errors(target):
            target.parent.mkdir(exist_ok=True)
        write_atomic(target, data, fsync=False)

    def remove(self, path: str) -> None:
        """Remove a file of the site, and its folder if that is empty now."""
        target = self._target(path)
        with write_errors(target):
            target.unlink(missing_ok=True)
        if target.parent != self.root:
            with suppress(OSError):
                target.parent.rmdir()

    def _target(self, path: str) -> Path:
        """Return the place of a file.  Raises `UsageError` for a path that leads out of the folder."""
        target = self.root / path
        if not _is_path(path) or target.parent.is_symlink():
            raise UsageError(f"{target}: not in the site", f"remove {self.root}, and export to a new folder")
        return target


def _is_path(path: str) -> bool:
    return _PATH.fullmatch(path) is not None and ".." not in path.split("/")


def _rows_in(text: bytes) -> Iterator[PageRow]:
    """Yield the rows of a manifest; a line that cannot be read is skipped, and its page is written again."""
    for line in text.split(b"\n")[1:]:
        with suppress(orjson.JSONDecodeError, TypeError, KeyError, ValueError, AttributeError):
            row = PageRow(**orjson.loads(line))
            entry = row.found and Entry(row.found[0], row.found[1], row.found[2], _parts(row.found[3]))
            if _is_path(row.path):
                yield row._replace(found=entry, contents=Contents(*row.contents))


def _parts(rows: Iterable[Sequence[str]]) -> list[Part]:
    return [Part(*row) for row in rows]
