"""What a session's note says while somebody goes on with it, and after.

Owns the status of a session that `cru` itself started a client for; what the client's transcript makes of it is decided
where that is folded.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from crucible.core.errors import EditRefused
from crucible.documents.markdown.source import Edit
from crucible.documents.markdown.yaml_scalars import Value
from crucible.documents.session.edits import set_field
from crucible.documents.session.session import Session, Status
from crucible.documents.session.shared_notes import is_ours
from crucible.documents.session.status_rules import CLOSED_REASON, DIED_REASON
from crucible.vault.notes.note_folder import replacement
from crucible.vault.notes.vault import Note, Vault

_KEYS = ("status", "ended", "resume_point", "pause_reason")


class Woken(NamedTuple):
    """A session's note before and after it was set active."""

    before: Note
    after: Note


def wake(vault: Vault, path: Path) -> Woken:
    """The session goes on: it is active, and has not ended.  Raises `EditRefused` for a note that cannot say so."""
    before = vault.read(path)

    def wanted(note: Note) -> list[Edit]:
        nonlocal before
        before = note
        return _set(note, dict.fromkeys(_KEYS) | {"status": str(Status.ACTIVE)})

    try:
        return Woken(before, vault.update(path, wanted))
    except EditRefused as error:
        raise EditRefused(f"{before.session.id}: {error}", error.hint) from error


class End(NamedTuple):
    """How the client ended.

    `fault` says how, when that was no good end.  `is_folded` says that the note's status comes from the client's
    transcript and not from what it told us itself: a fault of the client's is none of the session's then.  `met` is the
    session as it stood when the client was gone and its transcript not yet folded, None where nobody looked.
    """

    woken: Woken
    fault: str = ""
    is_folded: bool = False
    met: Session | None = None

    @property
    def is_untouched(self) -> bool:
        """Nobody had paused or ended the session."""
        return self.met is not None and self.met.status is Status.ACTIVE

    @property
    def others(self) -> Session | None:
        """The session as somebody ended it while the client ran, or paused it and gave no reason of ours."""
        if self.met is None or self.is_untouched:
            return None
        return None if self.met.status is Status.PAUSED and is_ours(self.met) else self.met


def settle(vault: Vault, path: Path, end: End) -> Note:
    """The client is gone: what nobody else paused or ended is paused, or stands as before when nothing was done."""
    before = end.woken.before.session

    def wanted(note: Note) -> list[Edit]:
        now = note.session
        if end.others:
            return _set(note, _standing(end.others, now))
        is_own = now.status is Status.ACTIVE or end.is_untouched
        if is_own and before.status is not Status.ACTIVE and not has_news(before, now):
            return _restored(note, end.woken)
        is_failed = bool(end.fault) and end.is_folded and is_own and now.status is Status.FAILED
        if now.status is not Status.ACTIVE and not is_failed:
            return []
        paused: dict[str, Value] = {"status": str(Status.PAUSED), "ended": None, "pause_reason": _reason(end)}
        return _set(note, paused | {"resume_point": _last_phase(now)})

    return vault.update(path, wanted)


def _standing(told: Session, now: Session) -> dict[str, Value]:
    """Where somebody else says that it stands; what the client did after his word is behind the point to go on from."""
    wanted = {key: told.properties.get(key) for key in _KEYS}
    if told.status is Status.PAUSED and has_news(told, now):
        wanted["resume_point"] = _last_phase(now)
    return wanted


def _last_phase(session: Session) -> str | None:
    last = next(reversed(list(session.all_phases())), None)
    return last.id if last else None


def _reason(end: End) -> str:
    """A word that an import knows for ours, where a later one may set it right."""
    if not end.fault:
        return CLOSED_REASON
    return DIED_REASON if end.is_folded else end.fault


def has_news(before: Session, now: Session) -> bool:
    """Whether anything was done in a session."""
    return (before.phases, before.tasks, before.summary) != (now.phases, now.tasks, now.summary)


def _set(note: Note, values: Mapping[str, Value]) -> list[Edit]:
    edits: list[Edit] = []
    for key, value in values.items():
        if value != note.session.properties.get(key):
            edits += set_field(note.source, note.session, key, value)
    return edits


def _restored(note: Note, woken: Woken) -> list[Edit]:
    """As it was, to the byte where nobody else wrote."""
    if note.source != woken.after.source:
        return _set(note, {key: woken.before.session.properties.get(key) for key in _KEYS})
    return replacement(note.source, woken.before.source.text)
