"""Writing memory when a session stops: its decisions, lessons and what it left open, each finding once.

A session may be remembered again at any time: a line that is there is not written again, and what its note does not say any more gets a line
with `done`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any, NamedTuple

from crucible.history.composing import open_questions
from crucible.history.memories import Memory, MemoryKind, append_memories, key_of, load_memories, memory_id
from crucible.history.model import LONGEST
from crucible.history.shortening import shortener
from crucible.note.contain import cut, normal_line
from crucible.secrets import Redact
from crucible.secrets.redacting import unscanned
from crucible.session.findings import Kind, findings_of
from crucible.session.identity import check_session_id
from crucible.session.model import Callout, Session, Status
from crucible.session.tasks import is_task_news
from crucible.vault.store import Vault

__all__ = ["Remembered", "completes_milestone", "remember"]

_LATER = timedelta(microseconds=1)
_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_MILESTONES = frozenset(("milestone", "task_complete"))
_KINDS = {
    Kind.DECISION.value: MemoryKind.DECISION,
    Kind.FAILURE.value: MemoryKind.LESSON,
    Kind.CORRECTION.value: MemoryKind.LESSON,
    Kind.ENVIRONMENT.value: MemoryKind.LESSON,
    Kind.OPEN_END.value: MemoryKind.TODO,
}


class Remembered(NamedTuple):
    """The lines that were written: what is new or holds again, and what no longer holds."""

    added: tuple[Memory, ...] = ()
    closed: tuple[Memory, ...] = ()


def remember(
    vault: Vault, *sessions: Session, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> Remembered:
    """Add the sessions' findings and open tasks to the vault's memory; on disk when this returns.

    Each file is read and written once, whatever the number of sessions.  `roots` are the project's folders: no absolute path is kept.  `now` is aware.  Raises `BadSessionId`, `LockTimeout`, `OutsideVault`, and
    `VaultError` if secrets cannot be looked for or a file cannot be written.
    """
    clean = _cleaner(redact, shortener(roots))
    names = {check_session_id(one.id) for one in sessions}
    told = [memory for one in sessions for memory in _memories(one, now, clean) if memory.text]
    added, closed = list[Memory](), list[Memory]()
    for kind in MemoryKind:
        only = sessions[0].id if len(sessions) == 1 else ""
        known = [one for one in load_memories(vault.root, kind, session=only).found if one.session in names]
        mine = {(one.session, key_of(one.text)): one for one in told if one.kind is kind}
        before = {(one.session, key_of(one.text)): one for one in known}
        for key, one in mine.items():
            old = before.get(key)
            if old is None or (old.done and not old.compacted):
                added.append(one if old is None else one._replace(id=old.id, at=max(now, old.at + _LATER)))
        for key, one in before.items():
            if key not in mine and not one.done and one.source not in _KEPT:
                closed.append(one._replace(done=True, at=max(now, one.at + _LATER)))
    append_memories(vault.root, [*added, *closed], fsync=vault.settings.fsync)
    return Remembered(tuple(added), tuple(closed))


_KEPT = ("history", "knowledge")
"""Sources of lines of older versions, which no note tells."""


def completes_milestone(session: Session) -> bool:
    """True if the session's end is a milestone: it is completed, and it has a milestone callout or did every task of its list."""
    if session.status is not Status.COMPLETED:
        return False
    reached = any(
        isinstance(entry, Callout) and entry.kind in _MILESTONES and not is_task_news(entry.text)
        for entry in session.all_entries()
    )
    tasks = session.tasks
    return reached or (bool(tasks) and all(task.status in _CLOSED for task in tasks))


def _memories(session: Session, now: datetime, clean: Callable[[str], str]) -> Iterator[Memory]:
    """The lines of a session as its note is now."""
    phases = {phase.id: phase.ended or phase.started for phase in session.all_phases()}
    last = next((at for at in reversed(phases.values()) if at), None)
    began = session.ended or session.started

    def made(kind: MemoryKind, text: str, source: str, at: datetime | None, **more: str) -> Memory:
        text = clean(text)
        known: dict[str, Any] = {name: clean(value) for name, value in more.items() if value}
        when = at or began
        when = min(when, now) if when and when.tzinfo else now
        name = memory_id(session.id, kind, text)
        return Memory(name, kind, text, session.id, when, project=project, source=source)._replace(**known)

    project, said = clean(session.project or ""), set[str]()
    for one in findings_of(session):
        if kind := _KINDS.get(one.kind):
            said.add(key_of(one.summary))
            why = one.details or " → ".join(filter(None, (one.cause, one.resolution)))
            yield made(
                kind,
                one.summary,
                str(one.source),
                phases.get(one.phase) or last,
                why=why,
                by=one.by,
                phase=one.phase,
                finding=one.id,
            )
    for task in session.tasks:
        if task.status not in _CLOSED:
            said.add(key_of(task.content))
            yield made(MemoryKind.TODO, task.content, "task", last, finding=f"task-{task.id}")
    if not session.parent:  # the parent's session answers what a subagent asks
        for line in open_questions(session):
            if key_of(line.text) not in said:
                yield made(MemoryKind.TODO, line.text, "question", last, finding=line.finding)


def _cleaner(redact: Redact, shorten: Callable[[str], str]) -> Callable[[str], str]:
    """Puts a text in one line, without secrets and absolute paths."""

    def clean(text: str) -> str:
        # Control characters that were dropped may have split a secret, so what is left is scanned again.
        try:
            plain = normal_line(redact(text)[0])
            line = plain if plain == text else normal_line(redact(plain)[0])
        except Exception as error:
            raise unscanned(error) from error
        return cut(shorten(line), LONGEST)

    return clean
