"""Which note holds which native session, by the `sources` in each note's frontmatter and by resume tickets in prompts.

A ticket that was never issued is plain text: foreign words cannot adopt a note.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import closing
from dataclasses import dataclass
from datetime import datetime
from hashlib import blake2s
from pathlib import Path

from crucible.clients.events import At, Event, Prompted, PromptKind, Resumed
from crucible.clients.launch.session_marks import find_resume_mark
from crucible.clients.log_files import Transcript
from crucible.clients.registry import Dialect
from crucible.core import files
from crucible.core.errors import NoteUnreadable, TranscriptError, VaultError
from crucible.documents.markdown.frontmatter import find_frontmatter
from crucible.documents.markdown.source import Source
from crucible.documents.recording.entry_texts import whole_seconds
from crucible.documents.session.session import Session
from crucible.documents.session.titles import RESUMED
from crucible.memory.bookmarks.resume_tickets import Ticket, find_ticket, has_tickets, name_now
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import OnError, is_markdown, note_name

_ODD = re.compile(r"[^A-Za-z0-9_.+/@=~-]")
_HEAD = 8192
_LONGEST_HEAD = 1 << 20
_CLOSER = re.compile(rb"\r?\n---[ \t]*(?:\r?\n|\Z)")
_SOURCES = re.compile(rb"^sources:([^\r\n]*(?:\r?\n(?:[ \t]+|-(?=[ \t]))[^\r\n]*)*)", re.MULTILINE)
_SOURCE = re.compile(rb"[\w.-]+:[^\s\"',\[\]]+")
_HIDING = {"broken-yaml", "unclosed-frontmatter", "yaml-too-large"}
"""Problems of a frontmatter in which a key may go unseen."""
_ID = re.compile(rb"^session_id:[ \t]*[\"']?([\w.-]+)", re.MULTILINE)


def source_name(client: str, native_id: str, agent: str = "") -> str:
    """`claude-code:<native id>`, a subagent's with its id after a `/`.

    Odd characters of a file's name become `-`; a hash at the end keeps apart what looks alike then.
    """
    return f"{client}:{'/'.join(_plain(part) for part in (native_id, agent) if part)}"


def _plain(raw: str) -> str:
    plain = _ODD.sub("-", raw)
    if plain == raw:
        return raw
    return f"{plain}-{blake2s(raw.encode('utf-8', 'surrogatepass'), digest_size=3).hexdigest()}"


class SourceTable:
    """Paths of notes by the sources in their frontmatter, and every name that is taken.

    Read once; `refresh` looks at what other processes added since.
    """

    def __init__(self, vault: Vault, on_error: OnError | None = None) -> None:
        self._vault = vault
        self._paths: dict[str, Path] = {}
        self._seen: set[str] = set()
        self._folders: set[str] = {str(vault.sessions)}
        self._names: set[str] = set()
        self._telling: set[str] = set()
        """Names of notes that say their sources."""
        for path in vault.session_paths(on_error):
            self._look(str(path.parent), path.name)

    def find(self, source: str) -> Path | None:
        """The note that holds a source."""
        return self._paths.get(source)

    def path_of(self, name: str) -> Path | None:
        """The note of that name, in any folder."""
        paths = (Path(folder, f"{name}.md") for folder in sorted(self._folders))
        return next((path for path in paths if os.path.lexists(path)), None)

    def is_taken(self, name: str) -> bool:
        """Whether a note of that name exists or is about to; file systems may not tell cases apart."""
        return name.casefold() in self._names

    def check_collision(self, name: str, source: str) -> None:
        """`NoteUnreadable` when the note of that name may hold the source and does not show it.

        Another session's note is no such case: it says its own source, or is whole and has none.
        """
        if name.casefold() in self._telling:
            return
        for folder in sorted(self._folders):
            path = Path(folder, f"{name}.md")
            if os.path.lexists(path) and (hidden := _hidden_source(path, source)):
                raise NoteUnreadable(
                    f"{path}: {hidden}, so it may be this session's note", "mend it, then import again"
                )

    def plan(self, name: str) -> None:
        """Keep a name for a note that will be written."""
        self._names.add(name.casefold())

    def add(self, source: str, path: Path) -> None:
        """A note was written."""
        self._paths[source] = path
        self._names.add(note_name(path.name).casefold())
        self._telling.add(note_name(path.name).casefold())
        self._seen.add(f"{path.parent}{os.sep}{path.name}")

    def refresh(self) -> None:
        """Look at notes that were not there before."""
        for folder in self._folders:
            try:
                names = os.listdir(folder)
            except OSError:
                continue
            for name in sorted(names):
                if is_markdown(name) and not name.startswith(".") and f"{folder}{os.sep}{name}" not in self._seen:
                    self._look(folder, name)

    def _look(self, folder: str, name: str) -> None:
        path = f"{folder}{os.sep}{name}"
        self._seen.add(path)
        self._folders.add(folder)
        self._names.add(note_name(name).casefold())
        head = _read_head(path)
        found = _SOURCES.search(head)
        if not found:
            return
        self._telling.add(note_name(name).casefold())
        ident = _ID.search(head)
        # Somebody's copy of a note in Obsidian (`<id> 1.md`) holds the same source; the note of that id counts.
        is_original = ident is not None and ident[1].decode() == note_name(name)
        for source in _SOURCE.findall(found[1]):
            key = source.decode("utf-8", "replace")
            if is_original or key not in self._paths:
                self._paths[key] = Path(path)


def _hidden_source(path: Path, source: str) -> str:
    """Why a note's sources cannot be told, or ""."""
    try:
        data, _ = files.read_bytes(path)
    except NoteUnreadable as error:
        return str(error).removeprefix(f"{path}: ")
    if _SOURCES.search(_read_head(str(path))):
        return ""
    for problem in find_frontmatter(Source.from_bytes(data)).problems:
        if problem.code in _HIDING:
            return f"its frontmatter cannot be read ({problem.message})"
    native_id = source.partition(":")[2].partition("/")[0]
    return "its sources cannot be read, though it names this one" if native_id.encode() in data else ""


def _read_head(path: str) -> bytes:
    """The frontmatter of a file, or what a look at it gave."""
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


_SAID = frozenset((PromptKind.TYPED, PromptKind.STEERING))


@dataclass(frozen=True, slots=True)
class Joining:
    """A transcript that begins with a ticket: `at` is where, `note` the session it goes on with, None where that is gone."""

    ticket: Ticket
    at: At
    note: Note | None

    @property
    def time(self) -> datetime:
        """When it began: of several the first one is folded in first."""
        return self.at.time or self.ticket.at


class Tickets:
    """The tickets of a vault, as an import of one transcript asks for them; a vault without any costs one look."""

    def __init__(self, vault: Vault, table: SourceTable) -> None:
        self._vault = vault
        self._table = table
        self._are_there = has_tickets(vault.root)
        self._known: dict[tuple[str, str], Ticket | None] = {}

    def told(self, events: Iterable[Event]) -> Iterator[Event]:
        """The events, with prompts that `cru` gave as what they are."""
        for event in events:
            ticket = self._ticket(event)
            if ticket and isinstance(event, Prompted):
                size = len(event.text.encode("utf-8", "surrogatepass"))
                yield Resumed(event.at, ticket.session, ticket.phase, size)
            else:
                yield event

    def first(self, dialect: Dialect, transcript: Transcript, source: str) -> Joining | None:
        """What a transcript that no note names goes on with: its first prompt says so.  Only its head is read."""
        if not self._are_there:
            return None
        with closing(dialect.read(transcript)) as events:  # type: ignore[type-var]  # dialects' are generators
            prompts = (e for e in events if isinstance(e, Prompted) and e.kind in _SAID and not e.at.agent)
            first = next(prompts, None)
        ticket = self._ticket(first) if first else None
        if first is None or ticket is None:
            return None
        note = self._note_of(ticket)
        # A copy of a transcript that was folded in, as a fork is: it makes a note of its own, as other copies do.
        is_copy = note is not None and source not in note.session.sources and _is_told(note.session, first.at)
        return None if is_copy else Joining(ticket, first.at, note)

    def _ticket(self, event: Event | None) -> Ticket | None:
        if not self._are_there or not isinstance(event, Prompted) or event.kind not in _SAID or event.at.agent:
            return None
        mark = find_resume_mark(event.text.lstrip().removeprefix('"'))  # some clients put what they are given in quotes
        if mark is None:
            return None
        if mark not in self._known:
            self._known[mark] = self._find(*mark)
        return self._known[mark]

    def _find(self, session: str, token: str) -> Ticket | None:
        try:
            ticket = find_ticket(self._vault.root, token)
        except VaultError as error:
            # Nobody knows then whose this is: it waits, and the others are imported.
            raise TranscriptError(f"begins with a ticket that cannot be looked up ({error})", error.hint) from error
        return ticket if ticket and ticket.session == session else None

    def _note_of(self, ticket: Ticket) -> Note | None:
        named = [self._read(ticket.session), self._read(name_now(self._vault.root, ticket.session))]
        found = [note for note in named if note]
        # After a rename somebody else may have got the name: who began after the ticket was issued is not meant.
        there = (note for note in found if not (note.session.started and note.session.started > ticket.at))
        return next(there, next(iter(found), None))

    def _read(self, session_id: str) -> Note | None:
        path = self._table.path_of(session_id)
        return self._vault.read(path) if path else None


def _is_told(session: Session, at: At) -> bool:
    """Whether a phase of the note was opened by this very prompt."""
    time = whole_seconds(at.time)
    return time is not None and any(p.started == time and p.name.startswith(RESUMED) for p in session.phases)


def who_was_before(session: Session) -> str:
    """Who a note says was at work last, `name@version`."""
    agents = [phase.agent for phase in session.phases if phase.agent] or list(session.participants)
    return str(agents[-1]) if agents else ""
