"""Adding to memory what a session came to, when it ends.

Owns what is new, and what no longer holds: a task that is done, a question that was answered, a decision that the note does not say any more.  A session
may be remembered as often as one likes: what stands there already is not written again.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.history.gleaning import Gleaned, glean
from crucible.history.memories import (
    Memory,
    MemoryKind,
    append_memories,
    key_of,
    load_memories,
    memory_id,
)
from crucible.history.model import LONGEST, Entry
from crucible.history.shortening import shortener, without_folders
from crucible.note.contain import cut, normal_line
from crucible.secrets import Redact
from crucible.secrets.redacting import unscanned
from crucible.session.identity import check_session_id
from crucible.session.model import Callout, Session, Status
from crucible.session.tasks import is_task_news
from crucible.vault.store import Vault

__all__ = ["Remembered", "close_todos", "completes_milestone", "open_todos", "remember"]

_LATER = timedelta(microseconds=1)
_CLOSED = frozenset(("completed", "cancelled", "deleted"))
_MILESTONES = frozenset(("milestone", "task_complete"))
_NOT_IN_NOTES = frozenset(("history", "knowledge"))


class Remembered(NamedTuple):
    """What was written: memories that are new or hold again, and those that no longer hold."""

    added: tuple[Memory, ...] = ()
    closed: tuple[Memory, ...] = ()


def remember(
    vault: Vault,
    session: Session,
    *,
    now: datetime,
    redact: Redact,
    entry: Entry | None = None,
    roots: Sequence[str] = (),
) -> Remembered:
    """Keep a session's decisions, lessons and todos in the vault's memory; on disk when this returns.

    `entry` is its history as it stands, with a human's edits; without it what came from there stays.  `roots` are the project's folders: no absolute
    path is kept.  `now` is aware.  Raises `BadSessionId`, `VaultError` when secrets cannot be looked for or the file cannot be written, `LockTimeout`, `OutsideVault`.
    """
    check_session_id(session.id)
    clean = _cleaner(redact, shortener(roots))
    told = list(_memories(session, glean(session, entry), now, clean))
    added, closed = list[Memory](), list[Memory]()
    for kind in MemoryKind:
        known = load_memories(vault.root, kind, session=session.id).found
        mine = [one for one in told if one.kind is kind]
        added += _new(known, mine, session.id, now)
        closed += _gone(known, mine, session, now, has_entry=entry is not None)
    closed += _done_elsewhere(vault, session, now, clean)
    append_memories(vault.root, [*added, *closed], fsync=vault.settings.fsync)
    return Remembered(tuple(added), tuple(closed))


def open_todos(root: Path, session_id: str) -> tuple[Memory, ...]:
    """What memory holds to be left of a session."""
    found = load_memories(root, MemoryKind.TODO, session=session_id).found
    return tuple(one for one in found if one.session == session_id and not one.done)


def close_todos(
    vault: Vault, todos: Iterable[Memory], before: Collection[str], open_: Collection[str], now: datetime
) -> None:
    """Remember as done those that say what was said to be open `before` and is `open_` no more; raises as `append_memories` does."""
    seen: tuple[Callable[[str], str], ...] = (key_of, lambda text: key_of(without_folders(text)))
    settled = [(form, {*map(form, before)} - {*map(form, open_)}) for form in seen]
    done = [_done(one, now) for one in todos if any(form(one.text) in said for form, said in settled)]
    append_memories(vault.root, done, fsync=vault.settings.fsync)


def completes_milestone(session: Session) -> bool:
    """Whether the session's end is a milestone: it is completed, and it reached one, by a callout, or did every task of its list."""
    if session.status is not Status.COMPLETED:
        return False
    reached = any(
        isinstance(entry, Callout) and entry.kind in _MILESTONES and not is_task_news(entry.text)
        for entry in session.all_entries()
    )
    tasks = session.tasks
    return reached or (bool(tasks) and all(task.status in _CLOSED for task in tasks))


# --- from words to memories ------------------------------------------------------------------------------------------


def _cleaner(redact: Redact, shorten: Callable[[str], str]) -> Callable[[str], str]:
    """What makes a line without secrets and paths of this machine."""

    def clean(text: str) -> str:
        # Dropped control characters may have parted a secret, so what is left is looked at again.
        try:
            plain = normal_line(redact(text)[0])
            line = plain if plain == text else normal_line(redact(plain)[0])
        except Exception as error:
            raise unscanned(error) from error
        return cut(shorten(line), LONGEST)

    return clean


def _memories(
    session: Session, gleaned: Sequence[Gleaned], now: datetime, clean: Callable[[str], str]
) -> Iterator[Memory]:
    project, seen = clean(session.project or ""), set[str]()
    for one in gleaned:
        text = clean(one.text)
        ident = memory_id(session.id, one.kind, text)
        if text and ident not in seen:
            seen.add(ident)
            yield Memory(
                ident,
                one.kind,
                text,
                session.id,
                min(one.at, now) if one.at and one.at.tzinfo else now,
                clean(one.why) if one.why else "",
                one.phase,
                project,
                one.source,
                one.inferred,
            )


# --- what is new, and what is over -----------------------------------------------------------------------------------


def _new(known: Sequence[Memory], mine: Sequence[Memory], session: str, now: datetime) -> Iterator[Memory]:
    """What nobody knows yet, or what held no longer and holds again.  A renamed session's lines have the ids of their birth."""
    by_id = {one.id: one for one in known}
    by_words = {key_of(one.text): one for one in known if one.session == session and one.text}
    for one in mine:
        old = by_id.get(one.id) or by_words.get(key_of(one.text))
        if old is None:
            yield one
        elif old.done:
            yield one._replace(id=old.id, at=max(now, old.at + _LATER))


def _gone(
    known: Sequence[Memory], mine: Sequence[Memory], session: Session, now: datetime, *, has_entry: bool
) -> Iterator[Memory]:
    """What the session said once and says no more."""
    ids, words = {one.id for one in mine}, {key_of(one.text) for one in mine}
    for one in known:
        is_over = one.session == session.id and not one.done and one.id not in ids
        if is_over and key_of(one.text) not in words and (has_entry or one.source not in _NOT_IN_NOTES):
            yield _done(one, now)


def _done_elsewhere(
    vault: Vault, session: Session, now: datetime, clean: Callable[[str], str]
) -> Iterator[Memory]:
    """What another session of the project left, and this one did, in the same words."""
    done = {key_of(clean(task.content)) for task in session.tasks if task.status == "completed"}
    project = clean(session.project or "")
    if done and project:
        for one in load_memories(vault.root, MemoryKind.TODO, project).found:
            if one.session != session.id and not one.done and key_of(one.text) in done:
                yield _done(one, now)


def _done(one: Memory, now: datetime) -> Memory:
    return one._replace(done=True, at=max(now, one.at + _LATER))
