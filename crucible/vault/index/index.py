"""The index of a vault: compared with the disk, brought up to date, kept, and asked.

A query compares every note's stamp with what the index knows, reads what differs, and keeps the result for the next
one. Where it cannot be kept (read-only, full disk, another writer) the answer is made in memory and is the same.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Generator, Iterable, Iterator, Sequence
from contextlib import ExitStack, closing
from itertools import islice
from os import PathLike
from typing import TYPE_CHECKING, NamedTuple, TypeVar

from crucible.core.errors import IndexBroken, reason_of
from crucible.core.processes import cores, spread
from crucible.core.settings.settings import VaultSettings
from crucible.vault.index.freshness import Suspects, compare_folders, compare_names
from crucible.vault.index.index_draft import Change, IndexDraft
from crucible.vault.index.index_files import EMPTY, IndexFolder, Manifest
from crucible.vault.index.scan import Seen, scan_notes
from crucible.vault.index.schema import View

if TYPE_CHECKING:
    from crucible.vault.index.note_rows import NoteReading


Progress = Callable[[int, int], None]
"""Told how many notes of how many were read."""

_WORTH_PROCESSES = 200
"""Notes; fewer are read sooner by one process than by several that must start."""

_CHUNK = 50
"""Notes handed to a process at a time."""


class NoteRequest(NamedTuple):
    """A note to look at, by its path from the vault, and the `sha` that it had; "" when it is new."""

    path: str
    sha: str


Chunk = tuple[str, Sequence[NoteRequest]]
"""The vault's root, and notes."""


def read_notes(
    root: str, asked: Sequence[NoteRequest], progress: Progress | None = None
) -> Generator[NoteReading, None, None]:
    """Each note's reading, in order; `root` must be real."""
    done = 0
    for some in _chunks_read(root, asked):
        yield from some
        done += len(some)
        if progress:
            progress(done, len(asked))


def _chunks_read(root: str, asked: Sequence[NoteRequest]) -> Iterator[list[NoteReading]]:
    chunks = [(root, asked[at : at + _CHUNK]) for at in range(0, len(asked), _CHUNK)]
    many = len(asked) >= _WORTH_PROCESSES
    if many:
        # Late for the reason above; once, before the processes part.
        import crucible.vault.index.note_rows  # noqa: F401, PLC0415
    yield from spread(_read_chunk, chunks, cores() if many else 1)


def _read_chunk(given: Chunk) -> list[NoteReading]:
    from crucible.vault.index.note_rows import read_for_index  # noqa: PLC0415  late for the reason above

    root, asked = given
    return [read_for_index(root, path, sha) for path, sha in asked]


Answer = TypeVar("Answer")

_BATCH = 8_000
"""Notes kept at a time: few enough for the memory, and what is kept is not read again after an interruption."""

_READ_A_SECOND = 500
"""Notes, on a slow machine."""

_ATTEMPTS = 5
"""How often a question is asked again because a writer was faster, or the index was damaged."""


class Refreshed(NamedTuple):
    """An index that is true now.

    `changes` is what was found, by path.  `unwalked` says what could not be walked and may hide notes; `unsaved` why
    the index could not be kept, "" when it was: the view is right in any case, but the next command reads again.
    """

    view: View
    changes: tuple[Change, ...] = ()
    unwalked: tuple[str, ...] = ()
    unsaved: str = ""


class Index:
    """The index in `.crucible/index/` of the vault at `root`, which must be real."""

    def __init__(self, root: str | PathLike[str], settings: VaultSettings) -> None:
        self.root = os.fspath(root)
        self.settings = settings
        self._folder = IndexFolder(self.root)
        self._used = ""
        self._broken = ""
        """The token of a manifest whose files are not what it says."""

    def ask(self, question: Callable[[View], Answer], progress: Progress | None = None) -> tuple[Answer, Refreshed]:
        """The answer to a question about all tables as they are now, and how that came about.

        The question is asked anew when files of the index were replaced or found damaged meanwhile.
        """

        def ask_once() -> tuple[Answer, Refreshed]:
            refreshed = self._refresh(None, progress)
            return question(refreshed.view), refreshed

        return self._attempt(ask_once)

    def refresh(
        self, paths: Iterable[str | PathLike[str]] | None = None, progress: Progress | None = None
    ) -> Refreshed:
        """Compare with the disk, read what changed, keep it; only the given notes and folders when `paths` is given."""
        places = None if paths is None else [self._place(path) for path in paths]
        return self._attempt(lambda: self._refresh(places, progress))

    def is_kept(self) -> bool:
        """Whether there is an index on disk."""
        return bool(self._folder.load().token)

    def rebuild(self, progress: Progress | None = None) -> Refreshed:
        """Forget the index and build it anew."""
        self._broken = self._folder.load().token
        return self.refresh(progress=progress)

    def _attempt(self, work: Callable[[], Answer]) -> Answer:
        """Do it again when files of the index are not what the manifest says: they are damaged, or were replaced."""
        for _ in range(_ATTEMPTS - 1):
            try:
                return work()
            except IndexBroken:
                # Should another writer have replaced what we read, so much the better.
                self._broken = self._used
        return work()

    def _refresh(self, places: Sequence[str] | None, progress: Progress | None) -> Refreshed:
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
                # What was seen may be older than what another writer has read since.
                manifest = current
                seen, suspects = self._compare(manifest, places)
            draft = IndexDraft(self._folder, manifest, suspects)
            return self._take(draft, seen, suspects, clock, progress)

    def _patience(self, suspects: Suspects) -> float:
        """Seconds to wait for another writer: as long as we might read, since he is likely to read the same."""
        # Digests alone are no reason to wait.
        needed = suspects.look or suspects.gone
        return max(self.settings.lock_seconds, len(suspects.look) / _READ_A_SECOND) if needed else 0

    def _compare(self, manifest: Manifest, places: Sequence[str] | None) -> tuple[Seen, Suspects]:
        """What the disk shows, against what is known; of an index that does not know all, everything."""
        seen = scan_notes(self.root, self.settings.sessions, places if manifest.whole else None)
        suspects = compare_folders(self._folder, manifest, seen.scans, seen.within)
        compare_names(self._folder, manifest, seen.names, suspects)
        return seen, suspects

    def _take(
        self, draft: IndexDraft, seen: Seen, suspects: Suspects, clock: int, progress: Progress | None
    ) -> Refreshed:
        """Read what must be read, a batch at a time, and keep it."""
        asked = [NoteRequest(path, suspects.sha_of(path)) for path in suspects.look]
        changes = draft.apply((), suspects.gone, clock)
        with closing(read_notes(self.root, asked, progress)) as readings:
            for at in range(0, len(asked), _BATCH):
                changes += draft.apply(islice(readings, _BATCH), (), clock)
                if at + _BATCH < len(asked):
                    draft.keep()
        draft.keep(seen.scans if seen.whole else (), whole=seen.whole)
        self._used = draft.manifest.token
        found = tuple(sorted(changes, key=lambda change: change.path))
        unsaved = draft.unsaved if asked or suspects.gone or not draft.manifest.token else ""
        return Refreshed(_view(draft), found, tuple(seen.unwalked), unsaved)

    def _load(self) -> Manifest:
        found = self._folder.load()
        self._used = found.token
        return EMPTY if found.token == self._broken else found

    def _place(self, path: str | PathLike[str]) -> str:
        return os.path.relpath(path, self.root).replace(os.sep, "/")


def _view(draft: IndexDraft) -> View:
    return View(draft.shards(), draft.read)


_MOST, _MOST_BYTES = 100, 1_000_000
"""Notes, and what they hold together, that are read anew; the newest first, and one whatever its size."""


def quick_answer(root: str, sessions: str, question: Callable[[View], Answer]) -> Answer:
    """The answer to a question about the tables; `root` must be real.

    Of a vault with many notes and no index it is about none.
    """
    folder = IndexFolder(root)
    for _ in range(2):  # a writer replaced what we read, or it is damaged
        try:
            return question(_quick_tables(root, sessions, folder, folder.load()))
        except IndexBroken:
            continue
    return question(_quick_tables(root, sessions, folder, EMPTY))


def _quick_tables(root: str, sessions: str, folder: IndexFolder, manifest: Manifest) -> View:
    seen = scan_notes(root, sessions, None)
    suspects = compare_folders(folder, manifest, seen.scans, seen.within)
    draft = IndexDraft(folder, manifest, suspects, "not asked to")
    asked = _newest(suspects)
    if manifest.whole or len(asked) == len(suspects.look):
        draft.apply(read_notes(root, asked), suspects.gone, 0)
    return View(draft.shards(), draft.read)


def _newest(suspects: Suspects) -> list[NoteRequest]:
    newest = sorted(suspects.look.items(), key=lambda one: one[1][1], reverse=True)[:_MOST]
    found: list[NoteRequest] = []
    room = _MOST_BYTES
    for path, (size, *_) in newest:
        room -= size
        if room < 0 and found:
            break
        found.append(NoteRequest(path, suspects.sha_of(path)))
    return found
