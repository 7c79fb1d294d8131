"""Bookmarks of sessions that are written down while they run: at a client's end, at its death, when a task is finished.

Owns what is news: how the session was left before, and which tasks were open in the note then.  Whoever looks twice makes
no second bookmark.  What stands in one is `bookmarks`'.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.core.secrets.redaction import redact_of
from crucible.documents.session.session import Session
from crucible.documents.session.status_rules import Client
from crucible.integrations.hooks.hook_log import complain
from crucible.memory.bookmarks.bookmark import Why
from crucible.memory.bookmarks.bookmark_log import latest
from crucible.memory.bookmarks.marking import mark
from crucible.vault.events.spooled import Spooled
from crucible.vault.notes.vault import Note, Vault

_WHY = {Client.ENDED: ("ended", Why.ENDED), Client.DIED: ("died", Why.DIED)}
"""How a spooled session is left by each, and why its bookmark is made."""


@dataclass(slots=True)
class Met:
    """What an import met: the session's id, its note as it was before, and the client's folder."""

    id: str = ""
    note: Note | None = None
    cwd: str = ""

    def take(self, session_id: str, note: Note | None, cwd: str) -> None:
        """As `ImportOptions.met` wants it."""
        self.id, self.note, self.cwd = session_id, note, cwd


def mark_stop(vault: Vault, spooled: Spooled, client: Client, met: Met, now: datetime) -> None:
    """Keep the bookmarks that are due after an import.  A fault is noted: the session is written down all the same."""
    try:
        path = met.note.path if met.note else vault.sessions / f"{met.id}.md"
        if not met.id or not path.is_file():
            return
        fresh = vault.read(path)
        is_same = met.note is not None and fresh.data == met.note.data
        left, why = _WHY.get(client, ("", None))
        if is_same and (why is None or spooled.left == left):
            return
        reasons = [] if is_same else _finished(met, fresh.session)
        if why and (spooled.left != left or _has_grown(met, fresh.session)):
            reasons += [] if is_same and _is_told(vault, fresh.session, why) else [why]
        redact = redact_of(vault.settings.secrets)
        for place, reason in enumerate(reasons):
            # Bookmarks are told apart by their time.
            at = now + place * timedelta(milliseconds=1)
            mark(vault, fresh.session, reason, now=at, redact=redact, folder=_folder(met.cwd))
    except (CrucibleError, OSError) as error:
        complain(str(vault.root), f"bookmark {spooled.client} {spooled.session}", error)


def _finished(met: Met, session: Session) -> list[Why]:
    """One bookmark for all tasks that were finished since."""
    before = _done(met.note.session) if met.note else set()
    return [Why.TASK] if _done(session) - before else []


def _done(session: Session) -> set[str]:
    return {task.id for task in session.tasks if task.status == "completed"}


def _has_grown(met: Met, session: Session) -> bool:
    return met.note is None or met.note.session.synced_to != session.synced_to


def _is_told(vault: Vault, session: Session, why: Why) -> bool:
    """True if the last bookmark says the same: opening a session without working in it changes nothing.

    Whoever looks for a client long after its end may take it for dead.
    """
    last = latest(vault.root, session.id)
    phase = session.phases[-1].id if session.phases else ""
    return last is not None and last.why in (why, Why.ENDED) and last.phase.partition(".")[0] == phase


def _folder(cwd: str) -> Path | None:
    """Where the client worked, when that is here."""
    folder = Path(cwd)
    return folder if cwd and folder.is_absolute() and folder.is_dir() else None
