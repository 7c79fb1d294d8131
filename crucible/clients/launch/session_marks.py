"""The marks on an agent's session that `cru` itself started.

Owns what they are.  A session that `cru` started for its own ends is nobody's work: no hook captures it and no import takes
it in.  One that `cru` started to go on with a session is folded into that session's note.  Of all that we can set, only the
prompt is in the client's log, so there the marks stand.  This imports nothing, since hooks look here before anything else.
"""

OWN_MARK = "<!-- cru:own-session -->"
"""Stands in the first prompt."""

OWN_ENVIRONMENT = "CRUCIBLE_OWN_SESSION"
"""Set, to anything, in the environment: hooks inherit it from the client."""

RESUMING_ENVIRONMENT = "CRUCIBLE_RESUMING"
"""Holds the id of the session that a client was started to go on with; hooks inherit it from the client."""

BRIEFED_ENVIRONMENT = "CRUCIBLE_BRIEFED"
"""Set, to anything, where a client was started with a briefing: its hooks need not brief it again."""

_OPEN, _CLOSE = "<!-- cru:resume ", " -->"


def resume_mark(session_id: str, ticket: str) -> str:
    """The first line of the prompt with which a client goes on with a session; `ticket` is `bookmarks.tickets`'."""
    return f"{_OPEN}{session_id} {ticket}{_CLOSE}"


def find_resume_mark(prompt: str) -> tuple[str, str] | None:
    """`(session id, ticket)` of a prompt that begins with a mark.  Whether the ticket was ever issued is for the caller."""
    text = prompt.lstrip()
    if not text.startswith(_OPEN):
        return None
    words = text[len(_OPEN) :].partition(_CLOSE)[0].split(" ")
    return (words[0], words[1]) if len(words) == 2 and all(words) and "\n" not in words[1] else None
