"""A session's history from its note: composed by rules or written by a model, and stored.

What was captured before stays listed, what a model wrote stays while it is true, and what the model was asked is recorded.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime, timedelta
from pathlib import Path
from typing import NamedTuple

from crucible.acts.evidence import Evidence, load_evidence
from crucible.agents.asking import Answer, Asker
from crucible.bookmarks.keeping import load_bookmarks
from crucible.bookmarks.model import Bookmark
from crucible.errors import BadSessionId, CrucibleError, SessionNotFound
from crucible.flight.entries import append_entry
from crucible.history.composing import compose_entry
from crucible.history.judging import missing_of
from crucible.history.keeping import entry_path, keep_entry
from crucible.history.marks import basis_of, read_marks
from crucible.history.memories import MemoryKind, load_memories
from crucible.history.model import (
    HEADINGS,
    NO_CAPTURES,
    Captures,
    Entry,
    lines_of,
    shortened_captures,
    shortened_entry,
    with_lines,
)
from crucible.history.notes import read_entry
from crucible.history.remembering import remember
from crucible.history.revising import own_entry
from crucible.history.shortening import shortener, without_folders
from crucible.history.telling import Told, tell
from crucible.history.worked import worked
from crucible.secrets import Redact
from crucible.session.model import Session
from crucible.vault import files
from crucible.vault.store import Note, Vault

__all__ = ["Made", "make_history", "refresh_history", "told_of"]

_MOST_PARENTS = 20
_ATTEMPTS = 5


class Made(NamedTuple):
    """A session's history: its note, its content, whether the note is new, and what went wrong, a line each.

    `is_left` says that the note was not changed, since a person took it over.
    """

    path: Path
    entry: Entry
    is_new: bool
    problems: tuple[str, ...] = ()
    is_left: bool = False


class _Standing(NamedTuple):
    """The note so far: what is ours in it, the mark of what a model was shown, if there is a note, and if it is a person's alone."""

    entry: Entry | None = None
    basis: str = ""
    is_there: bool = False
    is_theirs: bool = False


def told_of(
    vault: Vault,
    note: Note,
    *,
    redact: Redact,
    roots: Sequence[str] = (),
    captures: Captures = NO_CAPTURES,
    evidence: Evidence | None = None,
    instead: Session | None = None,
) -> Entry:
    """What the session in `note` came to, composed without a model and without its history's note; no text holds a secret or an absolute path.

    `roots` are folders of its project.  `instead` takes the place of the session with its id, the note's own or a subagent's.
    """
    session = instead if instead and instead.id == note.session.id else note.session
    marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
    entry = compose_entry(
        session,
        load_evidence(vault.root, session.id) if evidence is None else evidence,
        captures=captures,
        blockers=_blockers(marks, session),
        roots=roots,
        children=[instead if instead and one.id == instead.id else one for one in _children(vault, note)],
        time_worked=worked(session, marks, timedelta(minutes=vault.settings.idle_minutes)),
    )
    return shortened_entry(entry, _without_secrets(redact))


def make_history(
    vault: Vault,
    note: Note,
    *,
    now: datetime,
    redact: Redact,
    asker: Asker | None = None,
    captures: Captures = NO_CAPTURES,
    roots: Sequence[str] = (),
    was: Entry | None = None,
) -> Made:
    """Write the history of the session in `note`, or update it; `asker` is a model that writes it.

    A note that a person took over is not changed, and nobody is asked.  `captures` join those in the note, `roots` are folders of the session's project.
    What a model wrote before stays until the session changes; with `was`, what the session came to before a single change, only what that change
    settled goes.  If the model fails, that is a problem, and the history is composed.  Raises like `keep_entry`, and `NoteUnreadable`.
    """
    session = note.session
    evidence, standing = load_evidence(vault.root, session.id), _load_standing(vault, session.id)
    # Only by the folders of the session: from another folder, each capture would count as a new one.
    alone = shortener(evidence.roots)
    listed = standing.entry.captures if standing.entry else NO_CAPTURES
    joined = shortened_captures(listed, alone).joined(shortened_captures(captures, alone))
    composed = told_of(vault, note, redact=redact, roots=roots, captures=joined, evidence=evidence)
    entry, basis = composed, _basis(composed)
    problems: list[str] = []
    if asker is not None and not standing.is_theirs:
        told = tell(
            vault.settings,
            session,
            composed,
            said=note.source.text,
            asker=asker,
            redact=redact,
            paths=shortener((*evidence.roots, *roots)),
        )
        entry, problems = told.entry, [*_problems(vault, session.id, told, now)]
    if not entry.author and standing.entry and standing.entry.author:
        if was:
            entry = missing_of(_in_words_of(_still_true(standing.entry, was, composed), composed), composed)
            basis = basis if standing.basis == _basis(was) else ""
        elif standing.basis == basis:
            entry = _in_words_of(standing.entry, composed)
    path = keep_entry(vault, entry, basis if entry.author else "", vault.relative(note.path))
    return Made(path, entry, not standing.is_there, tuple(problems), standing.is_theirs)


def refresh_history(
    vault: Vault, path: Path, before: Session, *, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> Path | None:
    """Update the history that covers the session at `path` after a single change, and return its note; None if there is none.

    `before` is the session as it was.  A subagent's session is covered by its parent's history.  No model is asked.  Todos in memory that the change
    settled are marked done.  Raises like `make_history` and `remember`.
    """
    found = None
    for _ in range(_ATTEMPTS):
        seen = vault.read(path)
        found = _refresh(vault, _teller(vault, seen), before, now=now, redact=redact, roots=roots)
        if files.holds(path, seen.data):  # else somebody else answered meanwhile
            break
    return found


def _refresh(
    vault: Vault, note: Note, before: Session, *, now: datetime, redact: Redact, roots: Sequence[str]
) -> Path | None:
    session_id, has_history = note.session.id, _has_history(vault, note)
    known = load_memories(vault.root, MemoryKind.TODO, session=session_id).found
    if any(one.session == session_id and not one.done for one in known):
        remember(vault, note.session, now=now, redact=redact, roots=roots)
    if not has_history:
        return None
    own = _load_standing(vault, session_id).entry
    captures = own.captures if own else NO_CAPTURES
    was = told_of(vault, note, redact=redact, roots=roots, captures=captures, instead=before)
    return make_history(vault, note, now=now, redact=redact, roots=roots, was=was).path


def _teller(vault: Vault, note: Note) -> Note:
    """The note whose history covers this session: its own if it has one or no parent, else its parent's."""
    for _ in range(_MOST_PARENTS):
        parent = note.session.parent
        if not parent or _has_history(vault, note):
            break
        with suppress(SessionNotFound):
            note = vault.load(parent)
            continue
        break
    return note


def _has_history(vault: Vault, note: Note) -> bool:
    try:
        return entry_path(vault, note.session.id).is_file()
    except BadSessionId:  # a person wrote what is no id, so no file can have it
        return False


# --- what goes into it -----------------------------------------------------------------------------------------------


def _without_secrets(redact: Redact) -> Callable[[str], str]:
    return lambda text: redact(text)[0]


def _children(vault: Vault, note: Note) -> Iterator[Session]:
    """The sessions of its subagents, as far as they can be read."""
    for ref in note.session.subagents:
        with suppress(CrucibleError):
            beside = note.path.with_name(f"{ref.session}.md")
            yield vault.read(beside if beside.is_file() else vault.find(ref.session)).session


def _blockers(marks: Sequence[Bookmark], session: Session) -> Sequence[str]:
    """The blockers of the last stop; those of an earlier phase do not count."""
    last = session.phases[-1].id if session.phases else ""
    said = [one for one in marks if one.blockers]
    return said[-1].blockers if said and said[-1].phase.partition(".")[0] == last else ()


def _basis(composed: Entry) -> str:
    """The mark of what the session says, the same from whatever folder its paths are seen."""
    lines = (line for part in HEADINGS for line in lines_of(composed, part))
    said = (without_folders("\n".join((one.text, one.why, *one.points))) for one in lines)
    return basis_of((*said, *composed.tasks_completed, *composed.files_modified))


# --- what is there already -------------------------------------------------------------------------------------------


def _load_standing(vault: Vault, session_id: str) -> _Standing:
    path = entry_path(vault, session_id)
    if not path.is_file():
        return _Standing()
    try:
        source = vault.read(path).source
    except CrucibleError:  # writing it will say so
        return _Standing(is_there=True)
    marks = read_marks(source.lines)
    is_theirs = marks is None and read_entry(source, session_id).entry is not None
    return _Standing(own_entry(source, session_id), dict(marks or ()).get("told_from", ""), True, is_theirs)


def _in_words_of(told: Entry, composed: Entry) -> Entry:
    """What a model wrote, with the facts as they are now."""
    return replace(with_lines(composed, lambda part, _: lines_of(told, part)), author=told.author)


def _still_true(told: Entry, was: Entry, now: Entry) -> Entry:
    """What was written, without the lines about what has been settled since."""

    def ids(entry: Entry) -> frozenset[str]:
        return frozenset(line.finding for part in HEADINGS for line in lines_of(entry, part))

    settled = ids(was) - ids(now)
    return with_lines(told, lambda _, lines: (line for line in lines if line.finding not in settled))


# --- what was asked --------------------------------------------------------------------------------------------------


def _problems(vault: Vault, session_id: str, told: Told, now: datetime) -> Iterator[str]:
    if told.template_problem:
        yield f"{told.template_problem}; the built-in template was used"
    if told.problem:
        yield f"the history of {session_id} was written by rules, not by the model: {told.problem}"
    for number, answer in enumerate(told.answers, 1):
        is_kept = not told.problem and number == len(told.answers)
        yield from _record(vault, session_id, answer, now, is_kept=is_kept)


def _record(vault: Vault, session_id: str, answer: Answer, now: datetime, *, is_kept: bool) -> Iterator[str]:
    """Record what an answer cost, whatever became of it; yields a problem if that fails."""
    spent = {
        "model": answer.model,
        "cost_usd": answer.cost_usd,
        "tokens_in": answer.tokens_in,
        "tokens_out": answer.tokens_out,
    }
    values: dict[str, object] = {"kept": is_kept} | {
        key: value for key, value in spent.items() if value is not None
    }
    limit = vault.settings.flight.max_value_bytes
    try:
        append_entry(vault.root, session_id, "history", values, now=now, max_value_bytes=limit)
    except CrucibleError as error:
        yield f"{session_id}: what its history cost was not written down: {error}"
