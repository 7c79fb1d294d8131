"""Writing memory when a session stops: its decisions, lessons and what it left open, each finding once.

A session may be remembered again at any time: a line that is there is not written again, and what its note does not say any more gets a line
with `done`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import datetime, timedelta
from typing import Any

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

__all__ = ["completes_milestone", "remember"]

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


def remember(
    vault: Vault, *sessions: Session, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> tuple[Memory, ...]:
    """Add the sessions' findings and open tasks to the vault's memory; the lines that were written, on disk when this returns.

    Each file is read and written once, whatever the number of sessions.  `roots` are the project's folders: no absolute path is kept.  `now` is aware.  Raises `BadSessionId`, `LockTimeout`, `OutsideVault`, and
    `VaultError` if secrets cannot be looked for or a file cannot be written.
    """
    clean = _cleaner(redact, shortener(roots))
    names = {check_session_id(one.id) for one in sessions}
    only = sessions[0].id if len(sessions) == 1 else ""
    told = {_key(one): one for session in sessions for one in _memories(session, now, clean) if one.text}
    found = (one for kind in MemoryKind for one in load_memories(vault.root, kind, session=only).found)
    before = {_key(one): one for one in found if one.session in names}
    written = [one for key, one in told.items() if key not in before]
    for key, old in before.items():
        at = max(now, old.at + _LATER)
        if key in told and old.done and not old.compacted:
            written.append(told[key]._replace(id=old.id, at=at))
        elif key not in told and not old.done and old.source not in _KEPT:
            written.append(old._replace(done=True, at=at))
    append_memories(vault.root, written, fsync=vault.settings.fsync)
    return tuple(written)


def _key(one: Memory) -> tuple[str, MemoryKind, str]:
    return one.session, one.kind, key_of(one.text)


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
    for one in _said(session, now):
        texts: dict[str, Any] = {name: clean(getattr(one, name)) for name in _CLEANED}
        at = min(one.at, now) if one.at.tzinfo else now
        yield one._replace(id=memory_id(session.id, one.kind, texts["text"]), at=at, **texts)


_CLEANED = ("text", "why", "by", "phase", "project", "finding")


def _said(session: Session, now: datetime) -> Iterator[Memory]:
    """Findings, open tasks and what waits for an answer, as the note has them."""
    phases = {phase.id: phase.ended or phase.started for phase in session.all_phases()}
    last = next(filter(None, reversed(phases.values())), None) or session.ended or session.started or now
    blank = Memory("", MemoryKind.TODO, "", session.id, last, project=session.project or "")
    said = set[str]()
    for one in findings_of(session):
        if kind := _KINDS.get(one.kind):
            said.add(key_of(one.summary))
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
        if task.status not in _CLOSED:
            said.add(key_of(task.content))
            yield blank._replace(text=task.content, source="task", finding=f"task-{task.id}")
    if not session.parent:  # the parent's session answers what a subagent asks
        for line in open_questions(session):
            if key_of(line.text) not in said:
                yield blank._replace(text=line.text, source="question", finding=line.finding)


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
