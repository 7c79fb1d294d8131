"""Facts of session notes that other parts ask for: a phase by its number, its heading, an unfinished status."""

from __future__ import annotations

from collections.abc import Callable

from crucible.core.errors import CrucibleError, UsageError
from crucible.documents.session.append import read_head
from crucible.documents.session.session import Phase, Status
from crucible.vault.notes.vault import Note, Vault
from crucible.vault.notes.walk import note_name

_GOES_ON = (Status.ACTIVE, Status.PAUSED)


def status_lookup(vault: Vault) -> Callable[[str], str]:
    """Tells of a session's id `active` or `paused`, "" when it has ended, and `unreadable` when the note does not tell.

    The folders are walked now, a note is read when it is asked about.
    """
    paths = {note_name(path.name): path for path in vault.session_paths()}

    def standing_of(session_id: str) -> str:
        try:
            status = read_head(vault.read(paths[session_id]).source, session_id).status
        except (CrucibleError, KeyError):
            return "unreadable"
        return str(status) if status in _GOES_ON else ""

    return standing_of


_LISTED = 60


def find_phase(note: Note, wanted: str, called: str = "the session") -> Phase:
    """A session's phase, as `2`, `2.1` or `phase-2`; `UsageError` tells which there are in what is `called` so: a file's name may say anything."""
    phases = list(note.session.all_phases())
    found = next((each for each in phases if each.id == f"phase-{wanted.removeprefix('phase-')}"), None)
    if found is None:
        numbers = ", ".join(each.id.removeprefix("phase-") for each in phases[:_LISTED]) or "none"
        raise UsageError(f"{called} has no phase {wanted[:40]!r}", f"its phases: {numbers}")
    return found


def heading_of(note: Note, phase: str) -> str:
    """The text of a phase's heading, its markers too, since a link must say it whole; "" for a phase that is not there."""
    line = next((each.lines.first for each in note.session.all_phases() if each.id == phase), -1)
    return note.source.lines[line].strip().lstrip("#").strip() if line >= 0 else ""
