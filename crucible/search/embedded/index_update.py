"""Update the search index: compare the vault with what was indexed, and write what differs.

Damaged parts are dropped, so that their notes are indexed again; small parts are joined.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Callable, Generator, Iterable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from crucible.core.processes import cores, spread
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.note_changes import NoteChanges, Notes, flight_states
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.recall_manifest import EMPTY, ITEM, IndexedNote, IndexPart, RecallManifest
from crucible.search.embedded.segments import engine, join_parts, refusals, write_part
from crucible.search.recall import ItemCatalog

if TYPE_CHECKING:
    from crucible.search.embedded.documents import Derived


Progress = Callable[[int, int], None]
"""Told how many notes of how many were read."""

_WORTH_PROCESSES = 100
"""Notes; fewer are read sooner by one process than by several that must start."""
_CHUNK = 20
"""Notes handed to a process at a time."""

_Chunk = tuple[str, Sequence[str]]


def derive_all(
    root: str, paths: Sequence[str], progress: Progress | None = None
) -> Generator[Derived | None, None, None]:
    """What the index takes of each note, in order; None for one that is gone or cannot be read."""
    done = 0
    for some in _chunks(root, paths):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(paths))


def _chunks(root: str, paths: Sequence[str]) -> Iterator[list[Derived | None]]:
    chunks = [(root, paths[at : at + _CHUNK]) for at in range(0, len(paths), _CHUNK)]
    many = len(paths) >= _WORTH_PROCESSES
    if many:
        # Late for the reason above; once, before the processes part.
        import crucible.search.embedded.documents  # noqa: F401, PLC0415
    yield from spread(_derive_chunk, chunks, cores() if many else 1)


def _derive_chunk(given: _Chunk) -> list[Derived | None]:
    from crucible.search.embedded.documents import derive_note  # noqa: PLC0415  late for the reason above

    root, paths = given
    return [derive_note(root, path) for path in paths]


_BATCH = 9_000
"""Events in a batch: an interrupted update keeps finished batches, and parts of this size can be joined."""
_APART = 8
"""This many notes at most get a part each: in a small vault, word counts then never include deleted text.
a word is."""
_TIERS = ((128, 16), (2_048, 16), (10_000, 64))
"""Parts with fewer documents than the first number are joined once there are as many as the second."""
_BUILT = 8
"""An update with this many batches is a full build, whose parts are joined at the end."""


class IndexSource(NamedTuple):
    """Where the words come from: the vault at `root`, which must be real, what sees its notes, and the shelf."""

    root: str
    settings: VaultSettings
    noticing: NoteChanges
    shelf: ItemCatalog


class IndexState(NamedTuple):
    """An index; `behind` counts changed notes that are missing because another process is writing."""

    manifest: RecallManifest
    changed: int = 0
    behind: int = 0


class IndexChanges(NamedTuple):
    """What differs: notes and items to be indexed, and what is gone."""

    notes: Sequence[str]
    items: Sequence[str]
    gone: Sequence[str]
    stamps: Mapping[str, str]
    shas: Mapping[str, str]
    flights: Mapping[str, str]
    token: str

    def is_empty(self) -> bool:
        """Whether nothing differs."""
        return not (self.notes or self.items or self.gone)


def refresh(
    store: RecallStore, source: IndexSource, progress: Progress | None = None, *, patience: float = 0.0
) -> IndexState:
    """Update the index; wait `patience` seconds for another writer.  Raises `OSError` if it cannot be written."""
    manifest = _sound(store, store.load())
    wanted = _compare(store, manifest, source)
    if _is_true(store, manifest, wanted):
        return IndexState(manifest)
    with store.locked(patience) as is_ours:
        if not is_ours:
            return IndexState(manifest, behind=len(wanted.notes) + len(wanted.items) + len(wanted.gone))
        current = _sound(store, store.load())
        if current != manifest:
            manifest = current
            wanted = _compare(store, manifest, source)
        if _is_true(store, manifest, wanted):
            return IndexState(manifest)
        return _IndexWriter(store, source, manifest, wanted, progress).go_on()


def _is_true(store: RecallStore, manifest: RecallManifest, wanted: IndexChanges) -> bool:
    # The token may be older although nothing differs: then rows are compared again next time, which is no reason to write.
    known = wanted.token == manifest.token or not wanted.token
    return manifest.whole and wanted.is_empty() and known and store.is_current(manifest)


def _sound(store: RecallStore, manifest: RecallManifest) -> RecallManifest:
    """Without what is damaged, or was written by another engine."""
    if manifest.line and manifest.engine != engine():
        return EMPTY
    damaged = store.damaged(manifest)
    if not damaged:
        return manifest
    lost = {(path, at) for part in damaged for path, at in part.members.items()}
    rows = {path: row for path, row in manifest.rows.items() if (path, row.number) not in lost}
    parts = tuple(part for part in manifest.parts if part not in damaged)
    return manifest._replace(rows=rows, parts=parts, token="")


def _compare(store: RecallStore, manifest: RecallManifest, source: IndexSource) -> IndexChanges:
    notes = source.noticing.look(manifest.token)
    stamps = source.shelf.stamps()
    flights = flight_states(source.root)
    rows = manifest.rows
    if notes.shas is None and store.known(manifest).is_same(flights, stamps):
        return IndexChanges((), (), (), stamps, {}, flights, notes.token)
    shas = _shas(notes, rows)
    changed = [path for path, sha in shas.items() if _differs(rows.get(path), sha, flights)]
    items = [name for name, stamp in stamps.items() if name not in rows or rows[name].sha != stamp]
    gone = [path for path in rows if path not in shas and path not in stamps]
    if changed or items or gone:
        stale = _mostly_dead(manifest, {*changed, *items, *gone})
        changed += [path for path in stale if path in shas]
        items += [path for path in stale if path in stamps]
    return IndexChanges(changed, items, gone, stamps, shas, flights, notes.token)


def _shas(notes: Notes, rows: Mapping[str, IndexedNote]) -> Mapping[str, str]:
    """Of notes that are as they were, what was indexed."""
    if notes.shas is not None:
        return notes.shas
    return {path: row.sha for path, row in rows.items() if row.flight != ITEM}


def _differs(row: IndexedNote | None, sha: str, flights: Mapping[str, str]) -> bool:
    return row is None or row.sha != sha or row.flight != flights.get(row.session, "")


def _mostly_dead(manifest: RecallManifest, changing: set[str]) -> list[str]:
    """The current documents of parts that are mostly outdated."""
    rows, found = manifest.rows, []
    for part in manifest.parts:
        live = [path for path, at in part.members.items() if path in rows and rows[path].number == at]
        if 2 * len(live) < len(part.members):
            found += [path for path in live if path not in changing]
    return found


class _IndexWriter:
    """The writer at work, the lock held."""

    def __init__(
        self,
        store: RecallStore,
        source: IndexSource,
        manifest: RecallManifest,
        wanted: IndexChanges,
        progress: Progress | None,
    ) -> None:
        self._store, self._source, self._wanted, self._progress = store, source, wanted, progress
        if not manifest.line:
            manifest = EMPTY._replace(line=os.urandom(6).hex(), engine=engine())
        self._manifest = manifest
        self._rows = {path: row for path, row in manifest.rows.items() if path not in set(wanted.gone)}

    def go_on(self) -> IndexState:
        changed = batches = 0
        for batch in _batches(self._derived()):
            changed, batches = changed + len(batch), batches + 1
            self._write(batch)
        self._join(is_building=batches >= _BUILT)
        self._manifest = self._manifest._replace(whole=True)
        self._commit(self._manifest.parts, self._wanted.token)
        return IndexState(self._manifest, changed + len(self._wanted.gone))

    def _derived(self) -> Iterator[tuple[str, Derived | None, str]]:
        """Each note or item with its derived documents and the state of its event log."""
        wanted = self._wanted
        for path, one in zip(wanted.notes, derive_all(self._source.root, wanted.notes, self._progress), strict=True):
            yield path, one, wanted.flights.get(one.session if one else _stem(path), "")
        if wanted.items:
            # Late, as above: a question about unchanged notes derives nothing.
            from crucible.search.embedded.documents import derive_item  # noqa: PLC0415

            for name in wanted.items:
                document = self._source.shelf.document(name)
                yield name, derive_item(document, wanted.stamps[name]) if document else None, ITEM

    def _write(self, batch: Sequence[tuple[str, Derived | None, str]]) -> None:
        parts, heads = list(self._manifest.parts), self._manifest.heads
        first = self._manifest.numbers + 1
        numbered = {first + at: one for at, (_, one, _) in enumerate(batch) if one}
        groups = [{number: one} for number, one in numbered.items()]
        for group in groups if len(groups) <= _APART else [numbered]:
            with self._store.building() as folder, refusals(_refused):
                written = write_part(folder, group)
                parts.append(self._store.take(written))
                heads = written.heads
        for at, (path, one, flight) in enumerate(batch):
            sha = self._wanted.stamps.get(path, "") if flight == ITEM else self._wanted.shas.get(path, "")
            self._rows[path] = _row(path, one, flight, first + at, sha)
        self._manifest = self._manifest._replace(heads=heads, numbers=first + len(batch))
        self._commit(parts, "")

    def _commit(self, parts: Iterable[IndexPart], token: str) -> None:
        kept = tuple(part for part in parts if not part.is_dead(self._rows))
        self._manifest = self._store.commit(
            self._manifest._replace(parts=kept, rows=dict(self._rows), token=token, writing=self._manifest.writing + 1)
        )

    def _join(self, *, is_building: bool) -> None:
        """Make one of many small parts."""
        least = 0
        for most, many in ((_TIERS[-1][0], _BUILT),) if is_building else _TIERS:
            some = [part for part in self._manifest.parts if least <= part.documents < most]
            least = most
            if len(some) < many:
                continue
            with self._store.building() as folder, refusals(_refused):
                written = join_parts(folder, some, self._store.folder, self._manifest.heads, self._rows)
                one = self._store.take(written)
            self._commit([*(part for part in self._manifest.parts if part not in some), one], "")


def _refused(reason: str) -> OSError:
    return OSError(errno.EIO, reason)


def _row(path: str, derived: Derived | None, flight: str, number: int, sha: str) -> IndexedNote:
    if derived is None:
        # Remembered, so that it is not tried again before it is another.
        return IndexedNote(sha, _stem(path), flight, number, 0, 0)
    return IndexedNote(derived.sha, derived.session, flight, number, len(derived.events), derived.size)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _batches(
    derived: Iterable[tuple[str, Derived | None, str]],
) -> Iterator[list[tuple[str, Derived | None, str]]]:
    batch: list[tuple[str, Derived | None, str]] = []
    events = 0
    for one in derived:
        batch.append(one)
        events += len(one[1].events) if one[1] else 0
        if events >= _BATCH:
            yield batch
            batch, events = [], 0
    if batch:
        yield batch
