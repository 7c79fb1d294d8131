"""A session's history from its note to its own: composed, or told by a model, and kept.

Owns what goes into it beside the note: whole calls where they were recorded, the blockers of the last bookmark, what was captured before; that
nothing of it holds a secret or an absolute path; and that what a model told stays as long as it is true.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import NamedTuple

from crucible.acts.evidence import load_evidence
from crucible.agents.asking import Answer, Asker
from crucible.bookmarks.keeping import load_bookmarks
from crucible.errors import CrucibleError
from crucible.flight.entries import append_entry
from crucible.history.composing import compose_entry
from crucible.history.keeping import entry_path, keep_entry
from crucible.history.marks import basis_mark, read_marks
from crucible.history.model import NO_CAPTURES, Captures, Entry, shortened_entry
from crucible.history.revising import own_entry
from crucible.history.shortening import shortener
from crucible.history.telling import Told, tell
from crucible.secrets import Redact
from crucible.session.model import Session
from crucible.vault.store import Note, Vault

__all__ = ["Made", "make_history"]


class Made(NamedTuple):
    """A session's history: its note, what it tells, whether it was not there before, and what went wrong on the way, a line each."""

    path: Path
    entry: Entry
    is_new: bool
    problems: tuple[str, ...] = ()


class _Standing(NamedTuple):
    """What is there already: what we wrote of it, and whether it tells of the session as that is now."""

    entry: Entry | None
    is_current: bool = False


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

    `captures` join those that stand there, `roots` are folders of the session's project.  Without a model what one told before stays, unless the
    session has changed since.  A model that fails is a problem, and the history is composed.  Raises what `keep_entry` does, and
    `NoteUnreadable`; what a model was asked for is written down in the flight recorder.
    """
    session = note.session
    evidence = load_evidence(vault.root, session.id)
    folders = (*evidence.roots, *roots)
    composed = shortened_entry(
        compose_entry(
            session,
            evidence,
            blockers=_blockers(vault, session),
            roots=roots,
            children=[*_children(vault, note)],
        ),
        lambda text: redact(text)[0],
    )
    basis = _basis(composed)
    standing = _standing(vault, session.id, basis)
    before = standing.entry.captures if standing.entry else NO_CAPTURES
    composed = replace(composed, captures=before.joined(captures))
    entry, problems = composed, list[str]()
    if asker is not None:
        told = tell(
            vault.root,
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
    return Made(path, entry, standing.entry is None, tuple(problems))


def _children(vault: Vault, note: Note) -> Iterator[Session]:
    """The sessions of its subagents, as far as they can be read."""
    for ref in note.session.subagents:
        with suppress(CrucibleError):
            beside = note.path.with_name(f"{ref.session}.md")
            yield vault.read(beside if beside.is_file() else vault.find(ref.session)).session


def _blockers(vault: Vault, session: Session) -> Sequence[str]:
    """What was said to be in the way where the session stopped last; what stood in the way of an earlier phase does not count."""
    last = session.phases[-1].id if session.phases else ""
    said = [one for one in load_bookmarks(vault.root).found if one.session == session.id and one.blockers]
    return said[-1].blockers if said and said[-1].phase.partition(".")[0] == last else ()


def _basis(composed: Entry) -> str:
    lines = (*composed.done, *composed.decisions, *composed.questions, *composed.further)
    return basis_mark(
        (*(f"{one.text}\n{one.why}" for one in lines), *composed.tasks_completed, *composed.files_modified)
    )


def _standing(vault: Vault, session_id: str, basis: str) -> _Standing:
    """Nothing where there is no note, or none that can be read; what stands in its way is told when it is written."""
    path = entry_path(vault, session_id)
    if not path.is_file():
        return _Standing(None)
    try:
        source = vault.read(path).source
    except CrucibleError:
        return _Standing(None)
    return _Standing(own_entry(source, session_id), basis in (read_marks(source.lines) or ()))


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
