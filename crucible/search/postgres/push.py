"""Push the sessions and items of a vault to a team's server.

A note's rows change in one transaction.  The server stores a digest of each note, so an interrupted push can be
repeated.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from crucible.core.errors import ServerFailed, UsageError
from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import check_ready
from crucible.search.postgres.terms import (
    ITEM_COLUMNS,
    TERMS,
    ItemFacts,
    SessionRows,
    aware,
    columns_of_item,
    key_of,
    month_of,
    rows_of,
)
from crucible.search.question_words import indexable
from crucible.search.recall import Document, Progress, seconds_of

if TYPE_CHECKING:
    import psycopg

_Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


_LONGEST = 1_000
"""Maximum code points of a title, a project and other short text."""
_ATTEMPTS = 3


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

    `refused` counts, by project, notes in projects that this user may not write to.  The others are lists of paths:
    another copy had pushed a later state of `older` notes, `unread` notes could not be read, and the server rejected
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


class _Stored(NamedTuple):
    """A note on the server."""

    digest: str
    clone: str
    last: int
    session: str


class _Known(NamedTuple):
    """The state before the push: notes on the server by key, and keys of renamed notes by session."""

    stored: Mapping[str, _Stored]
    renamed: Mapping[str, Sequence[str]]
    force: bool


class _Note(NamedTuple):
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


class Pusher:
    """Pushes one copy of a vault.  Not thread-safe, but several processes may push the same notes concurrently.

    A note pushed by another copy of the vault is only removed by that copy, and never replaced by an older state.
    """

    def __init__(self, server: Server, vault: str, clone: str = "") -> None:
        """Use these ids: `vault` identifies the vault, `clone` this copy of it."""
        self._server = server
        self._vault = vault
        self._clone = clone
        self._projects: dict[str, int | None] = {}
        self._months: set[date] = set()
        self._today = date.min

    def push(self, source: Documents, *, force: bool = False, progress: Progress | None = None) -> Pushed:
        """Send new and changed notes.  After a `ServerFailed`, the next push continues where this one stopped.

        `force` also replaces notes of which another copy has pushed a later state.
        """
        check_ready(self._server)
        self._today = self._server.run("SELECT current_date")[0][0]
        digests = {path: f"{TERMS}:{digest}" for path, digest in source.digests().items()}
        stored = self._stored()
        changed = [path for path, digest in digests.items() if not _is_same(stored.get(key_of(path)), digest)]
        known = _Known(stored, self._renamed(stored, digests), force)
        counts: Counter[str] = Counter(same=len(digests) - len(changed))
        refused: Counter[str] = Counter()
        paths: dict[str, list[str]] = {"older": [], "unread": [], "failed": []}
        for done, path in enumerate(changed, 1):
            document = source.document(path)
            note = _Note(path, digests[path], document, source.item_facts(path)) if document else None
            outcome = self._send(note, known) if note else "unread"
            if outcome in paths:
                paths[outcome].append(path)
            elif outcome == "refused" and document:
                refused[document.project] += 1
            else:
                counts[outcome] += 1
            if progress:
                progress(done, len(changed))
        lists = {name: tuple(found) for name, found in paths.items()}
        return Pushed(counts["new"], counts["replaced"], counts["same"], 0, dict(refused), **lists)

    def sync(self, source: Documents, *, force: bool = False, progress: Progress | None = None) -> Pushed:
        """Push, and remove notes that this copy pushed and that no longer exist.

        Raises `UsageError` if that would remove all notes, unless forced: an unmounted folder looks like an empty
        vault.
        """
        pushed = self.push(source, force=force, progress=progress)
        keys = {key_of(path) for path in source.digests()}
        gone = [key for key, note in self._stored().items() if key not in keys and note.clone == self._clone]
        if gone and not keys and not force:
            raise UsageError(
                f"the vault has no notes, but {len(gone)} on the server are from it",
                "check that the vault is complete; --force removes them",
            )
        return pushed._replace(removed=sum(self._remove(key) for key in gone))

    def delete(self, session: str) -> int:
        """Remove a session of this vault; return the number of removed notes."""
        check_ready(self._server)
        return sum(self._remove(key) for key, note in self._stored().items() if note.session == session)

    def close(self) -> None:
        """Close the connection."""
        self._server.close()

    def _stored(self) -> dict[str, _Stored]:
        rows = self._server.run(
            "SELECT key, digest, clone, last, session_id FROM crucible.sessions WHERE vault = %s",
            [self._vault],
        )
        return {key: _Stored(*rest) for key, *rest in rows}

    def _renamed(self, stored: Mapping[str, _Stored], digests: Mapping[str, str]) -> dict[str, list[str]]:
        """Return the keys of renamed notes on the server by session, so that they are replaced."""
        keys = {key_of(path) for path in digests}
        renamed: dict[str, list[str]] = {}
        for key, one in stored.items():
            if key not in keys and one.clone == self._clone:
                renamed.setdefault(one.session, []).append(key)
        return renamed

    def _send(self, note: _Note, known: _Known) -> str:
        """Push a note; return the outcome as the name of a `Pushed` field."""
        project = self._project(_short(note.document.project))
        if project is None:
            return "refused"
        rows = note.rows()
        head = self._head(note, rows, project)
        old = known.stored.get(head["key"])
        if old and not known.force and self._is_older(rows, old):
            return "older"
        self._make_month(head["month"])
        for attempt in range(_ATTEMPTS):
            try:
                with self._server.connection() as connection, connection.transaction():
                    return self._write(connection, head, rows, known)
            except _NotNeeded as outcome:
                return str(outcome)
            except ServerFailed as error:
                # The transaction was rolled back, so it can be retried.
                if error.state not in _AGAIN or attempt == _ATTEMPTS - 1:
                    return _rejected(error)
        raise AssertionError

    def _is_older(self, rows: SessionRows, stored: _Stored) -> bool:
        return stored.clone != self._clone and stored.last > rows.last

    def _write(self, connection: _Connection, head: Mapping[str, Any], rows: SessionRows, known: _Known) -> str:
        """Write the rows in a transaction.  Raises `_NotNeeded`, which rolls it back."""
        # A second writer waits here, then finds that the note is up to date.  The unique key prevents duplicates.
        connection.execute(_LOCK, head)
        keys = [head["key"], *known.renamed.get(head["session"], ())]
        old = connection.execute(_DELETE, {**head, "keys": keys}).fetchall()
        for key, digest, *rest in old:
            if key == head["key"] and digest == head["digest"]:
                # Another process pushed the note first.
                raise _NotNeeded("same")
            if key == head["key"] and not known.force and self._is_older(rows, _Stored(digest, *rest)):
                raise _NotNeeded("older")
        connection.execute(_INSERT, {**head, **_columns(rows)})
        return "replaced" if old else "new"

    def _remove(self, key: str) -> int:
        with self._server.connection() as connection, connection.transaction():
            given = {"vault": self._vault, "key": key, "keys": [key]}
            connection.execute(_LOCK, given)
            return len(connection.execute(_DELETE, given).fetchall())

    def _head(self, note: _Note, rows: SessionRows, project: int) -> dict[str, Any]:
        """Return the row for `sessions`."""
        document = note.document
        return {
            "vault": self._vault,
            "clone": self._clone,
            "key": key_of(note.path),
            "digest": note.digest,
            "project": project,
            "month": month_of(rows.first, self._today),
            "session": _short(document.session),
            "path": indexable(note.path),
            "title": _short(document.title),
            "branch": _short(document.branch),
            "tags": [_short(tag) for tag in document.tags],
            "parent": _short(document.parent),
            "started": aware(document.started),
            **columns_of_item(note.item),
        }

    def _project(self, name: str) -> int | None:
        """Return the number of a project, created if necessary; None if this user may not write to it."""
        if name not in self._projects:
            try:
                found = self._server.run(_PROJECT, [name]) or self._server.run(_NEW_PROJECT, [name])
                found = found and self._server.run(_PROJECT, [name])
            except ServerFailed as error:
                if error.state != _DENIED:
                    raise
                found = []
            self._projects[name] = found[0][0] if found else None
        return self._projects[name]

    def _make_month(self, month: date) -> None:
        """Create a month's partition outside any transaction: this waits for writers, so they must not wait for it."""
        if month not in self._months:
            self._server.run("SELECT crucible.make_month(%s)", [month])
            self._months.add(month)


class _NotNeeded(Exception):
    """The note does not need to be written; the message is a field of `Pushed`."""


_DENIED, _DUPLICATE = "42501", "23505"
_AGAIN = frozenset({"40P01", "40001", "55P03", _DUPLICATE})


def _rejected(error: ServerFailed) -> str:
    """Return the outcome for a rejected note.  Re-raises the error if the server itself is down or full."""
    if error.state in (_DENIED, _DUPLICATE):
        # The duplicate is in a project that this user may not see.
        return "refused"
    if error.state[:2] in ("22", "23", "54"):
        return "failed"
    raise error


def _is_same(stored: _Stored | None, digest: str) -> bool:
    return stored is not None and stored.digest == digest


def _short(text: str) -> str:
    return indexable(text)[:_LONGEST]


def _columns(rows: SessionRows) -> dict[str, Any]:
    """Return the other tables' rows as columns.  The arrays of hits differ in length, so they are sent as text."""
    events = list(zip(*rows.events, strict=True)) or [()] * 6
    named = zip(("sequences", "ids", "types", "payloads", "mores", "ats"), map(list, events), strict=True)
    return {
        **rows._asdict(),
        **dict(named),
        "terms": list(rows.postings),
        "wholes": [times for times, _ in rows.postings.values()],
        "hits": ["{" + ",".join(map(str, hits)) + "}" for _, hits in rows.postings.values()],
    }


_PROJECT = "SELECT no FROM crucible.projects WHERE name = %s AND no = ANY (crucible.writable())"
_NEW_PROJECT = "INSERT INTO crucible.projects (name) VALUES (%s) ON CONFLICT DO NOTHING RETURNING no"
_LOCK = b"SELECT pg_advisory_xact_lock(hashtextextended(%(vault)s || ' ' || %(key)s, 0))"
_DELETE = b"""
    DELETE FROM crucible.sessions WHERE vault = %(vault)s AND key = ANY (%(keys)s) RETURNING key, digest, clone, last, session_id
"""
_INSERT = f"""
    WITH one AS (
        INSERT INTO crucible.sessions (project, month, vault, key, digest, clone, session_id, path, title, branch, tags, parent, started,
            first, last, events, event_words, event_names, words, names, whole, times, replies, kinds, {", ".join(ITEM_COLUMNS)})
        VALUES (%(project)s, %(month)s, %(vault)s, %(key)s, %(digest)s, %(clone)s, %(session)s, %(path)s, %(title)s, %(branch)s, %(tags)s,
            %(parent)s, %(started)s, %(first)s, %(last)s, %(searched)s, %(event_words)s, %(event_names)s, %(words)s, %(names)s, %(whole)s,
            %(times)s::bigint[], %(replies)s::int[], %(kinds)s::smallint[], {", ".join(f"%({name})s" for name in ITEM_COLUMNS)})
        RETURNING no, project, month, session_id
    ), said AS (
        INSERT INTO crucible.session_events (session_no, project, month, session_id, sequence, id, event_type, payload, more, created_at)
        SELECT one.no, one.project, one.month, one.session_id, e.sequence, e.id, e.type, e.payload::jsonb, e.more, e.at
        FROM one, unnest(%(sequences)s::int[], %(ids)s::text[], %(types)s::text[], %(payloads)s::text[], %(mores)s::text[],
            %(ats)s::timestamptz[]) AS e (sequence, id, type, payload, more, at)
    )
    INSERT INTO crucible.postings (term, session_no, project, times, hits)
    SELECT p.term, one.no, one.project, p.times, p.hits::bigint[]
    FROM one, unnest(%(terms)s::text[], %(wholes)s::int[], %(hits)s::text[]) AS p (term, times, hits)
""".encode()  # noqa: S608  our own pieces
"""A single statement, which needs only one round trip."""
