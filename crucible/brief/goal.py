"""What a session is for: the text above its first phase, as a user or `cru session start --goal` put it there, and its first request."""

from __future__ import annotations

from crucible.session.model import Intervention, Prose, Session

__all__ = ["first_request", "stated_goal"]


def stated_goal(session: Session) -> str:
    """The text above the first phase, "" for none."""
    return "\n\n".join(entry.text for entry in session.preamble if isinstance(entry, Prose))


def first_request(session: Session) -> tuple[str, str]:
    """The user's first words and the id of their phase, "" and "" if they never spoke."""
    for phase in session.all_phases():
        for entry in phase.entries:
            if isinstance(entry, Intervention) and entry.words.strip():
                return entry.words, phase.id
    return "", ""
