"""Update the brief of a note from its findings and phases.

The note says how far its brief reaches, so after a failure the next update catches up.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import replace
from pathlib import Path

from crucible.core.errors import CrucibleError
from crucible.core.secrets import Redact
from crucible.core.secrets.redaction import unscanned
from crucible.documents.markdown.containment import normal
from crucible.documents.markdown.source import Edit
from crucible.documents.session.session import Session
from crucible.memory.summary.brief import (
    Brief,
    BriefUpdate,
    count_covered,
    covering,
    cut_words,
    due_phase,
    find_brief,
    phase_number,
    set_brief,
)
from crucible.memory.summary.brief_text import extend_brief, room_for
from crucible.vault.notes.vault import Note, Vault


def update_brief(vault: Vault, session_id: str | Path, *, redact: Redact) -> BriefUpdate:
    """Cover every finished phase.  Writes nothing if nothing is due.

    What keeps a brief from being written is the result's `problem`; raises `SessionNotFound`, `NoteUnreadable` and
    their like for a note that cannot be read.
    """
    path = vault.find(session_id) if isinstance(session_id, str) else session_id
    return _update(vault, vault.read(path), redact)


def renew_brief(vault: Vault, path: Path, before: Session, *, redact: Redact) -> BriefUpdate:
    """Like `update_brief`, but also rebuilds covered phases if nobody edited the brief since `before`."""
    old = find_brief(before)
    until = _covered(before, old) if old else ""
    is_ours = bool(old and until and old == _fresh(before, until, redact))

    def intention(note: Note) -> list[Edit]:
        now = find_brief(note.session)
        reached = _covered(note.session, now) if now else ""
        if now != old or not reached:
            return []
        return set_brief(note.source, note.session, _fresh(note.session, reached, redact))

    if is_ours:
        vault.update(path, intention)
    update = update_brief(vault, path, redact=redact)
    return replace(update, changed=update.brief != old)


def _covered(session: Session, brief: Brief) -> str:
    """The id of the last phase that a brief covers; "" if it is not in the note."""
    count = count_covered(session, brief.covers)
    return session.phases[count - 1].id if count else ""


def _fresh(session: Session, until: str, redact: Redact) -> Brief:
    """The brief up to a phase, extracted from scratch."""
    covers = _covering(session, until, redact)
    text = _redacted(extend_brief(session, None, until).text, redact)
    return Brief(cut_words(text, room_for(covers)), covers)


def update_briefs(vault: Vault, paths: Iterable[Path], *, redact: Redact) -> Iterator[str]:
    """Update the notes' briefs, except those of subagents, whose parents report them; yields problems.

    For callers that have just written these notes: one that is gone or cannot be read is no problem of the brief's.
    """
    for path in sorted(set(paths)):
        with suppress(CrucibleError):
            note = vault.read(path)
            if note.session.parent is None:
                yield from filter(None, (_update(vault, note, redact).problem,))


def _update(vault: Vault, note: Note, redact: Redact) -> BriefUpdate:
    old = find_brief(note.session)
    if not due_phase(note.session, old.covers if old else ""):
        return BriefUpdate(old)
    try:
        return _extract(vault, note.path, old, redact)
    except CrucibleError as error:
        return BriefUpdate(old, problem=_problem(note.name, error))


def _problem(name: str, error: CrucibleError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{name}: its brief was left as it was: {error}{hint}"


def _extract(vault: Vault, path: Path, old: Brief | None, redact: Redact) -> BriefUpdate:
    """The note as it is under its lock decides.  Without secrets, and within its bound all the same."""

    def intention(note: Note) -> list[Edit]:
        there = find_brief(note.session)
        until = due_phase(note.session, there.covers if there else "")
        if not until:
            return []
        covers = _covering(note.session, until, redact)
        text = _redacted(extend_brief(note.session, there, until).text, redact)
        return set_brief(note.source, note.session, Brief(cut_words(text, room_for(covers)), covers))

    brief = find_brief(vault.update(path, intention).session)
    return BriefUpdate(brief, brief != old)


def _redacted(text: str, redact: Redact) -> str:
    """Raises `CrucibleError` if secrets cannot be looked for: nothing is written then."""
    try:
        return normal(redact(text)[0])
    except Exception as error:
        raise unscanned(error) from error


def _covering(session: Session, until: str, redact: Redact) -> str:
    """The phase that the brief covers, without its name if that contains a secret."""
    covers = covering(session.phases[phase_number(session, until) - 1])
    return covers if _redacted(covers, redact) == covers else covers.partition(" ")[0]
