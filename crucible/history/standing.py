"""What a session's history would tell by rules now, and what stands in its note already.

Owns what goes into it beside the session's note: whole calls where they were recorded, what bookmarks tell of blockers and breaks, the notes of its
subagents; and whether what was told is still what the session says.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from datetime import timedelta
from typing import NamedTuple

from crucible.acts.evidence import Evidence, load_evidence
from crucible.bookmarks.keeping import load_bookmarks
from crucible.bookmarks.model import Bookmark
from crucible.errors import CrucibleError
from crucible.history.composing import compose_entry
from crucible.history.keeping import entry_path
from crucible.history.marks import basis_mark, read_marks
from crucible.history.model import NO_CAPTURES, Captures, Entry, shortened_entry
from crucible.history.notes import read_entry
from crucible.history.revising import own_entry
from crucible.history.shortening import without_folders
from crucible.history.worked import worked
from crucible.secrets import Redact
from crucible.session.model import Session
from crucible.vault.store import Note, Vault

__all__ = ["Standing", "basis_of", "compose_now", "load_standing"]


class Standing(NamedTuple):
    """What is there: what we wrote of it, None where nothing of that can be read, and whether it tells of the session as that is now.

    `is_there` says that there is a note at all, `is_theirs` that it is a history without our marks: a human's alone, which is left as it is.
    """

    entry: Entry | None = None
    is_current: bool = False
    is_there: bool = False
    is_theirs: bool = False

    @property
    def captures(self) -> Captures:
        """What it lists as captured."""
        return self.entry.captures if self.entry else NO_CAPTURES


def compose_now(
    vault: Vault,
    note: Note,
    *,
    redact: Redact,
    roots: Sequence[str] = (),
    evidence: Evidence | None = None,
    instead: Session | None = None,
) -> Entry:
    """The entry of the session in `note` without a model; nothing of it holds a secret or an absolute path.

    `roots` are folders of its project.  `evidence` may be handed in where it is known, since it is asked once.  `instead` stands for the session of the same
    id, the note's own or a subagent's: it tells how that was before it changed.
    """
    session = instead if instead and instead.id == note.session.id else note.session
    marks = [one for one in load_bookmarks(vault.root).found if one.session == session.id]
    entry = compose_entry(
        session,
        load_evidence(vault.root, session.id) if evidence is None else evidence,
        blockers=_blockers(marks, session),
        roots=roots,
        children=[instead if instead and one.id == instead.id else one for one in _children(vault, note)],
        time_worked=worked(session, marks, timedelta(minutes=vault.settings.idle_minutes)),
    )
    return shortened_entry(entry, _without_secrets(redact))


def _without_secrets(redact: Redact) -> Callable[[str], str]:
    return lambda text: redact(text)[0]


def _children(vault: Vault, note: Note) -> Iterator[Session]:
    """The sessions of its subagents, as far as they can be read."""
    for ref in note.session.subagents:
        with suppress(CrucibleError):
            beside = note.path.with_name(f"{ref.session}.md")
            yield vault.read(beside if beside.is_file() else vault.find(ref.session)).session


def _blockers(marks: Sequence[Bookmark], session: Session) -> Sequence[str]:
    """What was said to be in the way where the session stopped last; what stood in the way of an earlier phase does not count."""
    last = session.phases[-1].id if session.phases else ""
    said = [one for one in marks if one.blockers]
    return said[-1].blockers if said and said[-1].phase.partition(".")[0] == last else ()


def basis_of(composed: Entry) -> str:
    """The mark of what the session says, the same wherever its paths are seen from."""
    lines = (*composed.done, *composed.decisions, *composed.questions, *composed.further)
    said = (without_folders(f"{one.text}\n{one.why}") for one in lines)
    return basis_mark((*said, *composed.tasks_completed, *composed.files_modified))


def load_standing(vault: Vault, session_id: str, basis: str) -> Standing:
    """What is there of the session that says `basis`; what stands in its way is told when it is written."""
    path = entry_path(vault, session_id)
    if not path.is_file():
        return Standing()
    try:
        source = vault.read(path).source
    except CrucibleError:
        return Standing(is_there=True)
    marks = read_marks(source.lines)
    is_theirs = marks is None and read_entry(source, session_id).entry is not None
    return Standing(own_entry(source, session_id), basis in (marks or ()), True, is_theirs)
