"""Why something was decided, where no history tells it yet: the index has the decision's text only, the session's note the reason too."""

from __future__ import annotations

from pathlib import Path

from crucible.briefing.rows import Happened
from crucible.errors import CrucibleError
from crucible.index.schema import path_of_cell
from crucible.session.findings import Kind, findings_of
from crucible.vault.store import Vault

__all__ = ["with_reasons"]

_REASONED = (Kind.DECISION, Kind.CORRECTION)
_LARGEST = 64 * 1024
"""Bytes of a note that is read for its reasons: a briefing must not wait for a long session."""


def with_reasons(vault: Vault, happened: Happened) -> Happened:
    """The same events; decisions of a session whose note is small with their reasons, as it tells them now."""
    if not any(event.kind in _REASONED for event in happened.events):
        return happened
    try:
        path = vault.root / Path(path_of_cell(str(happened.row["path"])))
        if path.stat().st_size > _LARGEST:
            return happened
        session = vault.read(path).session
    except (CrucibleError, OSError):  # what the index knows is told all the same
        return happened
    whys = {_key(one.summary): one.details for one in findings_of(session) if one.kind in _REASONED}
    return happened._replace(
        events=tuple(event._replace(why=whys.get(_key(event.text), "")) for event in happened.events)
    )


def _key(text: str) -> str:
    """The index holds the beginning of a text, in a line."""
    return "".join(letter for letter in text if letter.isalnum())[:80]
