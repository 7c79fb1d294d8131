"""One phase of a note, by its number, and its heading as a link to it has it."""

from __future__ import annotations

from crucible.core.errors import UsageError
from crucible.documents.session.session import Phase
from crucible.vault.notes.vault import Note

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
