"""Marks for agents' sessions that `cru` itself started.

Hooks and imports skip a session that `cru` started to ask an agent.  A session that `cru` started to resume another
one is folded into that one's note.  The marks are in the prompt, because clients log nothing else that we can set.
This module imports nothing: every hook loads it first.
"""

OWN_MARK = "<!-- cru:own-session -->"
"""Part of the first prompt of a session that is not the user's."""

OWN_ENVIRONMENT = "CRUCIBLE_OWN_SESSION"
"""Set in the environment of such a session, to any value; hooks inherit it from the client."""

RESUMING_ENVIRONMENT = "CRUCIBLE_RESUMING"
"""The id of the session that a client was started to resume; hooks inherit it from the client."""

BRIEFED_ENVIRONMENT = "CRUCIBLE_BRIEFED"
"""Set, to any value, if a client was started with a briefing: its hooks must not brief it again."""

_OPEN, _CLOSE = "<!-- cru:resume ", " -->"


def resume_mark(session_id: str, ticket: str) -> str:
    """Return the first line of the prompt that resumes a session; tickets are issued by `memory.bookmarks`."""
    return f"{_OPEN}{session_id} {ticket}{_CLOSE}"


def find_resume_mark(prompt: str) -> tuple[str, str] | None:
    """Return the session id and ticket of a prompt that begins with a mark.

    The caller checks that the ticket was issued.
    """
    text = prompt.lstrip()
    if not text.startswith(_OPEN):
        return None
    words = text[len(_OPEN) :].partition(_CLOSE)[0].split(" ")
    return (words[0], words[1]) if len(words) == 2 and all(words) and "\n" not in words[1] else None
