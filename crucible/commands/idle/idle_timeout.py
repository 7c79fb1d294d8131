"""Pause active sessions that have been inactive for the idle time, and store a bookmark.

Activity is a change of the note, a phase's start or end, a hook call, or a process that holds the session. If two
processes check at the same time, only one pauses the session. `idle_check` decides when to check.
"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import MappingProxyType
from typing import TypeAlias

from crucible.core.errors import CrucibleError
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import redact_of
from crucible.core.settings.settings import VaultSettings
from crucible.documents.markdown.source import Edit
from crucible.documents.session.session import Session, Status
from crucible.documents.session.status_rules import IDLE_REASON
from crucible.documents.session.task_edits import set_field
from crucible.memory.bookmarks.bookmark import StopReason
from crucible.memory.bookmarks.make_bookmark import make_bookmark
from crucible.memory.bookmarks.resume_tickets import earlier_session_ids
from crucible.vault.events.spool import is_name, spool_folder
from crucible.vault.index.index import Index
from crucible.vault.notes.projects import folder_in_project
from crucible.vault.notes.session_lock import is_held
from crucible.vault.notes.vault import Note, Vault

_Place: TypeAlias = "tuple[str, Mapping[str, Sequence[str]]]"

_LONGEST = 0.5
"""Maximum seconds for one check. If many sessions are idle, the rest is left to the next check."""
_PATIENCE = 0.2
"""Seconds to wait for a note's lock; a note that is being written is not idle."""


def pause_idle(
    root: str,
    settings: VaultSettings,
    paths: Sequence[str],
    now: datetime,
    whence: _Place = ("", MappingProxyType({})),
) -> list[str]:
    """Pause the sessions at `paths` (relative to the vault's root) that are active and idle.

    `whence` is the working directory, stored in bookmarks for its project's sessions, and the user's projects. Raises
    `VaultError` if secrets cannot be redacted; nothing is written then.
    Returns the paths of the paused sessions.
    """
    redact = redact_of(settings.secrets)
    vault = Vault(Path(root), settings._replace(lock_seconds=min(_PATIENCE, settings.lock_seconds)))
    deadline = time.monotonic() + _LONGEST
    paused = []
    for path in paths:
        if time.monotonic() > deadline:
            break
        with suppress(CrucibleError, OSError):  # a broken or locked note does not affect the others
            if _pause(vault, vault.root / path, now, redact, whence):
                paused.append(path)
    if vault.touched:
        with suppress(CrucibleError, OSError):  # the next query updates the index
            Index(vault.root, settings).refresh(vault.touched)
    return paused


def _pause(vault: Vault, path: Path, now: datetime, redact: Redact, whence: _Place) -> bool:
    """Pause a session and store a bookmark; False if it is not idle or another process paused it."""
    before: Note | None = None

    def intention(note: Note) -> list[Edit]:
        nonlocal before
        before = note
        return _edits(note, vault, now)

    note = vault.update(path, intention)
    if before is None or note.source == before.source:
        return False
    folder = folder_in_project(*whence, note.session.project or "")
    make_bookmark(vault, note.session, StopReason.IDLE, now=now, redact=redact, folder=folder)
    return True


def _edits(note: Note, vault: Vault, now: datetime) -> list[Edit]:
    session = note.session
    idle = timedelta(minutes=vault.settings.idle_minutes)
    if (
        session.status is not Status.ACTIVE
        or any(is_held(vault.root, name) for name in (session.id, *earlier_session_ids(vault.root, session.id)))
        or now - max(_activity(note, vault, now)) < idle
    ):
        return []
    phases = session.phases
    properties = {
        "status": str(Status.PAUSED),
        "resume_point": phases[-1].id if phases else None,
        "pause_reason": IDLE_REASON,
    }
    source = note.source
    return [edit for key, value in properties.items() for edit in set_field(source, session, key, value)]


def _activity(note: Note, vault: Vault, now: datetime) -> Iterator[datetime]:
    """Yield the times of activity: the last change to the note, starts and ends of phases, and the last hook calls."""
    yield datetime.fromtimestamp(note.stamp.mtime_ns / 1e9, UTC)
    for phase in note.session.all_phases():
        # A time in the future, from another clock or a typo, would keep the session active for years.
        yield from (time for time in (phase.started, phase.ended) if time and time <= now)
    yield from _hook_calls(note.session, vault.root)


def _hook_calls(session: Session, root: Path) -> Iterator[datetime]:
    """Yield the last hook call of each native session, since an agent may work for hours in one turn."""
    for source in session.sources:
        client, _, native = source.partition(":")
        native = native.partition("/")[0]  # a subagent's id follows
        if is_name(client) and is_name(native):
            with suppress(OSError, ValueError):
                spooled = os.path.join(spool_folder(str(root), client), f"{native}.jsonl")
                yield datetime.fromtimestamp(os.stat(spooled).st_mtime, UTC)
