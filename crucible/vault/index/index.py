"""The index of a vault: compare it with the disk, update it, store it, and query it.

A query compares each note's stamp with the index, reads the notes that differ, and stores the result.  If the index
cannot be stored (read-only vault, full disk, another writer), the same answer is computed in memory.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from os import PathLike
from typing import TYPE_CHECKING, TypeVar

from crucible.core.errors import IndexBroken, reason_of
from crucible.core.named_tuples import NamedTuple
from crucible.core.processes import Workers, cores, spread
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.freshness import Suspects, compare_folders, compare_names
from crucible.vault.index.index_draft import Change, IndexDraft
from crucible.vault.index.index_files import EMPTY, IndexFolder, Manifest, follows
from crucible.vault.index.scan import Seen, joined, newest_notes, scan_notes
from crucible.vault.index.schema import View
from crucible.vault.index.vouching import vouched_index

if TYPE_CHECKING:
    from crucible.vault.index.note_rows import NoteReading


Progress = Callable[[int, int], None]
"""Called with the number of notes read so far and the total."""

_WORTH_PROCESSES = 64
"""Minimum number of notes for which several processes are faster than one."""

_CHUNK = 16
"""Notes per chunk of work for a process."""


class NoteRequest(NamedTuple):
    """A note to read: its path in the vault, and its last known hash, or "" if the note is new."""

    path: str
    sha: str


Chunk = tuple[str, Sequence[NoteRequest]]
"""The vault's root and some notes."""


def read_notes(
    root: str, requested: Sequence[NoteRequest], progress: Progress | None = None
) -> Generator[NoteReading, None, None]:
    """Yield the reading of each note, in order.  `root` must be a real path."""
    done = 0
    for some in _chunks_read(root, requested):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(requested))


def _further(progress: Progress | None, done: int, total: int) -> Progress | None:
    """Report the progress of a part as that of the whole."""
    return (lambda count, _: progress(done + count, total)) if progress else None


def _chunks_read(root: str, requested: Sequence[NoteRequest]) -> Iterator[list[NoteReading]]:
    chunks = [(root, requested[at : at + _CHUNK]) for at in range(0, len(requested), _CHUNK)]
    many = len(requested) >= _WORTH_PROCESSES
    if many:
        # A query of an up-to-date index reads no notes and must not load this.  Forked processes share it.
        import crucible.vault.index.note_rows  # noqa: F401, PLC0415
    yield from spread(_read_chunk, chunks, Workers(cores() if many else 1))


def _read_chunk(given: Chunk) -> list[NoteReading]:
    from crucible.vault.index.note_rows import read_for_index  # noqa: PLC0415  late, as above

    root, requested = given
    return [read_for_index(root, path, sha) for path, sha in requested]


Answer = TypeVar("Answer")

_BATCH = 8_000
"""Maximum notes per stored batch.  Bounds memory, and lets an interrupted build resume after the last stored batch."""

_READ_A_SECOND = 500
"""Notes read per second on a slow machine."""

_ATTEMPTS = 5
"""Maximum attempts at a query if a writer replaces files or the index is damaged."""


class Refreshed(NamedTuple):
    """An up-to-date index.

    `changes` are the differences found, by path.  `unwalked` are places that could not be listed and may contain notes.
    `unsaved` is why the index could not be stored, or "": the view is correct, but the next command must read the notes
    again.
    """

    view: View
    changes: tuple[Change, ...] = ()
    unwalked: tuple[str, ...] = ()
    unsaved: str = ""


class Index:
    """The index in `.crucible/index/` of the vault at `root`, a real path.

    `asks` is whether to ask a watcher for the current index, instead of comparing all notes.
    """

    def __init__(self, root: str | PathLike[str], settings: VaultSettings, *, asks: bool = True) -> None:
        self.root = os.fspath(root)
        self.settings = settings
        self._folder = IndexFolder(self.root)
        self.used = ""
        """Token of the stored index that was last read or written."""
        self._asks = asks
        self._broken = ""
        """Token of a manifest whose files are damaged."""

    def ask(self, question: Callable[[View], Answer], progress: Progress | None = None) -> tuple[Answer, Refreshed]:
        """Return the answer to a question about the current tables, and the refresh that it required.

        The question is asked again if files of the index are replaced or found damaged in the meantime.
        """

        def ask_once() -> tuple[Answer, Refreshed]:
            refreshed = self._refresh(None, progress)
            return question(refreshed.view), refreshed

        return self._attempt(ask_once)

    def refresh(
        self, paths: Iterable[str | PathLike[str]] | None = None, progress: Progress | None = None
    ) -> Refreshed:
        """Compare the index with the disk, read changed notes and store the index.

        `paths` limits this to notes and folders.
        """
        places = None if paths is None else [self._place(path) for path in paths]
        return self._attempt(lambda: self._refresh(places, progress))

    def token(self) -> str:
        """Return the token of the index on disk; "" if there is none."""
        return self._folder.load().token

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Discard the index and build it again."""
        self._broken = self.token()
        return self.refresh(progress=progress)

    def _attempt(self, work: Callable[[], Answer]) -> Answer:
        """Retry `work` if files of the index are damaged or were replaced."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return work()
            except IndexBroken:
                # If another writer replaced the files, the new manifest has a different token.
                self._broken = self.used
        return work()

    def _refresh(self, places: Sequence[str] | None, progress: Progress | None) -> Refreshed:
        if places is None and self._asks and (vouched := self._vouched()):
            return Refreshed(_view(IndexDraft(self._folder, vouched)))
        manifest = self._load()
        seen, suspects = self._compare(manifest, places)
        if suspects.is_empty() and manifest.whole:
            return Refreshed(_view(IndexDraft(self._folder, manifest)), unwalked=tuple(seen.unwalked))
        with ExitStack() as held:
            try:
                clock = held.enter_context(self._folder.locked(self._patience(suspects)))
            except OSError as error:
                draft = IndexDraft(self._folder, manifest, suspects, reason_of(error))
                return self._take(draft, seen, suspects, 0, progress)
            current = self._load()
            if current.token != manifest.token:
                # Another writer may have read newer content than this scan.
                manifest = current
                seen, suspects = self._compare(manifest, places)
            draft = IndexDraft(self._folder, manifest, suspects)
            return self._take(draft, seen, suspects, clock, progress)

    def _vouched(self) -> Manifest | None:
        """Return the index if a watcher says that it includes every change made so far."""
        token = vouched_index(self.root, self.settings.sessions)
        manifest = self._load() if token else EMPTY
        return manifest if manifest.whole and follows(manifest.token, token) else None

    def _patience(self, suspects: Suspects) -> float:
        """Return how many seconds to wait for another writer, which is probably reading the same notes."""
        # Missing digests are not worth waiting for.
        needed = suspects.to_read or suspects.gone
        return max(self.settings.lock_seconds, len(suspects.to_read) / _READ_A_SECOND) if needed else 0

    def _compare(self, manifest: Manifest, places: Sequence[str] | None) -> tuple[Seen, Suspects]:
        """Compare the disk with the manifest.  If the index is incomplete, compare everything."""
        seen = scan_notes(self.root, self.settings.sessions, places if manifest.whole else None)
        suspects = compare_folders(self._folder, manifest, seen.scans, seen.within)
        compare_names(self._folder, manifest, seen.names, suspects)
        return seen, suspects

    def _take(
        self, draft: IndexDraft, seen: Seen, suspects: Suspects, clock: int, progress: Progress | None
    ) -> Refreshed:
        """Read the differing notes in batches and store the index."""
        changes = draft.apply((), suspects.gone, clock)
        # Names begin with the date, so a batch concerns few months, whose tables are written again.
        to_read = sorted(suspects.to_read, key=os.path.basename, reverse=True)
        next_stored = 0
        for at in range(0, len(to_read), _BATCH):
            requested = [NoteRequest(path, suspects.sha_of(path)) for path in to_read[at : at + _BATCH]]
            with closing(read_notes(self.root, requested, _further(progress, at, len(to_read)))) as readings:
                changes += draft.apply(readings, (), clock)
            if next_stored <= at + _BATCH < len(to_read):
                draft.keep()
                # Storing rewrites the table of files, so the pauses grow with it: the sum of all is linear.
                next_stored = (at + _BATCH) * 5 // 4
        draft.keep(seen.scans if seen.whole else (), whole=seen.whole)
        self.used = draft.manifest.token
        found = tuple(sorted(changes, key=lambda change: change.path))
        unsaved = draft.unsaved if to_read or suspects.gone or not draft.manifest.token else ""
        return Refreshed(_view(draft), found, tuple(seen.unwalked), unsaved)

    def _load(self) -> Manifest:
        found = self._folder.load()
        self.used = found.token
        return EMPTY if found.token == self._broken else found

    def _place(self, path: str | PathLike[str]) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _view(draft: IndexDraft) -> View:
    return View(draft.shards(), draft.read)


def stored_view(root: str) -> View:
    """Return the tables of the stored index as they are, without looking at any note."""
    folder = IndexFolder(root)
    return _view(IndexDraft(folder, folder.load()))


_MOST, _MOST_BYTES = 100, 1_000_000
"""Maximum notes and bytes to read for a quick answer.  Only the newest notes are read, but at least one of any size."""


_FEW, _CHECKED = 1000, 300
"""Minimum notes of a vault in which only the newest are checked, and how many of them."""


def quick_answer(root: str, sessions: str, question: Callable[[View], Answer], *, only_newest: bool = False) -> Answer:
    """Return the answer to a question about the tables, reading few notes.  `root` must be a real path.

    In a vault with many notes but no index, the answer covers none of them.  With `only_newest`, a large vault's older
    notes are not compared with the index: a change made to them by hand is missing from the answer.
    """
    folder = IndexFolder(root)
    vouched = vouched_index(root, sessions)
    places = newest_notes(root, sessions, _CHECKED, _FEW) if only_newest and not vouched else None
    for _ in range(2):  # a writer may replace the files, or they may be damaged
        try:
            manifest = folder.load()
            if manifest.whole and follows(manifest.token, vouched):
                return question(_view(IndexDraft(folder, manifest)))
            return question(_quick_tables(root, sessions, folder, manifest, places))
        except IndexBroken:
            continue
    return question(_quick_tables(root, sessions, folder, EMPTY, None))


def _quick_tables(
    root: str, sessions: str, folder: IndexFolder, manifest: Manifest, places: Sequence[str] | None
) -> View:
    seen = scan_notes(root, sessions, places if manifest.whole else None)
    suspects = compare_folders(folder, manifest, seen.scans, seen.within)
    compare_names(folder, manifest, seen.names, suspects)
    if seen.names:
        oldest = min(map(os.path.basename, seen.names))
        known = (
            joined(rows.folder, name) for rows in suspects.files.values() for name in rows.names() if name >= oldest
        )
        suspects.gone.extend(path for path in known if path not in seen.names)
    draft = IndexDraft(folder, manifest, suspects, "rebuild not requested")
    requested = _newest(suspects)
    if manifest.whole or len(requested) == len(suspects.to_read):
        draft.apply(read_notes(root, requested), suspects.gone, 0)
    return View(draft.shards(), draft.read)


def _newest(suspects: Suspects) -> list[NoteRequest]:
    newest = sorted(suspects.to_read.items(), key=lambda one: one[1][1], reverse=True)[:_MOST]
    found: list[NoteRequest] = []
    room = _MOST_BYTES
    for path, (size, *_) in newest:
        room -= size
        if room < 0 and found:
            break
        found.append(NoteRequest(path, suspects.sha_of(path)))
    return found
