"""Read a vault for its pages: index rows, notes, links between pages, and recall.  Nothing is written to a note."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime, tzinfo
from math import inf
from pathlib import Path
from subprocess import DEVNULL, run
from threading import Lock, Thread
from typing import NamedTuple, TypeVar
from urllib.parse import quote

from crucible.core.errors import CrucibleError, SessionNotFound, UnknownId, UsageError
from crucible.core.prices.price_list import PriceList
from crucible.core.text import dollars
from crucible.documents.session.session import Session
from crucible.memory.history.history_folder import HISTORY
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import MOST, Answer, Question
from crucible.vault.index.costs import NO_COST, Cost, session_usage, total_cost
from crucible.vault.index.index import Index
from crucible.vault.index.query import find_row
from crucible.vault.index.schema import View, path_of_cell
from crucible.vault.notes.links import LinkTable
from crucible.vault.notes.note_folder import FolderNotes
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import CASES, KNOWLEDGE, WORKFLOWS, note_name
from crucible.web.session_entries import Report

T = TypeVar("T")

FOLDERS = {
    WORKFLOWS: FolderNotes(WORKFLOWS, "workflow", "workflows", "cru workflow list"),
    CASES: FolderNotes(CASES, "case", "cases", "cru case list"),
    KNOWLEDGE: FolderNotes(KNOWLEDGE, "knowledge item", "knowledge items", "cru knowledge list"),
    HISTORY: FolderNotes(HISTORY, "history", "histories", "cru history list"),
}
"""The folders whose notes have pages, besides sessions.  A page's address begins with the folder."""

SESSION_PAGES = "/sessions/"
_KEPT_NOTES = 3
_LONGEST_ID = 252
"""Maximum bytes of a file's name, without its ending."""
_FRESH = 10.0
"""Seconds for which the table of links is used without looking at the disk again."""


class WebSettings(NamedTuple):
    """The user's time zone, the clock and the prices, passed in by the command."""

    zone: tzinfo | None
    now: Callable[[], datetime]
    prices: PriceList


class WebVault:
    """A vault and its index, for one server.  Requests run in several threads, so each question holds a lock."""

    def __init__(self, vault: Vault, settings: WebSettings) -> None:
        self.vault = vault
        self.zone = settings.zone
        self.now = settings.now
        self.prices = settings.prices
        self._index = Index(vault.root, vault.settings)
        self._lock = Lock()
        self._links: tuple[float, LinkTable] | None = None
        self._kept: dict[str, tuple[str, object]] = {}
        self._notes: list[Note] = []
        self._building: Thread | None = None

    def ask(self, question: Callable[[View], T]) -> T:
        """Answer a question about the index, which is updated first."""
        with self._lock:
            return self._index.ask(question)[0]

    def remember(self, name: str, question: Callable[[View], T]) -> T:
        """Like `ask`, but the answer is cached until the index changes."""

        def answer(view: View) -> T:
            kept = self._kept.get(name)
            if kept is None or kept[0] != self._index.used:
                kept = self._kept[name] = (self._index.used, question(view))
            return kept[1]  # type: ignore[return-value]  # the same question has the same name

        return self.ask(answer)

    # --- notes -------------------------------------------------------------------------------------------------------

    def session(self, ref: str) -> Note:
        """Read a session's note by its id.  Raises `SessionNotFound`."""
        if not ref or "/" in ref or ref.startswith(".") or len(ref.encode("utf-8", "replace")) > _LONGEST_ID:
            raise SessionNotFound(f'no session matches "{ref}"')
        usual = self.vault.sessions / f"{ref}.md"
        note = self.vault.read(usual if usual.is_file() else self.vault.find(ref))
        kept = next((one for one in self._notes if (one.path, one.stamp) == (note.path, note.stamp)), note)
        # A note is parsed once, however many parts of its page are asked for.
        self._notes = [kept, *(one for one in self._notes if one.path != note.path)][:_KEPT_NOTES]
        return kept

    def subagents(self, session: Session) -> Mapping[str, Report]:
        """Read the notes of a session's subagents; unreadable ones are skipped."""
        found: dict[str, Report] = {}
        for ref in session.subagents:
            with suppress(CrucibleError):
                found[ref.session] = Report(self.session(ref.session).session)
        return found

    def note(self, folder: str, name: str) -> Note:
        """Read a note of one of `FOLDERS` by its name.  Raises `UnknownId`."""
        paths = {note_name(path.name): path for path in FOLDERS[folder].paths(self.vault)}
        if name not in paths:
            raise UnknownId(f'no {FOLDERS[folder].one} matches "{name}"')
        return self.vault.read(paths[name])

    def cost(self, session: Session) -> Cost:
        """Return the list price of a session and its subagents."""

        def cost_in(view: View) -> Cost:
            with suppress(CrucibleError):
                return total_cost(session_usage(view, self.prices, find_row(view, session.id)))
            return NO_COST

        return self.ask(cost_in)

    # --- links -------------------------------------------------------------------------------------------------------

    def page_of(self, target: str) -> str | None:
        """Return the address of the page that a link's target has, or None."""
        path = self._table().resolve(target).path
        return page_address(path, self.vault.settings.sessions) if path else None

    def _table(self) -> LinkTable:
        now = time.monotonic()
        kept = self._links
        if kept is None or now - kept[0] > _FRESH:
            paths = [*self.ask(lambda view: [*_session_paths(view)])]
            for folder in FOLDERS.values():
                paths += map(self.vault.relative, folder.paths(self.vault))
            kept = self._links = (now, LinkTable(paths))
        return kept[1]

    def keep_links(self) -> None:
        """Use the table of links as it is now, until `forget_links`."""
        self._links = (inf, self._table())

    def forget_links(self) -> None:
        """Read the table of links again when it is next needed."""
        self._links = None

    # --- recall ------------------------------------------------------------------------------------------------------

    def prepare_recall(self) -> None:
        """Build recall's index in a process of its own, whose memory the server need not keep."""
        self._building = Thread(target=self._build_index, daemon=True)
        self._building.start()

    def _build_index(self) -> None:
        command = [sys.executable, "-P", "-m", "crucible.memory.recall_update", str(self.vault.root)]
        with suppress(OSError):  # then the first question builds it
            run(command, stdin=DEVNULL, stdout=DEVNULL, stderr=DEVNULL, check=False)

    def recall(self, text: str) -> Answer:
        """Search sessions and knowledge by words."""
        if not text.strip():
            raise UsageError("no query")
        if self._building:
            self._building.join()
        with self._lock:
            engine = EmbeddedRecall(self.vault.root, self.vault.settings, items=ItemShelf(self.vault))
            return engine.ask(Question(text, limit=MOST, context=0), self.now())


def _session_paths(view: View) -> Iterator[str]:
    return (path_of_cell(str(row["path"])) for row in view.rows("sessions"))


def page_address(path: str, sessions: str) -> str | None:
    """Return the address of a note's page by its path in the vault, or None if it has none."""
    folder, name = path.split("/", 1)[0], note_name(Path(path).name)
    if path.startswith(f"{sessions}/"):
        return SESSION_PAGES + quote(name)
    return f"/{folder}/{quote(name)}" if folder in FOLDERS and "/" in path else None


def show_cost(cost: Cost) -> str:
    """Return a cost as text; "" if nothing has a price."""
    return "" if cost.micros is None else dollars(cost.micros)


def cost_note(cost: Cost) -> str:
    """Return what a cost is, and which models are unpriced."""
    missing = ", ".join(sorted(cost.unpriced))
    return f"list price{f'; unpriced: {missing}' if missing else ''}"
