"""A history that stands there already, brought up to date when one thing in its session has changed: an answer, say.

Owns that nobody is asked for it, that no history comes into being by it, that of what stands there only that goes which the change has settled, and
that memory has no todo any more that is settled by it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import chain
from pathlib import Path

from crucible.acts.evidence import load_evidence
from crucible.errors import BadSessionId, SessionNotFound
from crucible.history.judging import tells
from crucible.history.keeping import entry_path, keep_entry
from crucible.history.memories import MemoryKind, load_memories
from crucible.history.model import Entry, Line
from crucible.history.remembering import remember
from crucible.history.standing import Standing, basis_of, compose_now, load_standing
from crucible.secrets import Redact
from crucible.session.model import Session
from crucible.vault import files
from crucible.vault.store import Note, Vault

__all__ = ["refresh_history"]

_MOST_PARENTS = 20
_ATTEMPTS = 5
_AHEAD = ("questions", "further")
_GROUPS = (("done",), ("decisions",), _AHEAD)
"""What is open, a model may have put under either heading of what lies ahead."""


def refresh_history(
    vault: Vault, path: Path, before: Session, *, now: datetime, redact: Redact, roots: Sequence[str] = ()
) -> Path | None:
    """Bring the history that tells of the session at `path` up to date, and return its note; None where there is none.

    `before` is the session as it was.  A subagent's is told in that of the session which started it.  What a human changed stays.  Todos in
    memory that the change has settled are done.  Raises as `keep_entry` and `append_memories` do, and `NoteUnreadable`.
    """
    found = None
    for _ in range(_ATTEMPTS):
        seen = vault.read(path)
        found = _refresh(vault, _teller(vault, seen), before, now=now, redact=redact, roots=roots)
        # Who answered meanwhile may have told of it before we wrote, and we knew nothing of it.
        if files.holds(path, seen.data):
            break
    return found


def _refresh(
    vault: Vault, note: Note, before: Session, *, now: datetime, redact: Redact, roots: Sequence[str]
) -> Path | None:
    session_id = note.session.id
    has_history = _has_history(vault, note)
    todos = [
        one
        for one in load_memories(vault.root, MemoryKind.TODO, session=session_id).found
        if one.session == session_id and not one.done
    ]
    if not (has_history or todos):
        return None
    evidence = load_evidence(vault.root, session_id)
    compose = partial(compose_now, vault, note, redact=redact, roots=roots, evidence=evidence)
    was, composed = compose(instead=before), compose()
    standing = load_standing(vault, session_id, basis_of(was)) if has_history else Standing()
    entry = _told_now(standing, was, composed)
    try:
        # Words of a model that tell of an older session stay such: the next end may take their place.
        basis = basis_of(composed) if standing.is_current or not entry.author else ""
        return keep_entry(vault, entry, basis, vault.relative(note.path)) if has_history else None
    finally:
        if todos:
            remember(vault, note.session, now=now, redact=redact, roots=roots)


def _teller(vault: Vault, note: Note) -> Note:
    """The note of the session in whose history this one is told: itself, where it has one or nobody started it."""
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
    except BadSessionId:  # a human wrote what is no id, so that no file can have it
        return False


# --- what stands there, and what has changed -------------------------------------------------------------------------


def _told_now(standing: Standing, was: Entry, now: Entry) -> Entry:
    """What is told with the change: by rules all of it anew, where the session has gone on since; else only the change.

    So what stands there is not told in other words because paths are seen from another folder now.
    """
    told = standing.entry
    if told is None or not (told.author or standing.is_current):
        return replace(now, captures=standing.captures)
    lines = dict(chain.from_iterable(_changed(group, told, was, now) for group in _GROUPS))
    return replace(
        now,
        author=told.author,
        captures=told.captures,
        done=lines["done"],
        decisions=lines["decisions"],
        questions=lines["questions"],
        further=lines["further"],
    )


def _changed(
    group: Sequence[str], told: Entry, was: Entry, now: Entry
) -> Iterator[tuple[str, tuple[Line, ...]]]:
    """The sections of a group as they are told, without what is settled, and with what has come; each line leads to where it stands now."""
    before, after = _by_words(was, group), _by_words(now, group)
    settled = [one for key, one in before.items() if key not in after]
    standing = [line for part in group for line in getattr(told, part)]
    gone = {line for line in standing if line[:2] not in after and any(tells(line, one) for one in settled)}
    kept = {line for line in standing if line not in gone}
    # One line may have told of two questions, of which one is open still.
    bared = [one for one in after.values() if _tell(gone, one) and not _tell(kept, one)]
    moved = {one.line: after[key].line for key, one in before.items() if key in after}
    for part in group:
        came = (one for key, one in _by_words(now, [part]).items() if key not in before or one in bared)
        stays = (_moved(line, after, moved) for line in getattr(told, part) if line in kept)
        yield part, (*stays, *came)


def _tell(lines: Iterable[Line], one: Line) -> bool:
    return any(tells(line, one) for line in lines)


def _moved(line: Line, after: Mapping[tuple[str, str], Line], moved: Mapping[int, int]) -> Line:
    same = after.get(line[:2])
    return line._replace(line=same.line if same else moved.get(line.line, line.line))


def _by_words(entry: Entry, parts: Sequence[str]) -> dict[tuple[str, str], Line]:
    """The lines of sections by what they say; what stands above them may have moved them."""
    return {line[:2]: line for part in parts for line in getattr(entry, part)}
