"""Update the search index: compare the vault with the index, and write the differences.

Damaged parts are dropped, so that their notes are indexed again; small parts are merged.
"""

from __future__ import annotations

import errno
import os
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, TypeAlias

from crucible.core.errors import IndexBroken
from crucible.core.named_tuples import NamedTuple
from crucible.core.quick_imports import sha256
from crucible.core.settings.settings import VaultSettings
from crucible.search.embedded.index_format import EMPTY_MANIFEST, ITEM, IndexedNote, IndexPart, RecallManifest
from crucible.search.embedded.recall_files import RecallStore
from crucible.search.embedded.segments import engine, join_parts, refusals, write_part
from crucible.search.near_words import INDEX_FOLDER, near_table_path
from crucible.search.recall import ItemCatalog, Progress
from crucible.vault.index.freshness import FolderRows, compare_folders
from crucible.vault.index.index_files import EMPTY, IndexFolder, Manifest, follows
from crucible.vault.index.scan import joined, scan_notes
from crucible.vault.index.vouching import vouched_index

if TYPE_CHECKING:
    from crucible.core.processes import Workers
    from crucible.search.embedded.documents import Derived

_ARCHIVED = ".jsonl.zst"
_Stamp = tuple[int, ...]

_BATCH = 9_000
"""Events in a batch.  An interrupted update keeps finished batches; parts of this size can still be merged."""
_BATCH_TEXT = 8_000_000
"""Bytes of text in a batch, which bound the memory of an update."""
_APART = 8
"""Maximum number of notes that get a part each: in a small vault, word counts then never include deleted text."""
_TIERS = ((128, 16), (2_048, 16), (10_000, 64))
"""Maximum documents of a part, and the number of such parts at which they are merged."""
_BUILT = 8
"""An update with at least this many batches is a full build; its parts are merged at the end."""

_PATIENCE = 10.0
"""Seconds to wait for another writer when notes are deleted."""

_Entry: TypeAlias = "tuple[str, Derived | None, str]"
"""A note or item by path, with its documents and the state of its event log."""


class CurrentNotes(NamedTuple):
    """The hashes of all notes by path, or None if nothing has changed since `token`.

    `token` is "" if the note index is incomplete.
    """

    token: str
    hashes: Mapping[str, str] | None


class NoteChanges:
    """Detects changed notes in the vault at `root`, a real path.  Reads the note index only if that has changed."""

    def __init__(self, root: str, settings: VaultSettings) -> None:
        self._root = root
        self._settings = settings
        self._loaded: tuple[_Stamp, Manifest] = ((), EMPTY)

    def current(self, known_token: str) -> CurrentNotes:
        """Update the note index, and return its hashes unless its token is still `known_token`."""
        folder = IndexFolder(self._root)
        vouched = vouched_index(self._root, self._settings.sessions)
        manifest = self._load(folder)
        is_current = follows(manifest.token, vouched) or (manifest.token and self._is_fresh(folder, manifest))
        if not (manifest.whole and is_current):
            # Late: usually nothing has changed, and loading the code that reads notes takes as long as this check.
            from crucible.vault.index.index import Index  # noqa: PLC0415

            refreshed = Index(self._root, self._settings).refresh()
            manifest = self._load(folder)
            if refreshed.unsaved or not manifest.token:
                paths = [str(row["path"]) for row in refreshed.view.rows("sessions")]
                return CurrentNotes("", _hash_notes(self._root, paths))
        if manifest.token == known_token:
            return CurrentNotes(known_token, None)
        hashes = {}
        for name, lines in folder.read_blocks(manifest, set(manifest.folders)).items():
            rows = FolderRows(name, lines)
            for note in rows.names():
                row = rows.get(note)
                hashes[joined(name, note)] = row.sha if row else ""
        return CurrentNotes(manifest.token if manifest.whole else "", hashes)

    def _is_fresh(self, folder: IndexFolder, manifest: Manifest) -> bool:
        """Return whether the note index matches the files on disk."""
        seen = scan_notes(self._root, self._settings.sessions, None)
        try:
            return compare_folders(folder, manifest, seen.scans, seen.within).is_empty()
        except IndexBroken:
            return False

    def _load(self, folder: IndexFolder) -> Manifest:
        """Return the manifest of the note index; the same object while its file is unchanged."""
        stamp = _stamp_of(folder)
        if not stamp or stamp != self._loaded[0]:
            # Take the stamp before reading: if the file is replaced in between, it is read again next time.
            self._loaded = (stamp, folder.load())
        return self._loaded[1]


def _stamp_of(folder: IndexFolder) -> _Stamp:
    if folder.unusable:
        return ()
    try:
        found = os.lstat(f"{folder.path}/manifest.toon")
        return (found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino, os.stat(folder.path).st_ino)
    except OSError:
        return ()


def _hash_notes(root: str, paths: list[str]) -> dict[str, str]:
    """Return the hashes of notes by path, for a read-only vault without a note index."""
    found = {}
    for path in paths:
        with suppress(OSError):
            found[path] = sha256(Path(root, path).read_bytes()).hexdigest()[:32]
    return found


def event_log_states(root: str) -> dict[str, str]:
    """Return, by session, a string that changes whenever its event log is written, archived or deleted."""
    found: dict[str, str] = {}
    with suppress(OSError), os.scandir(os.path.join(root, ".crucible", "flight")) as entries:
        for entry in entries:
            with suppress(OSError):
                status = os.stat(f"{entry.path}/tools.jsonl")
                found[entry.name] = f"{status.st_size}-{status.st_mtime_ns}"
    with suppress(OSError), os.scandir(os.path.join(root, ".crucible", "archive")) as entries:
        for entry in entries:
            if entry.name.endswith(_ARCHIVED):
                with suppress(OSError):
                    status = entry.stat()
                    session = entry.name.removesuffix(_ARCHIVED)
                    found[session] = f"{found.get(session, '')}a{status.st_size}-{status.st_mtime_ns}"
    return found


class IndexSource(NamedTuple):
    """The input of the index: the vault at `root` (a real path), its notes and its knowledge items.

    `workers` read the notes; None means the usual way.
    """

    root: str
    settings: VaultSettings
    notes: NoteChanges
    items: ItemCatalog
    workers: Workers | None = None


class IndexState(NamedTuple):
    """The state of an index.  `behind` counts changed notes not indexed yet because another process is writing."""

    manifest: RecallManifest
    changed: int = 0
    behind: int = 0


class IndexChanges(NamedTuple):
    """Notes and items to index and to remove, and the current hashes, item stamps and event log states."""

    notes: Sequence[str]
    items: Sequence[str]
    gone: Sequence[str]
    stamps: Mapping[str, str]
    hashes: Mapping[str, str]
    logs: Mapping[str, str]
    token: str

    def total(self) -> int:
        """The number of notes and items that differ."""
        return len(self.notes) + len(self.items) + len(self.gone)


def refresh(
    store: RecallStore, source: IndexSource, progress: Progress | None = None, *, patience: float = 0.0
) -> IndexState:
    """Update the index; wait up to `patience` seconds for another writer.  Raises `OSError` if it cannot be written."""
    manifest = _intact(store, store.load())
    changes = _compare(store, manifest, source)
    if _is_current(store, manifest, changes):
        return IndexState(manifest)
    with store.locked(patience) as is_ours:
        if not is_ours:
            return IndexState(manifest, behind=changes.total())
        current = _intact(store, store.load())
        if current != manifest:
            manifest = current
            changes = _compare(store, manifest, source)
        if _is_current(store, manifest, changes):
            return IndexState(manifest)
        return _IndexWriter(store, source, manifest, changes, progress).write()


def _is_current(store: RecallStore, manifest: RecallManifest, changes: IndexChanges) -> bool:
    # A different token alone is no reason to write: the rows are compared again next time.
    is_known = changes.token == manifest.token or not changes.token
    return manifest.is_complete and not changes.total() and is_known and store.is_current(manifest)


def _intact(store: RecallStore, manifest: RecallManifest) -> RecallManifest:
    """Return the manifest without damaged parts; an empty one if another engine version wrote it."""
    if manifest.lineage and manifest.engine != engine():
        return EMPTY_MANIFEST
    damaged = store.damaged(manifest)
    return _without(manifest, damaged) if damaged else manifest


def _without(manifest: RecallManifest, lost: Sequence[IndexPart]) -> RecallManifest:
    """Return the manifest without some parts.  Their notes are indexed again at the next update."""
    members = {(path, number) for part in lost for path, number in part.members.items()}
    rows = {path: row for path, row in manifest.rows.items() if (path, row.number) not in members}
    parts = tuple(part for part in manifest.parts if part not in lost)
    return manifest._replace(rows=rows, parts=parts, token="")


def forget_notes(root: Path, paths: Collection[str]) -> None:
    """Remove the files of the index that contain text of these notes.  The next update indexes the others in them again.

    If another process holds the index for long, nothing is removed.
    """
    store = RecallStore(root.joinpath(*INDEX_FOLDER))
    if not store.load().parts:
        return
    with suppress(OSError), store.locked(_PATIENCE) as is_ours:
        manifest = store.load()
        lost = [part for part in manifest.parts if not part.members.keys().isdisjoint(paths)]
        if is_ours and lost:
            store.commit(_without(manifest, lost)._replace(writing=manifest.writing + 1))
            near_table_path(str(root)).unlink(missing_ok=True)


def _compare(store: RecallStore, manifest: RecallManifest, source: IndexSource) -> IndexChanges:
    notes = source.notes.current(manifest.token)
    stamps = source.items.stamps()
    logs = event_log_states(source.root)
    rows = manifest.rows
    if notes.hashes is None and store.known(manifest).is_same(logs, stamps):
        return IndexChanges((), (), (), stamps, {}, logs, notes.token)
    hashes = notes.hashes
    if hashes is None:
        hashes = {path: row.sha for path, row in rows.items() if row.log_state != ITEM}
    changed = [path for path, sha in hashes.items() if _differs(rows.get(path), sha, logs)]
    items = [name for name, stamp in stamps.items() if name not in rows or rows[name].sha != stamp]
    gone = [path for path in rows if path not in hashes and path not in stamps]
    if changed or items or gone:
        stale = _mostly_outdated(manifest, {*changed, *items, *gone})
        changed += [path for path in stale if path in hashes]
        items += [path for path in stale if path in stamps]
    return IndexChanges(changed, items, gone, stamps, hashes, logs, notes.token)


def _differs(row: IndexedNote | None, sha: str, logs: Mapping[str, str]) -> bool:
    return row is None or row.sha != sha or row.log_state != logs.get(row.session, "")


def _mostly_outdated(manifest: RecallManifest, changing: set[str]) -> list[str]:
    """Return the notes whose current documents are in parts that are mostly outdated."""
    rows, found = manifest.rows, []
    for part in manifest.parts:
        live = [path for path, number in part.members.items() if path in rows and rows[path].number == number]
        if 2 * len(live) < len(part.members):
            found += [path for path in live if path not in changing]
    return found


class _IndexWriter:
    """Writes changes to the index.  The caller holds the lock."""

    def __init__(
        self,
        store: RecallStore,
        source: IndexSource,
        manifest: RecallManifest,
        changes: IndexChanges,
        progress: Progress | None,
    ) -> None:
        self._store, self._source, self._changes, self._progress = store, source, changes, progress
        if not manifest.lineage:
            manifest = EMPTY_MANIFEST._replace(lineage=os.urandom(6).hex(), engine=engine())
        self._manifest = manifest
        self._rows = {path: row for path, row in manifest.rows.items() if path not in set(changes.gone)}

    def write(self) -> IndexState:
        """Write all changes in batches, then merge small parts."""
        changed = batches = 0
        for batch in _batches(self._derived()):
            changed, batches = changed + len(batch), batches + 1
            self._write_batch(batch)
        self._join(is_building=batches >= _BUILT)
        self._manifest = self._manifest._replace(is_complete=True)
        self._commit(self._manifest.parts, self._changes.token)
        return IndexState(self._manifest, changed + len(self._changes.gone))

    def _derived(self) -> Iterator[_Entry]:
        changes = self._changes
        if not (changes.notes or changes.items):
            return
        # Late: a question about unchanged notes builds no documents.
        from crucible.search.embedded.documents import derive_item, derive_notes  # noqa: PLC0415

        notes = derive_notes(self._source.root, changes.notes, self._progress, self._source.workers)
        for path, one in zip(changes.notes, notes, strict=True):
            yield path, one, changes.logs.get(one.session if one else _stem(path), "")
        for name in changes.items:
            document = self._source.items.document(name)
            yield name, derive_item(document, changes.stamps[name]) if document else None, ITEM

    def _write_batch(self, batch: Sequence[_Entry]) -> None:
        parts, heads = list(self._manifest.parts), self._manifest.heads
        first = self._manifest.numbers + 1
        numbered = {number: one for number, (_, one, _) in enumerate(batch, first) if one}
        groups = [{number: one} for number, one in numbered.items()]
        for group in groups if len(groups) <= _APART else [numbered]:
            with self._store.building() as folder, refusals(_write_error):
                written = write_part(folder, group)
                parts.append(self._store.take(written))
                heads = written.heads
        for number, (path, one, log) in enumerate(batch, first):
            sha = (self._changes.stamps if log == ITEM else self._changes.hashes).get(path, "")
            self._rows[path] = _row(path, one, log, number, sha)
        self._manifest = self._manifest._replace(heads=heads, numbers=first + len(batch))
        self._commit(parts, "")

    def _commit(self, parts: Iterable[IndexPart], token: str) -> None:
        kept = tuple(part for part in parts if not part.is_dead(self._rows))
        self._manifest = self._store.commit(
            self._manifest._replace(parts=kept, rows=dict(self._rows), token=token, writing=self._manifest.writing + 1)
        )

    def _join(self, *, is_building: bool) -> None:
        """Merge small parts, tier by tier; after a full build, merge all parts."""
        least = 0
        for most, many in ((_TIERS[-1][0], _BUILT),) if is_building else _TIERS:
            parts = [part for part in self._manifest.parts if least <= part.documents < most]
            least = most
            if len(parts) < many:
                continue
            with self._store.building() as folder, refusals(_write_error):
                written = join_parts(folder, parts, self._store.folder, self._manifest.heads, self._rows)
                one = self._store.take(written)
            self._commit([*(part for part in self._manifest.parts if part not in parts), one], "")


def _write_error(reason: str) -> OSError:
    return OSError(errno.EIO, reason)


def _row(path: str, derived: Derived | None, log: str, number: int, sha: str) -> IndexedNote:
    if derived is None:
        # An unreadable note also gets a row, so that it is not read again until it changes.
        return IndexedNote(sha, _stem(path), log, number, 0, 0)
    return IndexedNote(derived.sha, derived.session, log, number, len(derived.events), derived.size)


def _stem(path: str) -> str:
    return path.rpartition("/")[2].removesuffix(".md")


def _batches(derived: Iterable[_Entry]) -> Iterator[list[_Entry]]:
    batch: list[_Entry] = []
    events = size = 0
    for one in derived:
        batch.append(one)
        events += len(one[1].events) if one[1] else 0
        size += one[1].size if one[1] else 0
        if events >= _BATCH or size >= _BATCH_TEXT:
            yield batch
            batch, events, size = [], 0, 0
    if batch:
        yield batch
