"""Push the sessions and items of a vault to a team's server.

A note's rows change in one transaction, by one writer at a time. The server keeps a digest of each note, so an
interrupted push can be repeated. A note that another copy of the vault pushed is removed only by that copy, and never
replaced by an older one.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeAlias

from crucible.core.errors import ServerFailed, UsageError
from crucible.search.postgres.address import Server
from crucible.search.postgres.server_tables import check_ready
from crucible.search.postgres.terms import (
    ITEM_COLUMNS,
    TERMS,
    SessionRows,
    Shelved,
    aware,
    columns_of_item,
    key_of,
    month_of,
    rows_of,
)
from crucible.search.question_words import plain
from crucible.search.recall import Document
from crucible.search.session_cards import seconds_of

if TYPE_CHECKING:
    import psycopg

_Connection: TypeAlias = "psycopg.Connection[tuple[Any, ...]]"


Progress = Callable[[int, int], None]
"""Told how many changed notes of how many were looked at."""

_LONGEST = 1_000
"""Code points of a title, a project and the like."""
_ATTEMPTS = 3


class Documents(Protocol):
    """The notes of a vault, by their paths."""

    def digests(self) -> Mapping[str, str]:
        """Every note, and what changes whenever its words do."""
        ...

    def document(self, path: str) -> Document | None:
        """A note as it is searched; None where it is gone or cannot be read."""
        ...

    def shelved(self, path: str) -> Shelved | None:
        """What is known of an item of knowledge beside its words; None of a session."""
        ...


class Pushed(NamedTuple):
    """The result of a push, in notes.

    `refused` counts notes by project that this user may not write; `older` are paths of which another copy pushed a
    later state; `unread` could not be read, `failed` were not accepted by the server.
    """

    new: int = 0
    replaced: int = 0
    same: int = 0
    removed: int = 0
    refused: Mapping[str, int] = {}
    older: tuple[str, ...] = ()
    unread: tuple[str, ...] = ()
    failed: tuple[str, ...] = ()


class _There(NamedTuple):
    """What the server has of a note."""

    digest: str
    clone: str
    last: int
    session: str


class _Known(NamedTuple):
    """What a push knows when it begins: what is there, and by session what of it is of notes that were renamed here."""

    there: Mapping[str, _There]
    moved: Mapping[str, Sequence[str]]
    force: bool


class _Note(NamedTuple):
    """What is sent: a session, or an item of knowledge with what is known of it beside its words."""

    path: str
    digest: str
    document: Document
    item: Shelved | None

    def rows(self) -> SessionRows:
        """An item is as late as its last use: it counts before the same one without that."""
        rows = rows_of(self.document)
        used = seconds_of(self.item[1].last_used) if self.item else None
        return rows._replace(last=max(rows.last, used or 0))


class Pusher:
    """Pushes one copy of a vault.  Not thread-safe; several processes may push at once, also the same notes."""

    def __init__(self, server: Server, vault: str, clone: str = "") -> None:
        """`vault` is the same in every copy of a vault and in no other, `clone` is this copy's own."""
        self._server = server
        self._vault = vault
        self._clone = clone
        self._projects: dict[str, int | None] = {}
        self._months: set[date] = set()
        self._today = date.min

    def push(self, source: Documents, *, force: bool = False, progress: Progress | None = None) -> Pushed:
        """Send what is new or changed.  Raises `ServerFailed`; then what was sent stays, and the next push goes on.

        `force` sends also what is older than what another copy pushed.
        """
        check_ready(self._server)
        self._today = self._server.run("SELECT current_date")[0][0]
        digests = {path: f"{TERMS}:{digest}" for path, digest in source.digests().items()}
        there = self._there()
        changed = [path for path, digest in digests.items() if not _is_same(there.get(key_of(path)), digest)]
        known = _Known(there, self._moved(there, digests), force)
        counts: Counter[str] = Counter(same=len(digests) - len(changed))
        refused: Counter[str] = Counter()
        paths: dict[str, list[str]] = {"older": [], "unread": [], "failed": []}
        for done, path in enumerate(changed, 1):
            document = source.document(path)
            note = _Note(path, digests[path], document, source.shelved(path)) if document else None
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
        """Push, and remove what this copy of the vault had pushed and has no more.

        Raises `UsageError` for a vault without notes from which there were some, unless forced: a folder that is not
        mounted looks like that.
        """
        pushed = self.push(source, force=force, progress=progress)
        keys = {key_of(path) for path in source.digests()}
        gone = [key for key, there in self._there().items() if key not in keys and there.clone == self._clone]
        if gone and not keys and not force:
            raise UsageError(
                f"the vault has no notes, and {len(gone)} on the server are from it",
                "look whether it is all there; `--force` removes them",
            )
        return pushed._replace(removed=sum(self._remove(key) for key in gone))

    def delete(self, session: str) -> int:
        """Remove a session of this vault; returns the number of notes removed."""
        check_ready(self._server)
        return sum(self._remove(key) for key, there in self._there().items() if there.session == session)

    def close(self) -> None:
        """Let go of the connection."""
        self._server.close()

    def _there(self) -> dict[str, _There]:
        rows = self._server.run(
            "SELECT key, digest, clone, last, session_id FROM crucible.sessions WHERE vault = %s",
            [self._vault],
        )
        return {key: _There(*rest) for key, *rest in rows}

    def _moved(self, there: Mapping[str, _There], digests: Mapping[str, str]) -> dict[str, list[str]]:
        """By session what is of a note that was renamed here: it is replaced, not doubled."""
        keys = {key_of(path) for path in digests}
        moved: dict[str, list[str]] = {}
        for key, one in there.items():
            if key not in keys and one.clone == self._clone:
                moved.setdefault(one.session, []).append(key)
        return moved

    def _send(self, note: _Note, known: _Known) -> str:
        """What came of it: a field of `Pushed`."""
        project = self._project(_short(note.document.project))
        if project is None:
            return "refused"
        rows = note.rows()
        head = self._head(note, rows, project)
        old = known.there.get(head["key"])
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
                # It is there whole or not at all, so it may be tried again.
                if error.state not in _AGAIN or attempt == _ATTEMPTS - 1:
                    return _given_up(error)
        raise AssertionError

    def _is_older(self, rows: SessionRows, there: _There) -> bool:
        return there.clone != self._clone and there.last > rows.last

    def _write(self, connection: _Connection, head: Mapping[str, Any], rows: SessionRows, known: _Known) -> str:
        """In a transaction.  Raises `_NotNeeded`, which rolls it back."""
        # Who comes second waits here, and need not write what is there then; the key's being unique is what keeps it single.
        connection.execute(_LOCK, head)
        keys = [head["key"], *known.moved.get(head["session"], ())]
        old = connection.execute(_DELETE, {**head, "keys": keys}).fetchall()
        for key, digest, *rest in old:
            if key == head["key"] and digest == head["digest"]:
                # Somebody else was faster.
                raise _NotNeeded("same")
            if key == head["key"] and not known.force and self._is_older(rows, _There(digest, *rest)):
                raise _NotNeeded("older")
        connection.execute(_INSERT, {**head, **_columns(rows)})
        return "replaced" if old else "new"

    def _remove(self, key: str) -> int:
        with self._server.connection() as connection, connection.transaction():
            given = {"vault": self._vault, "key": key, "keys": [key]}
            connection.execute(_LOCK, given)
            return len(connection.execute(_DELETE, given).fetchall())

    def _head(self, note: _Note, rows: SessionRows, project: int) -> dict[str, Any]:
        """The row of `sessions`."""
        document = note.document
        return {
            "vault": self._vault,
            "clone": self._clone,
            "key": key_of(note.path),
            "digest": note.digest,
            "project": project,
            "month": month_of(rows.first, self._today),
            "session": _short(document.session),
            "path": plain(note.path),
            "title": _short(document.title),
            "branch": _short(document.branch),
            "tags": [_short(tag) for tag in document.tags],
            "parent": _short(document.parent),
            "started": aware(document.started),
            **columns_of_item(note.item),
        }

    def _project(self, name: str) -> int | None:
        """The number of a project that this user may write to; a new one is created if they may write to all."""
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
        """Outside any transaction: it waits for writers, so they must not wait for it."""
        if month not in self._months:
            self._server.run("SELECT crucible.make_month(%s)", [month])
            self._months.add(month)


class _NotNeeded(Exception):
    """Nothing is to be written after all: why, as a field of `Pushed`."""


_DENIED, _THERE_ALREADY = "42501", "23505"
_AGAIN = frozenset({"40P01", "40001", "55P03", _THERE_ALREADY})


def _given_up(error: ServerFailed) -> str:
    """A note that is not taken does not keep the others back; a server that is gone or full does."""
    if error.state in (_DENIED, _THERE_ALREADY):
        # There already, and not to be seen: it stands in a project of others.
        return "refused"
    if error.state[:2] in ("22", "23", "54"):
        return "failed"
    raise error


def _is_same(there: _There | None, digest: str) -> bool:
    return there is not None and there.digest == digest


def _short(text: str) -> str:
    return plain(text)[:_LONGEST]


def _columns(rows: SessionRows) -> dict[str, Any]:
    """The rows of the other tables by column; nested arrays are text, since theirs may differ in length."""
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
            first, last, events, event_words, event_names, words, names, whole, times, {", ".join(ITEM_COLUMNS)})
        VALUES (%(project)s, %(month)s, %(vault)s, %(key)s, %(digest)s, %(clone)s, %(session)s, %(path)s, %(title)s, %(branch)s, %(tags)s,
            %(parent)s, %(started)s, %(first)s, %(last)s, %(searched)s, %(event_words)s, %(event_names)s, %(words)s, %(names)s, %(whole)s,
            %(times)s::bigint[], {", ".join(f"%({name})s" for name in ITEM_COLUMNS)})
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
"""One statement, so one way to the server and back."""
