"""A session's history from its note to its own: composed, or told by a model, and kept.

Owns that what was captured before stays listed, that what a model told stays as long as it is true, and that what it was asked for is written down.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.acts.evidence import load_evidence
from crucible.agents.asking import Answer, Asker
from crucible.errors import CrucibleError
from crucible.flight.entries import append_entry
from crucible.history.keeping import keep_entry
from crucible.history.model import NO_CAPTURES, Captures, Entry, shortened_captures
from crucible.history.shortening import shortener
from crucible.history.standing import basis_of, compose_now, load_standing
from crucible.history.telling import Told, tell
from crucible.secrets import Redact
from crucible.vault.store import Note, Vault

__all__ = ["Made", "make_history"]


class Made(NamedTuple):
    """A session's history: its note, what it tells, whether it was not there before, and what went wrong on the way, a line each.

    `is_left` says that the note was left as it is, since it is a human's alone.
    """

    path: Path
    entry: Entry
    is_new: bool
    problems: tuple[str, ...] = ()
    is_left: bool = False


def make_history(
    vault: Vault,
    note: Note,
    *,
    now: datetime,
    redact: Redact,
    asker: Asker | None = None,
    captures: Captures = NO_CAPTURES,
    roots: Sequence[str] = (),
) -> Made:
    """Write the history of the session in `note`, or bring it up to date; told by `asker` where there is one.

    A note that is a human's alone is left as it is, and nobody is asked for it.  `captures` join those that stand there, `roots` are folders of
    the session's project.  Without a model what one told before stays, unless the session has changed since.  A model that fails is a problem, and
    the history is composed.  Raises what `keep_entry` does, and `NoteUnreadable`; what a model was asked for is written down in the flight recorder.
    """
    session = note.session
    evidence = load_evidence(vault.root, session.id)
    folders = (*evidence.roots, *roots)
    composed = compose_now(vault, note, redact=redact, roots=roots, evidence=evidence)
    basis = basis_of(composed)
    standing = load_standing(vault, session.id, basis)
    # By what the session knows alone: seen from another folder, each would be one more.
    alone = shortener(evidence.roots)
    listed, came = (shortened_captures(one, alone) for one in (standing.captures, captures))
    composed = replace(composed, captures=listed.joined(came))
    entry, problems = composed, list[str]()
    if asker is not None and not standing.is_theirs:
        told = tell(
            vault.settings,
            session,
            composed,
            said=note.source.text,
            asker=asker,
            redact=redact,
            paths=shortener(folders),
        )
        entry, problems = told.entry, [*_problems(vault, session.id, told, now)]
    if not entry.author and standing.is_current and standing.entry and standing.entry.author:
        entry = _with_words_of(standing.entry, composed)
    path = keep_entry(vault, entry, basis, vault.relative(note.path))
    return Made(path, entry, not standing.is_there, tuple(problems), standing.is_theirs)


def _with_words_of(told: Entry, composed: Entry) -> Entry:
    """What a model told, with the facts as they are now."""
    return replace(
        composed,
        author=told.author,
        done=told.done,
        decisions=told.decisions,
        questions=told.questions,
        further=told.further,
    )


# --- what was asked --------------------------------------------------------------------------------------------------


def _problems(vault: Vault, session_id: str, told: Told, now: datetime) -> list[str]:
    found = [f"{told.template_problem}; the built-in template was used"] if told.template_problem else []
    if told.problem:
        found.append(f"the history of {session_id} was written by rules, not by the model: {told.problem}")
    for number, answer in enumerate(told.answers, 1):
        is_kept = not told.problem and number == len(told.answers)
        found += _record(vault, session_id, answer, now, is_kept=is_kept)
    return found


def _record(vault: Vault, session_id: str, answer: Answer, now: datetime, *, is_kept: bool) -> list[str]:
    """What was asked for cost something, whatever became of it; the problem to tell, if any."""
    spent = {
        "model": answer.model,
        "cost_usd": answer.cost_usd,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
    }
    values: Mapping[str, object] = {
        "kept": is_kept,
        **{key: value for key, value in spent.items() if value is not None},
    }
    limit = vault.settings.flight.max_value_bytes
    try:
        append_entry(vault.root, session_id, "history", values, now=now, max_value_bytes=limit)
    except CrucibleError as error:
        return [f"{session_id}: what its history cost was not written down: {error}"]
    return []
