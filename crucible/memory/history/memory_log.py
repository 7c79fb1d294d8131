"""Decisions, lessons and todos across sessions, one JSON line each in `.crucible/memory/`.

Lines are append-only; the newest line of an id counts.  The notes are authoritative, so a session can always be
remembered again.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from datetime import datetime, timedelta
from enum import StrEnum
from functools import partial
from pathlib import Path
from types import MappingProxyType
from typing import Any

import orjson

from crucible.core.named_tuples import NamedTuple
from crucible.core.patterns import late_pattern
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import unscanned
from crucible.documents.markdown.containment import cut, normal_line
from crucible.documents.markdown.source import Problem
from crucible.documents.session.findings import Kind, findings_of
from crucible.documents.session.session import Session, Status
from crucible.documents.session.session_id import check_session_id
from crucible.documents.session.task_block import CLOSED_TASKS
from crucible.memory.history.composition import open_questions
from crucible.memory.history.history import LONGEST, shortener
from crucible.memory.summary.brief import milestones
from crucible.vault.logs.jsonl_store import (
    InvalidRecord,
    append_lines,
    read_lines,
    record_of,
    rewrite_lines,
    session_of,
    text_of,
    time_of,
    time_text,
    word_of,
)
from crucible.vault.notes.vault import Vault


class MemoryKind(StrEnum):
    """The kind of a memory line; each kind has its own file."""

    DECISION = "decision"
    LESSON = "lesson"
    TODO = "todo"


FILES: Mapping[MemoryKind, str] = MappingProxyType({kind: f"{kind}s.jsonl" for kind in MemoryKind})


class Memory(NamedTuple):
    """A decision, a lesson or a todo.  Each text is one line without secrets.

    `why` is a decision's reason, or the cause and resolution of a failure; "" if unknown.  `at` is when it was stated.
    A later line with `done`, written when an item is finished or gone from its note, has the time of that check.
    `phase` and `finding` are ids in the session's note; for a task, `finding` is for example `task-3`.  `source` is the
    finding's source, or `task` or `question`.  `compacted` is the summary that replaces all lines of a finished todo.
    """

    id: str
    kind: MemoryKind
    text: str
    session: str
    at: datetime
    why: str = ""
    by: str = ""
    phase: str = ""
    project: str = ""
    source: str = ""
    finding: str = ""
    compacted: str = ""
    done: bool = False


class LoadedMemories(NamedTuple):
    """Memory lines, oldest first, without duplicate ids, and the problems of invalid lines."""

    found: tuple[Memory, ...]
    problems: tuple[Problem, ...] = ()


_WORD = late_pattern(r"\w+")
_SUMMARY = 240
_LATER = timedelta(microseconds=1)
"""The time by which a replacement is later than the line it replaces."""


def key_of(text: str) -> str:
    """Return the key for comparing texts: their words, ignoring case, punctuation and spacing."""
    return " ".join(_WORD.findall(text.casefold())) or normal_line(text)


def memory_id(session: str, kind: MemoryKind, text: str) -> str:
    """Return an id for a text in a session, equal on every machine, so that a git merge creates no duplicates."""
    key = f"{session}\0{kind}\0{key_of(text)}".encode("utf-8", "surrogatepass")
    return f"{kind[0]}-{hashlib.blake2s(key, digest_size=6).hexdigest()}"


# --- the files -------------------------------------------------------------------------------------------------------


def load_memories(
    root: Path, kind: MemoryKind, project: str = "", *, session: str = "", newest: int = 0
) -> LoadedMemories:
    """Load the lines of a kind, of one project or session if given; none if there is no file.

    With `newest`, only that many of the latest lines are read.  Raises `OutsideVault`, and `VaultError` if the file
    cannot be read.
    """
    needle = orjson.dumps(session or project) if session or project else b""
    found, problems = read_lines(root, FILES[kind], partial(_memory, kind), needle, newest)
    if project or session:
        found = [one for one in found if one.project == project or one.session == session]
    return LoadedMemories(tuple(_newest(found)), tuple(problems))


def append_memories(root: Path, memories: Iterable[Memory], *, fsync: bool = True) -> None:
    """Append lines, with one write per kind.  Raises what `append_lines` raises."""
    lines: dict[MemoryKind, list[Mapping[str, object]]] = {}
    for one in memories:
        lines.setdefault(one.kind, []).append(_fields(one))
    for kind, records in lines.items():
        append_lines(root, FILES[kind], records, fsync=fsync)


def move_memories(root: Path, old_id: str, new_id: str, *, fsync: bool = True) -> int:
    """Append the lines of a renamed session with its new id, and return their number.  Can be repeated."""
    moved = [
        one._replace(session=new_id, at=one.at + _LATER)
        for kind in MemoryKind
        for one in load_memories(root, kind).found
        if one.session == old_id and not one.compacted
    ]
    append_memories(root, moved, fsync=fsync)
    return len(moved)


def bytes_of(memory: Memory) -> int:
    """Return the size of a memory's line in bytes."""
    return len(orjson.dumps(_fields(memory))) + 1


def shorten_todos(root: Path, ids: Collection[str], *, fsync: bool = True) -> int:
    """Replace the lines of finished todos with one summary each, and return their number.  Other lines are kept."""
    finished: list[Memory] = []

    def change(lines: Sequence[bytes]) -> list[bytes]:
        read = [(line, _todo_in(line)) for line in lines]
        current = _newest(one for _, one in read if one)
        finished[:] = (one for one in current if one.id in ids and one.done and not one.compacted)
        names = {one.id for one in finished}
        kept = [line for line, one in read if one is None or one.id not in names]
        return [*kept, *(orjson.dumps(_fields(_summarised(one))) for one in finished)]

    rewrite_lines(root, FILES[MemoryKind.TODO], change, fsync=fsync)
    return len(finished)


def _todo_in(line: bytes) -> Memory | None:
    try:
        return _memory(MemoryKind.TODO, record_of(line)) if line else None
    except InvalidRecord:
        return None


def _summarised(one: Memory) -> Memory:
    summary = cut(f"{one.at.date().isoformat()}: done: {one.text}", _SUMMARY)
    return one._replace(text="", why="", phase="", compacted=summary)


def _newest(found: Iterable[Memory]) -> list[Memory]:
    """Return the newest line of each id, oldest first; of two with the same time, the one that is done."""
    newest: dict[str, Memory] = {}
    for one in found:
        other = newest.get(one.id)
        if other is None or _order(one) > _order(other):
            newest[one.id] = one
    return sorted(newest.values(), key=lambda one: (one.at, one.id))


def _order(one: Memory) -> tuple[datetime, bool, bool, str, str, Memory]:
    return one.at, one.done, not one.compacted, one.session, one.text, one


# --- a line ----------------------------------------------------------------------------------------------------------


def _fields(one: Memory) -> dict[str, object]:
    """Return the fields for a line, without empty ones."""
    fields = one._asdict() | {"kind": str(one.kind), "at": time_text(one.at)}
    return {name: value for name, value in fields.items() if value}


_TEXTS = ("text", "why", "by", "phase", "project", "source", "finding", "compacted")


def _memory(kind: MemoryKind, fields: Mapping[str, object]) -> Memory:
    """Parse a line.  Raises `InvalidRecord`."""
    if fields.get("kind") != kind:
        raise InvalidRecord(f"`kind` is not `{kind}`")
    texts, done = {name: text_of(fields, name) for name in _TEXTS}, fields.get("done", False)
    if not (texts["text"] or texts["compacted"]):
        raise InvalidRecord("`text` is empty")
    if not isinstance(done, bool):
        raise InvalidRecord("`done` is neither true nor false")
    return Memory(word_of(fields, "id"), kind, session=session_of(fields), at=time_of(fields, "at"), done=done, **texts)


# --- remembering a session --------------------------------------------------------------------------------------------

_KINDS = {
    Kind.DECISION.value: MemoryKind.DECISION,
    Kind.FAILURE.value: MemoryKind.LESSON,
    Kind.CORRECTION.value: MemoryKind.LESSON,
    Kind.ENVIRONMENT.value: MemoryKind.LESSON,
    Kind.OPEN_END.value: MemoryKind.TODO,
}


def remember(
    vault: Vault, *sessions: Session, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> tuple[Memory, ...]:
    """Add the sessions' findings and open tasks to the vault's memory, and return the new lines.

    Each file is read and written once, even for several sessions.  `roots` are the project's folders, for removing
    absolute paths.  `now` is timezone-aware.  Raises `BadSessionId`, `LockTimeout`, `OutsideVault`, and `VaultError` if
    the scan for secrets fails or a file cannot be written.
    """
    clean = _cleaner(redact, shortener(roots))
    names = {check_session_id(one.id) for one in sessions}
    only = sessions[0].id if len(sessions) == 1 else ""
    current = {_key(one): one for session in sessions for one in _memories(session, now, clean) if one.text}
    found = (one for kind in MemoryKind for one in load_memories(vault.root, kind, session=only).found)
    before = {_key(one): one for one in found if one.session in names}
    written = [one for key, one in current.items() if key not in before]
    for key, old in before.items():
        at = max(now, old.at + _LATER)
        if key in current and old.done and not old.compacted:
            written.append(current[key]._replace(id=old.id, at=at))
        elif key not in current and not old.done:
            written.append(old._replace(done=True, at=at))
    append_memories(vault.root, written, fsync=vault.settings.fsync)
    return tuple(written)


def _key(one: Memory) -> tuple[str, MemoryKind, str]:
    return one.session, one.kind, key_of(one.text)


def completes_milestone(session: Session) -> bool:
    """Return whether the session is completed, and has a milestone or has finished all its tasks."""
    if session.status is not Status.COMPLETED:
        return False
    is_reached = next(milestones(session.all_entries()), None) is not None
    return is_reached or (bool(session.tasks) and all(task.status in CLOSED_TASKS for task in session.tasks))


def _memories(session: Session, now: datetime, clean: Callable[[str], str]) -> Iterator[Memory]:
    """Yield the memory lines from a session's current note, cleaned and with ids."""
    for one in _stated(session, now):
        texts: dict[str, Any] = {name: clean(getattr(one, name)) for name in _CLEANED}
        at = min(one.at, now) if one.at.tzinfo else now
        yield one._replace(id=memory_id(session.id, one.kind, texts["text"]), at=at, **texts)


_CLEANED = ("text", "why", "by", "phase", "project", "finding")


def _stated(session: Session, now: datetime) -> Iterator[Memory]:
    """Yield the note's findings, open tasks and unanswered items."""
    phases = {phase.id: phase.ended or phase.started for phase in session.all_phases()}
    last = next(filter(None, reversed(phases.values())), None) or session.ended or session.started or now
    blank = Memory("", MemoryKind.TODO, "", session.id, last, project=session.project or "")
    known = set[str]()
    for one in findings_of(session):
        if kind := _KINDS.get(one.kind):
            known.add(key_of(one.summary))
            yield blank._replace(
                kind=kind,
                text=one.summary,
                at=phases.get(one.phase) or last,
                why=one.details or " → ".join(filter(None, (one.cause, one.resolution))),
                by=one.by,
                phase=one.phase,
                source=str(one.source),
                finding=one.id,
            )
    for task in session.tasks:
        if task.status not in CLOSED_TASKS:
            known.add(key_of(task.content))
            yield blank._replace(text=task.content, source="task", finding=f"task-{task.id}")
    if not session.parent:  # a subagent's questions are answered in the parent's session
        for line in open_questions(session):
            if key_of(line.text) not in known:
                yield blank._replace(text=line.text, source="question", finding=line.finding)


def _cleaner(redact: Redact, shorten: Callable[[str], str]) -> Callable[[str], str]:
    """Return a function that converts text to one line without secrets and absolute paths."""

    def clean(text: str) -> str:
        # Control characters may have split a secret, so scan again without them.
        try:
            plain = normal_line(redact(text)[0])
            line = plain if plain == text else normal_line(redact(plain)[0])
        except Exception as error:
            raise unscanned(error) from error
        return cut(shorten(line), LONGEST)

    return clean
