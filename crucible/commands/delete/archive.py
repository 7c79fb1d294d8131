"""Archive a session: mark its note and its subagents' notes with `archived: true`, so that lists leave them out.

Nothing is moved, so links, events and imports still find the notes.
"""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import ExitStack, suppress
from datetime import datetime

from crucible.commands.delete.delete import finish_held
from crucible.commands.delete.journal import (
    Archiving,
    archiving_edits,
    forget_journal,
    hold_journal,
    mark_notes,
    write_journal,
)
from crucible.core.errors import BadSessionId, CrucibleError, UsageError, VaultError
from crucible.documents.session.session import Status
from crucible.vault.notes.session_lock import hold_session
from crucible.vault.notes.vault import Note, Vault


def archive_session(
    vault: Vault, note: Note, subagents: Sequence[Note], now: datetime, *, undo: bool = False, force: bool = False
) -> int:
    """Archive a session and its subagents or, with `undo`, bring them back. Returns the number of changed notes.

    If it fails, nothing is changed. Raises `UsageError` for a subagent's note, `VaultError` for an active session
    without `force`, `EditRefused` for frontmatter that cannot be edited, and `SessionHeld` while a client continues it.
    """
    _check(vault, note, undo=undo, force=force)
    changed = [one for one in (note, *subagents) if archiving_edits(one, undo=undo)]
    with ExitStack() as stack:
        with suppress(BadSessionId):  # a file name may not be a valid id; no client continues such a session
            stack.enter_context(hold_session(vault.root, note.name, client="archive", now=now, force=force))
        stack.enter_context(hold_journal(vault, vault.settings.lock_seconds))
        finish_held(vault, now)
        work = Archiving(tuple(vault.relative(one.path) for one in changed), undo)
        write_journal(vault, work)
        try:
            mark_notes(vault, work)
        except CrucibleError:
            with suppress(CrucibleError):
                mark_notes(vault, Archiving(work.notes, not undo))
                forget_journal(vault)
            raise
        forget_journal(vault)
    return len(changed)


def _check(vault: Vault, note: Note, *, undo: bool, force: bool) -> None:
    parent = note.session.parent
    if parent and parent in vault.session_ids():
        what = "archive --undo" if undo else "archive"
        raise UsageError(f"{note.name} is a subagent of {parent}", f'Run "cru session {what} {parent}" for both.')
    if note.session.status is Status.ACTIVE and not (undo or force):
        raise VaultError(
            f"{note.name} is still active",
            f'Run "cru session end {note.name}" first, or pass --force to archive it now.',
        )
