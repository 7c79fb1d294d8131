"""Bringing a note's brief up to date: extracted, or written by a model that the user configured.

Owns when something is due, and that a failure leaves the note as it was: how far a brief reaches stands in the note
itself, so that the next update catches up on everything that was missed.  A model is asked while nobody waits for the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from contextlib import suppress
from datetime import datetime
from pathlib import Path

from crucible.agents.asking import Answer, Asker
from crucible.agents.marks import OWN_MARK
from crucible.brief.covering import covering, due_phase, find_brief, phase_number, set_brief
from crucible.brief.digest import extend_brief, room_for
from crucible.brief.model import Brief, BriefUpdate, cut_words
from crucible.brief.prompting import Asked, build_prompt
from crucible.errors import AgentFailed, CrucibleError, EditRefused
from crucible.flight.entries import append_entry
from crucible.note.contain import normal
from crucible.note.source import Edit
from crucible.patterns import UNSEEN, late_pattern
from crucible.secrets import Redact
from crucible.secrets.redacting import unscanned
from crucible.session.model import Session
from crucible.vault.store import Note, Vault

__all__ = ["Redact", "record_answer", "update_brief", "update_briefs"]

_LETTER = late_pattern(r"[^\W_]")
_GAP = late_pattern(r"\s{20,}|\n{3,}")
_SPENT = ("model", "cost_usd", "tokens_in", "tokens_out")
_MOST_ANSWER = 20_000
"""Code points of an answer that are looked at."""


def update_brief(
    vault: Vault,
    session_id: str | Path,
    *,
    asker: Asker | None,
    redact: Redact,
    now: datetime,
    goal: str = "",
) -> BriefUpdate:
    """Cover every finished phase: written by `asker` if there is one, else extracted.

    Reads the note and writes nothing if nothing is due.  `goal` tells the asker what the session is for, by default what the note
    says.  What keeps a brief from being written is the result's `problem`; raises `SessionNotFound`, `NoteUnreadable` and their
    like for a note that cannot be read.
    """
    path = vault.find(session_id) if isinstance(session_id, str) else session_id
    return _update(vault, vault.read(path), asker, redact=redact, now=now, goal=goal)


def update_briefs(
    vault: Vault, paths: Iterable[Path], *, asker: Asker | None, redact: Redact, now: datetime
) -> Iterator[str]:
    """Update each note's brief, except those of subagents, whose reports are in their parents.  Yields a line per problem.

    For callers that have just written these notes: one that is gone or cannot be read is no problem of the brief's.
    """
    for path in sorted(set(paths)):
        with suppress(CrucibleError):
            note = vault.read(path)
            if note.session.parent is None:
                yield from filter(None, (_update(vault, note, asker, redact=redact, now=now).problem,))


def _update(
    vault: Vault, note: Note, asker: Asker | None, *, redact: Redact, now: datetime, goal: str = ""
) -> BriefUpdate:
    old = find_brief(note.session)
    until = due_phase(note.session, old.covers if old else "")
    if not until:
        return BriefUpdate(old)
    try:
        if asker is None:
            return _extract(vault, note.path, old, redact)
        return _ask(vault, note, asker, Asked(old, until, goal=goal), redact=redact, now=now)
    except CrucibleError as error:
        return BriefUpdate(old, problem=_problem(note.name, error))


def _problem(name: str, error: CrucibleError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{name}: its brief was left as it was: {error}{hint}"


# --- without a model -------------------------------------------------------------------------------------------------


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


# --- with a model ----------------------------------------------------------------------------------------------------


def _ask(
    vault: Vault, note: Note, asker: Asker, asked: Asked, *, redact: Redact, now: datetime
) -> BriefUpdate:
    """No lock is held while the model writes; an answer is dropped if the note's brief changed meanwhile."""
    session, old, until = note.session, asked.old, asked.until
    covers = _covering(session, until, redact)
    asked = asked._replace(words=room_for(covers))
    answer = asker.ask(build_prompt(session, asked, lambda text: _redacted(text, redact)))
    problem, brief = "", old
    try:
        new = Brief(_text_of(answer, redact, asked.words), covers)
        vault.update(note.path, lambda there: _replaced(there, old, until, new, redact))
        brief = new
    except CrucibleError as error:
        problem = _problem(note.name, error)
    content = "" if problem or not brief else brief.text
    values = {"kept": not problem, "content": content}
    unrecorded = record_answer(vault, note.name, "brief", answer, values, now=now, phase=until)
    return BriefUpdate(brief, brief != old, problem or unrecorded, answer.model, answer.cost_usd)


def _covering(session: Session, until: str, redact: Redact) -> str:
    """What the brief says it covers; without the phase's name when that holds a secret, since it would never be found again."""
    covers = covering(session.phases[phase_number(session, until) - 1])
    return covers if _redacted(covers, redact) == covers else covers.partition(" ")[0]


def _text_of(answer: Answer, redact: Redact, room: int) -> str:
    """What a model answered, fit for a note; `AgentFailed` for what is no brief."""
    if OWN_MARK in answer.text:
        raise AgentFailed(f"{answer.model}: it answered with its question")
    text = _GAP.sub("\n\n", _redacted(UNSEEN.sub("", answer.text[:_MOST_ANSWER]), redact))
    if not _LETTER.search(text) or "\ufffd" in text:
        raise AgentFailed(f"{answer.model}: its answer is no text")
    return cut_words(text, room)


def _replaced(note: Note, old: Brief | None, until: str, new: Brief, redact: Redact) -> list[Edit]:
    """`EditRefused` when a human changed the brief meanwhile, or the phases, so that it covers another one."""
    there = note.session
    known = any(phase.id == until for phase in there.phases)
    if find_brief(there) != old or not known or _covering(there, until, redact) != new.covers:
        raise EditRefused(f"{note.name}: changed while the model wrote", "the next update begins anew")
    return set_brief(note.source, there, new)


def record_answer(
    vault: Vault,
    name: str,
    kind: str,
    answer: Answer,
    values: Mapping[str, object],
    *,
    now: datetime,
    phase: str = "",
) -> str:
    """Record what an answer cost, whatever became of it; returns the problem if that fails, else ""."""
    told = {**values, **{key: value for key in _SPENT if (value := getattr(answer, key)) is not None}}
    limit = vault.settings.flight.max_value_bytes
    try:
        append_entry(vault.root, name, kind, told, now=now, phase=phase, max_value_bytes=limit)
    except CrucibleError as error:
        return f"{name}: the cost of its {kind} was not recorded: {error}"
    return ""
