"""In-process search, using the index in `.crucible/cache/recall/`.

Each question updates and searches the index, and reads the text of the hits from the notes.  If the index cannot be
written (a read-only vault, a full disk), it is built in a temporary folder for this process.
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
from typing import TYPE_CHECKING, TypeVar
from weakref import finalize

from crucible.core.errors import CrucibleError, IndexBroken, reason_of
from crucible.core.named_tuples import NamedTuple
from crucible.core.settings.settings import VaultSettings
from crucible.search.answers import is_uncertain, with_passages
from crucible.search.embedded.hits import EventCache, EventReader, hits_of, passages_of, session_hits
from crucible.search.embedded.index_format import ITEM, RecallManifest
from crucible.search.embedded.index_update import IndexSource, IndexState, NoteChanges, refresh
from crucible.search.embedded.ranking import SESSIONS, RankInput, find_events, rank
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.segments import analyze
from crucible.search.embedded.tantivy_search import (
    Match,
    Searchers,
    best,
    count_stems,
    load_cards,
    open_searchers,
    search_terms,
)
from crucible.search.near_words import INDEX_FOLDER, NEAR_TABLE, FindNear, NearTable, near_table_path, no_near
from crucible.search.question_words import read_question, with_name_parts, words_in
from crucible.search.recall import NO_ITEMS, Answer, Event, EventKind, ItemCatalog, Progress, Question

if TYPE_CHECKING:
    from crucible.core.processes import Workers

CANDIDATES = 30
"""Maximum number of items to compare with a text."""

T = TypeVar("T")

_ATTEMPTS = 10
_PAUSE = 0.02
"""Seconds to wait, times the attempt number, for a writer that has replaced only one of two files."""
_POLL = 0.1
"""Seconds between progress reports while the first index is built."""
_DOUBTED = 3
"""Attempts after which an index that is unchanged but unreadable is rebuilt."""


class IndexFigures(NamedTuple):
    """The size of an index: notes and items, events, bytes of indexed text, and bytes of files."""

    notes: int
    events: int
    text: int
    size: int


class EmbeddedRecall:
    """Searches the vault at `root`; implements `Recall`.  Not thread-safe."""

    def __init__(
        self,
        root: Path,
        settings: VaultSettings,
        *,
        items: ItemCatalog = NO_ITEMS,
        progress: Progress | None = None,
        near: str = "",
    ) -> None:
        """Nothing is read or written before the first question.

        `items` are the vault's knowledge items, `near` is the folder of the word vectors for near words, or "".
        """
        real = os.path.realpath(root)
        self._source = IndexSource(real, settings, NoteChanges(real, settings), items)
        self._progress = progress
        self._store = RecallStore(Path(real, *INDEX_FOLDER))
        self._is_temporary = False
        self._unsaved = ""
        self._opened: Searchers | None = None
        self._cache = EventCache()
        self._vectors = near
        self._near = NearTable(near_table_path(real))

    def refresh(self, progress: Progress | None = None, *, patience: float = 0.0) -> IndexState:
        """Update the index; wait up to `patience` seconds for another writer."""
        progress = progress or self._progress
        try:
            return refresh(self._store, self._source, progress, patience=patience)
        except OSError as error:
            if self._is_temporary:
                raise IndexBroken(f"{self._store.folder}: {reason_of(error)}") from error
            self._unsaved = reason_of(error)
        # Late: rarely needed, and these imports take a twentieth of the time of a question.
        import shutil  # noqa: PLC0415
        import tempfile  # noqa: PLC0415

        folder = os.path.realpath(tempfile.mkdtemp(prefix="crucible-recall-"))
        finalize(self, shutil.rmtree, folder, ignore_errors=True)
        self._is_temporary, self._store = True, RecallStore(Path(folder, "recall"))
        return refresh(self._store, self._source, progress, patience=patience)

    def rebuild(self, progress: Progress | None = None, workers: Workers | None = None) -> IndexState:
        """Rebuild the index from scratch; `workers` read the notes, None means all cores."""
        self._opened = None
        self._source = self._source._replace(workers=workers)
        with suppress(OSError):
            self._store.forget()
        return self.refresh(progress, patience=self._source.settings.lock_seconds)

    def update_near(self) -> None:
        """Make the table of near words again if the vectors or many notes have changed; nothing without vectors.

        Raises `CrucibleError` if the vectors cannot be read.
        """
        if not self._vectors or self._is_temporary:
            return
        # Late: a question uses the table as it is.
        from crucible.search.embedded.near_table import is_stale, make_table, source_of  # noqa: PLC0415

        manifest, folder = self._store.load(), Path(self._vectors)
        head = (source_of(folder), str(manifest.documents()))
        if is_stale(self._near.head(), head):
            notes = [path for path, row in manifest.rows.items() if row.log_state != ITEM]
            self._store.write(NEAR_TABLE, b"".join(make_table(Path(self._source.root), notes, folder, head)))
            self._near.forget()

    def figures(self) -> IndexFigures:
        """Return the size of the index as of its last update."""
        manifest = self._store.load()
        rows = manifest.rows.values()
        return IndexFigures(len(rows), manifest.documents(), sum(row.size for row in rows), self._store.size())

    def ask(self, question: Question, now: datetime) -> Answer:
        """Answer a question.  Any text is a valid question."""
        return self._attempt(lambda searchers, notes: self._answer(searchers, question, now, notes))

    def get(self, ids: Sequence[str]) -> tuple[Event, ...]:
        """Return the events with these ids, in that order; unknown ids are skipped."""

        def look_up(searchers: Searchers, _: list[str]) -> tuple[Event, ...]:
            reader = self._reader(searchers, _paths_of(searchers, ids))
            places = reader.places_of(ids)
            return reader.existing(places[one] for one in ids if one in places)

        return self._attempt(look_up)

    def around(self, anchor: str, before: int, after: int) -> tuple[Event, ...]:
        """Return the event and its neighbors in the note; empty if the id is unknown."""

        def look_up(searchers: Searchers, _: list[str]) -> tuple[Event, ...]:
            reader = self._reader(searchers, _paths_of(searchers, [anchor]))
            place = reader.places_of([anchor]).get(anchor)
            if place is None or not reader.existing([place]):
                return ()
            earlier, later = reader.neighbours(place, before, after)
            return reader.existing([*earlier, place, *later])

        return self._attempt(look_up)

    def similar(self, text: str, limit: int) -> list[tuple[str, float]]:
        """Return the ids of similar knowledge items with their similarity from 0 to 1, most similar first."""

        def look_up(searchers: Searchers, _: list[str]) -> list[tuple[str, float]]:
            found = _similar_candidates(searchers, text)
            reader = self._reader(searchers, [one.path for one in found])
            return _similarities(searchers, text, reader.events((one.path, one.number) for one in found))[:limit]

        return self._attempt(look_up)

    def _reader(self, searchers: Searchers, paths: Iterable[str]) -> EventReader:
        cards = load_cards(searchers, paths)
        return EventReader(self._source.root, self._source.items, cards, searchers.manifest, self._cache)

    def _attempt(self, work: Callable[[Searchers, list[str]], T]) -> T:
        """Call `work`; call it again if a writer replaced the index in the meantime or if the index cannot be read."""
        failed: RecallManifest | None = None
        for attempt in range(_ATTEMPTS):
            notes: list[str] = []
            try:
                return work(self._open(self._current_state(), notes), notes)
            except IndexBroken:
                self._opened = None
                now = self._store.load()
                if attempt >= _DOUBTED and now is failed:
                    self._store.discard(now)
                failed = now
                time.sleep(_PAUSE * attempt)
        raise IndexBroken("the recall index cannot be read", "delete .crucible/cache/recall and try again")

    def _current_state(self) -> IndexState:
        """Update the index, or wait while another process builds the first one."""
        end = time.monotonic() + self._source.settings.lock_seconds
        while True:
            state = self.refresh()
            if not state.behind or state.manifest.is_complete or time.monotonic() >= end:
                return state
            self._wait(len(state.manifest.rows) + state.behind, end)

    def _wait(self, total: int, end: float) -> None:
        """Wait until the other writer has finished, or until `end`."""
        while (left := end - time.monotonic()) > 0:
            manifest = self._store.load()
            if self._progress:
                self._progress(len(manifest.rows), total)
            with self._store.locked(min(left, _POLL)) as is_ours:
                if is_ours or manifest.is_complete:
                    return

    def _open(self, state: IndexState, notes: list[str]) -> Searchers:
        if state.behind:
            notes.append(_missing_notes(state))
            # Cached events may also be stale: changed notes have new numbers.
            self._cache = EventCache()
        if self._unsaved:
            notes.append(f"the index could not be saved, so it was built for this answer only: {self._unsaved}")
        if self._opened is None or self._opened.manifest != state.manifest:
            self._opened = open_searchers(self._store, state.manifest)
        return self._opened

    def _answer(self, searchers: Searchers, question: Question, now: datetime, notes: list[str]) -> Answer:
        best_of, texts = partial(best, searchers, "events"), partial(self._texts, searchers)
        near = self._find_near(notes)
        found = find_events(question, notes, best_of, texts, partial(count_stems, searchers), near=near)
        return self._ranked_answer(searchers, found, now, notes) if found else Answer(notes=tuple(notes))

    def _find_near(self, notes: list[str]) -> FindNear:
        """Return what finds near words; if there is no table yet, this makes it once."""
        if not self._vectors:
            return no_near
        if not self._near.head():
            try:
                self.update_near()
            except (CrucibleError, OSError) as error:
                notes.append(f"no near words: {error}")
        return self._near.near

    def _texts(self, searchers: Searchers, found: Sequence[Match]) -> list[str]:
        reader = self._reader(searchers, dict.fromkeys(one.path for one in found))
        return [event.text for event in reader.events((one.path, one.number) for one in found)]

    def _ranked_answer(self, searchers: Searchers, found: RankInput, now: datetime, notes: Sequence[str]) -> Answer:
        rows = searchers.manifest.rows

        def is_item(path: str) -> bool:
            return rows[path].log_state == ITEM

        def weigh(path: str) -> tuple[float, Mapping[str, float]] | None:
            return self._source.items.weigh(rows[path].session, now) if is_item(path) else None

        own = [one for one in best(searchers, "sessions", found.terms, SESSIONS) if not is_item(one.path)]
        events, sessions, passages = rank(found, own, is_item, weigh, now)
        reader = self._reader(searchers, dict.fromkeys(one.found.path for one in (*events, *sessions)))
        hits = hits_of(reader, events, found.terms)
        listed = session_hits(self._source.root, reader.cards, sessions)
        listed = with_passages(listed, hits, passages_of(reader, passages.values(), found.terms))
        return Answer(hits, listed, tuple(notes), is_uncertain(hits, found.terms.weights(), found.terms.asked()))


def _missing_notes(state: IndexState) -> str:
    if state.manifest.is_complete:
        return f"{state.behind} changed notes are not searchable yet: another process is indexing them"
    total = len(state.manifest.rows) + state.behind
    return f"{state.behind} of {total} notes are not searchable yet: another process is building the index"


def _paths_of(searchers: Searchers, ids: Iterable[str]) -> list[str]:
    """Return the notes that may contain these events."""
    sessions = {one.rpartition("#")[0] or one for one in ids}
    return [path for path, row in searchers.manifest.rows.items() if row.session in sessions]


def _similar_candidates(searchers: Searchers, text: str) -> list[Match]:
    """Return the items that have the most words in common with a text."""
    # Quotes, minus signs and colons in the text must not be parsed as operators.
    words = " ".join(words_in(with_name_parts(text)))
    question = Question(words, kinds=frozenset({EventKind.KNOWLEDGE}))
    parsed = read_question(words)
    return best(searchers, "events", search_terms(parsed, question), CANDIDATES) if parsed.words else []


def _similarities(searchers: Searchers, text: str, items: Iterable[Event]) -> list[tuple[str, float]]:
    """Return each item's id and its cosine similarity to the text, from 0 to 1, most similar first."""
    weights: dict[str, float] = {}

    def size(words: Iterable[str]) -> float:
        searcher = searchers.sides["events"]
        for word in words:
            if word not in weights:
                weights[word] = log(1 + (searcher.num_docs + 1) / (searcher.doc_freq("text", word) + 1)) ** 2
        return sum(weights[word] for word in words)

    own = _stems(text)
    found = []
    for item in items:
        stems = _stems(f"{item.title}\n{item.text}")
        similarity = size(own & stems) / sqrt(size(own) * size(stems)) if own and stems else 0.0
        found.append((item.id, similarity))
    return sorted(found, key=lambda one: (-one[1], one[0]))


def _stems(text: str) -> frozenset[str]:
    return frozenset(analyze(with_name_parts(text)))
