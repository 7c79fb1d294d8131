"""Marks that identify sessions started by `cru`: to ask an agent (skipped by imports) or to resume a session.

Marks are in the prompt because clients log nothing else that we can set.  Every hook loads this module first, so it
imports nothing.
"""

OWN_MARK = "<!-- cru:own-session -->"
"""Marks the first prompt of a session that `cru` itself started in order to query an agent."""

OWN_ENVIRONMENT = "CRUCIBLE_OWN_SESSION"
"""Set in the environment of such a session, to any value.  Hooks inherit it from the client."""

RESUMING_ENVIRONMENT = "CRUCIBLE_RESUMING"
"""The id of the session that a client was started to resume.  Hooks inherit it from the client."""

BRIEFED_ENVIRONMENT = "CRUCIBLE_BRIEFED"
"""Set, to any value, if a client was started with a briefing, so that its hooks do not add another."""


def started_mark(ident: str) -> str:
    """Return the last line of a persona's text, for a client that logs the text but takes no session id."""
    return f"<!-- cru:started {ident} -->"


_OPEN, _CLOSE = "<!-- cru:resume ", " -->"


def resume_mark(session_id: str, ticket: str) -> str:
    """Return the first line of a prompt that resumes a session; `memory.bookmarks` issues tickets."""
    return f"{_OPEN}{session_id} {ticket}{_CLOSE}"


def find_resume_mark(prompt: str) -> tuple[str, str] | None:
    """Return the session id and ticket if a prompt begins with a mark.

    The caller must check that the ticket was issued.
    """
    text = prompt.lstrip()
    if not text.startswith(_OPEN):
        return None
    words = text[len(_OPEN) :].partition(_CLOSE)[0].split(" ")
    return (words[0], words[1]) if len(words) == 2 and all(words) and "\n" not in words[1] else None
