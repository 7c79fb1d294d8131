"""The public API.  `crucible` exports these names, and imports this module when one of them is first used."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, TypeVar, cast

from crucible.clients.events import Event
from crucible.clients.redact import redactor_of
from crucible.clients.registry import DIALECTS
from crucible.commands.record import start
from crucible.commands.record.recorder import Recorder
from crucible.core import files
from crucible.core.errors import TranscriptError, UsageError
from crucible.core.secrets.redaction import redact_of
from crucible.core.secrets.scanner import Redact
from crucible.core.settings.settings import SecretSettings
from crucible.documents.markdown.source import Edit, Source, apply_edits
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session import edits, task_edits
from crucible.documents.session.session import Entry, Phase, Session
from crucible.memory.knowledge.knowledge_search import ItemShelf
from crucible.search.embedded.embedded_recall import EmbeddedRecall
from crucible.search.recall import Answer, Question
from crucible.vault.index.index import Index
from crucible.vault.index.query import SessionQuery, select
from crucible.vault.index.schema import Row, path_of_cell
from crucible.vault.notes import vault as notes
from crucible.vault.notes.discovery import check_vault
from crucible.vault.notes.note_folder import replacement
from crucible.vault.notes.vault import Note

Change = Callable[[Note, Redact], Iterable[Edit]]
"""A change to a note, made by `set_property`, `add_phase` or `add_entry` and applied by `Vault.edit`."""
T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class SessionRow:
    """One session as stored in the index, available without reading its note."""

    id: str
    title: str
    path: Path
    status: str
    project: str
    started: datetime | None
    ended: datetime | None
    tokens: int | None
    parent: str


class Vault:
    """A vault of session notes. Open one with `crucible.open`.

    Notes are not cached: each call sees the changes that other programs have made.
    """

    def __init__(self, root: Path) -> None:
        """Raise `VaultNotFound` if `root` has no `.crucible` folder, `VaultError` if its settings cannot be read."""
        self._notes = notes.Vault(Path(check_vault(str(root))))
        self.root = self._notes.root

    def __repr__(self) -> str:
        return f"crucible.open({str(self.root)!r})"

    def sessions(
        self,
        *,
        status: str | None = None,
        project: str | None = None,
        agent: str | None = None,
        since: datetime | None = None,
        until: datetime | None = None,
        subagents: bool = False,
        archived: bool = False,
        limit: int | None = None,
    ) -> list[SessionRow]:
        """List the matching sessions, newest first. None means any; `since` and `until` are inclusive.

        Subagents' and archived sessions are excluded unless `subagents` or `archived` is true. Reads the index, not the notes.
        """
        query = SessionQuery(
            status=status,
            agent=agent,
            since=since,
            until=until,
            project=project,
            children=subagents,
            archived=archived,
            limit=limit,
        )
        rows, _ = Index(self.root, self._notes.settings).ask(lambda view: select(view, query))
        return [self._row(row) for row in rows]

    def session(self, session_id: str) -> Session:
        """Load a session: its properties, phases, entries, findings and problems.

        `session_id` may be a unique prefix. Raises `SessionNotFound` or `AmbiguousSession`.
        """
        return self.note(session_id).session

    def note(self, session_id: str) -> Note:
        """Load a session's note: its path, its exact text in `source`, and the parsed session in `session`."""
        return self._notes.load(session_id)

    def edit(self, session_id: str, *changes: Change) -> Note:
        """Apply changes in order, save the note once, and return it. If a change is refused, nothing is saved.

        Bytes outside the changed lines are preserved. If another program saves the note in the meantime, the changes
        are applied again to the new text. Secrets in added text are redacted according to the vault's settings.
        Raises `NoteChanged` if the note keeps changing, and `EditRefused` if a change would alter other lines.
        """
        redact = redact_of(self._notes.settings.secrets)

        def edits_of(note: Note) -> Iterable[Edit]:
            changed = note
            for change in changes:
                changed = Note(note.path, apply_edits(changed.source, change(changed, redact)), note.stamp)
            return replacement(note.source, changed.source.text)

        return self._notes.update(session_id, edits_of)

    def search(
        self,
        question: str,
        *,
        project: str = "",
        since: datetime | None = None,
        until: datetime | None = None,
        limit: int = 10,
    ) -> Answer:
        """Search the events of all sessions and the knowledge, as `cru recall` does.

        The answer's `hits` are events and its `sessions` are sessions; both are sorted best first.
        """
        asked = Question(question, project=project, since=since, until=until, limit=limit)
        engine = EmbeddedRecall(self.root, self._notes.settings, items=ItemShelf(self._notes))
        return engine.ask(asked, datetime.now(UTC))

    def _row(self, row: Row) -> SessionRow:
        return SessionRow(
            id=str(row["id"]),
            title=str(row["title"] or ""),
            path=self.root / path_of_cell(str(row["path"])),
            status=str(row["status"] or ""),
            project=str(row["project"] or ""),
            started=_time(row["started"]),
            ended=_time(row["ended"]),
            tokens=row["tokens"] if isinstance(row["tokens"], int) else None,
            parent=str(row["parent"] or ""),
        )


def _time(cell: object) -> datetime | None:
    return datetime.fromisoformat(cell) if isinstance(cell, str) and cell else None


def open(path: str | os.PathLike[str]) -> Vault:  # noqa: A001  `crucible.open` is named like `gzip.open`
    """Open the vault in a folder; a leading `~` is expanded. Raises `VaultNotFound` and `VaultError`."""
    return Vault(Path(path).expanduser())


def read_note(path: str | os.PathLike[str]) -> Note:
    """Read a session note, inside or outside a vault. Invalid content never raises an error.

    `note.session` is the parsed session, `note.source.text` the text. Raises `NoteUnreadable` for a missing file.
    """
    real = Path(os.path.realpath(Path(path).expanduser()))
    data, stamp = files.read_bytes(real)
    return Note(real, Source.from_bytes(data), stamp)


def read_transcript(path: str | os.PathLike[str], *, session: str = "", subagent: str = "") -> Iterator[Event]:
    """Read the events of one session from a client's transcript, in order and with secrets redacted.

    The client is detected from the file's content. If the file holds several sessions, `session` selects one by the
    client's own id. `subagent` reads that subagent's log instead. Raises `TranscriptError`.
    """
    file = Path(path).expanduser()
    if not file.exists():
        raise TranscriptError(f"{file}: no such file")
    dialect = next((dialect for dialect in DIALECTS.values() if dialect.sniff(file)), None)
    if dialect is None:
        raise TranscriptError(f"{file}: no transcript of {', '.join(DIALECTS)}")
    found = [one for one in dialect.find(file) if session in ("", one.native_id)]
    if len(found) != 1:
        named = ", ".join(one.native_id for one in found) or "none"
        raise TranscriptError(f"{file}: expected one session, found {named}", "choose one with `session`")
    redact = redactor_of(SecretSettings())
    return (redact(event)[0] for event in dialect.read(found[0], subagent))


def record(
    title: str = "",
    *,
    vault: Vault | str | os.PathLike[str],
    agent: str = "",
    model: str = "",
    channel: str = "",
    project: str | None = None,
    cwd: str | os.PathLike[str] = "",
    branch: str = "",
    goal: str = "",
    parent: str = "",
    continues: str = "",
) -> Recorder:
    """Begin a session whose note is written as the work happens; a `with` statement ends it.

    `agent` is `name@version`. `project` defaults to the project of the folder `cwd`; "" means none. `goal` appears
    below the title. `parent` is the id of the session that delegated this one, `continues` the id of the session that
    this one continues. Each recorder method returns after its entry is written. Raises `VaultNotFound`, `VaultError`
    and `SessionNotFound`.
    """
    return start.session(
        title,
        vault=_folder(vault),
        agent=agent,
        model=model,
        channel=channel,
        project=project,
        cwd=os.fspath(cwd),
        branch=branch,
        goal=goal,
        parent=parent,
        continues=continues,
    )


def attach(session_id: str, *, vault: Vault | str | os.PathLike[str], paused: bool = False) -> Recorder:
    """Continue recording a session that another process began; `paused` reactivates a paused session.

    Raises `SessionNotFound`, or `SessionEnded` if the session has ended.
    """
    return (start.resume if paused else start.open_session)(session_id, vault=_folder(vault))


def _folder(vault: Vault | str | os.PathLike[str]) -> Path:
    return (vault if isinstance(vault, Vault) else open(vault)).root


def set_property(key: str, value: Value) -> Change:
    """Set one property of the frontmatter; None removes it."""
    return lambda note, redact: task_edits.set_field(note.source, note.session, key, _clean(value, redact))


def add_phase(phase: Phase) -> Change:
    """Add a phase after the last one."""
    return lambda note, redact: edits.add_phase(note.source, note.session, _clean(phase, redact))


def add_entry(entry: Entry, phase: str = "") -> Change:
    """Add an entry (such as `Decision`, `Failure` or `Prose`) to the end of the phase with this id, or the last one."""

    def change(note: Note, redact: Redact) -> Iterable[Edit]:
        if not note.session.phases:
            raise UsageError(f"{note.name} has no phases yet", "add one with `add_phase` first")
        return edits.add_entry(note.source, note.session, _clean(entry, redact), phase or note.session.phases[-1].id)

    return change


def _clean(value: T, redact: Redact) -> T:
    """Return the value with secrets redacted in all of its strings, at any depth."""
    clean: Any = value
    if type(value) is str:
        clean = redact(clean)[0]
    elif type(value) is tuple:
        clean = tuple(_clean(one, redact) for one in clean)
    elif isinstance(value, list):
        clean = [_clean(one, redact) for one in value]
    elif isinstance(value, Mapping):
        clean = {key: _clean(one, redact) for key, one in value.items()}
    elif is_dataclass(value) and not isinstance(value, type):
        clean = replace(value, **{field.name: _clean(getattr(value, field.name), redact) for field in fields(value)})
    return cast("T", clean)
