"""Bringing a note's brief up to date: extracted, or written by a model that the user configured.

Owns when something is due, and that a failure leaves the note as it was: how far a brief reaches stands in the note
itself, so that the next update catches up on everything that was missed.  A model is asked while nobody waits for the note.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from pathlib import Path

from crucible.agents.asking import Answer, Asker
from crucible.agents.marks import OWN_MARK
from crucible.brief.callout import find_brief, set_brief
from crucible.brief.covering import covering, due_phase, phase_number
from crucible.brief.extracting import extend_brief, room_for
from crucible.brief.model import Brief, BriefUpdate, cut_words
from crucible.brief.prompting import build_prompt
from crucible.errors import AgentFailed, CrucibleError, EditRefused, SecretsError
from crucible.flight.entries import append_entry
from crucible.note.contain import normal
from crucible.note.source import Edit
from crucible.patterns import UNSEEN, late_pattern
from crucible.secrets import Redact
from crucible.session.model import Session
from crucible.vault.store import Note, Vault

__all__ = ["Redact", "update_brief", "update_briefs"]

_LETTER = late_pattern(r"[^\W_]")
_GAP = late_pattern(r"\s{20,}|\n{3,}")
_MOST_ANSWER = 20_000
"""Code points of an answer that are looked at."""


def update_brief(
    vault: Vault, session_id: str | Path, *, asker: Asker | None, redact: Redact, now: datetime
) -> BriefUpdate:
    """Cover every phase that is whole: written by `asker` where there is one, else extracted.

    Costs a reading of the note when nothing is due, and then writes nothing.  What keeps a brief from being written is
    the result's `problem`; raises `SessionNotFound`, `NoteUnreadable` and their like for a note that cannot be read.
    """
    path = vault.find(session_id) if isinstance(session_id, str) else session_id
    return _update(vault, vault.read(path), asker, redact, now)


def update_briefs(
    vault: Vault, paths: Iterable[Path], *, asker: Asker | None, redact: Redact, now: datetime
) -> Iterator[str]:
    """Each note's brief, subagents' left out: what a subagent came to stands in its parent.  Yields a line for each problem.

    For who has just written these notes.  A note that is gone or cannot be read is no problem of the brief's.
    """
    for path in sorted(set(paths)):
        try:
            note = vault.read(path)
            if note.session.parent is None:
                problem = _update(vault, note, asker, redact, now).problem
                if problem:
                    yield problem
        except CrucibleError:
            continue


def _update(vault: Vault, note: Note, asker: Asker | None, redact: Redact, now: datetime) -> BriefUpdate:
    old = find_brief(note.session)
    if not due_phase(note.session, old.covers if old else ""):
        return BriefUpdate(old)
    try:
        if asker is None:
            return _extract(vault, note.path, redact)
        return _ask(vault, note, asker, redact, now)
    except CrucibleError as error:
        return BriefUpdate(old, problem=_problem(note.name, error))


def _problem(name: str, error: CrucibleError) -> str:
    hint = f" ({error.hint})" if error.hint else ""
    return f"{name}: its brief was left as it was: {error}{hint}"


# --- without a model -------------------------------------------------------------------------------------------------


def _extract(vault: Vault, path: Path, redact: Redact) -> BriefUpdate:
    """The note as it stands under its lock decides."""
    brief: list[Brief | None] = []
    before: list[Brief | None] = []

    def intention(note: Note) -> list[Edit]:
        old = find_brief(note.session)
        until = due_phase(note.session, old.covers if old else "")
        new = _extended(note.session, old, until, redact) if until else old
        before[:], brief[:] = [old], [new]
        return set_brief(note.source, note.session, new) if new and until else []

    vault.update(path, intention)
    return BriefUpdate(brief[0], changed=brief != before)


def _extended(session: Session, old: Brief | None, until: str, redact: Redact) -> Brief:
    """Without secrets, and within its bound all the same."""
    covers = _covering(session, until, redact)
    text = _redacted(extend_brief(session, old, until).text, redact)
    return Brief(cut_words(text, room_for(covers)), covers)


def _redacted(text: str, redact: Redact) -> str:
    """`SecretsError` when secrets cannot be looked for: nothing is written then."""
    try:
        return normal(redact(text)[0])
    except CrucibleError:
        raise
    except Exception as error:
        raise SecretsError(f"the scan for secrets cannot run: {error}", "nothing was written") from error


# --- with a model ----------------------------------------------------------------------------------------------------


def _ask(vault: Vault, note: Note, asker: Asker, redact: Redact, now: datetime) -> BriefUpdate:
    """No lock is held while the model writes; an answer is dropped when the note's brief was changed meanwhile."""
    session, old = note.session, find_brief(note.session)
    until = due_phase(session, old.covers if old else "")
    covers = _covering(session, until, redact)
    room = room_for(covers)
    answer = asker.ask(build_prompt(session, old, until, room, lambda text: _redacted(text, redact)))
    problem, brief = "", old
    try:
        new = Brief(_text_of(answer, redact, room), covers)
        vault.update(note.path, lambda there: _replaced(there, old, until, new, redact))
        brief = new
    except CrucibleError as error:
        problem = _problem(note.name, error)
    told = {"kept": not problem, "content": "" if problem or not brief else brief.text}
    unrecorded = _record(vault, note.name, until, {**told, **_spent(answer)}, now)
    problem = problem or unrecorded
    return BriefUpdate(brief, brief != old, problem, answer.model, answer.cost_usd)


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


def _spent(answer: Answer) -> dict[str, object]:
    """What is known of it."""
    values = {
        "model": answer.model,
        "cost_usd": answer.cost_usd,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
    }
    return {key: value for key, value in values.items() if value is not None}


def _record(vault: Vault, name: str, until: str, values: Mapping[str, object], now: datetime) -> str:
    """What was asked for cost something, whatever became of it.  The problem to tell, "" for none."""
    limit = vault.settings.flight.max_value_bytes
    try:
        append_entry(vault.root, name, "brief", values, now=now, phase=until, max_value_bytes=limit)
    except CrucibleError as error:
        return f"{name}: what its brief cost was not written down: {error}"
    return ""
