"""The pages of an exported site: the list of pages, what each depends on, and how to render it, redacted for sharing.

A page is rendered as for the live server.  Then its addresses, which begin with `/`, are made relative, so that the
site works from a folder and at any path of a web server.  A link to an address without a page becomes text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, is_dataclass, replace
from datetime import UTC, datetime
from functools import partial
from html import unescape
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import quote

from crucible import __version__
from crucible.core.file_stamps import digest_of, stamp_at
from crucible.core.patterns import late_pattern
from crucible.core.zones import in_zone
from crucible.documents.markdown.source import Source
from crucible.documents.session.session import Session
from crucible.memory.history.history_folder import HISTORY
from crucible.vault.events.event_files import archive_path, flight_folder, may_have_records
from crucible.vault.index.costs import NO_COST, Cost, costs_of
from crucible.vault.index.query import COST, UNPRICED, SessionQuery, select
from crucible.vault.index.schema import Row, View, path_of_cell
from crucible.vault.notes.vault import Note
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS, note_name
from crucible.web.call_details import ROOM_OF_PAGE
from crucible.web.note_pages import note_values, table_of, workflow_values
from crucible.web.overview_page import overview_values
from crucible.web.page_frame import ICON, SCRIPT, SEARCH, STYLE, Section, asset, page_frame, render_page
from crucible.web.session_entries import Level, Shown
from crucible.web.session_lines import session_line, show_cell_time
from crucible.web.session_page import Facts, session_html
from crucible.web.share_redaction import ShareRedaction
from crucible.web.shared_session import Contents, contents_of, redacted_report
from crucible.web.site_search import Entry, Part, depth_of, part_of
from crucible.web.web_vault import FOLDERS, SESSION_PAGES, WebVault, cost_note, show_cost

_FORMAT = 3
"""Increase this when rendering changes: a page's key does not depend on our code otherwise."""
_ON_A_PAGE = 200
"""Sessions on one page of the list."""
_LONGEST_NAME = 200
"""Maximum bytes of a page's name."""
_SECTIONS = (
    ("/", "Overview"),
    ("/sessions", "Sessions"),
    (f"/{WORKFLOWS}", "Workflows"),
    (f"/{CASES}", "Cases"),
    (f"/{KNOWLEDGE}", "Knowledge"),
    (f"/{HISTORY}", "History"),
)
_STATIC = "/static/"


class Made(NamedTuple):
    """A page as it was made: its HTML, what can be found on it, what it contains, and how its links were resolved."""

    html: str
    found: Entry | None = None
    contents: Contents = Contents()
    links: Mapping[str, str] = {}


class SitePage(NamedTuple):
    """A page: its path in the site, a key of all that it depends on (but its links), and how to make it.

    A page without a key is made each time.
    """

    path: str
    key: str
    make: Callable[[], Made]


class SitePages:
    """The pages of a vault, redacted for sharing at a level of detail."""

    def __init__(self, web: WebVault, level: Level, redaction: ShareRedaction, basis: object) -> None:
        """`basis` is everything else that affects how texts are redacted."""
        self._web, self._level, self._redaction = web, level, redaction
        self._rows, self._costs = web.ask(self._select)
        web.keep_links()
        self._notes = {
            f"/{folder}/{quote(note_name(path.name))}": (folder, path)
            for folder, notes in FOLDERS.items()
            for path in notes.paths(web.vault)
        }
        days = [str(in_zone(datetime(2026, month, 1, tzinfo=UTC), web.zone)) for month in (1, 7)]
        self.count = len(self._rows) + len(self._notes) + len(FOLDERS) + len(self._starts()) + 2
        """How many pages there are."""
        self._basis = (_FORMAT, __version__, level, days, web.prices.date, basis)
        self._paths = dict(self._place())
        self._by_redacted = {
            address: name
            for row in self._rows
            if (name := _address(row)) != (address := SESSION_PAGES + quote(redaction.text(str(row["id"]))))
        }
        sections = [Section(href, label) for href, label in _SECTIONS]
        self._frame = page_frame(assets=_STATIC)._replace(home="/", search="/search", sections=sections)

    def _select(self, view: View) -> tuple[Sequence[Row], Mapping[str, Cost]]:
        query = SessionQuery(children=self._level is not Level.USER)
        rows = [row for row in select(view, query) if row["unreadable"] is None]
        tops = [row for row in rows if row["parent"] is None]
        below = [row for row in rows if row["parent"] is not None]
        prices = self._web.prices
        return rows, costs_of(view, prices, tops) | costs_of(view, prices, below, children=True)

    # --- addresses ---------------------------------------------------------------------------------------------------

    def _place(self) -> Iterator[tuple[str, str]]:
        """Yield each address with its path in the site.  Paths differ also where case does not count."""
        yield from {"/": "index.html", "/sessions": "sessions.html", "/search": "search.html"}.items()
        yield from ((f"/{folder}", f"{folder}.html") for folder in FOLDERS)
        yield from ((_STATIC + name, f"static/{name}") for name in (STYLE, SCRIPT, ICON, SEARCH))
        yield from ((f"/sessions?start={at}", f"sessions-{at // _ON_A_PAGE + 1}.html") for at in self._starts())
        taken: set[str] = set()
        for row in reversed(self._rows):  # the oldest keep their names
            yield _address(row), f"sessions/{self._file_name('sessions', str(row['id']), taken)}"
        for address, (folder, path) in self._notes.items():
            yield address, f"{folder}/{self._file_name(folder, note_name(path.name), taken)}"

    def _starts(self) -> range:
        return range(_ON_A_PAGE, sum(row["parent"] is None for row in self._rows), _ON_A_PAGE)

    def _file_name(self, folder: str, name: str, taken: set[str]) -> str:
        plain = _UNSAFE.sub("-", self._redaction.text(name)).strip(". ") or "page"
        stem = plain.encode("utf-8", "replace")[:_LONGEST_NAME].decode("utf-8", "ignore")
        number, found = 1, stem
        while (key := f"{folder}/{found}".casefold()) in taken:
            number += 1
            found = f"{stem}-{number}"
        taken.add(key)
        return f"{found}.html"

    def address_of(self, target: str) -> str | None:
        """Return the address of the page that a link's target has on the site, or None."""
        found = self._web.page_of(target) or self._by_redacted.get(SESSION_PAGES + quote(target.rpartition("/")[2]))
        return found if found in self._paths else None

    # --- pages -------------------------------------------------------------------------------------------------------

    def pages(self) -> Iterator[SitePage]:
        """Yield all pages: first those of sessions and notes, newest first, then the lists."""
        for row in self._rows:
            path = self._paths[_address(row)]
            yield SitePage(path, self._key_of_session(row), partial(self._session, row, path))
        for address, (folder, file) in self._notes.items():
            path = self._paths[address]
            key = digest_of(self._basis, str(file), stamp_at(file))
            yield SitePage(path, key, partial(self._note, folder, file, path))
        yield SitePage("index.html", "", self._overview)
        for start in (0, *self._starts()):
            path = self._paths[f"/sessions?start={start}" if start else "/sessions"]
            yield SitePage(path, "", partial(self._list, start, path))
        for folder in FOLDERS:
            yield SitePage(f"{folder}.html", "", partial(self._folder, folder))

    def static_files(self, count: int) -> Iterator[tuple[str, bytes]]:
        """Yield the files that do not depend on notes: stylesheet, scripts, and the page for searching `count` pages."""
        for name in (STYLE, SCRIPT, ICON, SEARCH):
            yield f"static/{name}", asset(name).encode()
        values = {"title": "Search", "pages": count, "depth": depth_of(count)}
        html = self._html("site_search", "/search", "search.html", values)
        yield "search.html", html.encode()

    def _html(self, template: str, section: str, path: str, values: Mapping[str, object]) -> str:
        frame = self._frame.within(section)
        frame = frame._replace(search="") if section == "/search" else frame
        return localize(render_page(template, frame, **values), path, self._paths)

    def _shared(self, value: Any) -> Any:
        return self._redaction.value(value)

    def _overview(self) -> Made:
        values = {"title": "Overview", **self._shared(overview_values(self._web))}
        return Made(self._html("overview", "/", "index.html", values))

    def _list(self, start: int, path: str) -> Made:
        tops = [row for row in self._rows if row["parent"] is None]
        shown = [self._with_cost(row) for row in tops[start : start + _ON_A_PAGE]]
        lines = [self._shared(session_line(row, self._web)) for row in shown]
        more = f"start={start + _ON_A_PAGE}" if start + _ON_A_PAGE < len(tops) else ""
        values = {"title": "Sessions", "lines": lines, "hits": [], "error": "", "more": more}
        return Made(self._html("site_sessions", "/sessions", path, values))

    def _with_cost(self, row: Row) -> Row:
        cost = self._costs.get(str(row["path"]), NO_COST)
        return {**row, COST: cost.micros, UNPRICED: ", ".join(cost.unpriced) or None}

    def _folder(self, folder: str) -> Made:
        table = table_of(self._web, folder)._replace(wrong=())
        values = {"title": dict(_SECTIONS)[f"/{folder}"], "table": self._shared(table)}
        return Made(self._html("notes", f"/{folder}", f"{folder}.html", values))

    def _note(self, folder: str, file: Path, path: str) -> Made:
        found = self._web.vault.read(file)
        clean, links = self._redaction.text, _Asked(self.address_of)
        note = replace(found, source=Source(clean(_ESCAPED.sub(r"\1", found.source.text))))
        made = workflow_values(note, links, clean) if folder == WORKFLOWS else note_values(note, folder, links, clean)
        values = self._shared(made)
        html = self._html("workflow" if folder == WORKFLOWS else "note", f"/{folder}", path, values)
        words = part_of((values["title"], values["name"], note.source.text))
        return Made(html, Entry(path, values["title"], FOLDERS[folder].one, [words]), links=links.answers)

    # --- a session ---------------------------------------------------------------------------------------------------

    def _key_of_session(self, row: Row) -> str:
        root, name = self._web.vault.root, str(row["id"])
        cost = self._costs.get(str(row["path"]), NO_COST)
        return digest_of(self._basis, name, stamp_at(_file_of(row, root)), cost, _stamps_of_log(root, name))

    def _session(self, row: Row, path: str) -> Made:
        note: Note = self._web.vault.read(_file_of(row, self._web.vault.root))
        report = redacted_report(self._web, note.session, self._level, self._redaction, ROOM_OF_PAGE)
        cost = self._shared(self._costs.get(str(row["path"]), NO_COST))
        links = _Asked(self.address_of)
        shown = Shown(self._level, links, report.details)
        facts = Facts(self._web.zone, show_cost(cost), cost_note(cost))
        html = session_html(report.session, self._frame.within("/sessions"), shown, facts)
        session = report.session
        when = show_cell_time(row["started"], self._web.zone)
        line = " · ".join(filter(None, (when, session.project or "", "subagent" if row["parent"] else "")))
        found = Entry(path, session.title or session.id, line, [*_parts_of(session)])
        return Made(localize(html, path, self._paths), found, contents_of(report), links.answers)


class _Asked:
    """Resolves links, and remembers the answers."""

    def __init__(self, resolve: Callable[[str], str | None]) -> None:
        self._resolve = resolve
        self.answers: dict[str, str] = {}

    def __call__(self, target: str) -> str | None:
        if target not in self.answers:
            self.answers[target] = self._resolve(target) or ""
        return self.answers[target] or None


_UNSAFE = late_pattern(r"[\x00-\x1f\x7f/\\:*?\"<>|]")
_ESCAPED = late_pattern(r"(?<=\w)\\([_.+%-])(?=\w)")
"""An escape inside a word, which would split an address or a name, and is not needed there."""
_ADDRESSES = frozenset(("href", "src", "action"))
_TAG = late_pattern(r"<(?:a|form|link|script)\s[^<>]*>")
_ATTRIBUTE = late_pattern(r"""\s(?P<name>[\w-]+)(?:=(?:"(?P<quoted>[^"]*)"|(?P<bare>[^\s">]+)))?""")
"""Attributes are read one after the other, so that what looks like one inside a value is not changed."""


def localize(html: str, path: str, paths: Mapping[str, str]) -> str:
    """Make the addresses of the page at `path` relative.  `paths` maps addresses to paths in the site."""
    up = "../" * path.count("/")

    def attribute(found: re.Match[str]) -> str:
        value = found["quoted"] if found["quoted"] is not None else found["bare"] or ""
        if found["name"] not in _ADDRESSES or not value.startswith("/"):
            return found[0]
        address, mark, anchor = unescape(value).partition("#")
        target = paths.get(address)
        return "" if target is None else f' {found["name"]}="{quote(up + target)}{mark}{quote(anchor)}"'

    return _TAG.sub(lambda tag: _ATTRIBUTE.sub(attribute, tag[0]), html)


def _address(row: Row) -> str:
    return SESSION_PAGES + quote(str(row["id"]))


def _file_of(row: Row, root: Path) -> Path:
    return root / path_of_cell(str(row["path"]))


def _stamps_of_log(root: Path, name: str) -> object:
    """Return the stamps of a session's event log."""
    if not may_have_records(root, name):
        return []
    folder = flight_folder(root, name)
    files = sorted(folder.iterdir()) if folder.is_dir() else ()
    return [stamp_at(archive_path(root, name)), *((file.name, stamp_at(file)) for file in files)]


def _parts_of(session: Session) -> Iterator[Part]:
    """Yield what can be found on a session's page: its head, and its phases."""
    head = replace(session, phases=(), preamble=())
    yield part_of(_texts_in(head))
    if session.preamble:
        yield part_of(_texts_in(session.preamble), "preamble", "")
    for phase in session.phases:
        yield part_of(_texts_in(phase), phase.id, phase.name)


def _texts_in(value: object) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, Mapping):
        yield from _texts_of([*value.keys(), *value.values()])
    elif isinstance(value, tuple | list):
        yield from _texts_of(value)
    elif is_dataclass(value):
        yield from _texts_of(getattr(value, field.name) for field in fields(value))


def _texts_of(values: Iterable[object]) -> Iterator[str]:
    for value in values:
        yield from _texts_in(value)
