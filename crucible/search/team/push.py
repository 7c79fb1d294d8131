"""Push the sessions and items of a vault to a team's server.

Notes are sent in batches.  The server stores a digest of each note, so an interrupted push continues with the batch that
was not stored.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date
from typing import Any, NamedTuple, Protocol

from crucible.core.errors import UsageError
from crucible.search.question_words import indexable
from crucible.search.recall import Document, Progress, seconds_of
from crucible.search.team.terms import (
    TERMS,
    UNDATED,
    ItemFacts,
    SessionRows,
    aware,
    columns_of_item,
    key_of,
    month_of,
    rows_of,
)

_LONGEST = 1_000
"""Maximum code points of a title, a project and other short text."""
BATCH = 1_000
"""Maximum notes per batch."""
_EVENTS, _LETTERS = 20_000, 20_000_000
"""The events and code points at which a batch is full."""


class Documents(Protocol):
    """The notes of a vault, by path."""

    def digests(self) -> Mapping[str, str]:
        """Return a digest of each note, which changes with its text."""
        ...

    def document(self, path: str) -> Document | None:
        """Return a note as a document; None if it is gone or cannot be read."""
        ...

    def item_facts(self, path: str) -> ItemFacts | None:
        """Return the facts that determine an item's weight and audience; None for a session."""
        ...


class Pushed(NamedTuple):
    """The result of a push, in notes.

    `refused` counts, by project, notes in projects that this user may not write to; `expired` counts notes of months
    that the server no longer keeps.  The others are lists of paths: another copy had pushed a later state of `older` notes, `unread` notes could not be read, and the server rejected
    `failed` notes.
    """

    new: int = 0
    replaced: int = 0
    same: int = 0
    removed: int = 0
    refused: Mapping[str, int] = {}
    older: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()
    expired: int = 0


class Stored(NamedTuple):
    """A note on the server."""

    digest: str
    clone: str
    last: int
    session: str


class Known(NamedTuple):
    """The state before the push: notes on the server by key, and keys of renamed notes by session."""

    stored: Mapping[str, Stored]
    renamed: Mapping[str, Sequence[str]]
    clone: str
    force: bool

    def is_newer(self, last: int, stored: Stored) -> bool:
        """Return whether another copy pushed a later state."""
        return not self.force and stored.clone != self.clone and stored.last > last


class Note(NamedTuple):
    """A note to push: a session, or a knowledge item with its facts."""

    path: str
    digest: str
    document: Document
    item: ItemFacts | None

    def rows(self) -> SessionRows:
        """Return the rows of the note.  An item's time is its last use, so that used items count as newer."""
        rows = rows_of(self.document)
        used = seconds_of(self.item[1].last_used) if self.item else None
        return rows._replace(last=max(rows.last, used or 0))


class NewNote(NamedTuple):
    """A note as it is sent: its row of `sessions`, without a number, and its other rows."""

    head: Mapping[str, Any]
    rows: SessionRows
    note: Note


class PushTables(Protocol):
    """The tables of a server, as far as this user may write to them.

    All methods raise `ServerFailed` if the server is down, slow or refuses.
    """

    def start(self) -> tuple[date, date]:
        """Check that the tables exist in this version; return the server's date and the first month that is kept."""
        ...

    def stored(self, vault: str) -> Mapping[str, Stored]:
        """Return the notes of a vault on the server, by key."""
        ...

    def project(self, name: str) -> Any:
        """Return what to write as a project, created if necessary; None if this user may not write to it."""
        ...

    def write(self, vault: str, rows: Sequence[NewNote], known: Known) -> list[str]:
        """Write a batch; return the outcome of each note: new, replaced, same, older, refused or failed."""
        ...

    def remove(self, vault: str, keys: Sequence[str]) -> int:
        """Remove notes of a vault; return their number."""
        ...

    def close(self) -> None:
        """Close the connection."""
        ...


class Settled(NamedTuple):
    """What to do with a batch: the outcome of each note, the notes to send, and the keys of notes that they replace."""

    outcomes: list[str]
    sent: list[NewNote]
    keys: list[str]


def settle(rows: Sequence[NewNote], stored: Mapping[str, Stored], known: Known) -> Settled:
    """Decide which notes of a batch to send.  `stored` are those of their keys that are on the server now."""
    outcomes: list[str] = []
    sent: list[NewNote] = []
    keys: set[str] = set()
    for one in rows:
        old, renamed = stored.get(one.head["key"]), known.renamed.get(one.head["session_id"], ())
        if _is_same(old, one.note.digest) or (old and known.is_newer(one.rows.last, old)):
            outcomes.append("older" if old and old.digest != one.note.digest else "same")
            continue
        keys.update([one.head["key"]] if old else [], renamed)
        outcomes.append("replaced" if old or renamed else "new")
        sent.append(one)
    return Settled(outcomes, sent, sorted(keys))


class Pusher:
    """Pushes one copy of a vault.  Not thread-safe, but several processes may push the same notes concurrently.

    A note pushed by another copy of the vault is only removed by that copy, and never replaced by an older state.
    """

    def __init__(self, tables: PushTables, vault: str, clone: str = "", batch: int = BATCH) -> None:
        """Use these ids: `vault` identifies the vault, `clone` this copy of it.  Send at most `batch` notes at once."""
        self._tables = tables
        self._vault = vault
        self._clone = clone
        self._batch = batch
        self._projects: dict[str, Any] = {}
        self._today = self._since = date.min

    def push(self, source: Documents, *, force: bool = False, progress: Progress | None = None) -> Pushed:
        """Send new and changed notes.  After a `ServerFailed`, the next push continues where this one stopped.

        `force` also replaces notes of which another copy has pushed a later state.
        """
        self._today, self._since = self._tables.start()
        digests = {path: f"{TERMS}:{digest}" for path, digest in source.digests().items()}
        stored = self._tables.stored(self._vault)
        changed = [path for path, digest in digests.items() if not _is_same(stored.get(key_of(path)), digest)]
        known = Known(stored, self._renamed(stored, digests), self._clone, force)
        counts: Counter[str] = Counter(same=len(digests) - len(changed))
        refused: Counter[str] = Counter()
        paths: dict[str, list[str]] = {"older": [], "unread": [], "failed": []}
        for done, (path, project, outcome) in enumerate(self._outcomes(changed, digests, source, known), 1):
            if outcome in paths:
                paths[outcome].append(path)
            elif outcome == "refused":
                refused[project] += 1
            else:
                counts[outcome] += 1
            if progress:
                progress(done, len(changed))
        lists = {name: tuple(found) for name, found in paths.items()}
        return Pushed(
            counts["new"], counts["replaced"], counts["same"], 0, dict(refused), **lists, expired=counts["expired"]
        )

    def _outcomes(
        self, paths: Iterable[str], digests: Mapping[str, str], source: Documents, known: Known
    ) -> Iterator[tuple[str, str, str]]:
        """Push notes; yield the path, project and outcome of each, a name of a `Pushed` field."""
        rows: list[NewNote] = []
        events = letters = 0
        for path in paths:
            document = source.document(path)
            if document is None:
                yield path, "", "unread"
                continue
            found = self._row(Note(path, digests[path], document, source.item_facts(path)), known)
            if isinstance(found, str):
                yield path, document.project, found
                continue
            rows.append(found)
            events += len(document.events)
            letters += sum(len(event.text) for event in document.events)
            if len(rows) >= self._batch or events >= _EVENTS or letters >= _LETTERS:
                yield from self._sent(rows, known)
                rows, events, letters = [], 0, 0
        yield from self._sent(rows, known)

    def _sent(self, rows: Sequence[NewNote], known: Known) -> Iterator[tuple[str, str, str]]:
        for one, outcome in zip(rows, self._tables.write(self._vault, rows, known) if rows else (), strict=True):
            yield one.note.path, one.note.document.project, outcome

    def _row(self, note: Note, known: Known) -> NewNote | str:
        """Return what to send of a note, or the outcome if nothing is to be sent."""
        project = self._project(_short(note.document.project))
        if project is None:
            return "refused"
        rows = note.rows()
        head = self._head(note, rows, project)
        if UNDATED < head["month"] < self._since:
            return "expired"
        old = known.stored.get(head["key"])
        if old and known.is_newer(rows.last, old):
            return "older"
        return NewNote(head, rows, note)

    def sync(self, source: Documents, *, force: bool = False, progress: Progress | None = None) -> Pushed:
        """Push, and remove notes that this copy pushed and that no longer exist.

        Raises `UsageError` if that would remove all notes, unless forced: an unmounted folder looks like an empty
        vault.
        """
        pushed = self.push(source, force=force, progress=progress)
        keys = {key_of(path) for path in source.digests()}
        gone = [
            key
            for key, note in self._tables.stored(self._vault).items()
            if key not in keys and note.clone == self._clone
        ]
        if gone and not keys and not force:
            raise UsageError(
                f"the vault has no notes, but {len(gone)} on the server are from it",
                "check that the vault is complete; --force removes them",
            )
        return pushed._replace(removed=self._tables.remove(self._vault, gone))

    def delete(self, session: str) -> int:
        """Remove a session of this vault; return the number of removed notes."""
        self._tables.start()
        return self._tables.remove(
            self._vault, [key for key, note in self._tables.stored(self._vault).items() if note.session == session]
        )

    def close(self) -> None:
        """Close the connection."""
        self._tables.close()

    def _renamed(self, stored: Mapping[str, Stored], digests: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the keys of renamed notes on the server by session, so that they are replaced."""
        keys = {key_of(path) for path in digests}
        renamed: dict[str, list[str]] = {}
        for key, one in stored.items():
            if key not in keys and one.clone == self._clone:
                renamed.setdefault(one.session, []).append(key)
        return renamed

    def _head(self, note: Note, rows: SessionRows, project: Any) -> dict[str, Any]:
        """Return the row of `sessions`, by column."""
        document = note.document
        return {
            "vault": self._vault,
            "clone": self._clone,
            "key": key_of(note.path),
            "digest": note.digest,
            "project": project,
            "month": month_of(rows.first, self._today),
            "session_id": _short(document.session),
            "path": indexable(note.path),
            "title": _short(document.title),
            "branch": _short(document.branch),
            "tags": [_short(tag) for tag in document.tags],
            "parent": _short(document.parent),
            "started": aware(document.started),
            "first": rows.first,
            "last": rows.last,
            "events": rows.searched,
            "event_words": rows.event_words,
            "event_names": rows.event_names,
            "words": rows.words,
            "names": rows.names,
            "whole": rows.whole,
            "times": rows.times,
            "replies": rows.replies,
            "kinds": rows.kinds,
            **columns_of_item(note.item),
        }

    def _project(self, name: str) -> Any:
        if name not in self._projects:
            self._projects[name] = self._tables.project(name)
        return self._projects[name]


def _is_same(stored: Stored | None, digest: str) -> bool:
    return stored is not None and stored.digest == digest


def _short(text: str) -> str:
    return indexable(text)[:_LONGEST]
