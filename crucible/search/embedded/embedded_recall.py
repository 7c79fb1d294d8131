"""Search in this process, over the index in `.crucible/cache/recall/`.

Each question updates the index, opens it, searches, ranks, and reads the texts of the hits from the notes. If the
index cannot be written (a read-only vault, a full disk), it is built in a temporary folder for this process.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime
from functools import partial
from math import log, sqrt
from pathlib import Path
from typing import NamedTuple, TypeVar
from weakref import finalize

from crucible.core.errors import IndexBroken, reason_of
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.hits import EventCache, EventReader, hits_of, session_hits
from crucible.search.embedded.index_update import IndexSource, IndexState, Progress, refresh
from crucible.search.embedded.note_changes import NoteChanges
from crucible.search.embedded.ranking import (
    SESSIONS,
    Finds,
    find_events,
    rank_finds,
)
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.recall_manifest import ITEM, RecallManifest
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import (
    Match,
    Searchers,
    best,
    count_stems,
    load_cards,
    open_searchers,
    sought_of,
)
from crucible.search.question_words import read_question, spoken, words_in
from crucible.search.recall import NO_ITEMS, Answer, Event, EventKind, ItemCatalog, Question
from crucible.search.session_cards import Card

CANDIDATES = 30
"""Items that are compared."""


def candidates_for(searchers: Searchers, text: str) -> list[Match]:
    """The items that have most of a text's words."""
    # Quotes, minus signs and colons of a text are no operators.
    said = " ".join(words_in(spoken(text)))
    question = Question(said, kinds=frozenset({EventKind.KNOWLEDGE}))
    asked = read_question(said)
    return best(searchers, "events", sought_of(asked, question), CANDIDATES) if asked.words else []


def _words(text: str) -> list[str]:
    """The words of a text as the index has them, each once."""
    return list(dict.fromkeys(analyze(spoken(text))))


def alike_to(searchers: Searchers, text: str, items: Iterable[Event]) -> list[tuple[str, float]]:
    """Each item's id and how alike it is, from 0 to 1, the likest first."""
    mine = frozenset(_words(text))
    weights = dict.fromkeys(mine, 0.0)
    found = []
    for item in items:
        theirs = frozenset(_words(f"{item.title}\n{item.text}"))
        _weigh(searchers, theirs | mine, weights)
        found.append((item.id, _cosine(mine, theirs, weights)))
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _weigh(searchers: Searchers, words: Iterable[str], weights: dict[str, float]) -> None:
    searcher = searchers.sides["events"]
    for word in words:
        if not weights.get(word):
            weights[word] = log(1 + (searcher.num_docs + 1) / (searcher.doc_freq("text", word) + 1)) ** 2


def _cosine(one: frozenset[str], other: frozenset[str], weights: Mapping[str, float]) -> float:
    def size(words: Iterable[str]) -> float:
        return sum(weights[word] for word in words)

    return size(one & other) / sqrt(size(one) * size(other)) if one and other else 0.0


T = TypeVar("T")

_ATTEMPTS = 10
_PAUSE = 0.02
"""Seconds, times the attempt: so long a writer may be between two files that belong together."""
_LOOK = 0.1
"""Seconds between two looks at how far the first index is."""
_DOUBTED = 3
"""Attempts after which an unchanged index that cannot be read is rebuilt."""


class IndexFigures(NamedTuple):
    """What an index holds: notes and items, events, bytes of text that they were made from, and bytes of its files."""

    notes: int
    events: int
    text: int
    size: int


def _told_of(state: IndexState) -> str:
    if state.manifest.whole:
        return f"{state.behind} changed notes are not searched yet: another process is indexing them"
    total = len(state.manifest.rows) + state.behind
    return f"{state.behind} of {total} notes are not searched yet: another process is making the first index"


def open_embedded(
    root: Path,
    settings: VaultSettings,
    *,
    shelf: ItemCatalog = NO_ITEMS,
    progress: Progress | None = None,
) -> EmbeddedRecall:
    """Open search over the vault at `root`; nothing is read or written before the first question.

    `shelf` has the items of knowledge; `progress` gets how many notes of how many were read.
    """
    real = os.path.realpath(root)
    return EmbeddedRecall(IndexSource(real, settings, NoteChanges(real, settings), shelf), progress)


class EmbeddedRecall:
    """Fulfils `model.Recall`.  Not for several threads at once."""

    def __init__(self, source: IndexSource, progress: Progress | None = None) -> None:
        """Use `open_embedded`."""
        self._source = source
        self._progress = progress
        self._store = RecallStore(Path(source.root, ".crucible", "cache", "recall"))
        self._is_temporary = False
        self._unsaved = ""
        self._opened: Searchers | None = None
        self._kept = EventCache()

    def refresh(self, progress: Progress | None = None, *, patience: float = 0.0) -> IndexState:
        """Bring the index up to date.  Waits `patience` seconds for another writer."""
        return self._refreshed(progress or self._progress, patience)

    def rebuild(self, progress: Progress | None = None) -> IndexState:
        """Rebuild the index from scratch."""
        self._opened = None
        with suppress(OSError):
            self._store.forget()
        return self.refresh(progress, patience=self._source.settings.lock_seconds)

    def figures(self) -> IndexFigures:
        """What the index holds, as it was last brought up to date."""
        manifest = self._store.load()
        rows = manifest.rows.values()
        return IndexFigures(len(rows), manifest.documents(), sum(row.size for row in rows), self._store.size())

    def ask(self, question: Question, now: datetime) -> Answer:
        """The answer; never an error for what the question says."""
        return self._attempt(lambda searchers, notes: self._answer(searchers, question, now, notes))

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """The events of these ids, in that order; unknown ones are left out."""

        def look_up(searchers: Searchers, _: list[str]) -> tuple[Event, ...]:
            shown = self._shown(searchers, _paths_of(searchers, ids))
            places = shown.places_of(ids)
            return shown.told(places[one] for one in ids if one in places)

        return self._attempt(look_up)

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """The event with its neighbours in the note; nothing for an unknown one."""

        def look_up(searchers: Searchers, _: list[str]) -> tuple[Event, ...]:
            shown = self._shown(searchers, _paths_of(searchers, [anchor]))
            place = shown.places_of([anchor]).get(anchor)
            if place is None or not shown.told([place]):
                return ()
            earlier, later = shown.neighbours(place, before, after)
            return shown.told([*earlier, place, *later])

        return self._attempt(look_up)

    def similar(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Ids of items of the shelf that are like a text, and how much, from 0 to 1, the likest first."""

        def look_up(searchers: Searchers, _: list[str]) -> list[tuple[str, float]]:
            found = candidates_for(searchers, text)
            shown = self._shown(searchers, [one.path for one in found])
            return alike_to(searchers, text, shown.events((one.path, one.number) for one in found))[:limit]

        return self._attempt(look_up)

    def _shown(self, searchers: Searchers, paths: Iterable[str]) -> EventReader:
        return self._shown_of(searchers, load_cards(searchers, paths))

    def _shown_of(self, searchers: Searchers, cards: Mapping[str, Card]) -> EventReader:
        return EventReader(self._source.root, self._source.shelf, cards, searchers.manifest, self._kept)

    def _attempt(self, work: Callable[[Searchers, list[str]], T]) -> T:
        """Do it again when a writer was faster, or what was found cannot be read."""
        failed: RecallManifest | None = None
        for attempt in range(_ATTEMPTS):
            notes: list[str] = []
            try:
                return work(self._searchers(notes), notes)
            except IndexBroken:
                self._opened = None
                now = self._store.load()
                if attempt >= _DOUBTED and now is failed:
                    self._store.doubt(now)
                failed = now
                time.sleep(_PAUSE * attempt)
        raise IndexBroken("the index of recall cannot be read", "delete .crucible/cache/recall and try again")

    def _searchers(self, notes: list[str]) -> Searchers:
        state = self._begun()
        if state.behind:
            notes.append(_told_of(state))
            # They are shown as they are now.
            self._kept = EventCache()
        if self._unsaved:
            notes.append(f"the index cannot be kept, and was made for this answer: {self._unsaved}")
        if self._opened is None or self._opened.manifest != state.manifest:
            self._opened = open_searchers(self._store, state.manifest)
        return self._opened

    def _begun(self) -> IndexState:
        """The updated index; waits while another process builds the first one."""
        end = time.monotonic() + self._source.settings.lock_seconds
        while True:
            state = self._refreshed(self._progress, 0.0)
            if not state.behind or state.manifest.whole or time.monotonic() >= end:
                return state
            self._wait(len(state.manifest.rows) + state.behind, end)

    def _wait(self, total: int, end: float) -> None:
        """Until the writer is done, or time is up."""
        while (left := end - time.monotonic()) > 0:
            known = self._store.load()
            if self._progress:
                self._progress(len(known.rows), total)
            with self._store.locked(min(left, _LOOK)) as is_ours:
                if is_ours or known.whole:
                    return

    def _refreshed(self, progress: Progress | None, patience: float) -> IndexState:
        try:
            return refresh(self._store, self._source, progress, patience=patience)
        except OSError as error:
            if self._is_temporary:
                raise IndexBroken(f"{self._store.folder}: {reason_of(error)}") from error
            self._unsaved = reason_of(error)
        # Late: it is rare, and they take a twentieth of the time of a question's process to load.
        import shutil  # noqa: PLC0415
        import tempfile  # noqa: PLC0415

        folder = os.path.realpath(tempfile.mkdtemp(prefix="crucible-recall-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._is_temporary, self._store = True, RecallStore(Path(folder, "recall"))
        return refresh(self._store, self._source, progress, patience=patience)

    def _answer(self, searchers: Searchers, question: Question, now: datetime, notes: list[str]) -> Answer:
        best_of, texts = partial(best, searchers, "events"), partial(self._texts, searchers)
        found = find_events(question, notes, best_of, texts, partial(count_stems, searchers))
        return self._weighed(searchers, found, now, notes) if found else Answer(notes=tuple(notes))

    def _texts(self, searchers: Searchers, found: Sequence[Match]) -> list[str]:
        shown = self._shown(searchers, dict.fromkeys(one.path for one in found))
        return [event.text for event in shown.events((one.path, one.number) for one in found)]

    def _weighed(self, searchers: Searchers, finds: Finds, now: datetime, notes: Sequence[str]) -> Answer:
        rows = searchers.manifest.rows

        def is_item(path: str) -> bool:
            return rows[path].flight == ITEM

        def weigh(path: str) -> tuple[float, Mapping[str, float]] | None:
            return self._source.shelf.weigh(rows[path].session, now) if is_item(path) else None

        own = [one for one in best(searchers, "sessions", finds.sought, SESSIONS) if not is_item(one.path)]
        ranked, sessions = rank_finds(finds, own, is_item, weigh, now)
        cards = load_cards(searchers, dict.fromkeys(one.found.path for one in (*ranked, *sessions)))
        shown = self._shown_of(searchers, cards)
        hits = hits_of(shown, cards, ranked, finds.sought)
        return Answer(hits, session_hits(self._source.root, cards, sessions), tuple(notes))


def _paths_of(searchers: Searchers, ids: Iterable[str]) -> list[str]:
    """The notes that events may be in."""
    wanted = {one.rpartition("#")[0] or one for one in ids}
    return [path for path, row in searchers.manifest.rows.items() if row.session in wanted]
