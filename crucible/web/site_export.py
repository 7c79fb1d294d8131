"""Export a vault as a static site: render the pages that changed, summarize the site, and write them.

Nothing is written before the user has seen the summary: pages wait in a temporary file without a name.
"""

from __future__ import annotations

import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from tempfile import SpooledTemporaryFile, gettempdir
from typing import NamedTuple, Self

from crucible.core.errors import CrucibleError
from crucible.core.files import write_errors
from crucible.web.share_redaction import ShareRedaction, Taken
from crucible.web.shared_session import Contents
from crucible.web.site_folder import PageRow, SiteFolder, digest_of_bytes
from crucible.web.site_pages import SitePage, SitePages
from crucible.web.site_search import FOLDER as SEARCH_FOLDER
from crucible.web.site_search import index_files

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
