"""Update the briefs of notes: extend them to the phases that have finished, or rebuild them."""

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
from crucible.documents.session.session import Decision, Entry, Failure, Intervention, Session, Subagent
from crucible.memory.summary.brief import (
    Brief,
    BriefUpdate,
    count_covered,
    covering,
    covers_shown,
    cut_words,
    due_phase,
    find_brief,
    phase_at,
    phase_number,
    set_brief,
)
from crucible.memory.summary.brief_text import extend_brief, read_digest, room_for
from crucible.vault.notes.short_notes import ShortNote, shortest
from crucible.vault.notes.vault import Note, Vault


def update_brief(vault: Vault, session_id: str | Path, *, redact: Redact) -> BriefUpdate:
    """Extend a note's brief to all finished phases, if it does not cover them yet.

    A failure to write is returned as `problem`.  Raises `SessionNotFound`, `NoteUnreadable` and similar errors if the
    note cannot be read.
    """
    path = vault.find(session_id) if isinstance(session_id, str) else session_id
    return _update(vault, vault.read(path), redact)


def renew_brief(vault: Vault, path: Path, before: Session, *, redact: Redact) -> BriefUpdate:
    """Like `update_brief`, but also rebuild the part already covered, unless a user edited the brief in `before`."""
    old = find_brief(before)
    until = _covered(before, old) if old else ""
    is_ours = bool(old and until and old == _fresh(before, until, redact))

    def intention(note: Note) -> list[Edit]:
        now = find_brief(note.session)
        covered = _covered(note.session, now) if now else ""
        if now != old or not covered:
            return []
        return set_brief(note.source, note.session, _fresh(note.session, covered, redact))

    if is_ours:
        vault.update(path, intention)
    update = update_brief(vault, path, redact=redact)
    return replace(update, changed=update.brief != old)


def _covered(session: Session, brief: Brief) -> str:
    """Return the id of the last phase that a brief covers; "" if that phase is not in the note."""
    count = count_covered(session, brief.covers)
    return phase_at(session, count).id if count else ""


def _fresh(session: Session, until: str, redact: Redact) -> Brief:
    """Build the brief up to a phase from scratch."""
    covers = _covering(session, until, redact)
    text = _redacted(extend_brief(session, None, until).text, redact)
    return Brief(cut_words(text, room_for(covers)), covers)


def update_briefs(vault: Vault, paths: Iterable[Path], *, redact: Redact) -> Iterator[str]:
    """Update the briefs of notes and yield problems.  Subagents' notes are skipped: the parent's note has their report.

    Notes that are gone or cannot be read are skipped.
    """
    for path in sorted(set(paths)):
        with suppress(CrucibleError):
            note = shortest(vault, vault.read(path))
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
    return f"{name}: its brief was not changed: {error}{hint}"


def _extract(vault: Vault, path: Path, old: Brief | None, redact: Redact) -> BriefUpdate:
    """Extend the brief in the locked note, redacted and within the word limit."""

    def intention(note: Note) -> list[Edit]:
        short = shortest(vault, note)
        if isinstance(short, ShortNote) and is_enough(short.session):
            return short.short.edits(_extension(short, redact))
        return _extension(note, redact)

    brief = find_brief(shortest(vault, vault.update(path, intention)).session)
    return BriefUpdate(brief, brief != old)


def _extension(note: Note, redact: Redact) -> list[Edit]:
    current = find_brief(note.session)
    until = due_phase(note.session, current.covers if current else "")
    if not until:
        return []
    covers = _covering(note.session, until, redact)
    text = _redacted(extend_brief(note.session, current, until).text, redact)
    return set_brief(note.source, note.session, Brief(cut_words(text, room_for(covers)), covers))


def is_enough(session: Session) -> bool:
    """Return whether a session that lacks its first phases gives the same brief as the whole one.

    The phases that were not read must not wait for an answer, and must not answer a question.
    """
    brief = find_brief(session)
    if brief is None or not session.sources or not covers_shown(session, brief.covers):
        return False
    if any(isinstance(entry, Decision | Failure | Subagent) for entry in session.preamble):
        return False  # a finding above the phases is placed by those in all of them
    asked = read_digest(brief.text).items["Open questions"]
    entries = [*session.all_entries()]
    went_on = any(isinstance(entry, Intervention) and not entry.note for entry in entries)
    return went_on and not any(one.startswith("Asked:") for one in asked) and not any(map(_answers, entries))


def _answers(entry: Entry) -> bool:
    """Return whether an entry may answer one that was not read, or be answered by it."""
    return isinstance(entry, Failure) or (isinstance(entry, Intervention) and bool(entry.note))


def _redacted(text: str, redact: Redact) -> str:
    """Redact text.  Raises `CrucibleError` if the scan for secrets fails."""
    try:
        return normal(redact(text)[0])
    except Exception as error:
        raise unscanned(error) from error


def _covering(session: Session, until: str, redact: Redact) -> str:
    """Return the value of `covers` up to a phase, without the phase's name if the name contains a secret."""
    covers = covering(phase_at(session, phase_number(session, until)))
    return covers if _redacted(covers, redact) == covers else covers.partition(" ")[0]
