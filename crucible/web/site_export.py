"""Export a vault as a static site: render the pages that changed, summarize the site, and write them.

The site's folder has a manifest of its pages; writes and removals never leave the folder.

Nothing is written before the user has seen the summary: pages wait in a temporary file without a name.
"""

from __future__ import annotations

import os
import zlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from stat import S_ISREG
from tempfile import SpooledTemporaryFile, gettempdir
from typing import NamedTuple, Self

import orjson

from crucible.core.errors import CrucibleError, UsageError
from crucible.core.files import write_atomic, write_errors
from crucible.core.locks import hold
from crucible.core.patterns import late_pattern
from crucible.core.quick_imports import sha256
from crucible.web.share_redaction import ShareRedaction, Taken
from crucible.web.shared_session import Contents
from crucible.web.site_pages import SitePage, SitePages
from crucible.web.site_search import FOLDER as SEARCH_FOLDER
from crucible.web.site_search import Entry, Part, index_files

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


_IN_MEMORY = 64 * 1024 * 1024
"""Bytes of compressed pages that wait in memory; more wait on the disk."""


class Summary(NamedTuple):
    """What is in a site: pages of sessions, other pages, and what is in the sessions; and what an export changes."""

    sessions: int
    others: int
    contents: Contents
    taken: Taken
    written: int
    removed: int


class Export:
    """An export that is rendered but not written yet."""

    def __init__(self, folder: SiteFolder, on_error: Callable[[CrucibleError], None]) -> None:
        self._folder = folder
        self._on_error = on_error
        self._waiting = SpooledTemporaryFile(max_size=_IN_MEMORY)  # noqa: SIM115  lives as long as this object
        self._places: dict[str, tuple[int, int]] = {}
        self.rows: dict[str, PageRow] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._waiting.close()

    def make(self, pages: SitePages, redaction: ShareRedaction) -> Iterator[int]:
        """Render all pages that changed; yields the number of each page, for a progress bar."""
        for number, page in enumerate(pages.pages(), 1):
            old = self._folder.rows.get(page.path)
            if old is not None and self._is_current(old, page, pages):
                self.rows[page.path] = old
            else:
                self._make_page(page, redaction)
            yield number
        found = [row.found for row in self.rows.values() if row.found]
        for path, data in pages.static_files(len(found)):
            self._keep(PageRow(path), data)
        if not self._has_same_index():
            for path, data in index_files(found):
                self._keep(PageRow(path), data)

    def _is_current(self, old: PageRow, page: SitePage, pages: SitePages) -> bool:
        """Return whether a page and the pages that it links to have not changed."""
        is_same = page.key != "" and old.key == page.key and self._folder.has(page.path)
        return is_same and all((pages.address_of(one) or "") == address for one, address in old.links.items())

    def _make_page(self, page: SitePage, redaction: ShareRedaction) -> None:
        redaction.take()
        try:
            made = page.make()
        except CrucibleError as error:
            self._on_error(error)
            return
        taken = redaction.take()
        row = PageRow(page.path, page.key, "", -1, made.links, made.found, made.contents, *taken)
        self._keep(row, made.html.encode("utf-8", "replace"))

    def _keep(self, row: PageRow, data: bytes) -> None:
        """Keep a file for writing, unless it is there already."""
        row = row._replace(digest=digest_of_bytes(data), size=len(data))
        old = self._folder.rows.get(row.path)
        if old is None or old.digest != row.digest or not self._folder.has(row.path):
            packed = zlib.compress(data, 1)
            with write_errors(Path(gettempdir())):
                self._places[row.path] = (self._waiting.tell(), len(packed))
                self._waiting.write(packed)
        self.rows[row.path] = row

    def _has_same_index(self) -> bool:
        """Keep the search index if no searchable text has changed."""
        old = {path: row for path, row in self._folder.rows.items() if path.startswith(f"{SEARCH_FOLDER}/")}
        found = [row.found for row in self.rows.values() if row.found]
        before = [row.found for path in self.rows if (row := self._folder.rows.get(path)) and row.found]
        number = sum(row.found is not None for row in self._folder.rows.values())
        is_same = found == before and len(found) == number and all(map(self._folder.has, old))
        self.rows |= old if is_same else {}
        return is_same and bool(old)

    # --- the summary, and writing --------------------------------------------------------------------------------------

    @property
    def _removed(self) -> Sequence[str]:
        return [path for path in self._folder.rows if path not in self.rows]

    def summary(self) -> Summary:
        """Return what is in the whole site."""
        redacted: Counter[str] = Counter()
        private: dict[str, Counter[str]] = {}
        for row in self.rows.values():
            redacted.update(row.redacted)
            for kind, names in row.private.items():
                private.setdefault(kind, Counter()).update(names)
        sessions = [row for path, row in self.rows.items() if path.startswith("sessions/")]
        sums = Contents(*(map(sum, zip(*(row.contents for row in sessions), strict=True)) if sessions else ()))
        others = sum(path.endswith(".html") for path in self.rows) - len(sessions)
        return Summary(len(sessions), others, sums, Taken(redacted, private), len(self._places), len(self._removed))

    def write(self) -> None:
        """Write what changed, and remove pages without a session or a note."""
        removed = self._removed
        with self._folder.writing():
            pending: Mapping[str, PageRow] = {path: PageRow(path) for path in (*removed, *self._places)}
            if pending:
                self._folder.save(({**self.rows, **pending}).values())
            for path, (start, length) in self._places.items():
                self._waiting.seek(start)
                self._folder.write(path, zlib.decompress(self._waiting.read(length)))
            for path in removed:
                self._folder.remove(path)
            if pending or self._has_new_keys():
                self._folder.save(self.rows.values())

    def _has_new_keys(self) -> bool:
        """Return whether a page has the same bytes, but depends on something else now."""
        old = self._folder.rows
        return any(path not in old or old[path].key != row.key for path, row in self.rows.items())
