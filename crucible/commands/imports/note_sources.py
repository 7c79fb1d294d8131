"""Find the note of a native session: by its `sources`, or by a resume ticket in the first prompt.

A ticket that `cru` never issued is ignored, so untrusted text cannot claim a note.
"""

from __future__ import annotations

import os
import re
import time
from collections.abc import Collection, Iterable, Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

import orjson

from crucible.clients.events import At, Event, Prompted, PromptKind, Resumed
from crucible.clients.launch.session_marks import find_resume_mark
from crucible.clients.log_files import Transcript
from crucible.clients.registry import Dialect
from crucible.core import files
from crucible.core.errors import CrucibleError, NoteUnreadable, TranscriptError, VaultError
from crucible.core.file_stamps import settles_at, stamp_at
from crucible.core.files import Stamp
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.recording.entry_texts import whole_seconds
from crucible.documents.session.session import Session
from crucible.documents.session.titles import RESUMED
from crucible.memory.bookmarks.resume_tickets import Ticket, current_session_id, find_ticket, has_tickets
from crucible.vault.events.event_reader import read_records
from crucible.vault.logs.tombstones import load_deleted
from crucible.vault.notes.note_tail import read_tail
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import OnError, find_notes, is_markdown, note_name

_HEAD = 8192
_LONGEST_HEAD = 1 << 20
_CLOSER = re.compile(rb"\r?\n---[ \t]*(?:\r?\n|\Z)")
_SOURCES = re.compile(rb"^sources:([^\r\n]*(?:\r?\n(?:[ \t]+|-(?=[ \t]))[^\r\n]*)*)", re.MULTILINE)
_SOURCE = re.compile(rb"[\w.-]+:[^\s\"',\[\]]+")
_ESCAPE = re.compile(r"\\x([0-9a-f]{2})")
_HIDING_KEYS = {"broken-yaml", "unclosed-frontmatter", "yaml-too-large"}
"""Frontmatter problems that may hide a key."""
_FORMAT = 1
"""Increase when the sources of a note are found otherwise."""
_WORTH_IT = 200
"""Minimum notes that were opened until the cache is written; else a sixteenth of all."""
_ID = re.compile(rb"^session_id:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


class SourceTable:
    """The paths of notes by source, and all names in use; `refresh` adds notes created by other processes."""

    def __init__(self, vault: Vault, on_error: OnError | None = None) -> None:
        self._vault = vault
        self._on_error = on_error
        self._known = _KnownNotes(vault.root)
        self.read_all()

    def read_all(self) -> None:
        """Read all notes; those that are known and have not changed are not opened."""
        self.deleted = load_deleted(self._vault.root)
        self._paths: dict[str, str] = {}
        self._sessions: set[str] = set()
        """The sources of sessions that have a note, or a subagent with a note."""
        self._seen: dict[str, set[str]] = {str(self._vault.sessions): set()}
        """The names of the notes that were read, by folder."""
        self._names: set[str] = set()
        self._with_sources: set[str] = set()
        """Names of notes that have sources."""
        self.written: dict[Path, Stamp] = {}
        """The stamps of the notes that this import wrote or compared."""
        found = find_notes(self._vault.root, self._vault.sessions, self._on_error)
        for folder, names in sorted(found, key=lambda one: str(one[0])):
            for name in names:
                self._read_note(str(folder), name)

    def save(self) -> None:
        """Keep what was read for the next table."""
        self._known.save()

    def find(self, source: str) -> Path | None:
        """Return the path of the note that lists a source."""
        path = self._paths.get(source)
        return Path(path) if path else None

    def place_of(self, source: str) -> str | None:
        """Return the same as text."""
        return self._paths.get(source)

    def knows(self, source: str) -> bool:
        """True if a note lists a session or one of its subagents."""
        return source in self._sessions

    def path_of(self, name: str) -> Path | None:
        """Return the path of the note with this name, in any folder."""
        paths = (Path(folder, f"{name}.md") for folder in sorted(self._seen))
        return next((path for path in paths if os.path.lexists(path)), None)

    def is_taken(self, name: str) -> bool:
        """True if a note with this name exists or is planned. Ignores case, as some file systems do."""
        return name.casefold() in self._names

    def check_collision(self, name: str, source: str) -> None:
        """Raise `NoteUnreadable` if a note with this name may list the source but its frontmatter cannot be read.

        A note with other sources, or with valid frontmatter and no sources, belongs to another session.
        """
        if name.casefold() in self._with_sources:
            return
        for folder in sorted(self._seen):
            path = Path(folder, f"{name}.md")
            if os.path.lexists(path) and (hidden := self._hidden_source(path, source)):
                raise NoteUnreadable(f"{path}: {hidden}, so it may be this session's note", "fix it, then import again")

    def _hidden_source(self, path: Path, source: str) -> str:
        if hidden := _hidden_source(path, source):
            return hidden
        # A user who deletes the end of a note in an editor also deletes the comment, which Obsidian does not show.
        is_gone = _logged_source(self._vault.root, note_name(path.name)) == source
        return "the comment at its end, which records what was imported, is missing" if is_gone else ""

    def plan(self, name: str) -> None:
        """Reserve the name for a note that will be written."""
        self._names.add(name.casefold())

    def add(self, source: str, path: Path) -> None:
        """Add a source of a written note."""
        self._paths[source] = str(path)
        self._sessions.add(source.partition("/")[0])
        self._names.add(note_name(path.name).casefold())
        self._with_sources.add(note_name(path.name).casefold())
        self._seen.setdefault(str(path.parent), set()).add(path.name)

    def add_all(self, sources: Iterable[str], note: Note) -> None:
        """Add all sources of a written note."""
        self.written[note.path] = note.stamp
        for source in sources:
            self.add(source, note.path)

    def refresh(self) -> None:
        """Add the notes created, and the sessions deleted, since the table was read.  If notes have moved, read all."""
        self.deleted = load_deleted(self._vault.root)
        there = {folder: _names_in(folder) for folder in self._seen}
        if any(not seen <= there[folder] for folder, seen in self._seen.items()):
            self.read_all()
            return
        for folder, names in there.items():
            for name in sorted(names - self._seen[folder]):
                if is_markdown(name) and not name.startswith("."):
                    self._read_note(folder, name)

    def _read_note(self, folder: str, name: str) -> None:
        path = f"{folder}{os.sep}{name}"
        self._seen.setdefault(folder, set()).add(name)
        self._names.add(note_name(name).casefold())
        sources, is_original = self._known.read(path)
        if sources:
            self._with_sources.add(note_name(name).casefold())
        for source in sources:
            if is_original or source not in self._paths:
                self._paths[source] = path
                self._sessions.add(source.partition("/")[0])


class _KnownNotes:
    """The sources of notes that were read before, with the notes' stamps.

    They are a cache, `.crucible/cache/sources.json`: without it, every note is opened.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._path = root / ".crucible" / "cache" / "sources.json"
        self._notes: dict[str, list[Any]] = {}
        self._unsaved = 0
        with suppress(OSError, ValueError, KeyError, TypeError, CrucibleError):
            loaded = orjson.loads(files.inside(root, self._path).read_bytes())
            self._notes = loaded["notes"] if loaded["format"] == _FORMAT else {}

    def read(self, path: str) -> tuple[list[str], bool]:
        """Return a note's sources, and whether it is named after its id."""
        now, stamp = time.time_ns(), stamp_at(path)
        known = self._notes.get(path)
        if known and stamp and known[0] == [*stamp]:
            return known[1], known[2]
        found = _read_sources(path)
        self._unsaved += 1
        if stamp and settles_at(max(stamp[1:3])) < now:
            self._notes[path] = [[*stamp], *found]
        return found

    def save(self) -> None:
        """Write the cache if it saves the next import enough; a failure is ignored."""
        if self._unsaved < max(_WORTH_IT, len(self._notes) // 16):
            return
        self._unsaved = 0
        with suppress(OSError, TypeError, CrucibleError):  # a path that is not UTF-8
            files.make_folders(self._root, self._path.parent)
            notes = {path: known for path, known in self._notes.items() if os.path.lexists(path)}
            data = orjson.dumps({"format": _FORMAT, "notes": notes})
            files.write_atomic(files.inside(self._root, self._path), data, fsync=False)


def _read_sources(path: str) -> tuple[list[str], bool]:
    head = _read_head(path)
    found = _find_sources(path, head)
    if not found:
        return [], False
    ident = _ID.search(head)
    # A copy made in Obsidian (`<id> 1.md`) has the same source; the note named after its id takes precedence.
    is_original = ident is not None and ident[1].decode() == note_name(os.path.basename(path))
    return [_unescaped(source.decode("utf-8", "replace")) for source in _SOURCE.findall(found[1])], is_original


def _unescaped(source: str) -> str:
    return _ESCAPE.sub(lambda one: chr(int(one[1], 16)), source)


class NoNotes(SourceTable):
    """The table of a vault in which no note has these sources."""

    def __init__(self, vault: Vault) -> None:
        self._vault = vault

    def find(self, source: str) -> Path | None:  # noqa: ARG002
        """Return None."""
        return None


def _names_in(folder: str) -> set[str]:
    try:
        return {*os.listdir(folder)}
    except OSError:
        return set()


def _logged_source(root: Path, name: str) -> str:
    """Return the source of a note's first event, "" if unknown."""
    try:
        return next((record.source for record in read_records(root, name)), "")
    except CrucibleError:
        return ""


def _hidden_source(path: Path, source: str) -> str:
    """Return why a note's sources cannot be read, "" if they can."""
    try:
        data, _ = files.read_bytes(path)
    except NoteUnreadable as error:
        return str(error).removeprefix(f"{path}: ")
    if _find_sources(str(path), _read_head(str(path))):
        return ""
    for problem in find_frontmatter(Source.from_bytes(data)).problems:
        if problem.code in _HIDING_KEYS:
            return f"its frontmatter cannot be read ({problem.message})"
    native_id = source.partition(":")[2].partition("/")[0]
    return "its list of sources cannot be parsed, but it contains this one" if native_id.encode() in data else ""


def _find_sources(path: str, head: bytes) -> re.Match[bytes] | None:
    """Find the sources at the end of a note, or in its frontmatter, where older versions wrote them."""
    try:
        return _SOURCES.search(read_tail(path)) or _SOURCES.search(head)
    except OSError:
        return None


def _read_head(path: str) -> bytes:
    """Return a file's frontmatter, b"" if it has none or cannot be read."""
    try:
        with open(path, "rb") as file:
            head = file.read(_HEAD).removeprefix(b"\xef\xbb\xbf")
            if not head.startswith(b"---"):
                return b""
            closer = _CLOSER.search(head)
            if closer is None and len(head) >= _HEAD - 3:
                head += file.read(_LONGEST_HEAD)
                closer = _CLOSER.search(head)
    except OSError:
        return b""
    return head[: closer.start() + 1] if closer else b""


_QUOTED = frozenset((PromptKind.TYPED, PromptKind.STEERING))


@dataclass(frozen=True, slots=True)
class Continuation:
    """A transcript that begins with a ticket at `at`.

    `note` belongs to the session that the transcript continues, None if it no longer exists.
    """

    ticket: Ticket
    at: At
    note: Note | None

    def is_deleted(self, root: Path, deleted: Collection[str]) -> bool:
        """True if the session that the transcript continues is one of these deleted ones, perhaps after a rename."""
        known = self.ticket.session, current_session_id(root, self.ticket.session)
        return self.note is None and any(name in deleted for name in known)

    @property
    def time(self) -> datetime:
        """The start of the transcript; continuations are imported earliest first."""
        return self.at.time or self.ticket.at


class Tickets:
    """Finds the tickets in one transcript. A vault without tickets costs a single file check."""

    def __init__(self, vault: Vault, table: SourceTable) -> None:
        self._vault = vault
        self._table = table
        self._has_any = has_tickets(vault.root)
        self._known: dict[tuple[str, str], Ticket | None] = {}
        self.met_any = False
        """True if a prompt had a mark like a ticket's."""

    def mark_resumed(self, events: Iterable[Event]) -> Iterator[Event]:
        """Yield the events, replacing each prompt that has a ticket with `Resumed`."""
        for event in events:
            ticket = self._ticket(event)
            if ticket and isinstance(event, Prompted):
                size = len(event.text.encode("utf-8", "surrogatepass"))
                yield Resumed(event.at, ticket.session, ticket.phase, size)
            else:
                yield event

    def first(self, dialect: Dialect, transcript: Transcript, source: str) -> Continuation | None:
        """Return the session that a transcript continues, by the ticket in its first prompt.

        Only the start of the transcript is read.
        """
        if not self._has_any:
            return None
        with closing(dialect.read(transcript)) as events:  # type: ignore[type-var]  # dialects' are generators
            prompts = (e for e in events if isinstance(e, Prompted) and e.kind in _QUOTED and not e.at.agent)
            first = next(prompts, None)
        ticket = self._ticket(first) if first else None
        if first is None or ticket is None:
            return None
        note = self._note_of(ticket)
        # A copy, such as a fork, of a transcript already in the note gets its own note, like other copies.
        is_copy = note is not None and source not in note.session.sources and _opened_phase(note.session, first.at)
        return None if is_copy else Continuation(ticket, first.at, note)

    def _ticket(self, event: Event | None) -> Ticket | None:
        if not isinstance(event, Prompted) or event.kind not in _QUOTED or event.at.agent:
            return None
        mark = find_resume_mark(event.text.lstrip().removeprefix('"'))  # some clients quote the prompt
        if mark is None:
            return None
        self.met_any = True
        if not self._has_any:
            return None
        if mark not in self._known:
            self._known[mark] = self._find(*mark)
        return self._known[mark]

    def _find(self, session: str, token: str) -> Ticket | None:
        try:
            ticket = find_ticket(self._vault.root, token)
        except VaultError as error:
            # The session is unknown for now, so the next import tries again.
            raise TranscriptError(f"begins with a ticket that cannot be looked up ({error})", error.hint) from error
        return ticket if ticket and ticket.session == session else None

    def _note_of(self, ticket: Ticket) -> Note | None:
        named = [self._read(ticket.session), self._read(current_session_id(self._vault.root, ticket.session))]
        found = [note for note in named if note]
        # After a rename, another session may have this name. If it began after the ticket was issued, it is not meant.
        earlier = (note for note in found if not (note.session.started and note.session.started > ticket.at))
        return next(earlier, next(iter(found), None))

    def _read(self, session_id: str) -> Note | None:
        path = self._table.path_of(session_id)
        return self._vault.read(path) if path else None


def _opened_phase(session: Session, at: At) -> bool:
    """True if the prompt at `at` opened a phase of the note."""
    time = whole_seconds(at.time)
    return time is not None and any(p.started == time and p.name.startswith(RESUMED) for p in session.phases)


def last_agent(session: Session) -> str:
    """Return the agent of the note's last phase, as `name@version`; "" if unknown."""
    agents = [phase.agent for phase in session.phases if phase.agent] or list(session.participants)
    return str(agents[-1]) if agents else ""
