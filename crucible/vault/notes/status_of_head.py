"""Whether a session goes on, by the properties of its note alone.

Owns what keeps others from putting away what a session may still add to.
"""

from __future__ import annotations

from collections.abc import Callable

from crucible.core.errors import CrucibleError
from crucible.documents.session.append import read_head
from crucible.documents.session.session import Status
from crucible.vault.notes.vault import Vault
from crucible.vault.notes.walk import note_name

_GOES_ON = (Status.ACTIVE, Status.PAUSED)


def standings(vault: Vault) -> Callable[[str], str]:
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
