"""Look up details in session notes: a phase by number, its heading, or an unfinished status."""

from __future__ import annotations

from collections.abc import Callable

from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.session.append import read_head
from crucible.documents.session.session import Phase, Status
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

_UNFINISHED = (Status.ACTIVE, Status.PAUSED)


def status_lookup(vault: Vault) -> Callable[[str], str]:
    """Return a function from session id to status: `active`, `paused`, "" if ended, or `unreadable` if unknown.

    Folders are listed immediately; a note is read when its id is looked up.
    """
    paths = {note_name(path.name): path for path in vault.session_paths()}

    def status_of(session_id: str) -> str:
        try:
            status = read_head(vault.read(paths[session_id]).source, session_id).status
        except (CrucibleError, KeyError):
            return "unreadable"
        return str(status) if status in _UNFINISHED else ""

    return status_of


_LISTED = 60


def find_phase(note: Note, number: str, called: str = "the session") -> Phase:
    """Find a session's phase by `2`, `2.1` or `phase-2`.  `UsageError` lists the phases that exist.

    `called` names the session in that message, since a file name may contain anything.
    """
    phases = list(note.session.all_phases())
    found = next((each for each in phases if each.id == f"phase-{number.removeprefix('phase-')}"), None)
    if found is None:
        numbers = ", ".join(each.id.removeprefix("phase-") for each in phases[:_LISTED]) or "none"
        raise UsageError(f"{called} has no phase {number[:40]!r}", f"its phases: {numbers}")
    return found


def heading_of(note: Note, phase: str) -> str:
    """Return the full text of a phase's heading with its markers, as links require it; "" if there is no such phase."""
    line = next((each.lines.first for each in note.session.all_phases() if each.id == phase), -1)
    return note.source.lines[line].strip().lstrip("#").strip() if line >= 0 else ""
